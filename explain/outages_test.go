package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

func capOf(n int) policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: n}
}

func tokensOf(ratio float64, cap, initial int) policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: ratio, Cap: cap, Initial: initial}}
}

func windowOf(length time.Duration, ratio, min float64) policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: length, Ratio: ratio, MinRPS: min}}
}

// A cap that an outage of errors does not reach is reached by one that hangs:
// 4 λ × 500 ms > 40.
func TestCapThatBindsWhenCallsHang(t *testing.T) {
	c := link(40, 20*ms, waited(5, 100*ms, capOf(40)), timeout(400*ms))
	e := of(t, c)
	near(t, "binds above", e.Budgets[0].BindsAbove, 20)
	silent(t, e, "budget-never-binds")
	c.Horizon, c.Nodes[1].Faults = time.Minute, []model.Fault{{Kind: model.FaultCrash, Silent: true}}
	s := run(t, c)
	if s.Ledger().Call("a", "b").Denied == 0 {
		t.Error("no retry was refused")
	}
	says(t, of(t, link(19, 20*ms, waited(5, 100*ms, capOf(40)), timeout(400*ms))), "budget-never-binds", explain.Warning, "4 λ × 500ms > 40", "above 20/s")

	c = link(20, 20*ms, waited(4, 10*ms, capOf(3)))
	says(t, of(t, c), "budget-never-binds", explain.Warning, "never refuses")
	c.Clients[0].Arrivals.Kind = model.Poisson
	silent(t, of(t, c), "budget-never-binds") // 1.8 of 3 in the mean
	c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{waited(4, 10*ms, capOf(30))}
	says(t, of(t, c), "budget-never-binds", explain.Warning, "seldom refuses")
}

// A budget below another one sees the calls that this one grants: 40/s × 1.5
// and 0.2 × 60/s + 4/s.
func TestBudgetsBelowEachOther(t *testing.T) {
	below := func(outer, inner policies.BudgetConfig, wait time.Duration) *explain.Explanation {
		c := chain(3, nil, nil)
		c.Nodes[2].Service.Mean = 20 * ms
		c.Clients[0].Arrivals.RateRPS = 40
		c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{waited(3, wait, outer)}
		c.Nodes[1].Steps[0].Calls[0].Stack = model.Stack{waited(4, wait, inner)}
		return of(t, c)
	}
	e := below(windowOf(5*time.Second, 0.5, 0), windowOf(10*time.Second, 0.2, 4), ms)
	near(t, "at c", e.Attempts[2].Bounded, 1.9)
	near(t, "granted at once: (12 + 4) × 10", e.Budgets[1].Burst, 160)
	e = below(tokensOf(0.2, 10, 0), capOf(5), 50*ms)
	near(t, "a cap of 5 below tokens", e.Attempts[2].Bounded, (48+5/0.07)/40)
}

// What is granted at once, whatever the order of the failures is.
func TestMostAtOnce(t *testing.T) {
	burst := func(b policies.BudgetConfig, faults ...model.Fault) float64 {
		c := link(40, 20*ms, retry(5, b))
		c.Nodes[1].Faults = faults
		return of(t, c).Budgets[0].Burst
	}
	near(t, "calls that overlap", burst(ofLibrary(presets.GRPCThrottleDefaults())), 4)
	near(t, "half of 100 tokens", burst(policies.BudgetConfig{Kind: policies.BudgetThrottle, Throttle: policies.ThrottleConfig{MaxTokens: 100, Ratio: 0.1}}), 49)
	near(t, "the end of one count and the grace of the next", burst(policies.BudgetConfig{Kind: policies.BudgetCounter,
		Counter: policies.CounterConfig{Ratio: 0.1, Grace: 30, ResetAt: 100}}), 10+31*4)
	near(t, "any error", burst(ofLibrary(presets.AWSQuotaDefaults())), 35)
	near(t, "throttling errors, which cost less", burst(ofLibrary(presets.AWSQuotaDefaults()), model.Fault{Kind: model.FaultError, Code: 429}), 100)
}

// A burst of a budget that two callers share comes once.
func TestSharedBurst(t *testing.T) {
	l := retry(3, tokensOf(0.2, 20, 0))
	l.Retry.Share = "all"
	near(t, "at b", of(t, two(l)).Loads[1].Burst, 20)
	l.Retry.Share = ""
	near(t, "at b, of two", of(t, two(l)).Loads[1].Burst, 40)
}

// Errors that come at once free the places of a cap sooner.
func TestCapsAndFastErrors(t *testing.T) {
	attempts := func(b policies.BudgetConfig, faults ...model.Fault) float64 {
		c := link(40, 20*ms, waited(5, 100*ms, b), timeout(400*ms))
		c.Nodes[1].Faults = faults
		return of(t, c).Budgets[0].Bound
	}
	near(t, "after the service", attempts(capOf(10), model.Fault{Kind: model.FaultError}), 1+10/0.12/40)
	near(t, "at once", attempts(capOf(10), model.Fault{Kind: model.FaultError, Fast: true}), 3.5)
	near(t, "refused", attempts(capOf(10), model.Fault{Kind: model.FaultCrash}), 3.5)
	near(t, "a floor", attempts(policies.BudgetConfig{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.05, Floor: 15}},
		model.Fault{Kind: model.FaultError, Fast: true}), 4.75)
}

func TestBudgetThatGrantsNothing(t *testing.T) {
	says(t, of(t, link(10, 0, retry(3, tokensOf(0, 10, 0)))), "budget-grants-nothing", explain.Warning)
	silent(t, of(t, link(10, 0, retry(3, tokensOf(0, 10, 5)))), "budget-grants-nothing")
	silent(t, of(t, link(10, 0, retry(3, tokensOf(0.1, 10, 0)))), "budget-grants-nothing")
}

// What fails by chance though nothing is wrong is about what a run shows.
func TestLostByChance(t *testing.T) {
	fails := func(c model.Config) float64 {
		c.Horizon = 1000 * time.Second
		s := run(t, c)
		w := s.Ledger().Client("web")
		return float64(w.Failed) / float64(w.Requests)
	}
	c := link(20, 100*ms, timeout(150*ms))
	c.Nodes[1].Service.Kind = model.Exponential
	says(t, of(t, c), "timeout-in-tail", explain.Warning, "22.31 %", "P(service > 150ms)")
	if got := fails(c); got < 0.21 || got > 0.24 {
		t.Errorf("%v fail, want 22.31 %%", got)
	}
	c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{timeout(time.Second)}
	silent(t, of(t, c), "timeout-in-tail")
	silent(t, of(t, link(20, 100*ms, timeout(150*ms))), "timeout-in-tail")

	c = link(20, 50*ms, timeout(time.Second))
	n := &c.Nodes[1]
	n.Workers, n.Queue.Limit, c.Clients[0].Arrivals.Kind = 2, model.Known(0), model.Poisson
	says(t, of(t, c), "turned-away", explain.Warning, "about 20 %", "M/M/2/2")
	if got := fails(c); got < 0.19 || got > 0.21 {
		t.Errorf("%v are turned away, want 20 %%", got)
	}
	n.Queue.Limit = model.Known(20)
	silent(t, of(t, c), "turned-away")
	n.Queue.Limit, c.Clients[0].Arrivals.Kind = model.Known(0), model.Fixed
	silent(t, of(t, c), "turned-away")
}
