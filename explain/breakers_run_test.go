package explain_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// opensIn checks that the breaker of a link opens first at an instant of a run,
// in seconds, or if late only that it does not before.
func opensIn(t *rapid.T, c model.Config, link [2]string, at float64, late bool, b explain.Breaker) {
	s, err := model.New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	openings := func(until float64) uint64 {
		if err := s.RunUntil(context.Background(), sim.Time(until*1e9)); err != nil {
			t.Fatal(err)
		}
		return s.Ledger().Call(link[0], link[1]).Openings
	}
	end := c.Horizon.Seconds() - 1
	if n := openings(min(at-1e-6, end)); n > 0 {
		t.Fatalf("%d openings before %v s: %+v", n, at, b)
	}
	if !late && at < end && openings(at+1e-6) == 0 {
		t.Fatalf("no opening at %v s: %+v", at, b)
	}
}

// anyRetry is a retry whose back-off leaves nothing to chance.
func anyRetry(t *rapid.T, name string) model.Layer {
	r := retry(rapid.IntRange(1, 4).Draw(t, name))
	r.Retry.Backoff = rapid.SampledFrom([]policies.BackoffConfig{{}, {Kind: policies.FixedBackoff, Base: 230 * ms},
		{Kind: policies.ExponentialBackoff, Base: 170 * ms, Multiplier: 2}, {Kind: policies.FixedBackoff, Base: 4 * time.Second}}).Draw(t, name+" back-off")
	r.Retry.Deadline = rapid.SampledFrom([]time.Duration{0, 0, 1100 * ms}).Draw(t, name+" deadline")
	return r
}

// anyRule is a rule of a count or time window, which may look at slow calls.
func anyRule(t *rapid.T) policies.RuleConfig {
	rule := within(time.Duration(rapid.IntRange(1, 10).Draw(t, "window"))*time.Second, rapid.IntRange(1, 60).Draw(t, "minimum"),
		rapid.SampledFrom([]float64{0.1, 0.5, 0.75, 1}).Draw(t, "rate"))
	if rapid.Bool().Draw(t, "count") {
		rule = last(rapid.IntRange(1, 60).Draw(t, "calls"), rule.MinCalls, rule.FailureRate)
	}
	return rule
}

// A breaker inside and around retries, and below nodes that retry, opens in a
// run when it is said to: of calls that fail and of calls that hang.
func TestOpeningsWithRetriesAsInRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := anyRule(t)
		l := breaker(rule)
		c := link(rapid.SampledFrom([]float64{1, 2, 4, 5, 10, 20}).Draw(t, "rps"), time.Duration(rapid.IntRange(0, 700).Draw(t, "service"))*ms)
		if rapid.IntRange(0, 2).Draw(t, "slow") == 0 {
			// What is slow is slower than what is good.
			l.Breaker.Rule.SlowRate = rapid.SampledFrom([]float64{0.3, 0.8, 1}).Draw(t, "slow rate")
			l.Breaker.Rule.SlowAfter = c.Nodes[1].Service.Mean + time.Duration(rapid.IntRange(1, 900).Draw(t, "slow after"))*ms
			l.Breaker.InFlightSlow = rapid.Bool().Draw(t, "in flight")
		}
		stack := model.Stack{}
		if rapid.IntRange(0, 3).Draw(t, "deadline") == 0 {
			stack = append(stack, timeout(time.Duration(rapid.IntRange(1500, 5000).Draw(t, "ms"))*ms))
		}
		stack = append(stack, anyRetry(t, "outside"), l)
		if rapid.IntRange(0, 2).Draw(t, "both") == 0 {
			stack = append(stack, anyRetry(t, "inside"))
		}
		if rapid.Bool().Draw(t, "timeout") {
			stack = append(stack, timeout(time.Duration(rapid.IntRange(701, 1300).Draw(t, "timeout ms"))*ms))
		}
		c.Nodes[0].Steps[0].Calls[0].Stack = stack
		late := false
		if rapid.IntRange(0, 2).Draw(t, "above") == 0 {
			c.Clients[0].Steps[0].Calls[0].Stack = model.Stack{anyRetry(t, "client's")}
			late = true
		}
		// Workers that are enough if all is well; then turns are waited for in an
		// outage alone, which retries above may cross.
		if busy := c.Clients[0].Arrivals.RateRPS * c.Nodes[1].Service.Mean.Seconds(); busy < 7 && rapid.IntRange(0, 2).Draw(t, "workers") == 0 {
			c.Nodes[0].Workers = 8
		} else {
			late = false
		}
		c.Horizon = 3 * time.Minute
		e := explain.Explain(c)
		b := e.Breakers[0]
		switch rapid.SampledFrom([]string{"fresh", "healthy", "hanging", "healthy and hanging"}).Draw(t, "case") {
		case "fresh":
			c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError}}
			opensIn(t, c, [2]string{"a", "b"}, b.Fresh, late, b)
		case "healthy":
			c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Start: 65 * time.Second}}
			opensIn(t, c, [2]string{"a", "b"}, 65+b.Healthy, late, b)
		case "healthy and hanging":
			c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultStall, Start: 65 * time.Second}}
			opensIn(t, c, [2]string{"a", "b"}, 65+b.HealthyHanging, late, b)
		default:
			c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultStall}}
			opensIn(t, c, [2]string{"a", "b"}, b.FreshHanging, late, b)
		}
	})
}
