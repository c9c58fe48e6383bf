package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// scheduler is what the engine and its twin have in common. Timers are numbers
// in order of scheduling.
type scheduler interface {
	now() Time
	at(t Time, id uint64)
	after(d time.Duration, id uint64)
	lane(d time.Duration, id uint64)
	cancel(timer int) bool
	next() (Time, bool)
	pending() int
	events() uint64
	step() bool
	run()
	runUntil(end Time)
	stop()
	reset()
}

// textbook is the engine from a textbook: a binary heap of pointers, ordered by
// instant and schedule number, with eager cancellation.
type textbook struct {
	clock   Time
	q       textbookHeap
	seq     uint64
	fired   uint64
	stopped bool
	timers  []*textbookEvent
	fire    func(id uint64)
}

type textbookEvent struct {
	t     Time
	seq   uint64
	id    uint64
	index int // in the heap, −1 if not there
}

type textbookHeap []*textbookEvent

func (h textbookHeap) Len() int { return len(h) }
func (h textbookHeap) Less(i, j int) bool {
	return h[i].t < h[j].t || h[i].t == h[j].t && h[i].seq < h[j].seq
}
func (h textbookHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *textbookHeap) Push(x any) {
	ev := x.(*textbookEvent)
	ev.index = len(*h)
	*h = append(*h, ev)
}
func (h *textbookHeap) Pop() any {
	last := len(*h) - 1
	ev := (*h)[last]
	ev.index = -1
	*h = (*h)[:last]
	return ev
}

func (b *textbook) now() Time { return b.clock }

func (b *textbook) at(t Time, id uint64) {
	b.seq++
	ev := &textbookEvent{t: t, seq: b.seq, id: id}
	heap.Push(&b.q, ev)
	b.timers = append(b.timers, ev)
}

func (b *textbook) after(d time.Duration, id uint64) { b.at(b.clock.Add(d), id) }
func (b *textbook) lane(d time.Duration, id uint64)  { b.after(d, id) }

func (b *textbook) cancel(timer int) bool {
	ev := b.timers[timer]
	if ev.index < 0 {
		return false
	}
	heap.Remove(&b.q, ev.index)
	return true
}

func (b *textbook) next() (Time, bool) {
	if len(b.q) == 0 {
		return MaxTime, false
	}
	return b.q[0].t, true
}

func (b *textbook) pending() int   { return len(b.q) }
func (b *textbook) events() uint64 { return b.fired }

func (b *textbook) step() bool {
	outer := b.stopped
	ok := b.stepBefore(MaxTime)
	b.stopped = outer
	return ok
}

func (b *textbook) stepBefore(end Time) bool {
	if len(b.q) == 0 || b.q[0].t >= end {
		return false
	}
	ev := heap.Pop(&b.q).(*textbookEvent)
	b.clock = ev.t
	b.fired++
	b.fire(ev.id)
	return true
}

func (b *textbook) run() {
	outer := b.stopped
	for b.stopped = false; !b.stopped && b.stepBefore(MaxTime); {
	}
	b.stopped = outer
}

func (b *textbook) runUntil(end Time) {
	outer := b.stopped
	for b.stopped = false; !b.stopped && b.stepBefore(end); {
	}
	if !b.stopped {
		b.clock = max(b.clock, end)
	}
	b.stopped = outer
}

func (b *textbook) stop() { b.stopped = true }

func (b *textbook) reset() {
	for _, ev := range b.q {
		ev.index = -1
	}
	b.q, b.clock, b.seq, b.fired = nil, 0, 0, 0
}

// tested is the engine as a scheduler.
type tested struct {
	e      *Engine
	timers []Timer
	fire   func(id uint64)
}

func (s *tested) Handle(_ *Engine, ev Event) { s.fire(ev.Arg) }

