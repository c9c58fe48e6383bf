package scenario

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/scenario/document"
)

// rest adds what else is wrong with a file that is not read in full: the problems
// of the parts that are.
func (l *loader) rest() {
	unread := make([]string, len(l.problems.List)) // and what they are part of
	for i, p := range l.problems.List {
		end := strings.LastIndexByte(p.Path, '.')
		if end < 0 {
			return // a large part is missing
		}
		unread[i] = p.Path[:end]
	}
	own := &document.Problems{File: l.path}
	b := &builder{file: l.file, folder: filepath.Dir(l.path), problems: own, traces: l.traces}
	b.build()
	for _, p := range own.List {
		if p.Path != "" && !slices.ContainsFunc(unread, func(u string) bool { return within(p.Path, u) || within(u, p.Path) }) {
			l.problems.Add(p.Place, "%s", p.Rule)
		}
	}
}

// within reports whether a path is another one or leads on from it.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// idle finds claims about something that no case has, which cannot fail or
// cannot hold whatever happens.
func (l *loader) idle() {
	busy := make(map[[2]int]bool) // by line and column
	for _, c := range l.cases {
		for i := range c.statements {
			s := &c.statements[i]
			busy[[2]int{s.at.Line, s.at.Column}] = busy[[2]int{s.at.Line, s.at.Column}] || s.lacks == ""
		}
	}
	for _, c := range l.cases {
		for i := range c.statements {
			s := &c.statements[i]
			if place := [2]int{s.at.Line, s.at.Column}; !busy[place] {
				busy[place] = true // told
				l.problems.Add(s.at, "%s, want a claim about something that is there", s.lacks)
			}
		}
	}
}

// apart wants paths of which none replaces what one before it has set, or leads
// into a key that is read before.
func (l *loader) apart(paths []string, places []document.Place, before ...string) bool {
	for i, p := range paths {
		for _, key := range before {
			if within(p, key) {
				l.problems.Add(places[i], "path %q, want none in %s, which hold for all", p, key)
				l.failed++
				return false
			}
		}
		for _, o := range paths[:i] {
			if within(o, p) {
				l.problems.Add(places[i], "path %q replaces %q, which was set before, want it first", p, o)
				l.failed++
				return false
			}
		}
	}
	return true
}
