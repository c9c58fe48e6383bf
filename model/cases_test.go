package model

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// Small scenarios with answers that follow by arithmetic. Arrivals are evenly
// spaced from t = 0, latencies constant, and an outcome is recorded when its
// call ends.

// A scenario is a client that calls one callee through a breaker, and what
// happened in it.
type scenario struct {
	system   *System
	openings []sim.Time
	sent     []uint64 // calls that had reached the callee at each opening
}

// run makes n evenly spaced requests and lets all calls end. The callee answers
// as its script says, again and again.
func (s *scenario) run(t *testing.T, cfg policies.BreakerConfig, timeout time.Duration, rate float64, n int, script ...Scripted) {
	t.Helper()
	s.runConfig(t, cfg, timeout, Client{Arrivals: Arrivals{Kind: Fixed, RateRPS: rate}, Requests: n}, 1000*time.Hour,
		Node{Script: script, ScriptRepeat: true})
}

func (s *scenario) runConfig(t *testing.T, cfg policies.BreakerConfig, timeout time.Duration, client Client, horizon time.Duration, callee Node) {
	t.Helper()
	*s = scenario{}
	cfg.OnChange = func(c policies.Change) {
		if c.To == policies.Open {
			s.openings = append(s.openings, s.system.Now())
			s.sent = append(s.sent, s.sentNow())
		}
	}
	if cfg.Probes == 0 {
		cfg.Probes = 1
	}
	stack := Stack{{Breaker: &BreakerLayer{BreakerConfig: cfg}}}
	if timeout > 0 {
		stack = append(stack, Layer{Timeout: timeout})
	}
	callee.Name, callee.Workers = "callee", Unlimited
	client.Name = "client"
	client.Steps = []Step{{Calls: []Call{{To: "callee", Stack: stack}}}}
	var err error
	if s.system, err = New(Config{Horizon: horizon, Nodes: []Node{callee}, Clients: []Client{client}}, 1, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.system.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sentNow is the number of calls that have reached the callee.
func (s *scenario) sentNow() uint64 { return s.system.Ledger().Node("callee").Attempts }

func (s *scenario) refused() uint64 { return s.system.Ledger().Call("client", "callee").Refused }

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

func fails(latency time.Duration) Scripted    { return Scripted{Service: latency, Code: unavailable} }
func succeeds(latency time.Duration) Scripted { return Scripted{Service: latency} }

// times repeats an answer.
func times(n int, a Scripted) Scripted {
	a.Times = n
	return a
}

func timeRule(length time.Duration, minCalls int, failureRate float64) policies.RuleConfig {
	return policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.TimeWindow, Length: length}, MinCalls: minCalls, FailureRate: failureRate}
}

func countRule(calls, minCalls int, failureRate float64) policies.RuleConfig {
	return policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: calls}, MinCalls: minCalls, FailureRate: failureRate}
}

// Case 1: 300 s at 10 calls per minute hold 50 outcomes, fewer than 100.
func TestCaseTooLittleTraffic(t *testing.T) {
	var s scenario
	rule := func(minCalls int) policies.BreakerConfig {
		return policies.BreakerConfig{Rule: timeRule(300*time.Second, minCalls, 0.5), OpenFor: time.Minute, Probes: 10}
	}
	s.run(t, rule(100), 0, 1.0/6, 600, fails(50*ms))
	if len(s.openings) != 0 || s.sentNow() != 600 {
		t.Errorf("minimum 100: %d openings, %d calls, want 0 and 600", len(s.openings), s.sentNow())
	}
	s.run(t, rule(40), 0, 1.0/6, 600, fails(50*ms))
	s.wantOpening(t, 234.05, 234.05)
	if got := s.sent[0]; got != 40 {
		t.Errorf("minimum 40: %d calls before the opening, want 40", got)
	}
}

