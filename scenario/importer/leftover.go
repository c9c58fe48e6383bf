package importer

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// leftover walks over a part of the file. What stands inside of settings that
// were read is told with its value, what stands elsewhere by its key alone: it
// may be anything, secrets included.
func (r *reader) leftover(n *yaml.Node, path string, inside bool, depth int) {
	n = resolve(n)
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
		key, value := n.Content[i], resolve(n.Content[i+1])
		where := join(path, resolve(key).Value)
		switch m := r.marks[key]; {
		case m == consumed:
		case m == opened:
			r.leftover(value, where, true, depth+1)
		case r.touched(value, 0):
			r.leftover(value, where, false, depth+1)
		case !inside:
			r.lose(key.Line, "not read: %s", where)
		default:
			if known := r.hint(resolve(key).Value); known != "" {
				r.lose(key.Line, "UNKNOWN: %s: %s; did you mean %s?", where, flow(value), known)
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

// touched reports whether anything in a part of the file was read.
func (r *reader) touched(n *yaml.Node, depth int) bool {
	if n = resolve(n); depth > 40 {
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
		return kindOf(n)
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

// hint returns the known key that a key almost is, or nothing.
func (r *reader) hint(key string) string {
	if r.known[relaxed(key)] {
		return ""
	}
	for _, known := range r.asked {
		if near(relaxed(key), relaxed(known)) {
			return known
		}
	}
	return ""
}

// near reports whether two names are the same but for two letters in a row.
func near(a, b string) bool {
	k := 0
	for k < min(len(a), len(b)) && a[k] == b[k] {
		k++
	}
	same := k
	for j := 1; j <= min(len(a), len(b))-k && a[len(a)-j] == b[len(b)-j]; j++ {
		same++
	}
	return max(len(a), len(b))-same <= 2 && same >= 4
}
