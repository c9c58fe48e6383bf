package policies

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

func validateBuckets(c WindowConfig) error {
	if err := c.validateLength(); err != nil {
		return err
	}
	if c.Buckets < 1 || c.Buckets > maxBuckets {
		return fmt.Errorf("policies: buckets window: buckets %d, want 1 to %d", c.Buckets, maxBuckets)
	}
	if c.Length%time.Duration(c.Buckets) != 0 {
		return fmt.Errorf("policies: buckets window: buckets %d, want a divisor of the length %v in ns", c.Buckets, c.Length)
	}
	return nil
}

func sliceOf(c WindowConfig) time.Duration { return c.Length / time.Duration(c.Buckets) }

// A bucketWindow keeps the counts of each slice of time in which there was an
// outcome, oldest first. Empty slices take no place and no work, however long
// the silence was, so the cost per outcome does not depend on the number of
// buckets.
type bucketWindow struct {
	end     int64   // first instant after the current slice
	current *bucket // of the current slice; nil while it has no outcome
	held    Counts
	ring    []bucket // the length is a power of two
	oldest  uint64   // place of the oldest bucket held
	next    uint64   // place of the next bucket
	slice   int64    // number of the current slice: floor(instant / width)
	width   int64
	buckets int
	limits  limits
}

type bucket struct {
	slice int64
	held  Counts
}

func newBucketWindow(c WindowConfig, l limits) window {
	w := &bucketWindow{
		limits:  l,
		ring:    make([]bucket, 1<<bits.Len(uint(c.Buckets-1))),
		width:   int64(sliceOf(c)),
		buckets: c.Buckets,
	}
	w.reset()
	return w
}

func (w *bucketWindow) record(now int64, e entry) bool {
	if now >= w.end {
		w.move(now)
	}
	if w.current == nil {
		w.begin()
	}
	w.current.held.Calls++
	w.held.Calls++
	if e != 0 {
		w.current.held.Failures += e.failed()
		w.current.held.Slow += e.slow()
		w.held.Failures += e.failed()
		w.held.Slow += e.slow()
	}
	return w.limits.reached(w.held)
}

// begin takes a place for the current slice.
func (w *bucketWindow) begin() {
	w.current = w.at(w.next)
	*w.current = bucket{slice: w.slice}
	w.next++
}

// calm lasts until the end of the current slice at most: what is counted until
// then belongs into its bucket, and no other bucket leaves.
func (w *bucketWindow) calm() (until int64, bad int) {
	bad, ok := w.limits.spare(w.held)
	if !ok {
		return 0, 0
	}
	return max(w.end, 0), bad
}

func (w *bucketWindow) recordTally(c Counts) {
	if w.current == nil {
		w.begin()
	}
	w.current.held.add(c)
	w.held.add(c)
}

func (w *bucketWindow) counts(now int64) Counts {
	if now >= w.end {
		w.move(now)
	}
	return w.held
}

// move makes the slice of now the current one and drops the buckets that are
// no longer among the last ones.
func (w *bucketWindow) move(now int64) {
	slice := now / w.width
	if now%w.width < 0 {
		slice--
	}
	w.slice, w.current = slice, nil
	w.end = (slice + 1) * w.width // negative in the last slice of all, which does no harm
	for w.oldest != w.next {
		b := w.at(w.oldest)
		if uint64(slice-b.slice) < uint64(w.buckets) {
			break
		}
		w.held.Calls -= b.held.Calls
		w.held.Failures -= b.held.Failures
		w.held.Slow -= b.held.Slow
		w.oldest++
	}
}

func (w *bucketWindow) at(place uint64) *bucket {
	return &w.ring[place&uint64(len(w.ring)-1)]
}

func (w *bucketWindow) newest() uint64 { return w.next - 1 }

func (w *bucketWindow) amend(ref uint64) bool {
	if ref < w.oldest {
		return false
	}
	w.at(ref).held.Failures++
	w.held.Failures++
	return true
}

func (w *bucketWindow) reset() {
	w.oldest, w.held = w.next, Counts{}
	w.end, w.slice, w.current = math.MinInt64, math.MinInt64, nil
}
