package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits on what is read, so that no file can exhaust memory or time.
const (
	MaxBytes = 1 << 20 // of a file, in bytes
	maxDepth = 40      // of nested lists and mappings
	maxNodes = 200_000 // after aliases have been followed
	maxKey   = 200     // of the text of a key, in bytes
	textSize = 64      // bytes of a text that count as another value
)

// Parse reads the only document in a file.
func Parse(file string, text []byte) (*Node, error) {
	fail := func(line, column int, format string, args ...any) (*Node, error) {
		return nil, Problem{File: file, Place: Place{Line: line, Column: column}, Rule: fmt.Sprintf(format, args...)}
	}
	if len(text) > MaxBytes {
		return fail(1, 1, "too long, want at most %d bytes", MaxBytes)
	}
	if line := tooDeep(text); line > 0 {
		return fail(line, 1, "nested too deeply, want at most %d brackets within each other", maxDepth)
	}
	if line, column, rule := unfit(text); rule != "" {
		return fail(line, column, "%s", rule)
	}
	root, second, err := decode(text)
	switch {
	case errors.Is(err, io.EOF):
		return fail(1, 1, "empty, want a scenario")
	case err != nil:
		line, column, rule := located(text, err)
		return fail(line, column, "no YAML: %s", rule)
	case second > 0:
		return fail(second, 1, "a second document, want one in each file")
	}
	w := walk{left: maxNodes, around: make(map[*Node]bool)}
	if n, rule := w.visit(root, 0); n != nil {
		return fail(n.Line, n.Column, "%s", rule)
	}
	return root, nil
}

// Size is how many values a document has once aliases are followed, long texts
// counting for several.
func Size(root *Node) int {
	w := walk{left: maxNodes, around: make(map[*Node]bool)}
	w.visit(root, 0)
	return maxNodes - w.left
}

// decode returns the first document, and the line of the second if there is
// one. The parser gives up on a few texts by a panic, which is an error here.
func decode(text []byte) (root *Node, second int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next Node
	if err := decoder.Decode(&document); err != nil {
		return nil, 0, err
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		second = max(next.Line, 1)
	case !errors.Is(err, io.EOF):
		return nil, 0, err
	}
	return document.Content[0], second, nil
}

// unfit returns where a text has what no YAML has, and what it is: bytes that
// are not UTF-8, control characters, or the mark of a beginning elsewhere.
func unfit(text []byte) (line, column int, rule string) {
	line, column = 1, 1
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return line, column, fmt.Sprintf("byte 0x%02x, want a text in UTF-8", text[i])
		case r == '\n':
			line, column = line+1, 0
		case r == '\ufeff' && i > 0, unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\u0085':
			return line, column, fmt.Sprintf("character %U, want a text without control characters", r)
		}
		column++
		i += n
	}
	return 0, 0, ""
}

// tooDeep returns the first line in which more brackets are open than may be,
// before the text is parsed; those in strings count as well.
func tooDeep(text []byte) int {
	line, depth := 1, 0
	for _, c := range text {
		switch c {
		case '\n':
			line++
		case '[', '{':
			if depth++; depth > 10*maxDepth {
				return line
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return 0
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// located splits the error of the parser into line, column and rule. The parser
// often names the line at which the list or mapping around the error begins. In
// texts that are not too long, the line is the last of the shortest beginning
// that fails in the same way.
func located(text []byte, err error) (line, column int, rule string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	line, rule = max(line, 1), err.Error()[len(m[0]):]
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(text) <= maxSearched {
		line = 1 + sort.Search(len(lines)-1, func(i int) bool {
			_, _, failed := decode(bytes.Join(lines[:i+1], nil))
			return failed != nil && failed.Error() == err.Error()
		})
	}
	if m := unknownAnchor.FindStringSubmatch(rule); m != nil { // it stands there, or later
		for i := line - 1; i < len(lines); i++ {
			if at := aliasIn(lines[i], "*"+m[1]); at >= 0 {
				return i + 1, 1 + utf8.RuneCount(lines[i][:at]), rule
			}
		}
	}
	return line, 1, rule
}

// aliasIn returns where an alias begins in a line, or -1.
func aliasIn(line []byte, alias string) int {
	for at := 0; ; at++ {
		next := bytes.Index(line[at:], []byte(alias))
		if next < 0 {
			return -1
		}
		at += next
		end := at + len(alias)
		if (at == 0 || bytes.IndexByte([]byte(" \t,:{[-"), line[at-1]) >= 0) && (end == len(line) || bytes.IndexByte([]byte(" \t\r\n,]}"), line[end]) >= 0) {
			return at
		}
	}
}

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// maxSearched is the length of texts whose errors are searched for, in bytes.
const maxSearched = 1 << 16
