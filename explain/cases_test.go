package explain_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

const ms = time.Millisecond

var never = math.Inf(1)

// link is a system client → a → b with layers on the call of b.
func link(rps float64, service time.Duration, layers ...model.Layer) model.Config {
	return model.Config{
		Horizon: time.Hour,
		Nodes: []model.Node{
			{Name: "a", Workers: model.Unlimited, Steps: []model.Step{{Calls: []model.Call{{To: "b", Stack: layers}}}}},
			{Name: "b", Workers: model.Unlimited, Service: model.Law{Mean: service}},
		},
		Clients: []model.Client{{
			Name: "web", Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: rps},
			Steps: []model.Step{{Calls: []model.Call{{To: "a"}}}},
		}},
	}
}

func timeout(d time.Duration) model.Layer { return model.Layer{Timeout: d} }

func retry(attempts int, budget ...policies.BudgetConfig) model.Layer {
	r := &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: attempts}}
	if len(budget) > 0 {
		r.Budget = &budget[0]
	}
	return model.Layer{Retry: r}
}

func breaker(rule policies.RuleConfig) model.Layer {
	return model.Layer{Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{Rule: rule, OpenFor: time.Minute, Probes: 1}}}
}

func within(w time.Duration, minimum int, rate float64) policies.RuleConfig {
	return policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.TimeWindow, Length: w}, MinCalls: minimum, FailureRate: rate}
}

func last(n, minimum int, rate float64) policies.RuleConfig {
	return policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: n}, MinCalls: minimum, FailureRate: rate}
}

// preset is a breaker of a library.
func preset(p policies.BreakerMaker) model.Layer {
	return model.Layer{Breaker: &model.BreakerLayer{Preset: p}}
}

// of explains a system, which must be valid.
func of(t testing.TB, c model.Config) *explain.Explanation {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return explain.Explain(c)
}

// finding returns the finding of a rule.
func finding(t *testing.T, e *explain.Explanation, rule string) explain.Finding {
	t.Helper()
	for _, f := range e.Findings {
		if f.Rule == rule {
			return f
		}
	}
	t.Fatalf("no finding %s in %+v", rule, e.Findings)
	return explain.Finding{}
}

// says checks that a finding has words in its text or numbers.
func says(t *testing.T, e *explain.Explanation, rule string, severity explain.Severity, words ...string) {
	t.Helper()
	f := finding(t, e, rule)
	if f.Severity != severity {
		t.Errorf("%s is a %v, want a %v", rule, f.Severity, severity)
	}
	for _, w := range words {
		if all := f.Text + ": " + f.Numbers; !strings.Contains(all, w) {
			t.Errorf("%s says %q, want %q in it", rule, all, w)
		}
	}
}