func (s *tested) keep(t Timer)         { s.timers = append(s.timers, t) }
func (s *tested) now() Time            { return s.e.Now() }
func (s *tested) at(t Time, id uint64) { s.keep(s.e.At(t, s, Event{Arg: id})) }
func (s *tested) after(d time.Duration, id uint64) {
	s.keep(s.e.After(d, s, Event{Arg: id}))
}
func (s *tested) lane(d time.Duration, id uint64) {
	s.keep(s.e.Lane(d).After(s, Event{Arg: id}))
}
func (s *tested) cancel(timer int) bool { return s.e.Cancel(s.timers[timer]) }
func (s *tested) next() (Time, bool)    { return s.e.Next() }
func (s *tested) pending() int          { return s.e.Pending() }
func (s *tested) events() uint64        { return s.e.Events() }
func (s *tested) step() bool            { return s.e.Step() }
func (s *tested) run()                  { s.e.Run() }
func (s *tested) runUntil(end Time)     { s.e.RunUntil(end) }
func (s *tested) stop()                 { s.e.Stop() }
func (s *tested) reset()                { s.e.Reset() }

// A program is what the scheduler's user does, outside of handlers and in
// them. What event id does depends on seed and id alone, so the same program
// does the same on every scheduler that fires in the same order.
type program struct {
	seed    uint64
	turns   int           // commands between runs
	events  uint64        // no more are scheduled after so many
	scale   time.Duration // typical delay
	lanes   int           // number of lane delays, 0 for no lanes
	cancels int           // weight of cancelling against scheduling
	nest    bool          // handlers may run the engine
	check   func()        // after every turn, if set

	s     scheduler
	next  uint64 // id
	depth int
	log   []string
}

func drawProgram(t *rapid.T) program {
	return program{
		seed:    rapid.Uint64().Draw(t, "seed"),
		turns:   rapid.IntRange(1, 60).Draw(t, "turns"),
		events:  rapid.SampledFrom([]uint64{10, 100, 3000}).Draw(t, "events"),
		scale:   rapid.SampledFrom([]time.Duration{1, 3, 40, 1000, time.Second, time.Hour}).Draw(t, "scale"),
		lanes:   rapid.IntRange(0, 9).Draw(t, "lanes"),
		cancels: rapid.SampledFrom([]int{0, 1, 3, 8}).Draw(t, "cancels"),
		nest:    rapid.Bool().Draw(t, "nest"),
	}
}

func (p *program) rand(id uint64) *rand.Rand { return rand.New(rand.NewPCG(p.seed, id)) }

func (p *program) say(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// delay mixes ties, zero, powers of two, far instants and never.
func (p *program) delay(r *rand.Rand) time.Duration {
	switch r.IntN(12) {
	case 0, 1:
		return 0
	case 2:
		return p.scale
	case 3:
		return 1 << r.IntN(40)
	case 4:
		return p.scale << r.IntN(10)
	case 5:
		if r.IntN(8) == 0 {
			return 1<<63 - 1
		}
		return 1
	case 6:
		// The next multiple of the scale: ties between different delays.
		return p.scale - time.Duration(p.s.now())%p.scale
	default:
		return time.Duration(r.Int64N(int64(p.scale)*2 + 1))
	}
}

func (p *program) schedule(r *rand.Rand) {
	if p.next >= p.events {
		return
	}
	id := p.next
	p.next++
	switch d := p.delay(r); {
	case p.lanes > 0 && r.IntN(3) == 0:
		p.s.lane(time.Duration(r.IntN(p.lanes))*p.scale/4, id)
	case r.IntN(2) == 0:
		p.s.at(p.s.now().Add(d), id)
	default:
		p.s.after(d, id)
	}
}

func (p *program) cancel(r *rand.Rand) {
	if p.next > 0 {
		timer := int(p.next) - 1 - min(int(r.ExpFloat64()*20), int(p.next)-1)
		p.say("cancel %d: %v", timer, p.s.cancel(timer))
	}
}

// fire is the handler.
func (p *program) fire(id uint64) {
	p.say("%d at %d", id, p.s.now())
	r := p.rand(id)
	for range r.IntN(3) {
		p.schedule(r)
	}
	for range r.IntN(p.cancels + 1) {
		p.cancel(r)
	}
	switch r.IntN(40) {
	case 0:
		p.s.stop()
	case 1:
		if p.nest && p.depth < 3 {
			p.depth++
			p.run(r)
			p.depth--
		}
	}
}

// run advances the scheduler in one of the possible ways.
func (p *program) run(r *rand.Rand) {
	switch r.IntN(8) {
	case 0:
		p.s.run()
	case 1, 2:
		p.say("step %v", p.s.step())
	case 3:
		t, ok := p.s.next()
		if !ok || t == MaxTime {
			return
		}
		p.s.runUntil(t.Add(time.Duration(r.IntN(2)))) // just before and after it
	default:
		p.s.runUntil(p.s.now().Add(p.delay(r) / 4))
	}
}

// play runs the whole program and returns what happened.
func (p *program) play(s scheduler) []string {
	p.s, p.next, p.log = s, 0, nil
	r := p.rand(1 << 63)
	for range p.turns {
		for range r.IntN(1 + int(p.events)/4) {
			p.schedule(r)
		}
		for range r.IntN(p.cancels*4 + 1) {
			p.cancel(r)
		}
		if p.s.now() < MaxTime/2 {
			p.run(r)
		}
		if r.IntN(3) == 0 {
			t, ok := p.s.next()
			p.say("next %d %v", t, ok)
		}
		p.say("now %d, %d pending, %d fired", p.s.now(), p.s.pending(), p.s.events())
		if r.IntN(40) == 0 {
			p.s.reset()
		}
		if p.check != nil {
			p.check()
		}
	}
	return p.log
}

// TestTwin plays random programs on the engine and on its twin: same events in
// the same order at the same instants, and the same answers to every call.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		twin := &textbook{fire: p.fire}
		want := p.play(twin)
		eng := &tested{e: New(), fire: p.fire}
		p.check = func() { checkEngine(t, eng.e) }
		got := p.play(eng)
		for i := range min(len(want), len(got)) {
			if want[i] != got[i] {
				t.Fatalf("line %d: got %q, want %q\nafter %q", i, got[i], want[i], got[max(0, i-5):i])
			}
		}
		if len(want) != len(got) {
			t.Fatalf("got %d lines, want %d", len(got), len(want))
		}
	})
}

