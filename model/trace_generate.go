package model

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A Generator makes the trace of one node: a baseline, short glitches at
// random, and perhaps one outage.
type Generator struct {
	// Node is its name, with the rules of Segment.Node; "" means "node".
	Node string
	// Horizon is the length of the trace, above 0. Everything is cut off there.
	Horizon time.Duration
	// Baseline holds where nothing else does.
	Baseline Condition
	// RateRPS is copied to the segments.
	RateRPS Optional[float64]

	Glitches Glitches
	Outage   Outage
}

// Glitches are short disturbances, at most one starting in each minute of the
// trace, at a uniformly random nanosecond of it. Where one runs into the next
// they merge. They are not labelled as incidents: a breaker that opens on one
// has tripped falsely. The zero Glitches means none.
type Glitches struct {
	// PerMinute is the probability, from 0 to 1, that a minute has a glitch,
	// independently of the others. A last, incomplete minute counts too: the
	// trace is the beginning of the one with a longer horizon.
	PerMinute float64
	// Count, if not 0, is the exact number of glitches instead: every set of
	// that many whole minutes is equally likely.
	Count int64
	// Length is that of each glitch, above 0.
	Length time.Duration
	// Condition holds during a glitch.
	Condition Condition
}

// An Outage is one fault that detection is to find, [Start, Start+Length). It
// replaces glitches that fall into it. The zero Outage means none.
type Outage struct {
	Start, Length time.Duration
	// Condition holds during the outage; the zero Condition means that every
	// call fails.
	Condition Condition
	// Injected is the label of its segment; "" means "outage".
	Injected string
}

// Validate reports the first field that is out of range or contradicts another.
func (g Generator) Validate() error {
	if p := g.segment(0, 1, g.Baseline, "").problem(); p != nil {
		return g.errorf("%s", p)
	}
	if g.Horizon <= 0 {
		return g.errorf("horizon %v, want above 0", g.Horizon)
	}
	if err := g.validateGlitches(); err != nil {
		return err
	}
	o := g.Outage
	switch {
	case o == (Outage{}):
		return nil
	case o.Length <= 0:
		return g.errorf("outage: length %v, want above 0", o.Length)
	case o.Start < 0 || o.Start >= g.Horizon:
		return g.errorf("outage: start %v, want from 0 to below the horizon %v", o.Start, g.Horizon)
	}
	if p := g.segment(0, 1, o.Condition, o.Injected).problem(); p != nil {
		return g.errorf("outage: %s", p)
	}
	return nil
}

func (g Generator) validateGlitches() error {
	gl := g.Glitches
	switch whole := int64(g.Horizon / time.Minute); {
	case gl == (Glitches{}):
		return nil
	case !(gl.PerMinute >= 0 && gl.PerMinute <= 1):
		return g.errorf("glitches: per minute %v, want from 0 to 1", gl.PerMinute)
	case gl.Count < 0:
		return g.errorf("glitches: count %d, want at least 0", gl.Count)
	case gl.Count > 0 && gl.PerMinute > 0:
		return g.errorf("glitches: count %d and per minute %v, want one of them", gl.Count, gl.PerMinute)
	case gl.Count > whole:
		return g.errorf("glitches: count %d, want at most one for each of the %d whole minutes", gl.Count, whole)
	case gl.Length < 0, gl.Length == 0 && (gl.Count > 0 || gl.PerMinute > 0):
		return g.errorf("glitches: length %v, want above 0", gl.Length)
	}
	if p := g.segment(0, 1, gl.Condition, "").problem(); p != nil {
		return g.errorf("glitches: %s", p)
	}
	return nil
}

func (g Generator) errorf(format string, args ...any) error {
	return fmt.Errorf("model: generator of %q: %s", g.Node, fmt.Sprintf(format, args...))
}

func (g Generator) segment(start, end time.Duration, c Condition, injected string) Segment {
	return Segment{Node: cmp.Or(g.Node, "node"), Start: start, End: end, RateRPS: g.RateRPS, Condition: c, Injected: injected}
}

// Source returns the segments one by one: they cover [0, Horizon) without gap
// or overlap, in memory that does not depend on their number. Minute k uses
// the draws (k, 0) and (k, 1) of d alone. With PerMinute a minute's glitch is
// therefore the same whatever the horizon, the length and the condition, and
// one that occurs at some probability also occurs at any higher one.
func (g Generator) Source(d sim.Draws) (SegmentSource, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	s := &generated{g: g, glitches: newGlitchSource(g, d)}
	if o := g.Outage; o.Length > 0 {
		s.outage = span{o.Start, o.Start + min(o.Length, g.Horizon-o.Start)}
		if o.Condition == (Condition{}) {
			s.g.Outage.Condition.ErrorRatio = 1
		}
		if o.Injected == "" {
			s.g.Outage.Injected = "outage"
		}
	}
	s.glitch = s.glitches.merged()
	return s, nil
}

// Trace returns all segments at once. More than MaxTraceRows of them are
// refused; Source has no such limit.
func (g Generator) Trace(d sim.Draws) (*Trace, error) {
	source, err := g.Source(d)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, ok := source.Next(); ok; _, ok = source.Next() {
		if n++; n > MaxTraceRows {
			return nil, g.errorf("more than %d segments, use them one by one", MaxTraceRows)
		}
	}
	segments := make([]Segment, 0, n)
	source, _ = g.Source(d) // the same draws give the same segments
	for s, ok := source.Next(); ok; s, ok = source.Next() {
		segments = append(segments, s)
	}
	return NewTrace(segments)
}

// generated lays the outage over the glitches over the baseline.
type generated struct {
	g        Generator
	glitches *glitchSource
	glitch   span // the first that ends after at
	outage   span
	at       time.Duration // everything before has been produced
}

func (s *generated) Next() (Segment, bool) {
	at := s.at
	if at >= s.g.Horizon {
		return Segment{}, false
	}
	for s.glitch.end <= at {
		s.glitch = s.glitches.merged()
	}
	end := s.g.Horizon
	condition, injected := s.g.Baseline, ""
	switch {
	case s.outage.holds(at):
		end = s.outage.end
		condition, injected = s.g.Outage.Condition, s.g.Outage.Injected
	case s.glitch.holds(at):
		end = s.outage.cut(at, s.glitch.end)
		condition = s.g.Glitches.Condition
	default:
		end = s.outage.cut(at, min(end, s.glitch.start))
	}
	s.at = end
	return s.g.segment(at, end, condition, injected), true
}

// A span is [start, end).
type span struct{ start, end time.Duration }

func (s span) holds(t time.Duration) bool { return s.start <= t && t < s.end }

// cut shortens [from, to) to what lies before s, if s begins in it.
func (s span) cut(from, to time.Duration) time.Duration {
	if s.start > from && s.start < to {
		return s.start
	}
	return to
}

// never is the span after the last one.
var never = span{math.MaxInt64, math.MaxInt64}
