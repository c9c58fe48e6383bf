package sim

import (
	"fmt"
	"time"
)

// A Lane schedules events that all have the same delay, such as timeouts. They
// are due in the order they were scheduled, so they wait in a ring of their own
// and never touch the queue; cancelling most of them costs next to nothing.
type Lane struct {
	e    *Engine
	d    time.Duration
	num  int32  // place in lanes.all, from 1
	dead int    // cancelled entries in the ring; the head is never one
	head uint64 // the entries are ring[i & (len−1)], head <= i < tail
	tail uint64
	ring []entry // length is a power of two
}

// Lane returns the engine's lane for delay d; the same d gives the same lane,
// also after Reset. Keep the Lane rather than ask for it on every event. Lane
// panics if d is negative.
func (e *Engine) Lane(d time.Duration) *Lane {
	if d < 0 {
		panic(fmt.Sprintf("sim: Lane(%v), want at least 0s", d))
	}
	if l := e.lanes.of[d]; l != nil {
		return l
	}
	if e.slots.seqs == nil {
		e.slots.number()
	}
	l := &Lane{e: e, d: d, ring: make([]entry, 64)}
	e.lanes.add(l)
	return l
}

// After schedules ev for h at Now plus the lane's delay, exactly as
// Engine.After does.
func (l *Lane) After(h Handler, ev Event) Timer {
	e := l.e
	t := e.now + Time(l.d)
	if uint64(t) >= uint64(MaxTime) || e.slots.free == 0 || l.tail-l.head == uint64(len(l.ring)) {
		return l.prepare(h, ev)
	}
	id := e.hold(h, ev)
	l.ring[l.tail&uint64(len(l.ring)-1)] = entry{t, id}
	l.tail++
	if l.tail-l.head == 1 {
		e.lanes.changed(l)
		e.bound = min(e.end, e.lanes.t)
	}
	return Timer{id, l.num}
}

// prepare does what After rarely meets, and schedules: the event is due never,
// or the slots or the ring are used up.
//
//go:noinline
func (l *Lane) prepare(h Handler, ev Event) Timer {
	e := l.e
	if e.now.Add(l.d) == MaxTime {
		return e.At(MaxTime, h, ev)
	}
	if e.slots.free == 0 {
		e.slots.grow()
	}
	if l.tail-l.head == uint64(len(l.ring)) {
		l.resize(2 * len(l.ring))
	}
	return l.After(h, ev)
}

// resize moves the entries to a ring of n.
func (l *Lane) resize(n int) {
	ring := make([]entry, n)
	for i := l.head; i != l.tail; i++ {
		ring[i&uint64(n-1)] = l.at(i)
	}
	l.ring = ring
}

// at returns entry i of the ring.
func (l *Lane) at(i uint64) entry { return l.ring[i&uint64(len(l.ring)-1)] }

// first returns the earliest entry, or one due never.
func (l *Lane) first() entry {
	if l.head == l.tail {
		return entry{t: MaxTime}
	}
	return l.at(l.head)
}

// pop drops the head, which is not live any more or about to fire, and the dead
// entries behind it.
func (l *Lane) pop() {
	for l.head++; l.head != l.tail && l.dead > 0; l.head++ {
		if l.e.slots.live(l.at(l.head)) {
			break
		}
		l.dead--
	}
	l.e.lanes.changed(l)
}

// cancelHead drops the head, which is dead by now.
func (l *Lane) cancelHead() {
	l.pop()
	l.e.bound = min(l.e.end, l.e.lanes.t)
}

// sweep drops the dead entries. The head is live and stays.
func (l *Lane) sweep() {
	w := l.head
	for i := l.head; i != l.tail; i++ {
		if x := l.at(i); l.e.slots.live(x) {
			l.ring[w&uint64(len(l.ring)-1)] = x
			w++
		}
	}
	l.tail, l.dead = w, 0
}
