package explain_test

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// overloaded is a system client → a → b, where 30 calls a second come to the two
// workers of b, which serve 40, and repeat what takes 500 ms.
func overloaded(layers ...model.Layer) model.Config {
	c := link(30, 50*ms, layers...)
	c.Horizon = 10 * time.Minute
	c.Nodes[1].Workers = 2
	c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultStall, Start: time.Minute, End: 80 * time.Second}}
	return c
}

func waited(attempts int, wait time.Duration, budget ...policies.BudgetConfig) model.Layer {
	l := retry(attempts, budget...)
	l.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: wait}
	return l
}

// lasts is the share of the requests of the last 100 s that succeed, and the
// calls a second of the last node.
func lasts(t *testing.T, c model.Config) (success, load float64) {
	t.Helper()
	s, err := model.New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	until := func(at time.Duration) (good, all, calls float64) {
		if err := s.RunUntil(context.Background(), sim.Time(at)); err != nil {
			t.Fatal(err)
		}
		w := s.Ledger().Client(c.Clients[0].Name)
		return float64(w.Succeeded), float64(w.Requests), float64(s.Ledger().Node(c.Nodes[len(c.Nodes)-1].Name).Attempts)
	}
	good, all, calls := until(c.Horizon - 100*time.Second)
	g, a, n := until(c.Horizon)
	return (g - good) / (a - all), (n - calls) / 100
}

// What is said to stay down does so in a run, and all else recovers.
func TestWhatKeepsANodeDown(t *testing.T) {
	plain := []model.Layer{waited(3, 100*ms), timeout(500 * ms)}
	told := func(c *model.Config) {
		c.Nodes[1].Queue.DropExpired, c.Nodes[0].Steps[0].Calls[0].PropagateDeadline = true, true
	}
	for _, tc := range []struct {
		name   string
		layers []model.Layer
		set    func(c *model.Config)
		down   bool
	}{
		{"a queue without bound", plain, func(c *model.Config) {}, true},
		{"a queue that takes longer than the timeout", plain, func(c *model.Config) { c.Nodes[1].Queue.Limit = model.Known(30) }, true},
		{"a short queue", plain, func(c *model.Config) { c.Nodes[1].Queue.Limit = model.Known(17) }, false},
		{"few at a time", plain, func(c *model.Config) { c.Nodes[1].Shed.InFlight = 4 }, false},
		{"work that is left ends", plain, func(c *model.Config) { c.Nodes[1].Cancel, c.Nodes[1].Service.Kind = true, model.Exponential }, false},
		{"the last come first", plain, func(c *model.Config) { c.Nodes[1].Queue.Order = model.LIFO }, false},
		{"expired calls are dropped", plain, func(c *model.Config) { told(c); c.Nodes[1].Service.Kind = model.Exponential }, false},
		{"expired calls are not told", plain, func(c *model.Config) { c.Nodes[1].Queue.DropExpired = true }, true},
		{"a cap inside", []model.Layer{waited(3, 100*ms), {Limit: &model.LimitLayer{InFlight: 3}}, timeout(500 * ms)}, func(c *model.Config) {}, false},
		{"a cap outside", []model.Layer{{Limit: &model.LimitLayer{InFlight: 10}}, waited(3, 100*ms), timeout(500 * ms)}, func(c *model.Config) {}, false},
		{"few workers of the caller", plain, func(c *model.Config) {
			c.Nodes[0].Workers, c.Clients[0].Steps[0].Calls[0].Stack = 15, model.Stack{timeout(600 * ms)}
		}, false},
		{"timeouts that are not repeated before a long queue", []model.Layer{func() model.Layer {
			l := retry(3)
			l.Retry.Errors.RetryOn = []string{"5xx"}
			return l
		}(), timeout(600 * ms)}, func(c *model.Config) { c.Nodes[1].Queue.Limit = model.Known(1000) }, false},
		{"half of the calls may be repeated", []model.Layer{func() model.Layer {
			l := waited(3, 100*ms)
			l.Retry.Guard = &policies.GuardConfig{Order: []policies.GuardStep{policies.GuardIdempotent}}
			return l
		}(), timeout(500 * ms)}, func(c *model.Config) { c.Nodes[0].Steps[0].Calls[0].UnsafeRatio = 0.9 }, false},
		{"another caller who waits", plain, func(c *model.Config) {
			other := c.Clients[0]
			other.Name, other.Arrivals.RateRPS, other.Steps = "other", 1, []model.Step{{Calls: []model.Call{{To: "b"}}}}
			c.Clients = append(c.Clients, other)
		}, true},
	} {
		c := overloaded(tc.layers...)
		tc.set(&c)
		e := of(t, c)
		if tc.down {
			says(t, e, "stays-down", explain.Problem)
		} else {
			silent(t, e, "stays-down")
		}
		if success, _ := lasts(t, c); (success < 0.5) != tc.down {
			t.Errorf("%s: %v of the requests succeed at the end", tc.name, success)
		}
	}
	for name, set := range map[string]func(c *model.Config){"cancel": func(c *model.Config) { c.Nodes[1].Cancel = true }, "told": told} {
		c := overloaded(plain...)
		set(&c)
		says(t, of(t, c), "stays-down", explain.Warning, "begins too late")
		if success, _ := lasts(t, c); success > 0.1 {
			t.Errorf("%s: %v of the requests succeed at the end", name, success)
		}
	}
	says(t, of(t, overloaded(waited(3, 100*ms), breaker(within(10*time.Second, 20, 0.5)), timeout(500*ms))), "stays-down", explain.Warning, "unless a breaker opens")
}

