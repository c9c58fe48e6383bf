package document

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/stormglass/stormglass/names"
)

// A texter is written as a scalar.
type texter interface{ ParseText(string) error }

// A shorter is a struct that may be written as a scalar.
type shorter interface{ ParseShort(string) error }

// Decode reads a document into a struct and adds what is wrong to problems.
func Decode(root *Node, into any, problems *Problems) {
	d := decoder{problems}
	d.value(root, reflect.ValueOf(into).Elem(), Place{Line: root.Line, Column: root.Column})
}

type decoder struct{ problems *Problems }

// at is the place of a node below another one.
func at(n *Node, path string) Place { return Place{Line: n.Line, Column: n.Column, Path: path} }

func (d decoder) value(n *Node, v reflect.Value, place Place) {
	n = Resolve(n)
	if n.Kind == yaml.ScalarNode && strings.ContainsFunc(n.Value, unseen) {
		d.problems.Add(place, "%q, want a text without control characters", n.Value)
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem(), place)
		return
	}
	switch t := v.Addr().Interface().(type) {
	case raw:
		t.keepNode(n, place)
		return
	case mapping:
		d.mapping(n, t, place)
		return
	case texter:
		if d.scalar(n, place, "a value") {
			d.text(n, t.ParseText, place)
		}
		return
	case shorter:
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			d.text(n, t.ParseShort, place)
			d.keep(v, place)
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		d.fields(n, v, place)
	case reflect.Slice:
		d.list(n, v, place)
	case reflect.String:
		if d.scalar(n, place, "a text") {
			v.SetString(n.Value)
		}
	case reflect.Bool:
		if !d.scalar(n, place, "true or false") {
			return
		}
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on":
			v.SetBool(true)
		case "false", "no", "off":
			v.SetBool(false)
		default:
			d.problems.Add(place, "%q, want true or false", n.Value)
		}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		d.whole(n, v, place)
	case reflect.Float64:
		if !d.scalar(n, place, "a number") {
			return
		}
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || x != x || x-x != 0 {
			d.problems.Add(place, "%q, want a number", n.Value)
			return
		}
		v.SetFloat(x)
	default:
		panic(fmt.Sprintf("document: fields of type %v cannot be read", v.Type()))
	}
}

func (d decoder) whole(n *Node, v reflect.Value, place Place) {
	if !d.scalar(n, place, "a whole number") {
		return
	}
	text := strings.ReplaceAll(n.Value, "_", "")
	if v.CanUint() {
		x, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			d.problems.Add(place, "%q, want a whole number of 0 or more", n.Value)
		}
		v.SetUint(x)
		return
	}
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		d.problems.Add(place, "%q, want a whole number", n.Value)
		return
	}
	v.SetInt(x)
}

func (d decoder) text(n *Node, parse func(string) error, place Place) {
	if err := parse(n.Value); err != nil {
		d.problems.Add(place, "%v", err)
	}
}

// scalar reports whether a node is a scalar other than null.
func (d decoder) scalar(n *Node, place Place, want string) bool {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return true
	}
	d.problems.Add(place, "%s, want %s", KindOf(n), want)
	return false
}

func (d decoder) list(n *Node, v reflect.Value, place Place) {
	items := []*Node{n}
	switch {
	case n.Kind == yaml.SequenceNode:
		items = n.Content
	case n.Tag == "!!null":
		return
	}
	for i, item := range items {
		path := place.Path
		if n.Kind == yaml.SequenceNode {
			path = fmt.Sprintf("%s[%d]", place.Path, i)
		}
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		d.value(item, v.Index(i), at(item, path))
	}
}

