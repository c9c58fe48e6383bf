package sim

import (
	"testing"
	"time"
)

// chunks counts the chunks that the heap owns, in use or not.
func (q *radix) chunks() (n int) {
	for k := range q.b {
		for c := q.b[k].head; c != nil; c = c.next {
			n++
		}
	}
	for c := q.spare; c != nil; c = c.next {
		n++
	}
	return n
}

// holding returns an engine in steady state with n events pending.
func holding(n int) (*Engine, *hold) {
	e, h := New(), &hold{r: Stream(1, 0, "hold"), left: 5 * n}
	for range n {
		e.After(exp(h.r, time.Second), h, Event{})
	}
	e.Run()
	return e, h
}

func TestHoldAllocatesNothing(t *testing.T) {
	for _, n := range []int{1, 10, 100, 10_000} {
		e, h := holding(n)
		// A bucket that was never used before gets its first chunk: at most one
		// per power of two, so rare that the average must be below any share.
		if got := testing.AllocsPerRun(10, func() { h.left = 10_000; e.Run() }); got > 1 {
			t.Errorf("N=%d: %v allocations in 10,000 events", n, got)
		}
	}
}

func TestTimeoutsAllocateNothing(t *testing.T) {
	e := New()
	s := &engineShop{lane: e.Lane(patience), limit: 50_000}
	s.start(e)
	e.Run()
	if got := testing.AllocsPerRun(10, func() { s.limit += 10_000; e.Run() }); got > 1 {
		t.Errorf("%v allocations in 10,000 requests", got)
	}
	if s.timeouts == 0 || s.timeouts*20 > s.requests {
		t.Errorf("%d timeouts in %d requests, want some", s.timeouts, s.requests)
	}
}

// A second replication on the same engine needs no memory.
func TestResetKeepsMemory(t *testing.T) {
	e := New()
	replication := func() {
		e.Reset()
		h := hold{r: Stream(1, 0, "hold"), left: 20_000}
		lane := e.Lane(time.Second)
		for range 5000 {
			e.After(exp(h.r, time.Second), &h, Event{})
			lane.After(&h, Event{})
		}
		e.Run()
	}
	replication()
	if got := testing.AllocsPerRun(3, replication); got > 3 { // the stream, hold, a rare chunk
		t.Errorf("%v allocations per replication", got)
	}
}

// The heap's chunks stay in proportion to the events, run as long as it may.
func TestHeapIsBounded(t *testing.T) {
	const n = 20_000
	e, h := holding(n)
	for range 20 {
		h.left = n
		e.Run()
	}
	if got, most := e.heap.chunks(), 2*n/chunkLen+2*len(e.heap.b); got > most {
		t.Errorf("%d chunks of %d entries for %d events, want at most %d", got, chunkLen, n, most)
	}
	if len(e.slots.s) > 2*n {
		t.Errorf("%d slots for %d events", len(e.slots.s), n)
	}
}

// Timers that are nearly always cancelled do not pile up in the heap until they
// would have been due.
func TestCancelledTimersAreBounded(t *testing.T) {
	e, r := New(), new(record)
	rand := Stream(1, 0, "cancel")
	for i := range 200_000 {
		e.RunUntil(Time(i))
		timer := e.After(time.Hour+exp(rand, time.Minute), r, Event{})
		if i%1000 != 0 {
			e.Cancel(timer)
		}
	}
	if got := e.heap.chunks() * chunkLen; got > 10_000 {
		t.Errorf("room for %d entries with %d events pending", got, e.Pending())
	}
	checkEngine(t, e)
	e.Run()
	if len(r.got) != 200 {
		t.Errorf("%d events fired, want 200", len(r.got))
	}
}