func silent(t *testing.T, e *explain.Explanation, rules ...string) {
	t.Helper()
	for _, f := range e.Findings {
		for _, r := range rules {
			if f.Rule == r {
				t.Errorf("unwanted %+v", f)
			}
		}
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got != want && (math.IsInf(want, 0) || !(math.Abs(got-want) <= 1e-6*math.Max(1, math.Abs(want)))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Case 1: λW is 50 calls.
func TestTooFewCallsForTheMinimum(t *testing.T) {
	e := of(t, link(1./6, 50*ms, breaker(within(300*time.Second, 100, 0.5))))
	near(t, "calls in the window", e.Breakers[0].Holds, 50)
	near(t, "opening", e.Breakers[0].Fresh, math.Inf(1))
	says(t, e, "breaker-never-opens", explain.Problem, "0.1667/s × 5m = 50 < 100", "it takes 0.3333/s")

	e = of(t, link(1./6, 50*ms, breaker(within(300*time.Second, 40, 0.5))))
	near(t, "opening", e.Breakers[0].Fresh, 234.05)
	silent(t, e, "breaker-never-opens")

	c := link(1./6, 50*ms, breaker(within(300*time.Second, 60, 0.5)))
	c.Clients[0].Arrivals.Kind = model.Poisson
	says(t, of(t, c), "breaker-never-opens", explain.Warning, "by chance alone")

	c = link(1, 50*ms, breaker(within(60*time.Second, 40, 0.5)))
	c.Nodes[0].Replicas = 2
	says(t, of(t, c), "breaker-never-opens", explain.Problem, "0.5/s × 1m = 30 < 40")
	c.Nodes[0].Steps[0].Calls[0].Stack[0].Breaker.Share = "all"
	silent(t, of(t, c), "breaker-never-opens")
}

// Case 2: a minimum above the window is capped.
func TestMinimumAboveTheWindow(t *testing.T) {
	e := of(t, link(1, 10*ms, breaker(last(5, 10, 0.5))))
	near(t, "opening", e.Breakers[0].Fresh, 4.01)
	says(t, e, "minimum-above-window", explain.Warning, "capped to 5")

	r := presets.Resilience4jCountDefaults()
	r.SlidingWindowSize, r.MinimumNumberOfCalls = 5, 10
	e = of(t, link(1, 10*ms, preset(r)))
	near(t, "opening", e.Breakers[0].Fresh, 4.01)
	says(t, e, "minimum-above-window", explain.Warning, "minimum 10 above the window of 5")
}

// Case 3: a success leaves a window of 30 s after 120 failures.
func TestOneSuccessHoldsTheBreaker(t *testing.T) {
	for _, tc := range []struct {
		window   time.Duration
		failures float64
	}{{30 * time.Second, 120}, {2 * time.Second, 8}} {
		e := of(t, link(4, 10*ms, breaker(within(tc.window, 4, 1))))
		near(t, "failures", e.Breakers[0].Failures, tc.failures)
		near(t, "opening", e.Breakers[0].Healthy, (tc.failures-1)/4+0.01)
		near(t, "fresh", e.Breakers[0].Fresh, 0.76)
		says(t, e, "one-success-holds", explain.Warning)
	}
}

// Case 4: what a backend that hangs gets.
func TestHangingBackend(t *testing.T) {
	l := breaker(last(5, 5, 1))
	l.Breaker.Probes = 1_000_000
	e := of(t, link(50, 0, l, timeout(10010*ms)))
	says(t, e, "breaker-hanging", explain.Note, "10.09s", "505 calls")
	says(t, e, "probes-unlimited", explain.Warning, "501 for each time")
	l.Breaker.Probes = 1
	silent(t, of(t, link(50, 0, l, timeout(10010*ms))), "probes-unlimited")
}

// Case 5: slow calls count when they return.
func TestSlowCallsReturnFirst(t *testing.T) {
	rule := within(10*time.Second, 10, 0.5)
	rule.SlowRate, rule.SlowAfter = 0.5, 2*time.Second
	e := of(t, link(20, 8*time.Second, breaker(rule)))
	near(t, "opening", e.Breakers[0].SlowEarliest, 8.45)
	says(t, e, "slow-late", explain.Warning, "8.45s", "170 calls")
	says(t, e, "breaker-blind", explain.Warning)

	e = of(t, link(20, 8*time.Second, breaker(rule), timeout(3*time.Second)))
	near(t, "opening", e.Breakers[0].Fresh, 3.45)
	silent(t, e, "breaker-blind")

	e = of(t, link(1000, 0, breaker(last(5, 5, 1)), timeout(30*time.Second)))
	says(t, e, "breaker-hanging", explain.Note, "30.004s", "30005 calls")
}

// Case 7: what the breaker counts.
func TestRetryAroundAndInside(t *testing.T) {
	e := of(t, link(1, 10*ms, retry(3), breaker(last(10, 10, 0.5))))
	says(t, e, "breaker-counts-attempts", explain.Note, "10 outcomes come from 4 calls")
	near(t, "opening", e.Breakers[0].Fresh, 3.01)
	e = of(t, link(1, 10*ms, breaker(last(10, 10, 0.5)), retry(3)))
	says(t, e, "breaker-counts-calls", explain.Note, "10 outcomes cost 30 attempts")
	near(t, "opening", e.Breakers[0].Fresh, 9.03)
}

// Case 10: 76 s are more than the window of 30 s.
func TestFailuresExpire(t *testing.T) {
	one := func(l model.Layer) model.Config {
		c := link(1, 19*time.Second, l)
		c.Clients[0].Arrivals, c.Clients[0].Loop = model.Arrivals{}, model.ClosedLoop{Clients: 1}
		return c
	}
	e := of(t, one(breaker(within(30*time.Second, 5, 1))))
	near(t, "failures remembered", e.Breakers[0].Holds, 2)
	says(t, e, "failures-expire", explain.Problem, "(5 - 1) / 0.05263/s = 1m16s")
	e = of(t, one(preset(presets.GobreakerConfig{Interval: 30 * time.Second, ReadyToTrip: "consecutive_failures >= 5"})))
	says(t, e, "failures-expire", explain.Problem, "1m16s")
	near(t, "without expiry", of(t, one(breaker(last(5, 5, 1)))).Breakers[0].Fresh, 95)
	near(t, "without expiry", of(t, one(preset(presets.GobreakerConfig{ReadyToTrip: "consecutive_failures > 4"}))).Breakers[0].Fresh, 95)
}
