package sim

import (
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

// twin is the textbook engine as a scheduler.
type twin struct {
	b       textbook
	stopped bool
	timers  []*textbookEvent
	fire    func(id uint64)
}

func (s *twin) now() Time { return s.b.clock }
func (s *twin) at(t Time, id uint64) {
	s.timers = append(s.timers, s.b.at(t, func() { s.fire(id) }))
}
func (s *twin) after(d time.Duration, id uint64) { s.at(s.b.clock.Add(d), id) }
func (s *twin) lane(d time.Duration, id uint64)  { s.after(d, id) }
func (s *twin) cancel(timer int) bool            { return s.b.cancel(s.timers[timer]) }
func (s *twin) pending() int                     { return len(s.b.q) }
func (s *twin) events() uint64                   { return s.b.fired }
func (s *twin) stop()                            { s.stopped = true }

func (s *twin) next() (Time, bool) {
	if len(s.b.q) == 0 {
		return MaxTime, false
	}
	return s.b.q[0].t, true
}

// nested runs f with a stop flag of its own and returns the flag.
func (s *twin) nested(f func()) (stopped bool) {
	outer := s.stopped
	s.stopped = false
	f()
	stopped, s.stopped = s.stopped, outer
	return stopped
}

func (s *twin) step() (ok bool) {
	s.nested(func() { ok = s.b.step(MaxTime) })
	return ok
}

func (s *twin) run() {
	s.nested(func() {
		for !s.stopped && s.b.step(MaxTime) {
		}
	})
}

func (s *twin) runUntil(end Time) {
	stopped := s.nested(func() {
		for !s.stopped && s.b.step(end) {
		}
	})
	if !stopped {
		s.b.clock = max(s.b.clock, end)
	}
}

func (s *twin) reset() {
	for _, ev := range s.b.q {
		ev.index = -1
	}
	s.b = textbook{}
	s.stopped = true
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

// TestTwin plays random programs on the engine and on its twin: same events in
// the same order at the same instants, and the same answers to every call.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t)
		want := p.play(&twin{fire: p.fire})
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
