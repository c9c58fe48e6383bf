package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A r4jWindow is a window of Resilience4j: resilience4j-core at v2.4.0,
// core/metrics.
type r4jWindow interface {
	// reset begins with an empty window.
	reset(now int64)
	// add counts a call and returns what the window holds.
	add(now int64, c policies.Counts) policies.Counts
	// counts returns what it holds. This may move it, as in the library.
	counts(now int64) policies.Counts
}

// r4jCalls are the last calls (FixedSizeSlidingWindowMetrics.java). The
// lock-free variant holds the same.
type r4jCalls struct {
	calls []uint8 // bits of each
	next  int     // place of the next one
	held  policies.Counts
}

const (
	r4jFailed = 1 << iota
	r4jSlow
)

func newR4jCalls(size int) *r4jCalls { return &r4jCalls{calls: make([]uint8, size)} }

func (w *r4jCalls) reset(int64) { w.next, w.held = 0, policies.Counts{} }

func (w *r4jCalls) add(_ int64, c policies.Counts) policies.Counts {
	place := &w.calls[w.next]
	if w.held.Calls == len(w.calls) {
		minus(&w.held, one(*place&r4jFailed != 0, *place&r4jSlow != 0))
	}
	*place = uint8(c.Failures*r4jFailed | c.Slow*r4jSlow)
	if w.next++; w.next == len(w.calls) {
		w.next = 0
	}
	plus(&w.held, c)
	return w.held
}

func (w *r4jCalls) counts(int64) policies.Counts { return w.held }

// r4jSeconds are the calls of this second of Unix time and of those before it
// (SlidingTimeWindowMetrics.java). A window of n seconds is between n-1 and n
// seconds long.
type r4jSeconds struct{ timeSlices }

func (w *r4jSeconds) reset(int64) { w.clear() }

func (w *r4jSeconds) add(now int64, c policies.Counts) policies.Counts {
	w.rollTo(now)
	w.timeSlices.add(c)
	return w.held
}

func (w *r4jSeconds) counts(now int64) policies.Counts {
	w.rollTo(now)
	return w.held
}

// r4jSlices are slices of a second that begin with the state
// (LockFreeSlidingTimeWindowMetrics.java). If the window is touched a second or
// more after it has run empty, the slices begin anew at that instant.
type r4jSlices struct {
	sliceRing
	start int64 // of the slice being written
}

func (w *r4jSlices) reset(now int64) {
	w.clear()
	w.start = now
}

func (w *r4jSlices) move(now int64) {
	n := (now - w.start) / int64(time.Second)
	switch {
	case n > int64(len(w.slices)):
		w.reset(now)
	case n > 0:
		w.roll(n)
		w.start += n * int64(time.Second)
	}
}

func (w *r4jSlices) add(now int64, c policies.Counts) policies.Counts {
	w.move(now)
	w.sliceRing.add(c)
	return w.held
}

func (w *r4jSlices) counts(now int64) policies.Counts {
	w.move(now)
	return w.held
}

// r4jBlank is the window of no calls that forced-open and disabled have. They
// count nothing in it, but an open state that follows does. The library then
// divides by zero: before it has counted anything if the window is lock-free,
// otherwise after it has added the call to a sum that it never leaves.
type r4jBlank struct {
	counting bool
	held     policies.Counts
}

func (w *r4jBlank) reset(int64) { w.held = policies.Counts{} }

func (w *r4jBlank) add(_ int64, c policies.Counts) policies.Counts {
	if w.counting {
		plus(&w.held, c)
	}
	return w.held
}

func (w *r4jBlank) counts(int64) policies.Counts { return w.held }
