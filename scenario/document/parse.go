package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
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

// A Node is a part of a YAML document.
type Node = yaml.Node

// Parse reads the only document in a file.
func Parse(file string, text []byte) (*Node, error) {
	fail := func(line, column int, format string, args ...any) (*Node, error) {
		return nil, Problem{File: file, Place: Place{Line: line, Column: column}, Rule: fmt.Sprintf(format, args...)}
	}
	if len(text) > MaxBytes {
		return fail(1, 1, "%d bytes, want at most %d", len(text), MaxBytes)
	}
	if line := tooDeep(text); line > 0 {
		return fail(line, 1, "nested too deeply, want at most %d brackets within each other", maxDepth)
	}
	if line, bad := notUTF8(text); line > 0 {
		return fail(line, 1, "byte 0x%02x, want a text in UTF-8", bad)
	}
	root, second, err := decode(text)
	switch {
	case errors.Is(err, io.EOF):
		return fail(1, 1, "empty, want a scenario")
	case err != nil:
		line, rule := located(text, err)
		return fail(line, 1, "no YAML: %s", rule)
	case second > 0:
		return fail(second, 1, "a second document, want one in each file")
	}
	left := maxNodes
	if n := count(root, 0, &left); n != nil {
		return fail(n.Line, n.Column, "nested too deeply, or too large once aliases are followed: want at most %d levels and %d values", maxDepth, maxNodes)
	}
	return root, nil
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

// notUTF8 returns the line of the first byte that is not UTF-8, and that byte.
func notUTF8(text []byte) (line int, bad byte) {
	line = 1
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return line, text[i]
		}
		if r == '\n' {
			line++
		}
		i += n
	}
	return 0, 0
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

// located splits the error of the parser into line and rule. The parser often
// names the line at which the list or mapping around the error begins. In texts
// that are not too long, the line is the last of the shortest beginning that
// fails in the same way.
func located(text []byte, err error) (line int, rule string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	line, rule = max(line, 1), err.Error()[len(m[0]):]
	if len(text) > maxSearched {
		return line, rule
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, _, failed := decode(bytes.Join(lines[:i+1], nil))
		return failed != nil && failed.Error() == err.Error()
	}), rule
}

// maxSearched is the length of texts whose errors are searched for, in bytes.
const maxSearched = 1 << 16

// count walks over a document as it will be read, and returns where it becomes
// too deep or too large.
func count(n *Node, depth int, left *int) *Node {
	if *left -= 1 + len(n.Value)/textSize; *left < 0 || depth > maxDepth {
		return n
	}
	if n.Kind == yaml.AliasNode {
		return count(n.Alias, depth+1, left)
	}
	for _, c := range n.Content {
		if bad := count(c, depth+1, left); bad != nil {
			return bad
		}
	}
	return nil
}

// resolve follows an alias.
func resolve(n *Node) *Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
