package importer

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// unknown is before keys that are probably mistyped.
const unknown = "UNKNOWN: "

// leftovers tells what was not read of the documents of each family.
func (r *reader) leftovers(all []format, groups map[string][]*yaml.Node) {
	for _, f := range all {
		r.spelling = f.spelling
		for _, root := range groups[f.name] {
			r.leftover(root, "", false, 0)
		}
	}
}

// leftover walks over a part of the file. What stands inside of settings that
// were read is told with its value, what stands elsewhere by its key alone: it
// may be anything, secrets included.
func (r *reader) leftover(n *yaml.Node, path string, inside bool, depth int) {
	n = document.Resolve(n)
	if depth > 40 {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for i, v := range n.Content {
			r.leftover(v, fmt.Sprintf("%s[%d]", path, i), inside, depth+1)
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	inside = inside || r.inner[n]
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], document.Resolve(n.Content[i+1])
		where := document.Join(path, document.Resolve(key).Value)
		switch m := r.marks[key]; {
		case m == consumed:
		case m == opened:
			r.leftover(value, where, true, depth+1)
		case r.touched(value, 0):
			r.leftover(value, where, false, depth+1)
		case !inside:
			r.lose(key.Line, "not read: %s", where)
		default:
			if known := r.hint(document.Resolve(key).Value); known != "" {
				r.lose(key.Line, unknown+"%s: %s; did you mean %s?", where, flow(value), known)
				continue
			}
			r.lose(key.Line, "not in the model: %s: %s", where, flow(value))
		}
	}
}

// lose notes what has no counterpart, once.
func (r *reader) lose(line int, format string, args ...any) {
	text := comment(fmt.Sprintf(format, args...)) + fmt.Sprintf(" (line %d)", line)
	if !r.told[text] {
		r.told[text] = true
		r.out.lost = append(r.out.lost, loss{line, text})
	}
}

// oneHost notes a breaker that a library has for each host, and that is one for
// all of them here.
func (r *reader) oneHost(format string, args ...any) {
	r.out.perHost = append(r.out.perHost, fmt.Sprintf(format, args...))
}

// touched reports whether anything in a part of the file was read.
func (r *reader) touched(n *yaml.Node, depth int) bool {
	if n = document.Resolve(n); depth > 40 {
		return false
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && r.marks[c] != 0 {
			return true
		}
		if r.touched(c, depth+1) {
			return true
		}
	}
	return false
}

// flow renders a value in a line.
func flow(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		return document.KindOf(n)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// comment makes a text fit to stand behind a # in a line.
func comment(text string) string {
	text = strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + " ..."
	}
	return strings.TrimRight(text, " ")
}
