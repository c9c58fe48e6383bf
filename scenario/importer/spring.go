package importer

import (
	"strings"

	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// profileKeys are those of the profile in which a document of Spring counts.
var profileKeys = []string{"spring.config.activate.onprofile", "spring.profiles"}

// profileOf returns the profile of a document, or nothing.
func profileOf(n *yaml.Node) string {
	if _, value := springValue(n, "", profileKeys...); value != nil {
		return value.Value
	}
	return ""
}

// application notes the name of the program that a document gives, the first one
// that is none of a placeholder.
func (r *reader) application(root *yaml.Node) {
	key, value := springValue(root, "", "spring.application.name")
	if value == nil || r.caller != "" || value.Value == "" || strings.Contains(value.Value, "${") {
		return
	}
	r.marks[key] = consumed
	r.caller = plain(value.Value)
}

// springValue returns the scalar below one of some keys, which may be cut into
// dotted ones in any way, with the key before it; or nil.
func springValue(n *yaml.Node, path string, keys ...string) (key, value *yaml.Node) {
	n = document.Resolve(n)
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		where, below := document.Join(path, relaxed(document.Resolve(n.Content[i]).Value)), document.Resolve(n.Content[i+1])
		for _, k := range keys {
			switch {
			case where == k && below.Kind == yaml.ScalarNode:
				return n.Content[i], below
			case strings.HasPrefix(k, where+"."):
				if key, value := springValue(below, where, keys...); value != nil {
					return key, value
				}
			}
		}
	}
	return nil, nil
}

// overlay returns a mapping with the keys of two, one over the other, either of
// which may be nil. What is covered is told unless it counts elsewhere.
func (r *reader) overlay(base, over *yaml.Node, elsewhere bool) *yaml.Node {
	if base == nil {
		return over
	}
	base, over = document.Resolve(base), document.Resolve(over)
	both := *over
	both.Content = nil
	r.inner[&both] = r.inner[base] || r.inner[over]
	covered := make(map[*yaml.Node]bool)
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], document.Resolve(over.Content[i+1])
		for k := 0; k+1 < len(base.Content); k += 2 {
			below, old := base.Content[k], document.Resolve(base.Content[k+1])
			if covered[below] || relaxed(document.Resolve(below).Value) != relaxed(document.Resolve(key).Value) {
				continue
			}
			covered[below] = true
			r.under[key] = append(r.under[key], below)
			if old.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode {
				value = r.overlay(old, value, elsewhere)
			} else if !elsewhere {
				r.marks[below] = consumed
				r.lose(below.Line, "not in effect: %s: %s, there is another on line %d", document.Resolve(below).Value, flow(old), key.Line)
			}
		}
		both.Content = append(both.Content, key, value)
	}
	for k := 0; k+1 < len(base.Content); k += 2 {
		if !covered[base.Content[k]] {
			both.Content = append(both.Content, base.Content[k], base.Content[k+1])
		}
	}
	return &both
}
