package model

import (
	"fmt"
	"math"
	"time"
)

// List returns a source of the given segments, which must be of one node, in
// the order of time and without overlap.
func List(segments ...Segment) SegmentSource { return &listSource{segments} }

type listSource struct{ rest []Segment }

func (s *listSource) Next() (Segment, bool) {
	if len(s.rest) == 0 {
		return Segment{}, false
	}
	first := s.rest[0]
	s.rest = s.rest[1:]
	return first, true
}

// A Cursor looks segments up while time goes forward. It reads a source only
// as far as it must, in one step per segment, and keeps one segment.
type Cursor struct {
	source SegmentSource
	seg    Segment // the last one read; none yet while End is 0
	now    time.Duration
}

// NewCursor returns a cursor before the first segment.
func NewCursor(source SegmentSource) *Cursor { return &Cursor{source: source} }

// At returns the segment that holds the instant t, and false where the node
// was not observed. It panics if t is before that of an earlier call, or
// below 0.
func (c *Cursor) At(t time.Duration) (Segment, bool) {
	if s := c.Find(t); s != nil {
		return *s, true
	}
	return Segment{}, false
}

// Find is At without the copy: it returns nil where the node was not observed.
// The segment must not be changed, and is good until the next call.
func (c *Cursor) Find(t time.Duration) *Segment {
	if t < c.now {
		panic(fmt.Sprintf("model: cursor at %v after %v", t, c.now))
	}
	c.now = t
	if t >= c.seg.End {
		c.forward(t)
	}
	if t < c.seg.Start || t >= c.seg.End {
		return nil
	}
	return &c.seg
}

// Until is the instant up to which, itself excluded, the answer at the last t
// holds: the end of its segment or of the gap; after the last segment it is
// the largest Duration.
func (c *Cursor) Until() time.Duration {
	if c.now >= c.seg.End {
		c.forward(c.now)
	}
	switch {
	case c.now < c.seg.Start:
		return c.seg.Start
	case c.now < c.seg.End:
		return c.seg.End
	}
	return math.MaxInt64
}

// forward reads up to the first segment that ends after t, if there is one.
func (c *Cursor) forward(t time.Duration) {
	for c.source != nil && t >= c.seg.End {
		next, ok := c.source.Next()
		if !ok {
			c.source = nil
			return
		}
		c.seg = next
	}
}
