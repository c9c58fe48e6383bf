package explain_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/sim"
)

// No run exceeds what is said to be the worst: attempts and waiting.
func TestBoundsHoldInRuns(t *testing.T) {
	some := func(t *rapid.T, name string, layers int) (s model.Stack) {
		for range rapid.IntRange(0, layers).Draw(t, name) {
			switch rapid.IntRange(0, 2).Draw(t, "layer") {
			case 0:
				s = append(s, timeout(time.Duration(rapid.IntRange(5, 400).Draw(t, "ms"))*ms))
			case 1:
				r := retry(rapid.IntRange(1, 4).Draw(t, "attempts"))
				r.Retry.Backoff = rapid.SampledFrom([]policies.BackoffConfig{{}, {Kind: policies.FixedBackoff, Base: 20 * ms},
					{Kind: policies.ExponentialBackoff, Base: 10 * ms, Jitter: 0.5}, {Kind: policies.DecorrelatedJitter, Base: 5 * ms, Cap: 50 * ms}}).Draw(t, "back-off")
				r.Retry.Deadline = rapid.SampledFrom([]time.Duration{0, 0, 100 * ms}).Draw(t, "deadline")
				if rapid.Bool().Draw(t, "budget") {
					b := rapid.SampledFrom(presets.Budgets()).Draw(t, "kind").Config
					r.Retry.Budget = &b
				}
				s = append(s, r)
			default:
				s = append(s, breaker(last(20, 10, 0.9)))
			}
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		c := chain(rapid.IntRange(1, 3).Draw(t, "nodes"), nil, nil)
		c.Horizon, c.Clients[0].Arrivals.RateRPS = 3*time.Second, 20
		set := func(steps []model.Step) {
			call := &steps[0].Calls[0]
			call.Stack, call.Sidecar = some(t, "stack", 3), some(t, "sidecar", 2)
			call.Times = rapid.IntRange(1, 2).Draw(t, "times")
			call.PropagateDeadline = rapid.Bool().Draw(t, "deadline told")
		}
		set(c.Clients[0].Steps)
		for i := range c.Nodes {
			if n := &c.Nodes[i]; len(n.Steps) > 0 {
				n.Cancel = rapid.Bool().Draw(t, "cancel")
				set(n.Steps)
			}
		}
		leaf := &c.Nodes[len(c.Nodes)-1]
		leaf.Service = model.Law{Mean: time.Duration(rapid.IntRange(0, 60).Draw(t, "service")) * ms}
		kind := rapid.SampledFrom([]string{model.FaultError, model.FaultStall, model.FaultCrash}).Draw(t, "fault")
		leaf.Faults = []model.Fault{{Kind: kind, Start: time.Second, End: 2 * time.Second}}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		e := explain.Explain(c)
		s := run(t, c)
		requests := float64(s.Ledger().Client("web").Requests)
		for _, a := range e.Attempts {
			if got := float64(s.Ledger().Node(a.Node).Attempts); got > a.Worst*requests+1e-6 {
				t.Fatalf("%v attempts at %s of %v requests, more than %v each", got, a.Node, requests, a.Worst)
			}
		}
		if got, most := s.LatencyQuantile("web", 1).Seconds(), e.Waits[0].Modelled; got > most+1e-9 {
			t.Fatalf("a request took %v s, more than %v", got, most)
		}
	})
}

// A breaker opens in a run when it is said to, and not when it is said not to.
func TestOpeningsAsInRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := within(time.Duration(rapid.IntRange(1, 10).Draw(t, "window"))*time.Second, rapid.IntRange(1, 60).Draw(t, "minimum"),
			rapid.SampledFrom([]float64{0.1, 0.5, 0.75, 1}).Draw(t, "rate"))
		if rapid.Bool().Draw(t, "count") {
			rule = last(rapid.IntRange(1, 60).Draw(t, "window"), rule.MinCalls, rule.FailureRate)
		}
		rps := rapid.SampledFrom([]float64{1, 2, 4, 5, 10, 20}).Draw(t, "rps")
		healthy := rapid.Bool().Draw(t, "healthy")
		c := link(rps, time.Duration(rapid.IntRange(0, 700).Draw(t, "service"))*ms, breaker(rule))
		c.Horizon = 3 * time.Minute
		outage := time.Duration(0)
		if healthy {
			outage = 65 * time.Second
		}
		c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Start: outage}}
		b := explain.Explain(c).Breakers[0]
		opens := b.Fresh
		if healthy {
			opens = b.Healthy
		}
		s, err := model.New(c, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		openings := func(until float64) uint64 {
			if err := s.RunUntil(context.Background(), sim.Time(until*1e9)); err != nil {
				t.Fatal(err)
			}
			return s.Ledger().Call("a", "b").Openings
		}
		at := outage.Seconds() + opens
		if n := openings(min(at-1e-6, 170)); n > 0 {
			t.Fatalf("%d openings before %v s: %+v", n, at, b)
		}
		if at < 170 && openings(at+1e-6) != 1 {
			t.Fatalf("no opening at %v s: %+v", at, b)
		}
	})
}
