package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A sliceRing holds the counts of the last slices of time and their sum. When
// a slice begins is up to its owner: that is where the libraries differ.
type sliceRing struct {
	slices []policies.Counts
	at     int // the slice being written
	held   policies.Counts
}

func newSliceRing(n int) sliceRing { return sliceRing{slices: make([]policies.Counts, n)} }

// add counts into the slice being written.
func (r *sliceRing) add(c policies.Counts) {
	plus(&r.slices[r.at], c)
	plus(&r.held, c)
}

// roll begins n new slices, as many oldest ones leave.
func (r *sliceRing) roll(n int64) {
	if n >= int64(len(r.slices)) {
		r.clear()
		return
	}
	for ; n > 0; n-- {
		if r.at++; r.at == len(r.slices) {
			r.at = 0
		}
		minus(&r.held, r.slices[r.at])
		r.slices[r.at] = policies.Counts{}
	}
}

// clear empties all slices.
func (r *sliceRing) clear() {
	clear(r.slices)
	r.held = policies.Counts{}
}

func plus(c *policies.Counts, d policies.Counts) {
	c.Calls += d.Calls
	c.Failures += d.Failures
	c.Slow += d.Slow
}

func minus(c *policies.Counts, d policies.Counts) {
	c.Calls -= d.Calls
	c.Failures -= d.Failures
	c.Slow -= d.Slow
}

// one is the count of a single call.
func one(failed, slow bool) policies.Counts {
	c := policies.Counts{Calls: 1}
	if failed {
		c.Failures = 1
	}
	if slow {
		c.Slow = 1
	}
	return c
}

// A timeSlices is a ring whose slices follow the clock: a slice begins at each
// multiple of length. Old slices leave when its owner rolls it, not before.
type timeSlices struct {
	sliceRing
	length int64 // ns of a slice
	head   int64 // number of the slice being written
	end    int64 // of it
}

func newTimeSlices(n int, length time.Duration) timeSlices {
	return timeSlices{sliceRing: newSliceRing(n), length: int64(length), end: int64(length)}
}

// rollTo begins the slice of an instant.
func (s *timeSlices) rollTo(now int64) {
	if now < s.end {
		return
	}
	n := now / s.length
	s.roll(n - s.head)
	s.head, s.end = n, (n+1)*s.length
}
