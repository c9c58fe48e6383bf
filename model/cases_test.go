package model

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// Small scenarios with answers that follow by arithmetic. Arrivals are evenly
// spaced from t = 0, latencies constant, and an outcome is recorded when its
// call ends.

// A scenario is a hop with a breaker, and what happened in it.
type scenario struct {
	engine   *sim.Engine
	hop      *Hop
	breaker  *policies.Breaker
	openings []sim.Time
	sentAt   []sim.Time // of calls that reached the callee
}

func newScenario(t *testing.T, cfg policies.BreakerConfig, callee func(k uint64, at sim.Time) Answer) *scenario {
	t.Helper()
	s := &scenario{engine: sim.New()}
	cfg.OnChange = func(c policies.Change) {
		if c.To == policies.Open {
			s.openings = append(s.openings, s.engine.Now())
		}
	}
	if cfg.Probes == 0 {
		cfg.Probes = 1
	}
	var err error
	if s.breaker, err = policies.NewBreaker(cfg, s.engine.Clock()); err != nil {
		t.Fatal(err)
	}
	s.hop = &Hop{
		Callee: callee,
		Guard:  s.breaker,
		OnSend: func(at sim.Time, _ uint64) { s.sentAt = append(s.sentAt, at) },
	}
	return s
}

// open makes n evenly spaced requests and lets all calls end.
func (s *scenario) open(t *testing.T, rate float64, n uint64) {
	t.Helper()
	source, err := Arrivals{Kind: Fixed, RateRPS: rate}.Source(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := OpenDriver{Arrivals: source, Hop: s.hop, Until: sim.MaxTime, MaxCalls: n}
	o.Start(s.engine)
	s.engine.Run()
}

func (s *scenario) wantOpening(t *testing.T, lo, hi float64) {
	t.Helper()
	if len(s.openings) == 0 {
		t.Errorf("never opened, want between %v and %v s", lo, hi)
		return
	}
	if got := s.openings[0].Seconds(); got < lo-1e-9 || got > hi+1e-9 {
		t.Errorf("opened at %v s, want between %v and %v s", got, lo, hi)
	}
}

// sentBefore counts the calls that had reached the callee by the given instant.
func (s *scenario) sentBefore(at sim.Time) int {
	n := 0
	for _, t := range s.sentAt {
		if t < at {
			n++
		}
	}
	return n
}

func failing(latency time.Duration) func(uint64, sim.Time) Answer {
	return func(uint64, sim.Time) Answer { return Answer{Latency: latency, Err: ErrFailed} }
}

func timeRule(length time.Duration, minCalls int, failureRate float64) policies.RuleConfig {
	return policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.TimeWindow, Length: length}, MinCalls: minCalls, FailureRate: failureRate}
}

func countRule(calls, minCalls int, failureRate float64) policies.RuleConfig {
	return policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: calls}, MinCalls: minCalls, FailureRate: failureRate}
}

// Case 1: 300 s at 10 calls per minute hold 50 outcomes, fewer than 100.
func TestCaseTooLittleTraffic(t *testing.T) {
	for _, c := range []struct {
		minCalls int
		opens    bool
	}{{100, false}, {40, true}} {
		s := newScenario(t, policies.BreakerConfig{Rule: timeRule(300*time.Second, c.minCalls, 0.5), OpenFor: time.Minute, Probes: 10}, failing(50*ms))
		s.open(t, 1.0/6, 600)
		if !c.opens {
			if len(s.openings) != 0 || s.hop.Sent != 600 {
				t.Errorf("minimum 100: %d openings, %d calls, want 0 and 600", len(s.openings), s.hop.Sent)
			}
			continue
		}
		s.wantOpening(t, 234.05, 234.05)
		if got := s.sentBefore(s.openings[0]); got != 40 {
			t.Errorf("minimum 40: %d calls before the opening, want 40", got)
		}
	}
}

// Case 2: a minimum above a count window is capped to it.
func TestCaseMinimumAboveWindow(t *testing.T) {
	s := newScenario(t, policies.BreakerConfig{Rule: countRule(5, 10, 0.5), OpenFor: 30 * time.Second}, failing(10*ms))
	s.open(t, 1, 20)
	s.wantOpening(t, 4.01, 4.01)
	if s.hop.Sent != 5 || s.hop.Refused != 15 {
		t.Errorf("%d calls and %d refusals, want 5 and 15", s.hop.Sent, s.hop.Refused)
	}
}

