package explain_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/sim"
)

// on is a retry that repeats some errors alone.
func on(attempts int, errors ...string) model.Layer {
	r := retry(attempts)
	r.Retry.Errors.RetryOn = errors
	return r
}

func limit(n int) model.Layer { return model.Layer{Limit: &model.LimitLayer{InFlight: n}} }

// A full window may open sooner than an empty one, or much later.
func TestBreakerOfACalleeThatHangs(t *testing.T) {
	b := of(t, link(100, 0, retry(3), breaker(last(10, 10, 0.5)), timeout(500*ms))).Breakers[0]
	near(t, "last 10, empty", b.FreshHanging, 0.59)
	near(t, "last 10, full of good ones", b.HealthyHanging, 0.54)
	e := of(t, link(10, 50*ms, breaker(within(10*time.Second, 20, 0.5)), timeout(time.Second)))
	near(t, "10 s, empty", e.Breakers[0].FreshHanging, 2.9)
	near(t, "10 s, full of good ones", e.Breakers[0].HealthyHanging, 5.5)
	says(t, e, "breaker-hanging", explain.Note, "after 2.9s with an empty window, 30 calls sent, and opens after 5.5s with one full of good outcomes")
}

// The formula beside an opening is that of the calls there are: a timeout that is
// not repeated makes no more of them.
func TestFormulaOfTheCallsThatHang(t *testing.T) {
	e := of(t, link(10, 50*ms, on(3, "5xx"), breaker(within(10*time.Second, 20, 0.5)), timeout(600*ms)))
	near(t, "hanging", e.Breakers[0].FreshHanging, 2.5)
	says(t, e, "breaker-hanging", explain.Note, "(20 - 1) / 10/s + 600ms")
}

// Refusals that a breaker does not count never open it, and keep calls from it.
func TestBreakerOfRefusals(t *testing.T) {
	ignore := func(code policies.ErrorCode) model.Layer {
		l := breaker(within(10*time.Second, 20, 0.5))
		l.Breaker.Classify = func(o policies.Outcome) policies.Class {
			if policies.CodeOf(o.Err) == code {
				return policies.Ignored
			}
			return policies.Failure
		}
		return l
	}
	c := link(30, 50*ms, ignore(503), timeout(time.Second))
	c.Nodes[1].Workers, c.Nodes[1].Queue.Limit = 5, model.Known(3)
	e := of(t, c)
	near(t, "a full queue", e.Breakers[0].FreshHanging, never)
	if !slices.ContainsFunc(e.Findings, func(f explain.Finding) bool {
		return f.Rule == "errors-not-counted" && strings.Contains(f.Text, "it never opens: no more than 3 calls")
	}) {
		t.Errorf("%+v", e.Findings)
	}
	c.Nodes[1].Cancel = true // 3 at a time, each for a second
	near(t, "that forgets who has gone", of(t, c).Breakers[0].FreshHanging, 7+1./30)
	near(t, "a cap", of(t, link(10, 50*ms, ignore(policies.ErrLimit), limit(5), timeout(600*ms))).Breakers[0].FreshHanging, 2.8)
}

// A cap outside the breaker bounds what it sees.
func TestBreakerInsideACap(t *testing.T) {
	near(t, "5 at a time", of(t, link(10, 50*ms, limit(5), breaker(within(10*time.Second, 20, 0.5)), timeout(600*ms))).Breakers[0].FreshHanging, 2.8)
	near(t, "enough", of(t, link(10, 50*ms, limit(7), breaker(within(10*time.Second, 20, 0.5)), timeout(600*ms))).Breakers[0].FreshHanging, 2.5)
	rule := within(10*time.Second, 20, 0)
	rule.SlowRate, rule.SlowAfter = 0.5, 300*ms
	l := breaker(rule)
	l.Breaker.InFlightSlow = true
	e := of(t, link(10, 50*ms, limit(5), l))
	near(t, "5 without end", e.Breakers[0].FreshHanging, never)
	says(t, e, "breaker-blind", explain.Warning, "5 calls are under way")
	near(t, "with retries", of(t, link(5, 50*ms, on(3, "timeout"), limit(5), breaker(within(10*time.Second, 20, 0.5)), timeout(600*ms))).Breakers[0].Outage, 5/0.6)
	near(t, "25 without end", of(t, link(10, 50*ms, limit(25), l)).Breakers[0].FreshHanging, 2.2)
}

