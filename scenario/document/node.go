package document

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// A Node is a part of a YAML document.
type Node = yaml.Node

// Resolve follows an alias to what it means; nil stays nil.
func Resolve(n *Node) *Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether a node says nothing, aliases followed: it is empty, null
// or ~.
func IsNull(n *Node) bool {
	n = Resolve(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// KindOf says what a node is, for messages: a mapping, a list, nothing, or the
// text of a scalar in quotes.
func KindOf(n *Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case IsNull(n):
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}

// Join is the path of a key below a path, which is empty for the document.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
