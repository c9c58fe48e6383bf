package document

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/stormglass/stormglass/names"
	"go.yaml.in/yaml/v3"
)

// Params are keys whose meaning is known later: see [Params.Into].
type Params struct {
	Place Place
	node  *Node
}

// keepNode is how the decoder hands nodes over as they are.
func (p *Params) keepNode(n *Node, at Place) { p.node, p.Place = n, at }

// An Anything is a value that replaces another one.
type Anything struct {
	Place Place
	node  *Node
}

func (a *Anything) keepNode(n *Node, at Place) { a.node, a.Place = n, at }

// Text is the value in a line, as it was written if it is a scalar.
func (a Anything) Text() string {
	if a.node == nil {
		return ""
	}
	if a.node.Kind == yaml.ScalarNode {
		return a.node.Value
	}
	text, err := yaml.Marshal(a.node)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

type raw interface{ keepNode(*Node, Place) }

// Given reports whether there are any.
func (p Params) Given() bool { return p.node != nil && len(p.node.Content) > 0 }

// Into reads the parameters into a struct whose fields have no keys: the key of
// a field is its name in snake case, a time.Duration is written with its unit
// and a float64 may be a percentage.
func (p Params) Into(v any, problems *Problems, ratio func(string) (float64, error), duration func(string) (time.Duration, error)) {
	if p.node == nil {
		return
	}
	target := reflect.ValueOf(v).Elem()
	d := decoder{problems}
	if p.node.Kind != yaml.MappingNode {
		problems.Add(p.Place, "%s, want a mapping with %s", kindOf(p.node), strings.Join(paramsOf(target.Type()), ", "))
		return
	}
	seen := make(map[string]Place)
	for i := 0; i+1 < len(p.node.Content); i += 2 {
		key, value := resolve(p.node.Content[i]), resolve(p.node.Content[i+1])
		where, ok := d.key(p.node.Content[i], seen, p.Place)
		if !ok {
			continue
		}
		known := paramsOf(target.Type())
		f := fieldByKey(target, key.Value)
		if !f.IsValid() {
			problems.Add(where, "unknown key %q; %s", key.Value, names.Known(key.Value, known))
			continue
		}
		where.Line, where.Column = value.Line, value.Column
		switch f.Interface().(type) {
		case time.Duration:
			if d.scalar(value, where, "a duration") {
				x, err := duration(value.Value)
				if err != nil {
					problems.Add(where, "%v", err)
				}
				f.SetInt(int64(x))
			}
			continue
		case float64, float32:
			if d.scalar(value, where, "a number") {
				x, err := ratio(value.Value)
				if err != nil {
					problems.Add(where, "%v", err)
				}
				f.SetFloat(x)
			}
			continue
		}
		switch f.Kind() {
		case reflect.Struct:
			Params{where, value}.Into(f.Addr().Interface(), problems, ratio, duration)
		case reflect.Int, reflect.Int64, reflect.Bool, reflect.String:
			d.value(value, f, where)
		default:
			problems.Add(where, "cannot be set in a scenario")
		}
	}
}

func paramsOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			keys = append(keys, snake(f.Name))
		}
	}
	return keys
}

func fieldByKey(v reflect.Value, key string) reflect.Value {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && snake(f.Name) == key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// snake turns MinRetriesPerSec into min_retries_per_sec, and MaxAllowedRT into
// max_allowed_rt.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		upper := unicode.IsUpper(r)
		if i > 0 && upper && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Set returns a copy of a document in which the value at a path is replaced.
// A path is keys and places in lists, such as clients.web.calls[0].stack[1]. The
// last key may be new, all before it must be there.
func Set(root *Node, path string, value Anything) (*Node, error) {
	steps, err := split(path)
	if err != nil {
		return nil, err
	}
	return set(root, steps, value.node, path)
}

type step struct {
	key   string
	index int // -1 for a key
}

func split(path string) ([]step, error) {
	var steps []step
	for _, part := range strings.Split(path, ".") {
		key, rest, indexed := strings.Cut(part, "[")
		if key == "" {
			return nil, fmt.Errorf("path %q, want keys joined by dots, such as clients.web.calls[0].stack[1]", path)
		}
		steps = append(steps, step{key, -1})
		for indexed {
			number, after, closed := strings.Cut(rest, "]")
			i, err := strconv.Atoi(number)
			if rest, indexed = strings.CutPrefix(after, "["); err != nil || i < 0 || !closed || after != "" && !indexed {
				return nil, fmt.Errorf("path %q, want a whole number in brackets", path)
			}
			steps = append(steps, step{"", i})
		}
	}
	return steps, nil
}

func set(n *Node, steps []step, value *Node, path string) (*Node, error) {
	if len(steps) == 0 {
		return value, nil
	}
	n = resolve(n)
	s := steps[0]
	c := *n
	c.Content = append([]*Node(nil), n.Content...)
	switch {
	case s.index >= 0:
		if n.Kind != yaml.SequenceNode || s.index >= len(n.Content) {
			return nil, fmt.Errorf("path %q: there is no place [%d]", path, s.index)
		}
		inner, err := set(n.Content[s.index], steps[1:], value, path)
		c.Content[s.index] = inner
		return &c, err
	case n.Kind != yaml.MappingNode && !(n.Kind == yaml.ScalarNode && n.Tag == "!!null"):
		return nil, fmt.Errorf("path %q: %q is asked of %s", path, s.key, kindOf(n))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == s.key {
			inner, err := set(n.Content[i+1], steps[1:], value, path)
			c.Content[i+1] = inner
			return &c, err
		}
	}
	if len(steps) > 1 {
		var known []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			known = append(known, n.Content[i].Value)
		}
		return nil, fmt.Errorf("path %q: there is no %q; %s", path, s.key, names.Known(s.key, known))
	}
	if n.Kind == yaml.ScalarNode { // nothing becomes a mapping
		c = Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	}
	key := &Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.key, Line: value.Line, Column: value.Column}
	c.Content = append(c.Content, key, value)
	return &c, nil
}