// Case 2: a minimum above a count window is capped to it.
func TestCaseMinimumAboveWindow(t *testing.T) {
	var s scenario
	s.run(t, policies.BreakerConfig{Rule: countRule(5, 10, 0.5), OpenFor: 30 * time.Second}, 0, 1, 20, fails(10*ms))
	s.wantOpening(t, 4.01, 4.01)
	if s.sentNow() != 5 || s.refused() != 15 {
		t.Errorf("%d calls and %d refusals, want 5 and 15", s.sentNow(), s.refused())
	}
}

// Case 3: at a threshold of 100 % one success blocks until it leaves.
func TestCaseOneEarlySuccess(t *testing.T) {
	for _, c := range []struct {
		window time.Duration
		lo, hi float64
		failed int
	}{{30 * time.Second, 30, 30.3, 120}, {2 * time.Second, 2, 2.3, 8}} {
		var s scenario
		s.run(t, policies.BreakerConfig{Rule: timeRule(c.window, 4, 1), OpenFor: 1000 * time.Second}, 0, 4, 200,
			succeeds(10*ms), times(1000, fails(10*ms)))
		s.wantOpening(t, c.lo, c.hi)
		if got := int(s.sentNow()) - 1; got < c.failed-1 || got > c.failed+1 {
			t.Errorf("window %v: %d failed calls, want %d ± 1", c.window, got, c.failed)
		}
	}
}

// Case 5: a call is known to be slow, or dead, only when it ends.
func TestCaseSlowCallsMustComeBack(t *testing.T) {
	slow := timeRule(10*time.Second, 10, 0.5)
	slow.SlowRate, slow.SlowAfter = 0.5, 2*time.Second
	for _, c := range []struct {
		name           string
		rule           policies.RuleConfig
		timeout        time.Duration
		rate           float64
		callee         Scripted
		requests       int
		opensAt        float64
		sentLo, sentHi uint64
	}{
		{"a", slow, 0, 20, succeeds(8 * time.Second), 1000, 8.45, 169, 170},
		{"b", slow, 3 * time.Second, 20, succeeds(8 * time.Second), 1000, 3.45, 69, 70},
		{"c", countRule(5, 5, 1), 30 * time.Second, 1000, succeeds(10 * time.Hour), 40_000, 30, 30_000, 30_010},
	} {
		var s scenario
		s.run(t, policies.BreakerConfig{Rule: c.rule, OpenFor: 1000 * time.Second}, c.timeout, c.rate, c.requests, c.callee)
		s.wantOpening(t, c.opensAt, c.opensAt+0.01)
		if got := s.sent[0]; got < c.sentLo || got > c.sentHi {
			t.Errorf("%s: %d calls sent before the opening, want %d to %d", c.name, got, c.sentLo, c.sentHi)
		}
	}
}

// Case 6: the failure rate and the slow-call rate are compared apart.
func TestCaseSlowAndFailedAreCountedApart(t *testing.T) {
	rule := countRule(100, 100, 0.5)
	rule.SlowRate, rule.SlowAfter = 0.5, time.Second
	breaker := policies.BreakerConfig{Rule: rule, OpenFor: time.Second}
	pattern := []Scripted{succeeds(50 * ms), succeeds(2010 * ms), succeeds(50 * ms), fails(50 * ms)}
	var s scenario
	s.run(t, breaker, 0, 20, 12_000, pattern...)
	if len(s.openings) != 0 || s.sentNow() != 12_000 {
		t.Errorf("%d openings, %d calls, want 0 and 12,000: 25 %% failed, 25 %% slow", len(s.openings), s.sentNow())
	}
	// A timeout turns the slow calls into failures: 50 %.
	s.run(t, breaker, time.Second, 20, 12_000, pattern...)
	if len(s.openings) == 0 {
		t.Error("with a timeout of 1 s: never opened, want at 50 % failures")
	}
}