// Case 3: at a threshold of 100 % one success blocks until it leaves.
func TestCaseOneEarlySuccess(t *testing.T) {
	for _, c := range []struct {
		window time.Duration
		lo, hi float64
		failed int
	}{{30 * time.Second, 30, 30.3, 120}, {2 * time.Second, 2, 2.3, 8}} {
		s := newScenario(t, policies.BreakerConfig{Rule: timeRule(c.window, 4, 1), OpenFor: 1000 * time.Second},
			func(k uint64, _ sim.Time) Answer {
				if k == 0 {
					return Answer{Latency: 10 * ms}
				}
				return Answer{Latency: 10 * ms, Err: ErrFailed}
			})
		s.open(t, 4, 200)
		s.wantOpening(t, c.lo, c.hi)
		if got := int(s.hop.Sent) - 1; got < c.failed-1 || got > c.failed+1 {
			t.Errorf("window %v: %d failed calls, want %d ± 1", c.window, got, c.failed)
		}
	}
}

// Case 5: a call is known to be slow, or dead, only when it ends.
func TestCaseSlowCallsMustComeBack(t *testing.T) {
	slow := timeRule(10*time.Second, 10, 0.5)
	slow.SlowRate, slow.SlowAfter = 0.5, 2*time.Second
	succeeds := func(uint64, sim.Time) Answer { return Answer{Latency: 8 * time.Second} }
	for _, c := range []struct {
		name           string
		rule           policies.RuleConfig
		timeout        time.Duration
		rate           float64
		callee         func(uint64, sim.Time) Answer
		requests       uint64
		opensAt        float64
		sentLo, sentHi int
	}{
		{"a", slow, 0, 20, succeeds, 1000, 8.45, 169, 170},
		{"b", slow, 3 * time.Second, 20, succeeds, 1000, 3.45, 69, 70},
		{"c", countRule(5, 5, 1), 30 * time.Second, 1000, func(uint64, sim.Time) Answer { return Answer{Latency: math.MaxInt64} }, 40_000, 30, 30_000, 30_010},
	} {
		s := newScenario(t, policies.BreakerConfig{Rule: c.rule, OpenFor: 1000 * time.Second}, c.callee)
		s.hop.Timeout = c.timeout
		s.open(t, c.rate, c.requests)
		s.wantOpening(t, c.opensAt, c.opensAt+0.01)
		if got := s.sentBefore(s.openings[0]); got < c.sentLo || got > c.sentHi {
			t.Errorf("%s: %d calls sent before the opening, want %d to %d", c.name, got, c.sentLo, c.sentHi)
		}
	}
}

// Case 6: the failure rate and the slow-call rate are compared apart.
func TestCaseSlowAndFailedAreCountedApart(t *testing.T) {
	rule := countRule(100, 100, 0.5)
	rule.SlowRate, rule.SlowAfter = 0.5, time.Second
	s := newScenario(t, policies.BreakerConfig{Rule: rule, OpenFor: time.Second}, func(k uint64, _ sim.Time) Answer {
		switch k % 4 {
		case 1:
			return Answer{Latency: 2010 * ms}
		case 3:
			return Answer{Latency: 50 * ms, Err: ErrFailed}
		}
		return Answer{Latency: 50 * ms}
	})
	s.open(t, 20, 12_000)
	if len(s.openings) != 0 || s.hop.Sent != 12_000 {
		t.Errorf("%d openings, %d calls, want 0 and 12,000: 25 %% failed, 25 %% slow", len(s.openings), s.hop.Sent)
	}
	// A timeout turns the slow calls into failures: 50 %.
	s = newScenario(t, policies.BreakerConfig{Rule: rule, OpenFor: time.Second}, s.hop.Callee)
	s.hop.Timeout = time.Second
	s.open(t, 20, 12_000)
	if len(s.openings) == 0 {
		t.Error("with a timeout of 1 s: never opened, want at 50 % failures")
	}
}