// A slow call need not hang.
func TestSlowestOpening(t *testing.T) {
	rule := within(10*time.Second, 20, 0)
	rule.SlowRate, rule.SlowAfter = 0.5, time.Second
	slow := breaker(rule)
	near(t, "answers after a second", of(t, link(10, 50*ms, slow, timeout(4*time.Second))).Breakers[0].SlowEarliest, 2.9)
	near(t, "or none", of(t, link(10, 50*ms, slow, timeout(time.Second))).Breakers[0].SlowEarliest, never)
	wait := retry(3)
	wait.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 300 * ms}
	near(t, "at the second attempt", of(t, link(10, 50*ms, slow, wait, timeout(600*ms))).Breakers[0].SlowEarliest, 2.9)
	slow.Breaker.Classify = func(o policies.Outcome) policies.Class {
		if policies.CodeOf(o.Err) == policies.ErrTimeout {
			return policies.Ignored
		}
		return policies.Failure
	}
	e := of(t, link(10, 50*ms, slow, timeout(4*time.Second)))
	near(t, "timeouts left out", e.Breakers[0].SlowEarliest, 2.9)
	near(t, "they do not open it", e.Breakers[0].FreshHanging, never)
	says(t, e, "errors-not-counted", explain.Warning, "hangs, it never opens", "timeout", "nothing")
}

// A budget lets through what it has saved, and then its share.
func TestBreakerBehindABudget(t *testing.T) {
	budget := policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}
	r := retry(2, budget)
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 100 * ms}
	e := of(t, link(2, 20*ms, r, breaker(within(10*time.Second, 25, 0.5)), timeout(300*ms)))
	b := e.Breakers[0]
	near(t, "no more than 22 in the window", b.Fresh, never)
	near(t, "with retries", b.Outage, 2.2)
	if !b.Rough || !(b.Healthy > 2.9 && b.Healthy < 3.3) { // 3.02 in a run
		t.Errorf("%+v", b)
	}
	r.Retry.Budget.Tokens.Cap = 1
	says(t, of(t, link(2, 20*ms, r, breaker(within(10*time.Second, 25, 0.5)), timeout(300*ms))), "breaker-never-opens", explain.Problem, "23 outcomes at most")
}

// A cap of 9 retries at a time grants 9 a second where each stays for a second.
func TestBreakerBehindACapOfRetries(t *testing.T) {
	r := retry(2, policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 9})
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 950 * ms}
	b := of(t, link(10, 50*ms, r, breaker(within(100*time.Second, 100, 0.5)), timeout(600*ms))).Breakers[0]
	near(t, "outcomes", b.Outage, 19)
	near(t, "fresh", b.Fresh, 5.65) // as in a run
}

// Clients that make their last call leave a window short of its minimum.
func TestBreakerOfClientsThatEnd(t *testing.T) {
	c := link(30, 50*ms, breaker(within(10*time.Second, 20, 0.5)), timeout(time.Second))
	c.Clients[0].Requests = 15
	says(t, of(t, c), "breaker-never-opens", explain.Problem, "no more than 15 calls")
	c.Clients[0].Requests, c.Clients[0].End = 0, 500*ms
	says(t, of(t, c), "breaker-never-opens", explain.Problem, "no more than 15 calls")
	c.Clients[0].End = time.Second
	near(t, "30 calls", of(t, c).Breakers[0].Fresh, 19./30+0.05)
}

// What looks at its figures from time to time opens some time after they are bad.
func TestBreakerThatLooksFromTimeToTime(t *testing.T) {
	b := of(t, link(25, 50*ms, preset(presets.Hystrix14Defaults()), timeout(300*ms))).Breakers[0]
	near(t, "fresh", b.Fresh, 0.76+0.05)
	near(t, "hanging", b.FreshHanging, 0.76+0.3)
	near(t, "lag", b.Lag, 0.5)
	near(t, "latest", b.Latest, 5.01+0.5)
}

// Gobreaker's requests are those that have begun.
func TestBreakerThatCountsCallsUnderWay(t *testing.T) {
	p := presets.GobreakerConfig{ReadyToTrip: "requests >= 10 && total_failures/requests >= 0.5"}
	near(t, "10 begun", of(t, link(100, 85*ms, preset(p), timeout(time.Second))).Breakers[0].Fresh, 0.085+0.07) // 8 of 16
}

// Errors of a crash are no status.
func TestBreakerOfACrash(t *testing.T) {
	l := breaker(within(10*time.Second, 20, 0.5))
	l.Breaker.Classify = func(o policies.Outcome) policies.Class {
		if code := policies.CodeOf(o.Err); code == policies.ErrConnect || code == policies.ErrReset {
			return policies.Ignored
		}
		return policies.Failure
	}
	c := link(10, 50*ms, l, timeout(time.Second))
	silent(t, of(t, c), "errors-not-counted")
	c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultCrash}}
	says(t, of(t, c), "errors-not-counted", explain.Warning, "connect failure", "nothing")
}

