package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"
)

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
	check   func()        // now and then, if set

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
		return 1 << r.IntN(62)
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

// purge cancels most of the latest timers, enough to make the engine sweep.
func (p *program) purge(r *rand.Rand) {
	cancelled := 0
	for timer := max(0, int(p.next)-500); timer < int(p.next); timer++ {
		if r.IntN(10) > 0 && p.s.cancel(timer) {
			cancelled++
		}
	}
	p.say("cancelled %d", cancelled)
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
	case 2:
		if p.nest && r.IntN(20) == 0 {
			p.s.reset()
		}
	case 3:
		if p.cancels > 1 && r.IntN(20) == 0 {
			p.purge(r)
		}
	case 4, 5:
		if p.check != nil {
			p.check()
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
		if p.cancels > 0 && r.IntN(8) == 0 {
			p.purge(r)
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
