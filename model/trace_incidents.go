package model

import (
	"cmp"
	"slices"
	"time"
)

// An Incident is a stretch [Start, End) in which a fault was injected into a
// node.
type Incident struct {
	Node       string
	Kind       string // the segments' Injected
	Start, End time.Duration
}

// Incidents returns the longest runs of segments of one node that follow each
// other without a gap and carry the same Injected label, by start, at equal
// starts in the order of Nodes.
func (t *Trace) Incidents() []Incident {
	var all []Incident
	for n, segments := range t.segments {
		for i, s := range segments {
			if s.Injected == "" {
				continue
			}
			if i > 0 && segments[i-1].Injected == s.Injected && segments[i-1].End == s.Start {
				all[len(all)-1].End = s.End
				continue
			}
			all = append(all, Incident{t.nodes[n], s.Injected, s.Start, s.End})
		}
	}
	slices.SortStableFunc(all, func(a, b Incident) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