// unseen reports whether a character has no place in a text: it would do
// something to a terminal, or turn the order of what is shown.
func unseen(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// unprinted reports whether a character has no place in a key.
func unprinted(r rune) bool { return !unicode.IsPrint(r) }

// key returns where a key below a place stands, and whether it is one that was
// not seen before.
func (d decoder) key(n *Node, seen map[string]Place, below Place) (Place, bool) {
	key := Resolve(n)
	where := at(n, below.Path)
	control := strings.ContainsFunc(key.Value, unprinted)
	if key.Kind == yaml.ScalarNode && len(key.Value) <= maxKey && !control {
		where.Path = Join(below.Path, key.Value)
	}
	switch first, twice := seen[key.Value]; {
	case key.Kind != yaml.ScalarNode || key.Tag == "!!null" || key.Value == "":
		d.problems.Add(where, "%s as a key, want a text", KindOf(key))
	case len(key.Value) > maxKey:
		d.problems.Add(where, "a key of %d bytes, want at most %d", len(key.Value), maxKey)
	case control:
		d.problems.Add(where, "%q as a key, want a text in one line of characters that are printed", key.Value)
	case key.Tag == "!!merge":
		d.problems.Add(where, "a merge key, want the keys themselves, or an alias in place of the whole")
	case twice:
		d.problems.Add(where, "given twice, first on line %d", first.Line)
	default:
		seen[key.Value] = where
		return where, true
	}
	return where, false
}

func (d decoder) mapping(n *Node, m mapping, place Place) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.problems.Add(place, "%s, want a mapping of names", KindOf(n))
		return
	}
	seen := make(map[string]Place)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := Resolve(n.Content[i]), n.Content[i+1]
		where, ok := d.key(n.Content[i], seen, place)
		if !ok {
			continue
		}
		v := reflect.ValueOf(m.add(key.Value, where)).Elem()
		_, asItIs := v.Addr().Interface().(raw)
		if Resolve(value).Tag == "!!null" && v.Kind() == reflect.Struct && !asItIs { // "b:" means "b: {}"
			d.keep(v, where)
			continue
		}
		d.value(value, v, at(value, where.Path))
		d.keep(v, where)
	}
}

// A field is one of a struct, by its key.
type field struct {
	key      string
	required bool
	doc      string
	enum     string // allowed texts, joined by commas
	above0   bool   // a 0 would not mean what it says
	index    []int
	kind     reflect.Type
}

// fieldsOf lists the fields of a struct that have keys, those of embedded
// structs included.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("key")
		if !ok {
			if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Type != placeType {
				for _, inner := range fieldsOf(f.Type) {
					inner.index = append([]int{i}, inner.index...)
					list = append(list, inner)
				}
			}
			continue
		}
		key, option, _ := strings.Cut(tag, ",")
		list = append(list, field{key, option == "required", f.Tag.Get("doc"), f.Tag.Get("enum"), f.Tag.Get("above") == "0", []int{i}, f.Type})
	}
	return list
}

var placeType = reflect.TypeFor[Place]()

func (d decoder) fields(n *Node, v reflect.Value, place Place) {
	if n.Kind != yaml.MappingNode {
		d.problems.Add(place, "%s, want a mapping with %s", KindOf(n), keysOf(v.Type()))
		return
	}
	place.Keys = make(map[string]Place)
	known := fieldsOf(v.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := Resolve(n.Content[i]), n.Content[i+1]
		where, ok := d.key(n.Content[i], place.Keys, place)
		if !ok {
			continue
		}
		f := find(known, key.Value)
		if f == nil {
			d.problems.Add(where, "unknown key %q; %s", key.Value, names.Known(key.Value, keyList(known)))
			continue
		}
		target := v.FieldByIndex(f.index)
		where.Line, where.Column = value.Line, value.Column
		if value.Tag == "!!null" && value.Value == "" {
			where.Line, where.Column = n.Content[i].Line, n.Content[i].Column
		}
		place.Keys[key.Value] = where
		before := len(d.problems.List)
		d.value(value, target, where)
		if f.above0 && len(d.problems.List) == before && isZero(target) {
			d.problems.Add(where, "%s, want more than 0, or no %s", Resolve(value).Value, key.Value)
		}
		if f.enum != "" && target.Kind() == reflect.String {
			d.oneOf(target.String(), strings.Split(f.enum, ","), where)
		}
	}
	for _, f := range known {
		if _, ok := place.Keys[f.key]; f.required && !ok {
			d.problems.Add(place, "%s missing, want it given", f.key)
		}
	}
	d.keep(v, place)
}

// isZero reports whether a value is 0 in spite of being given.
func isZero(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		return !v.IsNil() && isZero(v.Elem())
	}
	return v.IsZero()
}

// keep stores the place in the struct, if it has a field for it that is empty.
func (d decoder) keep(v reflect.Value, place Place) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		switch f := v.Type().Field(i); {
		case f.Type == placeType:
			if v.Field(i).FieldByName("Line").Int() == 0 {
				v.Field(i).Set(reflect.ValueOf(place))
			}
			return
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			d.keep(v.Field(i), place)
		}
	}
}

// oneOf wants a text to be one of some.
func (d decoder) oneOf(text string, known []string, where Place) {
	if !slices.Contains(known, text) {
		d.problems.Add(where, "%q; %s", text, names.Known(text, known))
	}
}

func find(list []field, key string) *field {
	for i := range list {
		if list[i].key == key {
			return &list[i]
		}
	}
	return nil
}

func keyList(list []field) []string {
	keys := make([]string, len(list))
	for i, f := range list {
		keys[i] = f.key
	}
	return keys
}

func keysOf(t reflect.Type) string { return strings.Join(keyList(fieldsOf(t)), ", ") }
