package sim

import (
	"container/heap"
	"fmt"
	"testing"
	"time"
)

// Three workloads, each on the engine and on what a first program in Go would
// do: container/heap and a fresh closure for every event. The ratio of the two
// in one run tells more than the nanoseconds, which depend on the machine.

// closures is the textbook simulator.
type closures struct {
	clock Time
	q     closureHeap
	seq   uint64
}

type closureEvent struct {
	t     Time
	seq   uint64
	f     func()
	index int
}

type closureHeap []*closureEvent

func (h closureHeap) Len() int { return len(h) }
func (h closureHeap) Less(i, j int) bool {
	return h[i].t < h[j].t || h[i].t == h[j].t && h[i].seq < h[j].seq
}
func (h closureHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *closureHeap) Push(x any) {
	ev := x.(*closureEvent)
	ev.index = len(*h)
	*h = append(*h, ev)
}
func (h *closureHeap) Pop() any {
	last := len(*h) - 1
	ev := (*h)[last]
	(*h)[last] = nil
	ev.index = -1
	*h = (*h)[:last]
	return ev
}

func (c *closures) after(d time.Duration, f func()) *closureEvent {
	c.seq++
	ev := &closureEvent{t: c.clock.Add(d), seq: c.seq, f: f}
	heap.Push(&c.q, ev)
	return ev
}

func (c *closures) cancel(ev *closureEvent) {
	if ev.index >= 0 {
		heap.Remove(&c.q, ev.index)
	}
}

func (c *closures) step() {
	ev := heap.Pop(&c.q).(*closureEvent)
	c.clock = ev.t
	ev.f()
}

// exp draws an exponential duration.
func exp(r *Rand, mean time.Duration) time.Duration {
	return time.Duration(r.ExpFloat64() * float64(mean))
}

// perOp reports the cost of one of n things.
func perOp(b *testing.B, n uint64, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), unit)
}

// hold keeps n events pending: each, when it fires, schedules the next.
type hold struct {
	r    *Rand
	left int
}

func (h *hold) Handle(e *Engine, ev Event) {
	e.After(exp(h.r, time.Second), h, ev)
	if h.left--; h.left <= 0 {
		e.Stop()
	}
}

func BenchmarkHold(b *testing.B) {
	sizes := []int{1, 100, 10_000, 1_000_000}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("engine/N=%d", n), func(b *testing.B) {
			h := &hold{r: Stream(1, 0, "hold"), left: 3 * n}
			e := New()
			for range n {
				e.After(exp(h.r, time.Second), h, Event{})
			}
			e.Run()
			h.left = b.N
			b.ReportAllocs()
			b.ResetTimer()
			e.Run()
			perOp(b, uint64(b.N), "ns/event")
		})
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("textbook/N=%d", n), func(b *testing.B) {
			r := Stream(1, 0, "hold")
			c := new(closures)
			var fire func(arg int)
			fire = func(arg int) { c.after(exp(r, time.Second), func() { fire(arg) }) }
			for i := range n {
				fire(i)
			}
			for range n {
				c.step()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				c.step()
			}
			perOp(b, uint64(b.N), "ns/event")
		})
	}
}

// queue1 is the M/M/1 queue at load 0.9; only the number of customers counts.
type queue1 struct {
	r    *Rand
	n    int // customers in the system
	left int // customers still to come
}

const (
	arrival = iota
	departure

	gapMean     = time.Second
	serviceMean = 900 * time.Millisecond
)

func (q *queue1) Handle(e *Engine, ev Event) {
	switch ev.Kind {
	case arrival:
		if q.n++; q.n == 1 {
			e.After(exp(q.r, serviceMean), q, Event{Kind: departure})
		}
		if q.left--; q.left > 0 {
			e.After(exp(q.r, gapMean), q, Event{Kind: arrival})
		}
	case departure:
		if q.n--; q.n > 0 {
			e.After(exp(q.r, serviceMean), q, Event{Kind: departure})
		}
	}
}

func BenchmarkMM1(b *testing.B) {
	b.Run("engine", func(b *testing.B) {
		e := New()
		q := &queue1{r: Stream(1, 0, "mm1"), left: b.N}
		e.At(0, q, Event{Kind: arrival})
		b.ReportAllocs()
		e.Run()
		perOp(b, uint64(b.N), "ns/customer")
	})
	b.Run("textbook", func(b *testing.B) {
		c := new(closures)
		r := Stream(1, 0, "mm1")
		n, left := 0, b.N
		var arrive, depart func()
		serve := func() { c.after(exp(r, serviceMean), func() { depart() }) }
		arrive = func() {
			if n++; n == 1 {
				serve()
			}
			if left--; left > 0 {
				c.after(exp(r, gapMean), func() { arrive() })
			}
		}
		depart = func() {
			if n--; n > 0 {
				serve()
			}
		}
		c.after(0, arrive)
		b.ReportAllocs()
		for len(c.q) > 0 {
			c.step()
		}
		perOp(b, uint64(b.N), "ns/customer")
	})
}

