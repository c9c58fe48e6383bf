package document

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Schema returns a JSON schema (draft 2020-12) of documents that are read into
// a value of a type, indented.
func Schema(of any, id, title string) ([]byte, error) {
	s := &schema{defs: make(object), names: make(map[reflect.Type]string)}
	root := s.of(reflect.TypeOf(of))
	top := object{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": id, "title": title, "$defs": s.defs}
	for k, v := range root {
		top[k] = v
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(top)
	return b.Bytes(), err
}

type object = map[string]any

type schema struct {
	defs  object
	names map[reflect.Type]string // of those that stand in defs
}

var (
	texterType  = reflect.TypeFor[texter]()
	shorterType = reflect.TypeFor[shorter]()
	mappingType = reflect.TypeFor[mapping]()
	rawType     = reflect.TypeFor[raw]()
)

// scalar is what a text may be written as.
func scalar() object { return object{"type": []string{"string", "number", "boolean"}} }

func (s *schema) of(t reflect.Type) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[Params]():
		return object{"type": "object"}
	case p.Implements(rawType):
		return object{}
	case p.Implements(mappingType):
		elem := reflect.New(t).Interface().(mapping).elem()
		inner := s.of(reflect.TypeOf(elem))
		return object{"type": "object", "additionalProperties": object{"anyOf": []object{inner, {"type": "null"}}}}
	case p.Implements(texterType):
		return scalar()
	}
	switch t.Kind() {
	case reflect.Struct:
		return object{"$ref": "#/$defs/" + s.define(t)}
	case reflect.Slice:
		inner := s.of(t.Elem())
		return object{"anyOf": []object{{"type": "array", "items": inner}, inner}}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	}
	return scalar()
}

// define describes a struct once, and returns its name.
func (s *schema) define(t reflect.Type) string {
	if name, ok := s.names[t]; ok {
		return name
	}
	name := strings.ToLower(t.Name())
	s.names[t] = name
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		p := s.of(f.kind)
		if f.enum != "" {
			p = object{"enum": strings.Split(f.enum, ",")}
		}
		if f.doc != "" {
			copied := object{"description": f.doc}
			for k, v := range p {
				copied[k] = v
			}
			p = copied
		}
		properties[f.key] = p
		if f.required {
			required = append(required, f.key)
		}
	}
	whole := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		whole["required"] = required
	}
	if reflect.PointerTo(t).Implements(shorterType) {
		whole = object{"anyOf": []object{scalar(), whole}}
	}
	s.defs[name] = whole
	return name
}
