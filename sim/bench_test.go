package sim

import (
	"fmt"
	"testing"
	"time"
)

// Three workloads, each on the engine and on what a first program in Go would
// do: container/heap and a fresh closure for every event. The ratio of the two
// in one run tells more than the nanoseconds, which depend on the machine.

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
			c := new(textbook)
			var fire func(arg int)
			fire = func(arg int) { c.at(c.clock.Add(exp(r, time.Second)), func() { fire(arg) }) }
			for i := range n {
				fire(i)
			}
			for range n {
				c.step(MaxTime)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				c.step(MaxTime)
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
		c := new(textbook)
		r := Stream(1, 0, "mm1")
		n, left := 0, b.N
		var arrive, depart func()
		serve := func() { c.at(c.clock.Add(exp(r, serviceMean)), func() { depart() }) }
		arrive = func() {
			if n++; n == 1 {
				serve()
			}
			if left--; left > 0 {
				c.at(c.clock.Add(exp(r, gapMean)), func() { arrive() })
			}
		}
		depart = func() {
			if n--; n > 0 {
				serve()
			}
		}
		c.at(0, arrive)
		b.ReportAllocs()
		for len(c.q) > 0 {
			c.step(MaxTime)
		}
		perOp(b, uint64(b.N), "ns/customer")
	})
}

func BenchmarkTimeouts(b *testing.B) {
	const warmUp = 20_000
	b.Run("engine", func(b *testing.B) {
		e := New()
		s := &engineShop{lane: e.Lane(patience), limit: warmUp}
		s.start(e)
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
			s.c.step(MaxTime)
		}
		b.ReportAllocs()
		b.ResetTimer()
		for s.requests < warmUp+uint64(b.N) {
			s.c.step(MaxTime)
		}
		perOp(b, uint64(b.N), "ns/request")
		b.ReportMetric(float64(s.timeouts)/float64(s.requests), "timeout-ratio")
	})
}
