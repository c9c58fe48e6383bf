package sim

import (
	"fmt"
	"math/bits"
)

// Run runs events until none is due any more, or Stop.
func (e *Engine) Run() { e.run(MaxTime) }

// RunUntil runs every event due before end, then sets Now to end, from where
// events may be scheduled. After Stop it leaves Now at the last event. It
// panics if end is before Now.
//
// A handler may call Run, RunUntil and Step too: the inner call runs the events
// that are due next, and the outer one goes on at the Now that the inner left.
func (e *Engine) RunUntil(end Time) {
	if end < e.now {
		panic(fmt.Sprintf("sim: RunUntil(%v) before Now (%v)", end, e.now))
	}
	if e.run(end) && e.now < end {
		e.now = end
	}
}

// Stop ends the current Run, RunUntil or Step after the current event. Outside
// of them it does nothing.
func (e *Engine) Stop() { e.end, e.bound = minTime, minTime }

// Step runs the next event and reports whether there was one.
func (e *Engine) Step() bool {
	outer := e.end
	e.enter(MaxTime)
	done := idle
	for done != fired {
		if x := e.front.f[e.front.n&frontMask]; x.t < e.bound {
			done = e.fireFront(x)
		} else if done = e.advance(); done == idle {
			break
		}
	}
	e.enter(outer)
	return done == fired
}

// Next returns the instant of the earliest pending event, MaxTime if there are
// only events that are never due. It is false if nothing is pending.
func (e *Engine) Next() (Time, bool) {
	t := e.lanes.t
	for e.front.n > 0 || e.deal(minTime) {
		x := e.front.f[e.front.n&frontMask]
		if e.slots.live(x) {
			return min(t, x.t), true
		}
		e.front.n--
		e.dead--
	}
	for m := e.heap.mask; m != 0; m &= m - 1 {
		if x, ok := e.heap.next(bits.TrailingZeros64(m), &e.slots); ok {
			return min(t, x.t), true
		}
	}
	return t, e.Pending() > 0
}

// enter makes end the end of the running loop.
func (e *Engine) enter(end Time) {
	e.end = end
	e.bound = min(end, e.lanes.t)
}

// run fires what is due before end and reports whether all of it was, that is,
// nobody called Stop.
func (e *Engine) run(end Time) bool {
	outer := e.end
	e.enter(end)
	for {
		n := e.front.n
		x := e.front.f[n&frontMask]
		if x.t >= e.bound {
			if e.advance() == idle {
				break
			}
			continue
		}
		e.front.n = n - 1
		i := uint32(x.id)
		s := &e.slots.s[i]
		if s.gen != uint32(x.id>>32) {
			e.dead--
			continue
		}
		h, ev := s.h, Event{s.kind, s.arg}
		e.now = x.t
		e.fired++
		e.slots.release(s, i)
		h.Handle(e, ev)
	}
	all := e.end == end
	e.enter(outer)
	return all
}

// What one turn of the loop did.
type progress int

const (
	idle  progress = iota // nothing is due before end
	moved                 // no event fired, but the queue changed: look again
	fired
)

// fireFront fires the head of the front unless it is dead.
func (e *Engine) fireFront(x entry) progress {
	e.front.n--
	if !e.slots.live(x) {
		e.dead--
		return moved
	}
	e.fire(x)
	return fired
}

// fire runs the handler of a live entry that is in no queue any more.
func (e *Engine) fire(x entry) {
	i := uint32(x.id)
	s := &e.slots.s[i]
	h, ev := s.h, Event{s.kind, s.arg}
	e.now = x.t
	e.fired++
	e.slots.release(s, i)
	h.Handle(e, ev)
}

// advance does what comes next if it is not an event of the front due before
// bound: deal the heap out, fire from a lane, or nothing.
func (e *Engine) advance() progress {
	t := e.lanes.t
	if e.front.n == 0 && e.heap.mask != 0 {
		// Entries due at t must be in the front to be compared with the lane's.
		before := e.end
		if t < before {
			before = t + 1
		}
		if e.deal(before) {
			return moved
		}
	}
	if t >= e.end {
		return idle
	}
	// The earliest lane is due, and nothing in the queue is due before it.
	head := e.lanes.head()
	if x := e.front.f[e.front.n&frontMask]; x.t == t {
		if !e.slots.live(x) || e.slots.seq(x) < e.slots.seq(head) {
			return e.fireFront(x)
		}
	}
	e.lanes.pop()
	e.bound = min(e.end, e.lanes.t)
	e.fire(head)
	return fired
}
