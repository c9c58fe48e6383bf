package policies

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawBreaker draws a configuration whose spans are small and alike, so that
// a script meets their boundaries again and again.
func drawBreaker(t *rapid.T) BreakerConfig {
	window := drawWindow(t)
	if window.Kind != CountWindow {
		window.Length = time.Duration(max(window.Buckets, 1)) * rapid.SampledFrom([]time.Duration{2, 5, 10}).Draw(t, "part")
	}
	cfg := BreakerConfig{
		Rule: RuleConfig{
			Window:      window,
			MinCalls:    rapid.IntRange(1, 6).Draw(t, "minimum"),
			FailureRate: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "failure rate"),
			SlowRate:    rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "slow rate"),
			SlowAfter:   rapid.SampledFrom([]time.Duration{1, 5, 10}).Draw(t, "slow after"),
		},
		OpenFor:        rapid.SampledFrom([]time.Duration{1, 10}).Draw(t, "open for"),
		Probes:         rapid.IntRange(1, 4).Draw(t, "probes"),
		ProbesInFlight: rapid.IntRange(0, 3).Draw(t, "probes in flight"),
		HalfOpen:       rapid.SampledFrom([]HalfOpenRule{CollectAll, FirstFailure, ""}).Draw(t, "half-open rule"),
		HalfOpenFor:    rapid.SampledFrom([]time.Duration{0, 0, 1, 10}).Draw(t, "half-open for"),
		Classify:       classifyByError,
		Unshared:       rapid.Bool().Draw(t, "unshared"),
	}
	if cfg.Rule.FailureRate == 0 && cfg.Rule.SlowRate == 0 {
		cfg.Rule.FailureRate = 0.5
	}
	cfg.InFlightSlow = cfg.Rule.SlowRate > 0 && rapid.Bool().Draw(t, "in-flight slow")
	if cfg.HalfOpen == FirstFailure {
		cfg.CloseAfter = rapid.IntRange(0, cfg.Probes).Draw(t, "close after")
		if cfg.CloseAfter > 0 && rapid.Bool().Draw(t, "unlimited") {
			cfg.Probes = Unlimited
		}
	}
	return cfg
}

// classError is an error that says what it counts as.
type classError Class

func (e classError) Error() string { return Class(e).String() }

func classifyByError(o Outcome) Class {
	if e, ok := o.Err.(classError); ok {
		return Class(e)
	}
	return Success
}

func outcomeOf(class Class, latency time.Duration) Outcome {
	if class == Success {
		return Outcome{Latency: latency}
	}
	return Outcome{Latency: latency, Err: classError(class)}
}

// Whatever the configuration and the script, a breaker does what its twin
// does: the same answers, figures, changes and instants.
func TestBreakerAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawBreaker(t)
		var changes []string
		cfg.OnChange = func(c Change) {
			if !legal(c) {
				t.Fatalf("%v to %v is not in the state diagram", c.From, c.To)
			}
			changes = append(changes, fmt.Sprintf("%v %v-%v", c.At.Sub(testStart), c.From, c.To))
		}
		clock := newHandClock()
		b, err := NewBreaker(cfg, clock)
		if err != nil {
			t.Fatal(err)
		}
		twin := newBreakerTwin(cfg)
		var permits []Permit // by the twin's number of the call
		now := time.Duration(0)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 1, 2, 4, 5, 6, 9, 10, 11, 30}).Draw(t, "pause")
			clock.at(now)
			switch step := rapid.IntRange(0, 10).Draw(t, "step"); {
			case step < 5:
				p, ok := b.Allow()
				if _, want := twin.allow(now); ok != want {
					t.Fatalf("at %v, %v: allowed %v, want %v", now, twin.state, ok, want)
				}
				if ok {
					permits = append(permits, p)
				}
			case step < 9:
				if flying := twin.inFlight(); len(flying) > 0 {
					i := rapid.SampledFrom(flying).Draw(t, "call")
					class := rapid.SampledFrom([]Class{Success, Failure, Failure, Ignored}).Draw(t, "class")
					latency := now - twin.calls[i].start
					cancel := rapid.IntRange(0, 9).Draw(t, "cancel") == 0
					if cancel {
						b.Cancel(permits[i])
					} else {
						b.Record(permits[i], outcomeOf(class, latency))
					}
					twin.finish(now, i, class, latency > cfg.Rule.SlowAfter, cancel)
				}
			default:
				b.Advance()
				twin.advance(now)
			}
			compare(t, b, twin, now)
			if !reflect.DeepEqual(changes, twin.changes) {
				t.Fatalf("at %v: changes %v, want %v", now, changes, twin.changes)
			}
		}
	})
}

