package policies

import "time"

// ObserveAll is Observe for many outcomes of calls that were not slow, in
// order, for a host that has them at hand: it saves what a single call costs.
// It stops behind the first outcome at which the rule trips and returns its
// index; if none does it returns len(failed). Both slices have the same length.
func (r *Rule) ObserveAll(now []time.Duration, failed []bool) (trip int) {
	now = now[:len(failed)]
	switch w := r.window.(type) {
	case *countWindow:
		return w.recordAll(failed)
	case *timeWindow:
		return w.recordAll(now, failed)
	}
	for i, f := range failed {
		if r.Observe(now[i], f, false) {
			return i
		}
	}
	return len(failed)
}

// recordAll is record for outcomes that are not slow. Where the one that
// leaves a full window is like the one that comes, the counts stay, and what
// did not trip before does not trip now.
func (w *countWindow) recordAll(failed []bool) (trip int) {
	i := 0
	for i < len(failed) && (w.held.Calls < w.size || w.limits.reached(w.held)) {
		if w.record(0, makeEntry(failed[i], false)) {
			return i
		}
		i++
	}
	next, ring, start := uint(w.next), w.ring, i
	tripped := false
	for i < len(failed) && !tripped {
		word := &ring[next/perWord]
		shift := next % perWord * entryBits
		old := entry(*word>>shift) & entryMask
		if e := makeEntry(failed[i], false); old != e {
			*word ^= uint64(old^e) << shift
			w.held.Failures += e.failed() - old.failed()
			w.held.Slow -= old.slow()
			tripped = w.limits.reached(w.held)
		}
		if next++; next == uint(w.size) {
			next = 0
		}
		i++
	}
	w.next, w.recorded = int(next), w.recorded+uint64(i-start)
	if tripped {
		return i - 1
	}
	return i
}

// recordAll is record for outcomes that are not slow.
func (w *timeWindow) recordAll(now []time.Duration, failed []bool) (trip int) {
	for i := 0; i < len(failed); i++ {
		if i += w.steady(now[i:], failed[i:]); i == len(failed) {
			break
		}
		if w.record(int64(now[i]), makeEntry(failed[i], false)) {
			return i
		}
	}
	return len(failed)
}

// steady records successes for as long as nothing can trip and nothing is
// uncommon: the rule does not hold now, time goes forward, there is room, and
// for each success that comes at most one leaves, so that the share of bad
// calls cannot rise; with no bad call in the window any number may leave. It
// returns how many outcomes it took.
func (w *timeWindow) steady(now []time.Duration, failed []bool) (n int) {
	ring, mask := w.ring, uint64(len(w.ring)-1)
	next, oldest, last := w.next, w.oldest, w.last
	room := min(uint64(len(ring)), w.most)
	clean := w.failures|w.slow == 0
	held := Counts{int(next - oldest), w.failures, w.slow}
	if !clean && (held.Calls < w.limits.minCalls || w.limits.reached(held)) {
		return 0
	}
	for n < len(failed) && next != oldest {
		t := int64(now[n])
		offset := t - w.base
		if failed[n] || t < last || uint64(t-last) >= uint64(w.length) || next-oldest == room || offset >= maxOffset {
			break
		}
		first := (offset - w.length + 1) << entryBits
		leave := oldest
		for leave != next && ring[leave&mask] < first && ring[leave&mask]&entryMask == 0 {
			leave++
		}
		if leave == next || ring[leave&mask] < first || !clean && leave-oldest > 1 {
			break
		}
		ring[next&mask] = offset << entryBits
		oldest, last = leave, t
		next++
		n++
	}
	w.next, w.oldest, w.last = next, oldest, last
	return n
}