// A breaker may open though all is as usual.
func TestFalseTrips(t *testing.T) {
	slow := within(10*time.Second, 20, 0)
	slow.SlowRate, slow.SlowAfter = 0.5, 40*ms
	quick := slow
	quick.SlowAfter = 60 * ms
	fails := breaker(within(10*time.Second, 20, 0.2))
	random := func(layers ...model.Layer) model.Config {
		c := link(10, 0, layers...)
		c.Nodes[1].Service = model.Law{Kind: model.Exponential, Mean: 100 * ms}
		return c
	}
	errors := func(share, rate float64) model.Config {
		c := link(10, 50*ms, breaker(within(10*time.Second, 20, rate)))
		c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Ratio: share}}
		return c
	}
	for name, tc := range map[string]struct {
		c     model.Config
		words string
	}{
		"mean answers are slow": {link(10, 50*ms, breaker(slow)), "100 % ≥ 50 %"},
		"a tail of slow ones":   {random(breaker(slow)), "67.03 % ≥ 50 %"},
		"a tail that times out": {random(fails, timeout(150*ms)), "22.31 % ≥ 20 %"},
		"errors all the time":   {errors(0.1, 0.05), "10 % ≥ 5 %"},
		"not slow":              {link(10, 50*ms, breaker(quick)), ""},
		"a shorter tail":        {random(fails, timeout(170*ms)), ""},
		"repeated inside":       {random(fails, retry(2), timeout(150*ms)), ""},
		"fewer errors":          {errors(0.1, 0.15), ""},
		"an outage":             {errors(1, 0.5), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if e := of(t, tc.c); tc.words == "" {
				silent(t, e, "false-trips")
			} else {
				says(t, e, "false-trips", explain.Problem, tc.words)
			}
		})
	}
}

// A retry repeats what can come to it: refusals of a cap or breaker inside it,
// and no timeout where none is inside.
func TestRetryThatRepeatsNothing(t *testing.T) {
	says(t, of(t, link(10, 0, on(3, "limit"), timeout(time.Second))), "retry-never", explain.Warning, "")
	silent(t, of(t, link(10, 0, on(3, "limit"), limit(1), timeout(time.Second))), "retry-never")
	silent(t, of(t, link(10, 0, on(3, "breaker-open"), breaker(last(20, 20, 0.5)))), "retry-never")
	says(t, of(t, link(10, 0, on(3, "timeout"))), "retry-never", explain.Warning, "")
	silent(t, of(t, link(10, 0, on(3, "timeout"), timeout(time.Second))), "retry-never")

	// The sidecar has answered with 504 before the timeout.
	c := link(10, 0, on(3, "timeout"), timeout(time.Second))
	c.Nodes[0].Steps[0].Calls[0].Sidecar = model.Stack{retry(2), timeout(300 * ms)}
	e := of(t, c)
	says(t, e, "retry-never", explain.Warning, "")
	near(t, "attempts", worst(e), 2)
	c.Nodes[0].Steps[0].Calls[0].Stack[1].Timeout = 500 * ms
	near(t, "attempts", worst(of(t, c)), 6)
}

// The latest time of many clients is that of some, or later.
func TestLatestOfManyClients(t *testing.T) {
	latest := func(clients int) float64 {
		t.Helper()
		c := link(1, 50*ms, breaker(last(40, 40, 0.5)))
		for i := range clients - 1 {
			more := c.Clients[0]
			more.Name = string(rune('A' + i))
			c.Clients = append(c.Clients, more)
		}
		b := of(t, c).Breakers[0]
		if !b.Rough {
			t.Errorf("clients in any phase: %+v", b)
		}
		return b.Latest
	}
	near(t, "8 clients", latest(8), 5.05) // 1 + 5 × 8 calls
	near(t, "10 clients", latest(10), 4.05)
}

// Whenever an outage begins, a breaker of several clients has opened by the
// latest time.
func TestLatestOfSeveralClientsInRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := anyRule(t)
		c := link(rapid.SampledFrom([]float64{3, 5, 10}).Draw(t, "rps"), time.Duration(rapid.IntRange(10, 200).Draw(t, "service"))*ms, breaker(rule), timeout(time.Second))
		c.Clients = append(c.Clients, model.Client{Name: "loop", Steps: c.Clients[0].Steps,
			Loop: model.ClosedLoop{Clients: rapid.IntRange(1, 4).Draw(t, "clients"), Think: model.Law{Mean: time.Duration(rapid.IntRange(100, 900).Draw(t, "think")) * ms}}})
		c.Nodes[0].Replicas = rapid.IntRange(1, 2).Draw(t, "replicas")
		start := time.Duration(rapid.IntRange(0, 70_000).Draw(t, "start")) * ms
		c.Horizon = 5 * time.Minute
		c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Start: start}}
		b := explain.Explain(c).Breakers[0]
		if until := start.Seconds() + float64(c.Nodes[0].Replicas)/c.Clients[0].Arrivals.RateRPS + b.Latest; until < 200 {
			s, err := model.New(c, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.RunUntil(context.Background(), sim.Time((until+1e-6)*1e9)); err != nil {
				t.Fatal(err)
			}
			if s.Ledger().Call("a", "b").Openings == 0 {
				t.Fatalf("no opening before %v s: %+v", until, b)
			}
		}
	})
}
