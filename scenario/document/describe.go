package document

import (
	"reflect"
	"strings"
)

// A Section describes the keys of a struct.
type Section struct {
	Name  string // of the type, in lower case
	Short bool   // it may be written as a text
	Keys  []Key
}

// A Key describes a key.
type Key struct {
	Name, Type, Doc string
	Required        bool
}

// Describe lists the structs of a type and their keys, in the order in which
// they are met.
func Describe(of any) []Section {
	var all []Section
	seen := make(map[reflect.Type]bool)
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		at := len(all)
		all = append(all, Section{Name: strings.ToLower(t.Name()), Short: reflect.PointerTo(t).Implements(shorterType)})
		var next []reflect.Type
		for _, f := range fieldsOf(t) {
			name, inner := typeOf(f.kind)
			if f.enum != "" {
				name = strings.ReplaceAll(f.enum, ",", ", ")
			}
			all[at].Keys = append(all[at].Keys, Key{f.key, name, f.doc, f.required})
			if inner != nil {
				next = append(next, inner)
			}
		}
		for _, t := range next {
			visit(t)
		}
	}
	visit(reflect.TypeOf(of))
	return all
}

// typeOf names a type, and returns the struct in it that has keys of its own.
func typeOf(t reflect.Type) (name string, inner reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[Params]():
		return "parameters", nil
	case p.Implements(rawType):
		return "value", nil
	case p.Implements(mappingType):
		elem := reflect.New(t).Interface().(mapping).elem()
		name, inner = typeOf(reflect.TypeOf(elem))
		return name + " by name", inner
	case p.Implements(texterType):
		return strings.ToLower(t.Name()), nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return strings.ToLower(t.Name()), t
	case reflect.Slice:
		name, inner = typeOf(t.Elem())
		return "list of " + name, inner
	case reflect.Bool:
		return "true or false", nil
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "whole number", nil
	case reflect.Float64:
		return "number", nil
	}
	return "text", nil
}