// looped is what closed loops ask of the two workers of a node.
func looped(clients int, think time.Duration, layers ...model.Layer) model.Config {
	c := overloaded()
	c.Nodes = c.Nodes[1:]
	w := &c.Clients[0]
	w.Arrivals, w.Spread, w.Loop = model.Arrivals{}, time.Second, model.ClosedLoop{Clients: clients, Think: model.Law{Mean: think}}
	w.Steps = []model.Step{{Calls: []model.Call{{To: "b", Stack: layers}}}}
	return c
}

// The clients of closed loops make as many requests as budgets leave time for:
// 40 = x + 0.5 x + 25 × 0.6 under a cap of 15.
func TestClosedLoopsUnderCaps(t *testing.T) {
	for _, tc := range []struct {
		cap, instances int
		load           float64
		words          string
		down           bool
	}{
		{5, 1, 31.67, "31.67/s of closed loops", false},
		{10, 1, 36.67, "36.67/s of closed loops", false},
		{15, 1, 41.67, "41.67/s of closed loops", true},
		{5, 4, 44.44, "44.44/s of closed loops", true},
	} {
		c := looped(40, time.Second, waited(3, 100*ms, policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: tc.cap}), timeout(500*ms))
		c.Clients[0].Loop.Think.Kind, c.Clients[0].Instances = model.Exponential, tc.instances
		rule, severity := "budget-keeps-up", explain.Note
		if tc.down {
			rule, severity = "stays-down", explain.Problem
		}
		says(t, of(t, c), rule, severity, tc.words)
		c.Nodes[0].Faults = []model.Fault{{Kind: model.FaultCrash, Silent: true}}
		if _, load := lasts(t, c); load > tc.load*1.02 || load < tc.load*0.9 {
			t.Errorf("cap %d of %d: %v calls a second, want %v", tc.cap, tc.instances, load, tc.load)
		}
	}
	c := looped(40, time.Second, waited(3, 100*ms, policies.BudgetConfig{Kind: policies.BudgetEmpty}), timeout(500*ms))
	says(t, of(t, c), "budget-keeps-up", explain.Note, "26.67/s")
}

// Clients that keep a node so busy that their calls time out need no outage.
func TestClosedLoopsAboveTheCapacity(t *testing.T) {
	for _, tc := range []struct {
		clients int
		think   time.Duration
		layers  []model.Layer
		down    bool
	}{
		{40, 0, []model.Layer{timeout(500 * ms)}, true},
		{60, time.Second, []model.Layer{timeout(500 * ms)}, true},
		{60, time.Second, []model.Layer{retry(3), timeout(500 * ms)}, true},
		{50, time.Second, []model.Layer{timeout(500 * ms)}, false},
		{60, time.Second, nil, false},
	} {
		c := looped(tc.clients, tc.think, tc.layers...)
		c.Nodes[0].Faults = nil
		e := of(t, c)
		if tc.down {
			says(t, e, "overload", explain.Problem, "without any outage", "at 40/s ≥ 500ms")
		} else {
			silent(t, e, "overload", "stays-down")
			says(t, e, "saturated", explain.Note)
		}
		if success, _ := lasts(t, c); (success < 0.5) != tc.down {
			t.Errorf("%d clients: %v of the requests succeed", tc.clients, success)
		}
	}
	c := looped(40, time.Second, timeout(500*ms))
	c.Nodes[0].Shed.RateRPS = 20
	e := of(t, c)
	says(t, e, "limit-too-low", explain.Warning, "38.1/s > 20/s")
	silent(t, e, "stays-down", "saturated")
}

// Workers that wait for a callee which hangs serve nobody else.
func TestWorkersUsedUp(t *testing.T) {
	c := overloaded(waited(4, 200*ms), timeout(400*ms))
	c.Nodes[0].Workers = 20
	says(t, of(t, c), "workers-used-up", explain.Warning, `if node "b" hangs`, "2.2s", "9.091/s of 30/s")
	c.Nodes[0].Workers = 70
	silent(t, of(t, c), "workers-used-up")
	c.Nodes[0].Workers, c.Nodes[0].Async = 20, true
	silent(t, of(t, c), "workers-used-up")
	c = overloaded(limit(8), waited(4, 200*ms), timeout(400*ms)) // a cap leaves 12
	c.Nodes[0].Workers = 20
	silent(t, of(t, c), "workers-used-up")
}

// Little less than the capacity takes long to work off what an outage left.
func TestSlowRecovery(t *testing.T) {
	c := overloaded(waited(2, 100*ms), timeout(500*ms))
	c.Clients[0].Arrivals.RateRPS = 19
	says(t, of(t, c), "slow-recovery", explain.Warning, "about 19s", "38/s / (40/s - 38/s)")
	if success, _ := lasts(t, c); success < 0.99 {
		t.Errorf("%v succeed at the end", success)
	}
	c.Clients[0].Arrivals.RateRPS = 18
	silent(t, of(t, c), "slow-recovery", "stays-down")
}