// Case 8: ignored outcomes are neither success nor failure.
func TestCaseIgnoredOutcomes(t *testing.T) {
	const notOurs = policies.ErrorCode(404)
	var pattern []Scripted
	for _, kind := range "FISIFISIFS" {
		code := map[rune]policies.ErrorCode{'F': unavailable, 'I': notOurs}[kind]
		pattern = append(pattern, Scripted{Service: 10 * ms, Code: code})
	}
	for _, c := range []struct {
		ignored policies.Class
		opens   bool
		calls   uint64
	}{{policies.Ignored, true, 100}, {policies.Success, false, 1000}, {policies.Failure, true, 60}} {
		var s scenario
		s.run(t, policies.BreakerConfig{
			Rule: countRule(60, 60, 0.5), OpenFor: 1000 * time.Second,
			Classify: func(o policies.Outcome) policies.Class {
				switch {
				case o.Err == nil:
					return policies.Success
				case policies.CodeOf(o.Err) == notOurs:
					return c.ignored
				}
				return policies.Failure
			},
		}, 0, 10, 1000, pattern...)
		if opened := len(s.openings) > 0; opened != c.opens || s.sentNow() != c.calls {
			t.Errorf("ignored as %v: opened %v after %d calls, want %v after %d", c.ignored, opened, s.sentNow(), c.opens, c.calls)
		}
	}
}

// Case 9: half-open stops at the first failure, or waits for all probes.
func TestCaseHalfOpenRules(t *testing.T) {
	for _, c := range []struct {
		rule   policies.HalfOpenRule
		lo, hi uint64
	}{{policies.FirstFailure, 53, 55}, {policies.CollectAll, 380, 420}} {
		var s scenario
		s.run(t, policies.BreakerConfig{Rule: countRule(100, 100, 0.71), OpenFor: time.Second, Probes: 20, HalfOpen: c.rule}, 0, 10, 699, fails(10*ms))
		s.wantOpening(t, 9.91, 9.91)
		if got := s.sentNow() - s.sent[0]; got < c.lo || got > c.hi {
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
		pause time.Duration // after a refusal there must be one, or time stands still
		until time.Duration
	}{{"expire after 30 s", timeRule(30*time.Second, 5, 1), false, 0, 3600 * time.Second}, {"never expire", countRule(5, 5, 1), true, time.Microsecond, 95010 * ms}} {
		var s scenario
		s.runConfig(t, policies.BreakerConfig{Rule: c.rule, OpenFor: 10_000 * time.Second}, 0,
			Client{Loop: ClosedLoop{Clients: 1}, FailurePause: c.pause}, c.until, Node{Script: []Scripted{fails(19 * time.Second)}, ScriptRepeat: true})
		if c.opens {
			s.wantOpening(t, 95, 95.001)
		} else if failed := s.system.Ledger().Node("callee").Failed; len(s.openings) != 0 || failed != 189 {
			t.Errorf("%s: %d openings, %d failed calls, want 0 and 189", c.name, len(s.openings), failed)
		}
	}
}

// Case 11: without a minimum every isolated failure opens the breaker.
func TestCaseIsolatedFailures(t *testing.T) {
	for minCalls, want := range map[int]int{1: 28, 5: 0} {
		var s scenario
		s.run(t, policies.BreakerConfig{Rule: timeRule(10*time.Second, minCalls, 0.5), OpenFor: 30 * time.Second, Probes: 1},
			0, 1.0/60, 1440, times(49, succeeds(10*ms)), fails(10*ms))
		if len(s.openings) != want || s.refused() != 0 {
			t.Errorf("minimum %d: %d openings, %d refusals, want %d and 0", minCalls, len(s.openings), s.refused(), want)
		}
		if l := s.system.Ledger().Call("client", "callee"); want > 0 && l.OpenTime > time.Duration(want)*time.Minute {
			t.Errorf("minimum %d: open for %v, want closed by the next call a minute later", minCalls, l.OpenTime)
		}
	}
}
