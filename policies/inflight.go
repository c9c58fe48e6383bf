package policies

import "math"

// calls are the calls in flight of one epoch, kept only with InFlightSlow.
// Those that are not slow yet form a list in the order of their start, which
// is the order in which they become slow. A slot is used again when its call
// has ended, so there are as many as there were calls in flight at a time.
type calls struct {
	slots []call // slots[0] is the head of the list
	free  uint32 // first unused slot, linked by next; 0 if there is none
}

type call struct {
	start      int64
	entry      uint64 // where the window holds it, if slow
	next, prev uint32 // in the list of those that are not slow yet
	use        uint32 // how often the slot was given out
	phase      phase
}

type phase uint8

const (
	ended phase = iota
	running
	knownSlow // in flight and recorded as slow
)

func (c *calls) reset() {
	c.slots, c.free = c.slots[:0], 0
}

// A callID is the slot of a call and its use, so that a permit that comes back
// twice does not end the call that has the slot by then.
type callID uint64

func makeCallID(slot, use uint32) callID { return callID(slot)<<32 | callID(use) }
func (id callID) slot() uint32           { return uint32(id >> 32) }
func (id callID) use() uint32            { return uint32(id) }

// add takes a slot for a call that starts now.
func (c *calls) add(now int64) callID {
	if len(c.slots) == 0 {
		c.slots = append(c.slots, call{})
	}
	slot := c.free
	if slot != 0 {
		c.free = c.slots[slot].next
	} else {
		slot = uint32(len(c.slots))
		c.slots = append(c.slots, call{})
	}
	use := c.slots[slot].use + 1
	last := c.slots[0].prev
	c.slots[slot] = call{start: now, prev: last, use: use, phase: running}
	c.slots[last].next = slot
	c.slots[0].prev = slot
	return makeCallID(slot, use)
}

// first returns the call that becomes slow next, or nil.
func (c *calls) first() *call {
	if len(c.slots) == 0 || c.slots[0].next == 0 {
		return nil
	}
	return &c.slots[c.slots[0].next]
}

// unlink takes a call out of the list.
func (c *calls) unlink(l *call) {
	c.slots[l.prev].next = l.next
	c.slots[l.next].prev = l.prev
}

// end frees the slot of a call of this epoch and returns the call as it was:
// ended already if that happened before.
func (c *calls) end(id callID) call {
	slot := id.slot()
	if uint64(slot) >= uint64(len(c.slots)) {
		return call{}
	}
	l := &c.slots[slot]
	if l.use != id.use() || l.phase == ended {
		return call{}
	}
	was := *l
	if l.phase == running {
		c.unlink(l)
	}
	l.phase, l.next = ended, c.free
	c.free = slot
	return was
}

// slowAt is the first instant at which a call still in flight is slow: its
// latency is then strictly above SlowAfter.
func (b *Breaker) slowAt(l *call) int64 {
	if l.start >= math.MaxInt64-int64(b.slowAfter) {
		return math.MaxInt64
	}
	return l.start + int64(b.slowAfter) + 1
}

// markSlow records the call that is first in the list as slow.
func (b *Breaker) markSlow(l *call, now int64) {
	b.calls.unlink(l)
	l.phase = knownSlow
	b.stats.EarlySlow++
	if b.epoch.Load().state == HalfOpen {
		b.collect(entrySlow, now)
		return
	}
	if b.window.record(now, entrySlow) {
		b.change(Open, now, b.window.counts(now))
		return
	}
	l.entry = b.window.newest()
}

// endSlow adds a failure to the outcome of a call that was recorded as slow
// while it was in flight.
func (b *Breaker) endSlow(l call, s State, e entry, now int64) {
	if e.failed() == 0 {
		return
	}
	if s == HalfOpen {
		b.probes.held.Failures++
		return
	}
	b.window.counts(now) // an outcome that is too old must not come back
	if !b.window.amend(l.entry) {
		return
	}
	if held := b.window.counts(now); b.limits.reached(held) {
		b.change(Open, now, held)
	}
}
