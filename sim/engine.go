package sim

import (
	"fmt"
	"time"
)

// An Event says what is due: a kind that its handler defines, and one word.
type Event struct {
	Kind uint32
	Arg  uint64
}

// A Handler receives the events that were scheduled for it. Now is the event's
// instant during Handle, which may schedule, cancel and stop. An event that is
// scheduled at Now runs after everything already due then.
type Handler interface{ Handle(e *Engine, ev Event) }

// An Engine holds the virtual clock and the pending events. Make one with New.
// An Engine is not safe for concurrent use.
type Engine struct {
	now   Time
	end   Time // the running loop runs what is due before end
	bound Time // the earlier of end and lanes.t: before it only the front matters

	slots slots
	front front

	seq       uint64 // events scheduled so far
	fired     uint64 // events fired so far
	cancelled uint64 // events cancelled so far
	never     int    // pending events at MaxTime, which are in no queue
	dead      int    // cancelled events still in front or heap

	lanes lanes
	heap  radix
}

// New returns an engine at time 0 with nothing pending.
func New() *Engine {
	e := new(Engine)
	e.front.init()
	e.heap.init()
	e.lanes.t = MaxTime
	return e
}

// Now returns the current instant.
func (e *Engine) Now() Time { return e.now }

// Events returns how many events have fired since time 0.
func (e *Engine) Events() uint64 { return e.fired }

// Pending returns how many events are scheduled and have neither fired nor been
// cancelled, those at MaxTime included.
func (e *Engine) Pending() int { return int(e.seq - e.fired - e.cancelled) }

// At schedules ev for h at t and returns a timer that Cancel takes in O(1).
// Events due at the same instant run in the order they were scheduled. An event
// at MaxTime is never due. At panics if t is before Now.
func (e *Engine) At(t Time, h Handler, ev Event) Timer {
	return e.schedule(t, 0, h, ev)
}

// After schedules ev for h at Now + d; a sum that does not fit in a Time is
// never. It panics if d is negative, as At does.
func (e *Engine) After(d time.Duration, h Handler, ev Event) Timer {
	return e.schedule(e.now+Time(d), d, h, ev)
}

// schedule is At and After in one, so that both are inlined. For After, t may
// have overflowed, and d tells.
func (e *Engine) schedule(t Time, d time.Duration, h Handler, ev Event) Timer {
	if t < e.now || e.slots.free == 0 {
		return e.prepare(t, d, h, ev)
	}
	x := entry{t, e.hold(h, ev)}
	if t < e.front.limit {
		if e.front.n < frontCap {
			e.front.insert(x)
			return Timer{x.id, inQueue}
		}
	} else if e.heap.mask != 0 && t < MaxTime {
		e.heap.push(x)
		return Timer{x.id, inQueue}
	}
	return Timer{x.id, e.insert(x)}
}

// prepare does what schedule rarely meets, and schedules: a t before Now is a
// sum beyond MaxTime or an error, and the slots may be used up.
//
//go:noinline
func (e *Engine) prepare(t Time, d time.Duration, h Handler, ev Event) Timer {
	if t < e.now {
		if d <= 0 {
			panic(fmt.Sprintf("sim: At(%v) before Now (%v)", t, e.now))
		}
		t = MaxTime
	}
	if e.slots.free == 0 {
		e.slots.grow()
	}
	return e.schedule(t, 0, h, ev)
}

// hold counts an event, puts it into a free slot, of which there must be one,
// and returns the id of its entry.
func (e *Engine) hold(h Handler, ev Event) uint64 {
	i := e.slots.free
	s := &e.slots.s[i]
	e.slots.free = uint32(s.arg)
	s.h, s.kind, s.arg = h, ev.Kind, ev.Arg
	e.seq++
	if int(i) < len(e.slots.seqs) {
		e.slots.seqs[i] = e.seq
	}
	return uint64(s.gen)<<32 | uint64(i)
}

// insert queues x when it takes more than adding to front or heap. It returns
// the place for the Timer.
func (e *Engine) insert(x entry) int32 {
	if x.t == MaxTime {
		e.never++
		return inNever
	}
	if e.heap.mask == 0 {
		e.heap.last = e.now
	}
	if x.t < e.front.limit {
		e.front.spill(&e.heap)
	}
	if x.t < e.front.limit {
		e.front.insert(x)
	} else {
		e.heap.push(x)
	}
	return inQueue
}

// funcHandler lets a plain function be a handler.
type funcHandler func()

func (f funcHandler) Handle(*Engine, Event) { f() }

// AtFunc schedules a call of f at t, as At does. A fresh closure costs an
// allocation: AtFunc is a convenience for tests and rare events.
func (e *Engine) AtFunc(t Time, f func()) Timer { return e.At(t, funcHandler(f), Event{}) }

// Cancel drops the event of t in O(1) and reports whether it was pending.
// Cancelling again, after the event fired, or the zero Timer, does nothing.
func (e *Engine) Cancel(t Timer) bool {
	i := uint32(t.id)
	if uint64(i) >= uint64(len(e.slots.s)) || e.slots.s[i].gen != uint32(t.id>>32) {
		return false
	}
	e.slots.release(&e.slots.s[i], i)
	e.cancelled++
	switch {
	case t.where > 0:
		l := e.lanes.all[t.where-1]
		if l.at(l.head).id == t.id {
			l.cancelHead()
		} else if l.dead++; l.dead > int(l.tail-l.head)/2+sweepSlack {
			l.sweep()
		}
	case t.where == inQueue:
		e.dead++
		if e.dead > e.Pending()+sweepSlack {
			e.sweep()
		}
	default:
		e.never--
	}
	return true
}

// Reset puts the engine back to time 0 with nothing pending, and keeps its
// memory and its lanes. Timers from before identify no event any more. In a
// handler it stops the run, too.
func (e *Engine) Reset() {
	e.now, e.end, e.bound = 0, 0, 0
	e.seq, e.fired, e.cancelled, e.never, e.dead = 0, 0, 0, 0, 0
	e.slots.reset()
	e.front.init()
	e.heap.reset()
	e.lanes.reset()
}
