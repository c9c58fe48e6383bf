package document

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A walk goes over a document as it will be read, aliases followed.
type walk struct {
	left   int            // values that may still come
	around map[*Node]bool // those with an anchor that are being visited
	alias  *Node          // the outermost alias that is being followed
}

// visit returns where something stands that is not read, and the rule that it
// breaks; nil if there is nothing of the kind.
func (w *walk) visit(n *Node, depth int) (*Node, string) {
	at := n
	if w.alias != nil {
		at = w.alias
	}
	w.left -= 1 + len(n.Value)/textSize
	switch {
	case w.left < 0:
		return at, fmt.Sprintf("too large once aliases are followed, want at most %d values", maxNodes)
	case depth > maxDepth:
		return at, fmt.Sprintf("nested too deeply, want at most %d levels", maxDepth)
	case n.Kind == yaml.AliasNode && w.around[n.Alias]:
		return n, fmt.Sprintf("alias %q stands in what it means, want it outside", "*"+n.Value)
	case n.Kind == yaml.AliasNode:
		if w.alias == nil {
			w.alias = n
			defer func() { w.alias = nil }()
		}
		return w.visit(n.Alias, depth+1)
	case n.Style&yaml.TaggedStyle != 0:
		if rule := ofTag(n); rule != "" {
			return n, rule
		}
	}
	if n.Anchor != "" {
		w.around[n] = true
		defer delete(w.around, n)
	}
	for _, c := range n.Content {
		if bad, rule := w.visit(c, depth+1); bad != nil {
			return bad, rule
		}
	}
	return nil, ""
}

// tags are those that a document may have, and the tags that values are found
// to have without them.
var tags = map[string][]string{
	"!!map": {"!!map"}, "!!seq": {"!!seq"}, "!!int": {"!!int"}, "!!float": {"!!float", "!!int"}, "!!bool": {"!!bool"}, "!!null": {"!!null"},
}

// ofTag returns what is wrong with the tag of a value, or nothing.
func ofTag(n *Node) string {
	fitting, known := tags[n.Tag]
	bare := Node{Kind: n.Kind, Value: n.Value}
	switch {
	case n.Tag == "!!str" && n.Kind == yaml.ScalarNode:
	case n.Tag == "!!str" || known && !slices.Contains(fitting, bare.ShortTag()):
		return fmt.Sprintf("tag %s on %s, want a value that it fits, or no tag", n.Tag, KindOf(&bare))
	case !known:
		return fmt.Sprintf("tag %q, want none", n.Tag)
	}
	return ""
}