// Case 8: ignored outcomes are neither success nor failure.
func TestCaseIgnoredOutcomes(t *testing.T) {
	errNotOurs := errors.New("not our problem")
	const pattern = "FISIFISIFS"
	for _, c := range []struct {
		ignored policies.Class
		opens   bool
		calls   uint64
	}{{policies.Ignored, true, 100}, {policies.Success, false, 1000}, {policies.Failure, true, 60}} {
		s := newScenario(t, policies.BreakerConfig{
			Rule: countRule(60, 60, 0.5), OpenFor: 1000 * time.Second,
			Classify: func(o policies.Outcome) policies.Class {
				switch o.Err {
				case nil:
					return policies.Success
				case errNotOurs:
					return c.ignored
				}
				return policies.Failure
			},
		}, func(k uint64, _ sim.Time) Answer {
			switch pattern[k%10] {
			case 'F':
				return Answer{Latency: 10 * ms, Err: ErrFailed}
			case 'I':
				return Answer{Latency: 10 * ms, Err: errNotOurs}
			}
			return Answer{Latency: 10 * ms}
		})
		s.open(t, 10, 1000)
		if opened := len(s.openings) > 0; opened != c.opens || s.hop.Sent != c.calls {
			t.Errorf("ignored as %v: opened %v after %d calls, want %v after %d", c.ignored, opened, s.hop.Sent, c.opens, c.calls)
		}
	}
}

// Case 9: half-open stops at the first failure, or waits for all probes.
func TestCaseHalfOpenRules(t *testing.T) {
	for _, c := range []struct {
		rule   policies.HalfOpenRule
		lo, hi int
	}{{policies.FirstFailure, 53, 55}, {policies.CollectAll, 380, 420}} {
		s := newScenario(t, policies.BreakerConfig{Rule: countRule(100, 100, 0.71), OpenFor: time.Second, Probes: 20, HalfOpen: c.rule}, failing(10*ms))
		s.open(t, 10, 699)
		s.wantOpening(t, 9.91, 9.91)
		if got := len(s.sentAt) - s.sentBefore(s.openings[0]); got < c.lo || got > c.hi {
			t.Errorf("rule %v: %d calls in the 60 s after the first opening, want %d to %d", c.rule, got, c.lo, c.hi)
		}
	}
}

// Case 10: failures in a row that expire before they add up. N in a row is a
// window of N calls at 100 %; with an expiry it is a time window with minimum N.
func TestCaseFailuresExpire(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  policies.RuleConfig
		opens bool
	}{{"expire after 30 s", timeRule(30*time.Second, 5, 1), false}, {"never expire", countRule(5, 5, 1), true}} {
		s := newScenario(t, policies.BreakerConfig{Rule: c.rule, OpenFor: 10_000 * time.Second}, failing(19*time.Second))
		loop := ClosedDriver{Loop: ClosedLoop{Clients: 1}, Hop: s.hop, Until: sim.Time(3600 * time.Second), RefusedPause: time.Second}
		if err := loop.Begin(s.engine); err != nil {
			t.Fatal(err)
		}
		s.engine.RunUntil(loop.Until)
		if c.opens {
			s.wantOpening(t, 95, 95)
		} else if ended := int(s.hop.Sent) - s.hop.InFlight(); len(s.openings) != 0 || ended != 189 {
			t.Errorf("%s: %d openings, %d failed calls, want 0 and 189", c.name, len(s.openings), ended)
		}
	}
}

// Case 11: without a minimum every isolated failure opens the breaker.
func TestCaseIsolatedFailures(t *testing.T) {
	for minCalls, want := range map[int]int{1: 28, 5: 0} {
		s := newScenario(t, policies.BreakerConfig{Rule: timeRule(10*time.Second, minCalls, 0.5), OpenFor: 30 * time.Second, Probes: 1},
			func(k uint64, _ sim.Time) Answer {
				if (k+1)%50 == 0 {
					return Answer{Latency: 10 * ms, Err: ErrFailed}
				}
				return Answer{Latency: 10 * ms}
			})
		s.open(t, 1.0/60, 1440)
		if len(s.openings) != want || s.hop.Refused != 0 {
			t.Errorf("minimum %d: %d openings, %d refusals, want %d and 0", minCalls, len(s.openings), s.hop.Refused, want)
		}
		if want > 0 && s.breaker.State() != policies.Closed {
			t.Errorf("minimum %d: ends %v, want closed", minCalls, s.breaker.State())
		}
	}
}
