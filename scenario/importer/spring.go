package importer

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// profileKeys are those of the profile in which a document of Spring counts.
var profileKeys = []string{"spring.config.activate.onprofile", "spring.profiles"}

// profileOf returns the profile of a document, or nothing.
func profileOf(n *yaml.Node, path string) string {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		where, value := join(path, relaxed(resolve(n.Content[i]).Value)), resolve(n.Content[i+1])
		for _, key := range profileKeys {
			switch {
			case where == key && value.Kind == yaml.ScalarNode:
				return value.Value
			case strings.HasPrefix(key, where+"."):
				if profile := profileOf(value, where); profile != "" {
					return profile
				}
			}
		}
	}
	return ""
}

// overlay returns a mapping with the keys of two, one over the other, either of
// which may be nil. What is covered is told unless it counts elsewhere.
func (r *reader) overlay(base, over *yaml.Node, elsewhere bool) *yaml.Node {
	if base == nil {
		return over
	}
	base, over = resolve(base), resolve(over)
	both := *over
	both.Content = nil
	r.inner[&both] = r.inner[base] || r.inner[over]
	covered := make(map[*yaml.Node]bool)
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], resolve(over.Content[i+1])
		for k := 0; k+1 < len(base.Content); k += 2 {
			below, old := base.Content[k], resolve(base.Content[k+1])
			if covered[below] || relaxed(resolve(below).Value) != relaxed(resolve(key).Value) {
				continue
			}
			covered[below] = true
			r.under[key] = append(r.under[key], below)
			if old.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode {
				value = r.overlay(old, value, elsewhere)
			} else if !elsewhere {
				r.marks[below] = consumed
				r.lose(below.Line, "not in effect: %s: %s, there is another on line %d", resolve(below).Value, flow(old), key.Line)
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
