package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Place is where something stands in a file.
type Place struct {
	Line, Column int
	Path         string           // such as "nodes.b.service"
	Keys         map[string]Place // those of the keys of a struct
}

// At returns the place of a key, or of the struct if it lacks that key.
func (p Place) At(key string) Place {
	if at, ok := p.Keys[key]; ok {
		return at
	}
	return p
}

// A Problem is a rule that a file breaks.
type Problem struct {
	File string
	Place
	Rule string
}

// Error returns "file:line:column: path: rule".
func (p Problem) Error() string {
	path := p.Path
	if path == "" {
		path = "file"
	}
	return shown(fmt.Sprintf("%s:%d:%d: %s: ", p.File, p.Line, p.Column, path)) + shown(p.Rule)
}

// longest is how much is told of a rule, in bytes; it may quote a long value.
const longest = 2000

// shown is a text that a terminal shows as it is: in one line, characters that
// are not seen escaped, without its middle if it is long.
func shown(text string) string {
	if len(text) > longest {
		text = text[:longest*3/4] + " ... " + text[len(text)-longest/4:]
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Problems collects what is wrong with a file.
type Problems struct {
	File string
	List []Problem // at most kept of them
	more int       // problems that were not kept
}

// most is how many problems are told of a file.
const most = 50

// kept is how many are kept, so that a file cannot fill the memory by them.
const kept = 1000

// Add adds a problem at a place.
func (p *Problems) Add(at Place, format string, args ...any) {
	if len(p.List) == kept {
		p.more++
		return
	}
	p.List = append(p.List, Problem{File: p.File, Place: at, Rule: shown(fmt.Sprintf(format, args...))})
}

// Err returns all problems as one error, a line each in the order in which
// they stand, or nil.
func (p *Problems) Err() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return &all{slices.CompactFunc(p.List, same), p.more}
}

// same reports whether two problems are told in the same words.
func same(a, b Problem) bool {
	return a.Line == b.Line && a.Column == b.Column && a.Error() == b.Error()
}

type all struct {
	list []Problem
	more int
}

// Error returns a line for each problem.
func (a *all) Error() string {
	var b strings.Builder
	for i, p := range a.list {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == most {
			fmt.Fprintf(&b, "%s: %d more problems", shown(p.File), len(a.list)-most+a.more)
			break
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// Unwrap returns the problems.
func (a *all) Unwrap() []error {
	list := make([]error, len(a.list))
	for i, p := range a.list {
		list[i] = p
	}
	return list
}
