package document

import "go.yaml.in/yaml/v3"

// A hole is where [Set] has removed something.
var hole = &Node{Kind: yaml.ScalarNode, Tag: "!removed"}

// Prune returns a copy of a document without the holes that [Set] has left.
func Prune(root *Node) *Node {
	if n, changed := prune(root); changed {
		return n
	}
	return root
}

func prune(n *Node) (kept *Node, changed bool) {
	content := make([]*Node, 0, len(n.Content))
	for i, c := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		switch {
		case c == hole, isKey && n.Content[i+1] == hole:
			changed = true
		default:
			inner, other := prune(c)
			content, changed = append(content, inner), changed || other
		}
	}
	if !changed {
		return n, false
	}
	c := *n
	c.Content = content
	return &c, true
}
