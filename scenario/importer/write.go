package importer

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
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
			r.lose(key.Line, "not in the model: %s: %s%s", where, flow(value), r.hint(resolve(key).Value))
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

// hint names the known key that a key almost is.
func (r *reader) hint(key string) string {
	if r.known[relaxed(key)] {
		return ""
	}
	for _, known := range r.asked {
		if near(relaxed(key), relaxed(known)) {
			return fmt.Sprintf("; did you mean %s?", known)
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

// A printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(depth int, text, note string) {
	if p.err != nil {
		return
	}
	note = comment(note)
	switch {
	case text == "" && note != "":
		text = "# " + note
	case note != "":
		text += " # " + note
	}
	if text != "" {
		text = strings.Repeat("  ", depth) + text
	}
	_, p.err = io.WriteString(p.w, text+"\n")
}

// Write prints a scenario that can be run.
func (im *Import) Write(w io.Writer) error {
	p := &printer{w: w}
	file := filepath.Base(im.File)
	p.line(0, "", fmt.Sprintf("Imported from %s: %s. Each value has its source beside it, or the word default.", file, im.Format))
	p.line(0, "", "What is marked as made up stands for your system: put in what you know of it.")
	p.line(0, "name: "+strconv.Quote(comment(fmt.Sprintf("settings of %s", file))), "")
	p.line(0, "horizon: 60s", "made up")
	for i, lost := range im.lost {
		if i == 0 {
			p.line(0, "", "")
		}
		p.line(0, "", lost.text)
	}
	p.line(0, "", "")
	if len(im.policies) == 0 {
		p.line(0, "policies: {}", "")
	} else {
		p.line(0, "policies:", "")
	}
	for _, policy := range im.policies {
		p.line(1, policy.name+":", "from "+policy.path())
		for _, l := range policy.lines {
			p.line(l.depth, l.text, l.comment)
		}
	}
	p.line(0, "", "")
	p.line(0, "nodes:", "made up, as what is below but the stacks")
	for _, s := range im.stacks {
		if s.node != s.name { // that of another stack
			continue
		}
		p.line(1, s.node+":", "")
		p.line(2, "service: exponential 20ms", "made up")
		p.line(2, "faults: [{error: 50%, from: 20s, to: 40s}]", "made up")
	}
	p.line(0, "", "")
	p.line(0, "clients:", "")
	for _, s := range im.stacks {
		p.line(1, s.name+"-client:", s.from)
		p.line(2, "arrivals: poisson 20/s", "made up")
		p.line(2, "calls:", "")
		p.line(3, "- to: "+s.node, "")
		key := "stack"
		if s.sidecar {
			key = "sidecar"
		}
		var list []string
		for _, l := range s.layers {
			list = append(list, l.name)
		}
		p.line(4, key+": ["+strings.Join(list, ", ")+"]", "outermost first")
	}
	p.line(0, "", "")
	p.line(0, "", "claims:")
	p.line(0, "", fmt.Sprintf("  - success_ratio{client=%s-client} >= 0.9", im.stacks[0].name))
	return p.err
}
