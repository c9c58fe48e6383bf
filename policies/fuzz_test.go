package policies

import (
	"testing"
	"time"
)

// FuzzBreaker plays bytes as a script. A breaker never leaves its state
// diagram, never goes back in time, and keeps its books.
func FuzzBreaker(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte{0, 2, 0, 2, 0, 2, 0x40, 0, 1, 0, 1}, uint8(1))
	f.Add([]byte{0, 0, 0, 0, 0xf0, 3, 3, 4, 0, 5, 1, 2}, uint8(0xff))
	f.Fuzz(func(t *testing.T, script []byte, knobs uint8) {
		cfg := BreakerConfig{
			Rule: RuleConfig{
				Window:   WindowConfig{Kind: CountWindow, Calls: 1 + int(knobs&3)},
				MinCalls: 1 + int(knobs>>2&3), FailureRate: 0.5, SlowRate: 0.6, SlowAfter: 3,
			},
			OpenFor: 4, Probes: 2, InFlightSlow: knobs&16 != 0, Unshared: knobs&32 != 0,
			Classify: classifyByError,
		}
		if knobs&64 != 0 {
			cfg.Rule.Window = WindowConfig{Kind: TimeWindow, Length: 5, MaxCalls: int(knobs & 3)}
		}
		if knobs&128 != 0 {
			cfg.HalfOpen, cfg.HalfOpenFor = FirstFailure, 7
		}
		state, at, openings, closings := Closed, testStart, uint64(0), uint64(0)
		cfg.OnChange = func(c Change) {
			if !legal(c) || c.From != state || c.At.Before(at) {
				t.Errorf("%v to %v at %v after %v at %v", c.From, c.To, c.At, state, at)
			}
			state, at = c.To, c.At
			switch c.To {
			case Open:
				openings++
			case Closed:
				closings++
			}
		}
		clock := newHandClock()
		b := mustBreaker(t, cfg, clock)
		var flying []Permit
		allowed, refused := 0, uint64(0)
		for _, command := range script {
			clock.add(time.Duration(command >> 4))
			if command&8 != 0 && len(flying) > 1 { // not the oldest first
				flying[0], flying[len(flying)-1] = flying[len(flying)-1], flying[0]
			}
			back := func(end func(Permit)) {
				if len(flying) > 0 {
					end(flying[0])
					flying = flying[1:]
				}
			}
			switch command & 7 {
			case 0, 6, 7:
				p, ok := b.Allow()
				if ok {
					allowed++
					flying = append(flying, p)
				} else {
					refused++
				}
			case 1, 2, 3, 5:
				class := []Class{Success, Failure, Ignored, 0, 0, Success}[command&7%6]
				back(func(p Permit) { b.Record(p, outcomeOf(class, time.Duration(command&7))) })
			case 4:
				back(b.Cancel)
			}
			if b.State() != state {
				t.Fatalf("state %v, told of %v", b.State(), state)
			}
		}
		s := b.Stats()
		if back := s.Recorded + s.Ignored + s.Cancelled + s.Late; int(back)+len(flying) != allowed ||
			s.Refused != refused || s.Openings != openings || s.Closings != closings {
			t.Errorf("%d allowed, %d refused, %d in flight, %d openings, %d closings, but %+v",
				allowed, refused, len(flying), openings, closings, s)
		}
		if held := b.Counts(); held.Failures > held.Calls || held.Slow > held.Calls || held.Failures < 0 || held.Slow < 0 {
			t.Errorf("%+v", held)
		}
	})
}