// The timeouts workload: clients that think, ask a server with a waiting line,
// and give up after a fixed time, which 1 % of the requests come to.
const (
	clients     = 1000
	servers     = 10
	workMean    = 10 * time.Millisecond
	thinkMean   = 2 * time.Second
	backoffMean = 200 * time.Millisecond
	patience    = 46100 * time.Microsecond
)

// shop is the workload's state, the same for both implementations.
type shop struct {
	r        *Rand
	busy     int
	waiting  fifo
	requests uint64
	timeouts uint64
}

// fifo is a ring of request numbers that never holds more than the clients can
// abandon.
type fifo struct {
	ring       [1 << 14]ask
	head, tail uint32
}

// ask is one request: the client, and its number to tell a late answer.
type ask struct{ client, num uint32 }

func (f *fifo) push(a ask) {
	f.ring[f.tail%uint32(len(f.ring))] = a
	f.tail++
}

func (f *fifo) pop() ask {
	a := f.ring[f.head%uint32(len(f.ring))]
	f.head++
	return a
}

const (
	thought = iota
	served
	timedOut
)

// engineShop runs the shop on the engine.
type engineShop struct {
	shop
	lane  *Lane
	num   [clients]uint32
	timer [clients]Timer
	limit uint64
}

func (s *engineShop) Handle(e *Engine, ev Event) {
	switch a := (ask{uint32(ev.Arg >> 32), uint32(ev.Arg)}); ev.Kind {
	case thought:
		s.num[a.client]++
		a.num = s.num[a.client]
		s.timer[a.client] = s.lane.After(s, Event{Kind: timedOut, Arg: ev.Arg})
		if s.busy < servers {
			s.busy++
			s.serve(e, a)
		} else {
			s.waiting.push(a)
		}
		if s.requests++; s.requests == s.limit {
			e.Stop()
		}
	case served:
		if s.num[a.client] == a.num {
			s.num[a.client]++
			e.Cancel(s.timer[a.client])
			e.After(exp(s.r, thinkMean), s, Event{Kind: thought, Arg: ev.Arg})
		}
		if s.waiting.head != s.waiting.tail {
			s.serve(e, s.waiting.pop())
		} else {
			s.busy--
		}
	case timedOut:
		s.timeouts++
		s.num[a.client]++
		e.After(exp(s.r, backoffMean), s, Event{Kind: thought, Arg: ev.Arg})
	}
}

func (s *engineShop) serve(e *Engine, a ask) {
	e.After(exp(s.r, workMean), s, Event{Kind: served, Arg: uint64(a.client)<<32 | uint64(a.num)})
}

// closureShop runs it on closures.
type closureShop struct {
	shop
	c     closures
	num   [clients]uint32
	timer [clients]*closureEvent
}

func (s *closureShop) think(client uint32, mean time.Duration) {
	s.c.after(exp(s.r, mean), func() { s.request(client) })
}

func (s *closureShop) request(client uint32) {
	s.num[client]++
	a := ask{client, s.num[client]}
	s.timer[client] = s.c.after(patience, func() {
		s.timeouts++
		s.num[client]++
		s.think(client, backoffMean)
	})
	if s.busy < servers {
		s.busy++
		s.serve(a)
	} else {
		s.waiting.push(a)
	}
	s.requests++
}

func (s *closureShop) serve(a ask) {
	s.c.after(exp(s.r, workMean), func() {
		if s.num[a.client] == a.num {
			s.num[a.client]++
			s.c.cancel(s.timer[a.client])
			s.think(a.client, thinkMean)
		}
		if s.waiting.head != s.waiting.tail {
			s.serve(s.waiting.pop())
		} else {
			s.busy--
		}
	})
}

func BenchmarkTimeouts(b *testing.B) {
	const warmUp = 20_000
	b.Run("engine", func(b *testing.B) {
		e := New()
		s := &engineShop{lane: e.Lane(patience), limit: warmUp}
		s.r = Stream(1, 0, "shop")
		for i := range uint64(clients) {
			e.After(exp(s.r, thinkMean), s, Event{Kind: thought, Arg: i << 32})
		}
		e.Run()
		s.limit += uint64(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		e.Run()
		perOp(b, uint64(b.N), "ns/request")
		b.ReportMetric(float64(s.timeouts)/float64(s.requests), "timeout-ratio")
	})
	b.Run("textbook", func(b *testing.B) {
		s := new(closureShop)
		s.r = Stream(1, 0, "shop")
		for i := range uint32(clients) {
			s.think(i, thinkMean)
		}
		for s.requests < warmUp {
			s.c.step()
		}
		b.ReportAllocs()
		b.ResetTimer()
		for s.requests < warmUp+uint64(b.N) {
			s.c.step()
		}
		perOp(b, uint64(b.N), "ns/request")
		b.ReportMetric(float64(s.timeouts)/float64(s.requests), "timeout-ratio")
	})
}
