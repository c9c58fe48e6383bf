package importer

import (
	"regexp"
	"strings"

	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// A tree is mappings and lists that dotted keys are put into.
type tree map[branch]*yaml.Node

// A branch is the value of a name in a mapping.
type branch struct {
	parent *yaml.Node
	name   string
	kind   yaml.Kind
}

// properties reads the lines of a .properties file as a tree.
func (r *reader) properties(text string) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	t := make(tree)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		l := strings.TrimSpace(lines[i])
		if l == "" || l[0] == '#' || l[0] == '!' {
			continue
		}
		for strings.HasSuffix(l, `\`) && i+1 < len(lines) {
			i++
			l = strings.TrimSuffix(l, `\`) + strings.TrimSpace(lines[i])
		}
		cut := strings.IndexAny(l, "=:")
		if cut < 0 {
			cut = len(l)
		}
		value := &yaml.Node{
			Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(strings.TrimLeft(l[cut:], "=: \t")),
			Line: first + 1, Column: 1 + len(lines[first]) - len(strings.TrimLeft(lines[first], " \t")),
		}
		t.put(root, steps(strings.TrimSpace(l[:cut])), value)
	}
	return root
}

var step = regexp.MustCompile(`\[[^\]]*\]|[^.\[\]]+`)

// maxSteps bounds the depth of a dotted key.
const maxSteps = 20

// steps cuts a dotted key; what is in brackets is one step.
func steps(key string) []string {
	list := step.FindAllString(key, maxSteps+1)
	if len(list) == 0 || len(list) > maxSteps {
		return []string{key}
	}
	return list
}

// put stores a value below a path, in mappings and lists that it makes. A value
// that is a mapping goes into the one that is there.
func (t tree) put(n *yaml.Node, path []string, value *yaml.Node) {
	name := path[0]
	if strings.HasPrefix(name, "[") {
		name = strings.Trim(name, "[]")
	}
	switch {
	case len(path) == 2 && strings.HasPrefix(path[1], "[") && strings.Trim(path[1], "[]0123456789") == "": // an element of a list
		list := t.under(n, name, value, yaml.SequenceNode, "!!seq")
		list.Content = append(list.Content, value)
	case len(path) > 1:
		t.put(t.under(n, name, value, yaml.MappingNode, "!!map"), path[1:], value)
	case value.Kind == yaml.MappingNode:
		t.spread(t.under(n, name, value, yaml.MappingNode, "!!map"), value)
	default:
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: value.Line, Column: value.Column}, value)
	}
}

// spread puts what a mapping holds into another one, dotted keys by their steps.
func (t tree) spread(into, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], document.Resolve(from.Content[i+1])
		path := steps(document.Resolve(key).Value)
		if value.Kind == yaml.MappingNode && key.Tag != "!!merge" || len(path) > 1 {
			t.put(into, path, value)
			continue
		}
		into.Content = append(into.Content, key, value)
	}
}

// under returns the mapping or list of a name, which it makes if need be.
func (t tree) under(n *yaml.Node, name string, like *yaml.Node, kind yaml.Kind, tag string) *yaml.Node {
	b := branch{n, name, kind}
	if t[b] == nil {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: like.Line, Column: like.Column}
		t[b] = &yaml.Node{Kind: kind, Tag: tag, Line: like.Line, Column: like.Column}
		n.Content = append(n.Content, key, t[b])
	}
	return t[b]
}

// undot returns a document in which dotted keys below a root are mappings. It
// leaves the rest alone.
func undot(root *yaml.Node, prefix string) *yaml.Node {
	root = document.Resolve(root)
	c := *root
	c.Content = nil
	t := make(tree)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if path := steps(document.Resolve(key).Value); strings.EqualFold(path[0], prefix) {
			t.put(&c, path, document.Resolve(value))
			continue
		}
		c.Content = append(c.Content, key, value)
	}
	return &c
}
