package policies

import (
	"fmt"
	"math/bits"
)

func validateCount(c WindowConfig) error {
	if c.Calls < 1 || c.Calls > maxCalls {
		return fmt.Errorf("policies: count window: calls %d, want 1 to %d", c.Calls, maxCalls)
	}
	return nil
}

func callsOf(c WindowConfig) int { return c.Calls }

// A countWindow is a ring of two bits for each outcome, 32 to a word. Places
// that hold no outcome yet are zero, as a fast success is, so the outcome
// that falls out can be subtracted without asking whether there was one.
type countWindow struct {
	ring     []uint64
	next     int // place of the next outcome
	size     int
	held     Counts
	recorded uint64 // outcomes since the reset
	limits   limits
}

const (
	perWord   = 32
	allFailed = ^uint64(0) / 3 * uint64(entryFailed) // the failed bits of a word
	allSlow   = ^uint64(0) / 3 * uint64(entrySlow)
)

func newCountWindow(c WindowConfig, l limits) window {
	return &countWindow{limits: l, ring: make([]uint64, (c.Calls+perWord-1)/perWord), size: c.Calls}
}

func (w *countWindow) record(_ int64, e entry) bool {
	word := &w.ring[uint(w.next)/perWord]
	shift := uint(w.next) % perWord * 2
	if old := entry(*word>>shift) & entryMask; old != e {
		*word ^= uint64(old^e) << shift
		w.held.Failures += e.failed() - old.failed()
		w.held.Slow += e.slow() - old.slow()
	}
	if w.next++; w.next == w.size {
		w.next = 0
	}
	if w.held.Calls < w.size {
		w.held.Calls++
	}
	w.recorded++
	return w.limits.reached(w.held)
}

// calm looks at the limits alone: the outcomes that good ones push out only
// lower the rates further. Bad ones would have to be recorded in their order.
func (w *countWindow) calm() (until int64, bad int) {
	if w.limits.tooMany(w.held) {
		return 0, 0
	}
	return neverEnds, 0
}

// recordTally takes good outcomes only.
func (w *countWindow) recordTally(c Counts) {
	w.recorded += uint64(c.Calls)
	if c.Calls >= w.size {
		clear(w.ring)
		w.held = Counts{Calls: w.size}
	} else {
		w.held.Calls = min(w.held.Calls+c.Calls, w.size)
		from, to := w.next, w.next+c.Calls
		w.clear(from, min(to, w.size))
		w.clear(0, to-w.size)
	}
	w.next = int(w.recorded % uint64(w.size))
}

// clear makes the places from, ..., to-1 good ones, a word at a time.
func (w *countWindow) clear(from, to int) {
	for from < to {
		end := min(to, from-from%perWord+perWord)
		places := ^uint64(0) >> (64 - 2*(end-from)) << (from % perWord * 2)
		word := &w.ring[from/perWord]
		w.held.Failures -= bits.OnesCount64(*word & places & allFailed)
		w.held.Slow -= bits.OnesCount64(*word & places & allSlow)
		*word &^= places
		from = end
	}
}

func (w *countWindow) counts(int64) Counts { return w.held }

func (w *countWindow) newest() uint64 { return w.recorded - 1 }

func (w *countWindow) amend(ref uint64) bool {
	if w.recorded-ref > uint64(w.held.Calls) {
		return false
	}
	place := ref % uint64(w.size)
	w.ring[place/perWord] |= uint64(entryFailed) << (place % perWord * 2)
	w.held.Failures++
	return true
}

// reset clears only the words in use, so that its cost is paid by the
// outcomes that filled them.
func (w *countWindow) reset() {
	clear(w.ring[:(w.held.Calls+perWord-1)/perWord])
	w.next, w.held, w.recorded = 0, Counts{}, 0
}
