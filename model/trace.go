package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// A Trace is what was observed at some nodes over time: for each node,
// segments that do not overlap. Where a node has no segment it was not
// observed. A Trace does not change and may be shared.
type Trace struct {
	nodes    []string
	segments [][]Segment // by node, sorted by start
	index    map[string]int
	end      time.Duration
}

// NewTrace sorts the segments, which may come in any order, and checks each of
// them and that those of one node do not overlap.
func NewTrace(segments []Segment) (*Trace, error) {
	for _, s := range segments {
		if err := s.Validate(); err != nil {
			return nil, err
		}
	}
	t, overlap := buildTrace(segments)
	if overlap != nil {
		a, b := segments[overlap[0]], segments[overlap[1]]
		return nil, fmt.Errorf("model: trace: node %q: segment [%v, %v) overlaps [%v, %v)", a.Node, b.Start, b.End, a.Start, a.End)
	}
	if len(t.nodes) == 0 {
		return nil, errors.New("model: trace: no segments, want at least one")
	}
	return t, nil
}

// buildTrace groups and sorts valid segments. If two of one node overlap, it
// returns their indices, the earlier one first, instead of a trace.
func buildTrace(segments []Segment) (*Trace, []int) {
	order := make([]int, len(segments))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(segments[i].Start, segments[j].Start) })
	t := &Trace{index: make(map[string]int)}
	var latest []int // segment by node
	for _, i := range order {
		s := segments[i]
		n, known := t.index[s.Node]
		if !known {
			n = len(t.nodes)
			t.index[s.Node] = n
			t.nodes = append(t.nodes, s.Node)
			t.segments = append(t.segments, nil)
			latest = append(latest, i)
		} else if segments[latest[n]].End > s.Start {
			return nil, []int{latest[n], i}
		}
		t.segments[n] = append(t.segments[n], s)
		latest[n] = i
		t.end = max(t.end, s.End)
	}
	return t, nil
}

// Nodes lists the nodes in the order of their first segments in time; nodes
// whose first segments start together keep the order in which they were given.
func (t *Trace) Nodes() []string { return slices.Clone(t.nodes) }

// End is the end of the last segment of any node.
func (t *Trace) End() time.Duration { return t.end }

// Len is the number of segments of all nodes.
func (t *Trace) Len() int {
	n := 0
	for _, s := range t.segments {
		n += len(s)
	}
	return n
}

// Segments returns the segments of a node in order, none for an unknown node.
// The caller must not change them.
func (t *Trace) Segments(node string) []Segment {
	if n, ok := t.index[node]; ok {
		return slices.Clip(t.segments[n])
	}
	return nil
}

// At returns the segment of a node that holds the instant at, and false where
// the node was not observed. It searches; for a run in the order of time use a
// Cursor.
func (t *Trace) At(node string, at time.Duration) (Segment, bool) {
	s := t.Segments(node)
	i := sort.Search(len(s), func(i int) bool { return s[i].End > at })
	if i < len(s) && s[i].Start <= at {
		return s[i], true
	}
	return Segment{}, false
}

// Cursor returns a cursor at the beginning of a node's segments; the error
// lists the known nodes.
func (t *Trace) Cursor(node string) (*Cursor, error) {
	if _, ok := t.index[node]; !ok {
		return nil, fmt.Errorf("model: trace: unknown node %q, want one of %s", node, strings.Join(t.nodes, ", "))
	}
	return NewCursor(List(t.Segments(node)...)), nil
}

// ordered returns all segments by start, at equal starts in the order of Nodes.
func (t *Trace) ordered() []*Segment {
	all := make([]*Segment, 0, t.Len())
	for _, segments := range t.segments {
		for i := range segments {
			all = append(all, &segments[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *Segment) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
