package document

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/names"
	"go.yaml.in/yaml/v3"
)

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

// Set returns a copy of a document in which the value at a path is replaced, or
// removed if the new one is null: it leaves a hole, so that other paths mean
// the same places, until [Prune].
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
	n = Resolve(n)
	s := steps[0]
	c := *n
	c.Content = append([]*Node(nil), n.Content...)
	switch {
	case s.index >= 0:
		if n.Kind != yaml.SequenceNode || s.index >= len(n.Content) {
			return nil, fmt.Errorf("path %q: there is no place [%d]", path, s.index)
		}
		if len(steps) == 1 && IsNull(value) {
			c.Content[s.index] = hole
			return &c, nil
		}
		inner, err := set(n.Content[s.index], steps[1:], value, path)
		c.Content[s.index] = inner
		return &c, err
	case n.Kind != yaml.MappingNode && !IsNull(n):
		return nil, fmt.Errorf("path %q: there is no %q in %s, want a mapping", path, s.key, KindOf(n))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == s.key {
			if len(steps) == 1 && IsNull(value) {
				c.Content[i+1] = hole
				return &c, nil
			}
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
	if IsNull(value) {
		return nil, fmt.Errorf("path %q: there is no %q to remove", path, s.key)
	}
	if n.Kind == yaml.ScalarNode { // nothing becomes a mapping
		c = Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	}
	key := &Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.key, Line: value.Line, Column: value.Column}
	c.Content = append(c.Content, key, value)
	return &c, nil
}
