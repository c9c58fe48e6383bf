package policies

import (
	"fmt"
	"math"
)

func validateTime(c WindowConfig) error {
	if err := c.validateLength(); err != nil {
		return err
	}
	if c.MaxCalls < 0 || c.MaxCalls > maxCalls {
		return fmt.Errorf("policies: time window: at most %d calls, want 0 for any number, or 1 to %d", c.MaxCalls, maxCalls)
	}
	return nil
}

func maxCallsOf(c WindowConfig) int { return c.MaxCalls }

// A timeWindow is a ring of instants in the order of recording, each packed
// with its entry into one word. Places are counted up for ever and masked
// when used, so a place stays valid when the ring grows.
//
// Instants are kept relative to base, the first one since the window was last
// empty, which leaves two bits free for the entry during 36 years of
// uninterrupted traffic; rebase then moves the origin.
type timeWindow struct {
	ring     []int64 // (instant-base)<<entryBits | entry; the length is a power of two
	oldest   uint64  // place of the oldest outcome held
	next     uint64  // place of the next outcome
	most     uint64  // outcomes held at most
	room     uint64  // outcomes that fit into the ring, or most if that is less
	length   int64
	base     int64
	last     int64 // latest instant seen
	failures int
	slow     int
	limits   limits
}

const (
	maxOffset   = 1 << (62 - entryBits)
	firstPlaces = 16 // length of a new ring
)

func newTimeWindow(c WindowConfig, l limits) window {
	w := &timeWindow{
		ring:   make([]int64, firstPlaces),
		most:   math.MaxUint64,
		length: int64(c.Length),
		last:   math.MinInt64,
		limits: l,
	}
	if c.MaxCalls > 0 {
		w.most = uint64(c.MaxCalls)
	}
	w.room = min(firstPlaces, w.most)
	return w
}

// record contains the loop of expire once more, because a simulator spends
// much of its time here and the call would cost a fifth more. Here the oldest
// outcome leaves also when there is no room for another.
func (w *timeWindow) record(now int64, e entry) bool {
	if now < w.last {
		now = w.last
	}
	if uint64(now-w.last) >= uint64(w.length) { // the difference may exceed an int64
		w.drop()
	}
	w.last = now
	offset, ring, next, oldest := now-w.base, w.ring, w.next, w.oldest
	first := (offset - w.length + 1) << entryBits // what is packed below is too old
	for oldest != next {
		packed := ring[oldest&uint64(len(ring)-1)]
		if packed >= first && next-oldest != w.most {
			break
		}
		oldest++
		if packed&entryMask != 0 {
			w.forget(entry(packed & entryMask))
		}
	}
	w.oldest = oldest
	if next-oldest == w.room || offset >= maxOffset || oldest == next && offset != 0 {
		w.makeRoom(now)
		return w.record(now, e)
	}
	ring[next&uint64(len(ring)-1)] = offset<<entryBits | int64(e)
	w.next = next + 1
	w.failures += e.failed()
	w.slow += e.slow()
	return w.limits.reached(Counts{int(next + 1 - oldest), w.failures, w.slow})
}

// makeRoom prepares the ring for an outcome at now.
func (w *timeWindow) makeRoom(now int64) {
	switch {
	case w.oldest == w.next:
		w.base = now
	case now-w.base >= maxOffset:
		w.rebase()
	default:
		w.grow()
	}
}

// calm leaves half of the room for bad outcomes to those that may come, and
// lasts until so many good ones have left that they could reach the limits.
func (w *timeWindow) calm() (until int64, bad int) {
	held := Counts{int(w.next - w.oldest), w.failures, w.slow}
	bad, ok := w.limits.spare(held)
	if !ok {
		return 0, 0
	}
	bad /= 2
	widest := w.limits.widest(held, bad)
	for bad > 0 && uint64(widest) >= w.most { // the ring cannot hold enough good ones
		bad /= 2
		widest = w.limits.widest(held, bad)
	}
	if widest == 0 {
		return neverEnds, 0
	}
	// With all the bad ones, or one good one, added and x gone there are
	// held.Calls+max(bad, 1)-x or more, which must be above widest. That is at
	// least max(bad, 1), so this ends before any of those added leaves.
	leave := held.Calls + max(bad, 1) - widest
	if leave < 1 {
		return 0, 0
	}
	last := w.ring[(w.oldest+uint64(leave-1))&uint64(len(w.ring)-1)]
	return w.base + last>>entryBits + w.length, bad
}

func (w *timeWindow) counts(now int64) Counts {
	w.expire(now)
	return Counts{int(w.next - w.oldest), w.failures, w.slow}
}

// expire drops the outcomes that are length old or older.
func (w *timeWindow) expire(now int64) {
	now = max(now, w.last)
	if uint64(now-w.last) >= uint64(w.length) {
		w.drop()
	}
	w.last = now
	first := (now - w.base - w.length + 1) << entryBits
	for w.oldest != w.next {
		packed := w.ring[w.oldest&uint64(len(w.ring)-1)]
		if packed >= first {
			return
		}
		w.oldest++
		w.forget(entry(packed & entryMask))
	}
}

func (w *timeWindow) forget(e entry) {
	w.failures -= e.failed()
	w.slow -= e.slow()
}

func (w *timeWindow) drop() {
	w.oldest, w.failures, w.slow = w.next, 0, 0
}

func (w *timeWindow) grow() {
	old := w.ring
	w.ring = make([]int64, 2*len(old))
	for p := w.oldest; p != w.next; p++ {
		w.ring[p&uint64(len(w.ring)-1)] = old[p&uint64(len(old)-1)]
	}
	w.room = min(uint64(len(w.ring)), w.most)
}

// rebase makes the oldest instant held the base.
func (w *timeWindow) rebase() {
	mask := uint64(len(w.ring) - 1)
	shift := w.ring[w.oldest&mask] &^ entryMask
	for p := w.oldest; p != w.next; p++ {
		w.ring[p&mask] -= shift
	}
	w.base += shift >> entryBits
}

func (w *timeWindow) newest() uint64 { return w.next - 1 }

func (w *timeWindow) amend(ref uint64) bool {
	if ref < w.oldest {
		return false
	}
	w.ring[ref&uint64(len(w.ring)-1)] |= int64(entryFailed)
	w.failures++
	return true
}

func (w *timeWindow) reset() {
	w.oldest, w.failures, w.slow = w.next, 0, 0
	w.last = math.MinInt64
}
