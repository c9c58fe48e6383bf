package importer

import (
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// settings are mappings of a file in which a key is looked for, the first that
// has it wins: usually one, more where one inherits from another.
type settings struct {
	r    *reader
	maps []mapping
}

// A mapping is one of the file.
type mapping struct {
	node    *yaml.Node // nil if there is none
	place   document.Place
	entries []entry
}

// An entry is a key with its value.
type entry struct {
	name  string // as it is written
	key   *yaml.Node
	value *yaml.Node
	place document.Place // of the value, with the path of the key

	merged bool // it comes from a merge key, what stands beside it wins
}

// at returns the settings of a node that should be a mapping.
func (r *reader) at(n *yaml.Node, path string) settings {
	n = document.Resolve(n)
	place := document.Place{Line: n.Line, Column: n.Column, Path: path}
	switch {
	case document.IsNull(n):
		return settings{r, []mapping{{place: place}}}
	case n.Kind != yaml.MappingNode:
		r.add(place, "%s, want a mapping", document.KindOf(n))
		return settings{r, []mapping{{place: place}}}
	}
	return settings{r, []mapping{{n, place, r.entries(n, path, 0)}}}
}

// entries lists what a mapping holds; what it merges comes last.
func (r *reader) entries(n *yaml.Node, path string, depth int) []entry {
	var list, merged []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := document.Resolve(n.Content[i]), document.Resolve(n.Content[i+1])
		if key.Tag == "!!merge" && depth < 10 {
			r.marks[n.Content[i]] = consumed
			parts := []*yaml.Node{value}
			if value.Kind == yaml.SequenceNode {
				parts = value.Content
			}
			for _, p := range parts {
				if p = document.Resolve(p); p.Kind == yaml.MappingNode {
					merged = append(merged, r.entries(p, path, depth+1)...)
				}
			}
			continue
		}
		name := key.Value
		place := document.Place{Line: value.Line, Column: value.Column, Path: document.Join(path, name)}
		list = append(list, entry{name: name, key: n.Content[i], value: value, place: place})
	}
	for i := range merged {
		merged[i].merged = true
	}
	return append(list, merged...)
}

// place is where the settings stand.
func (s settings) place() document.Place {
	if len(s.maps) == 0 {
		return document.Place{Line: 1, Column: 1}
	}
	return s.maps[0].place
}

// path says where the settings stand, for comments.
func (s settings) path() string {
	p := s.place()
	if p.Path == "" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("%s, line %d", p.Path, p.Line)
}

// find returns the first entry of one of the names, and marks all of them.
func (s settings) find(m mark, names ...string) (found entry, ok bool) {
	s.r.ask(names)
	for _, in := range s.maps {
		var here *entry
		for i := range in.entries {
			e := &in.entries[i]
			if !s.r.is(e.name, names...) {
				continue
			}
			s.r.mark(e.key, m)
			switch {
			case document.IsNull(e.value):
			case here == nil:
				here = e
			case !e.merged:
				s.r.add(e.place, "given twice, first as %s on line %d", here.name, here.key.Line)
			}
		}
		if here != nil && !ok {
			found, ok = *here, true
		}
	}
	return found, ok
}

// mark notes what became of a key, and of mappings below it that it covers.
func (r *reader) mark(key *yaml.Node, m mark) {
	if r.marks[key] >= m {
		return
	}
	r.marks[key] = m
	for _, below := range r.under[key] {
		r.mark(below, m)
	}
}

// add notes a problem once.
func (r *reader) add(at document.Place, format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	if key := fmt.Sprint(at.Line, " ", at.Column, " ", rule); !r.told[key] {
		r.told[key] = true
		r.problems.Add(at, "%s", rule)
	}
}

// has reports whether one of the names is given, without reading it.
func (s settings) has(names ...string) bool {
	s.r.ask(names)
	for _, in := range s.maps {
		for i := range in.entries {
			if e := &in.entries[i]; s.r.is(e.name, names...) && !document.IsNull(e.value) {
				return true
			}
		}
	}
	return false
}

// child returns the settings below a key; without it they are empty, at the
// place of s.
func (s settings) child(names ...string) (settings, bool) {
	e, ok := s.find(opened, names...)
	if !ok {
		return settings{s.r, []mapping{{place: s.place()}}}, false
	}
	return s.r.at(e.value, e.place.Path), true
}

// each returns the entries whose values are settings, in the order of the file.
func (s settings) each() (list []entry) {
	seen := make(map[string]bool)
	for _, in := range s.maps {
		for _, e := range in.entries {
			if !seen[e.name] {
				seen[e.name] = true
				s.r.mark(e.key, opened)
				list = append(list, e)
			}
		}
	}
	return list
}

// list returns the elements of a list; a single value stands for a list of it.
func (s settings) list(m mark, names ...string) (list []entry) {
	e, ok := s.find(m, names...)
	if !ok {
		return nil
	}
	if e.value.Kind != yaml.SequenceNode {
		return []entry{e}
	}
	for i, v := range e.value.Content {
		v = document.Resolve(v)
		place := document.Place{Line: v.Line, Column: v.Column, Path: fmt.Sprintf("%s[%d]", e.place.Path, i)}
		list = append(list, entry{name: e.name, key: e.key, value: v, place: place})
	}
	return list
}

// texts returns a list of texts, which may also be one text with commas.
func (s settings) texts(names ...string) (list []entry) {
	for _, e := range s.list(consumed, names...) {
		if e.value.Kind != yaml.ScalarNode {
			s.r.add(e.place, "%s, want a text", document.KindOf(e.value))
			continue
		}
		for _, part := range strings.Split(e.value.Value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				c := *e.value
				c.Value = part
				list = append(list, entry{name: e.name, key: e.key, value: &c, place: e.place})
			}
		}
	}
	return list
}

// text returns a scalar.
func (s settings) text(names ...string) (string, entry, bool) {
	e, ok := s.find(consumed, names...)
	if !ok {
		return "", e, false
	}
	if e.value.Kind != yaml.ScalarNode {
		s.r.add(e.place, "%s, want a single value", document.KindOf(e.value))
		return "", e, false
	}
	return s.r.placeholder(e), e, true
}

// placeholder takes the default out of ${NAME:default}.
func (r *reader) placeholder(e entry) string {
	text := strings.TrimSpace(e.value.Value)
	if !strings.HasPrefix(text, "${") || !strings.HasSuffix(text, "}") {
		return text
	}
	_, value, ok := strings.Cut(text[2:len(text)-1], ":")
	if !ok {
		r.add(e.place, "%q has no default, want a value", text)
	}
	return strings.TrimSpace(value)
}

// flag returns a boolean.
func (s settings) flag(otherwise bool, names ...string) bool {
	text, e, ok := s.text(names...)
	if !ok {
		return otherwise
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	s.r.add(e.place, "%q, want true or false", text)
	return otherwise
}

// skip marks keys that say nothing that a model could lose, such as a name.
func (s settings) skip(names ...string) {
	for _, name := range names {
		s.find(consumed, name)
	}
}