// compare looks at everything a breaker shows.
func compare(t *rapid.T, b *Breaker, twin *breakerTwin, now time.Duration) {
	twin.advance(now)
	if got := b.State(); got != twin.state {
		t.Fatalf("at %v: %v, want %v", now, got, twin.state)
	}
	if got, want := b.Counts(), twin.counts(); got != want {
		t.Fatalf("at %v, %v: %+v, want %+v", now, twin.state, got, want)
	}
	if got, want := b.Stats(), twin.total(); got != want {
		t.Fatalf("at %v, %v:\n%+v, want\n%+v", now, twin.state, got, want)
	}
	at, ok := b.NextDeadline()
	wantAt, _, wantOK := twin.due()
	if ok != wantOK || ok && at.Sub(testStart) != wantAt {
		t.Fatalf("at %v: deadline %v %v, want %v %v", now, at.Sub(testStart), ok, wantAt, wantOK)
	}
	s := b.Stats()
	if back := s.Recorded + s.Ignored + s.Cancelled + s.Late; int(back)+len(twin.inFlight()) != len(twin.calls) {
		t.Fatalf("at %v: %d of %d permits came back, %d are in flight", now, back, len(twin.calls), len(twin.inFlight()))
	}
}

// A breaker that is looked after at every deadline and one that is only used
// decide alike, and tell of the same changes at the same instants.
func TestLazyIsAsGoodAsPunctual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawBreaker(t)
		if !cfg.InFlightSlow {
			cfg.HalfOpenFor = 10
		}
		var lazyLog, punctualLog changeLog
		clock := newHandClock()
		cfg.OnChange = lazyLog.add
		lazy, err := NewBreaker(cfg, clock)
		if err != nil {
			t.Fatal(err)
		}
		cfg.OnChange = punctualLog.add
		punctual, err := NewBreaker(cfg, clock)
		if err != nil {
			t.Fatal(err)
		}
		type pair struct {
			lazy, punctual Permit
			start          time.Duration
		}
		var flying []pair
		now := time.Duration(0)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += rapid.SampledFrom([]time.Duration{0, 1, 5, 10, 11, 30}).Draw(t, "pause")
			for {
				at, ok := punctual.NextDeadline()
				if !ok || at.After(testStart.Add(now)) {
					break
				}
				clock.now = at
				punctual.Advance()
			}
			clock.at(now)
			if len(flying) == 0 || rapid.Bool().Draw(t, "allow") {
				l, lok := lazy.Allow()
				p, pok := punctual.Allow()
				if lok != pok {
					t.Fatalf("at %v: lazy %v, punctual %v", now, lok, pok)
				}
				if lok {
					flying = append(flying, pair{l, p, now})
				}
				continue
			}
			i := rapid.IntRange(0, len(flying)-1).Draw(t, "call")
			f := flying[i]
			flying = append(flying[:i], flying[i+1:]...)
			o := outcomeOf(rapid.SampledFrom([]Class{Success, Failure}).Draw(t, "class"), now-f.start)
			lazy.Record(f.lazy, o)
			punctual.Record(f.punctual, o)
		}
		lazy.Advance()
		if !reflect.DeepEqual(lazyLog, punctualLog) {
			t.Fatalf("lazy %v, punctual %v", lazyLog, punctualLog)
		}
		if l, p := lazy.Stats(), punctual.Stats(); l != p {
			t.Fatalf("lazy %+v, punctual %+v", l, p)
		}
	})
}