// checkEngine asserts what must hold of the engine's parts between events.
func checkEngine(t interface{ Fatalf(string, ...any) }, e *Engine) {
	f, q := &e.front, &e.heap
	entries := slices.Clone(f.f[1 : f.n+1])
	slices.Reverse(entries)
	for _, x := range entries {
		if x.t > f.limit || x.t < e.now {
			t.Fatalf("front entry at %d, limit %d, now %d", x.t, f.limit, e.now)
		}
	}
	for k := range q.b {
		n := len(entries)
		for c := q.b[k].head; c != nil; c = c.next {
			entries = append(entries, q.b[k].part(c)...)
		}
		if (len(entries) > n) != (q.mask>>k&1 == 1) {
			t.Fatalf("bucket %d: %d entries, mask %b", k, len(entries)-n, q.mask)
		}
		least := MaxTime
		for _, x := range entries[n:] {
			least = min(least, x.t)
			if x.t < f.limit || x.t < q.last || x.t >= q.endOf(k) {
				t.Fatalf("heap entry at %d in bucket %d, limit %d, last %d", x.t, k, f.limit, q.last)
			}
		}
		if least != q.b[k].min {
			t.Fatalf("bucket %d: earliest at %d, min %d", k, least, q.b[k].min)
		}
	}
	if q.mask != 0 && q.last > e.now {
		t.Fatalf("last %d after now %d", q.last, e.now)
	}
	live := e.never
	for _, x := range entries {
		if e.slots.live(x) {
			live++
		}
	}
	if dead := len(entries) - (live - e.never); dead != e.dead || dead > e.Pending()+sweepSlack {
		t.Fatalf("%d dead entries, counted %d, pending %d", dead, e.dead, e.Pending())
	}
	for _, l := range e.lanes.all {
		dead := 0
		for i := l.head; i != l.tail; i++ {
			if e.slots.live(l.at(i)) {
				live++
			} else {
				dead++
			}
		}
		if dead != l.dead || l.head != l.tail && !e.slots.live(l.first()) {
			t.Fatalf("lane %v: %d dead entries, counted %d; head dead?", l.d, dead, l.dead)
		}
		if l.first().t < e.lanes.t {
			t.Fatalf("lane %v: head at %d, earliest is %d", l.d, l.first().t, e.lanes.t)
		}
	}
	if live != e.Pending() {
		t.Fatalf("%d live entries, pending %d", live, e.Pending())
	}
}
