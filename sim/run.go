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

// dealt is how many entries at most are dealt to the front at once.
const dealt = 16

// deal fills the empty front with the earliest entries of the heap. A large
// bucket it first deals out to lower ones, but only if its earliest entry is
// due before the given instant, because Now must be there next. It is false if
// the front stays empty: then no entry of the heap is due before.
func (e *Engine) deal(before Time) bool {
	q, f := &e.heap, &e.front
	for q.mask != 0 {
		k := bits.TrailingZeros64(q.mask)
		b := &q.b[k]
		switch {
		case b.small(dealt):
			e.dealSmall()
		case k == 0:
			e.dealTies(b)
		case b.min < before:
			if b.head == b.tail && e.stale(b.head.e[b.lo:b.hi]) {
				e.dead -= q.filter(k, &e.slots)
				continue
			}
			q.spread(k)
		default:
			return false
		}
		if f.n > 0 {
			return true
		}
	}
	f.limit = MaxTime
	return false
}

// dealSmall moves the lowest buckets to the empty front, as many as are small
// enough together, the first in any case.
func (e *Engine) dealSmall() {
	q, f := &e.heap, &e.front
	n, left := 0, q.mask
	for left != 0 {
		b := &q.b[bits.TrailingZeros64(left)]
		if !b.small(uint32(dealt - n)) {
			break
		}
		n += int(b.hi - b.lo)
		left &= left - 1
	}
	f.n = n
	for q.mask != left {
		k := bits.TrailingZeros64(q.mask)
		b := &q.b[k]
		entries := b.head.e[b.lo:b.hi]
		n -= len(entries)
		if k <= sortBits {
			sortFew(entries, f.f[n+1:])
		} else {
			insertionSort(entries, f.f[n+1:])
		}
		b.lo, b.hi, b.min = 0, 0, MaxTime
		q.mask &= q.mask - 1
		f.limit = q.endOf(k)
	}
	if q.mask == 0 {
		f.limit = MaxTime
	}
	q.peek.t = minTime
	if e.stale(f.f[1 : f.n+1]) {
		e.dead -= f.filter(&e.slots)
	}
}

// coldSlots is when the slots no longer fit in a processor's nearer caches.
const coldSlots = 1 << 14

// stale reports whether any of the entries, which are to fire soon, is dead. In
// a large model it reads their slots even if there are no dead entries at all,
// to have them at hand when they fire.
func (e *Engine) stale(entries []entry) bool {
	return (e.dead > 0 || len(e.slots.s) > coldSlots) && e.slots.stale(entries)
}

// dealTies moves the first entries of bucket 0, all due at last, to the empty
// front. Its bucket is not small, so it keeps some.
func (e *Engine) dealTies(b *bucket) {
	q, f := &e.heap, &e.front
	n := min(dealt, int(chunkLen-b.lo))
	if b.head == b.tail {
		n = min(n, int(b.hi-b.lo))
	}
	for i := range n {
		f.f[(n-i)&frontMask] = b.head.e[b.lo]
		b.lo++
	}
	if b.lo == chunkLen && b.head != b.tail {
		c := b.head
		b.head, b.lo = c.next, 0
		q.give(c)
	}
	f.n, f.limit = n, q.last
	q.peek.t = minTime
}

// sweepSlack keeps small models from sweeping all the time.
const sweepSlack = 64

// sweep drops all dead entries of front and heap. It is called when they
// outnumber the live events, so a cancellation still costs O(1) on average.
func (e *Engine) sweep() {
	q, f := &e.heap, &e.front
	f.filter(&e.slots)
	for m := q.mask; m != 0; m &= m - 1 {
		q.filter(bits.TrailingZeros64(m), &e.slots)
	}
	e.dead = 0
}
