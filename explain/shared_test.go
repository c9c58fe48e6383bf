package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// two is a system whose node a calls b twice with the same layer.
func two(l model.Layer) model.Config {
	c := link(10, 100*ms, l)
	calls := &c.Nodes[0].Steps[0].Calls
	*calls = append(*calls, (*calls)[0])
	return c
}

// What is shared sees the calls of all, and is there once.
func TestSharedPolicies(t *testing.T) {
	r := retry(2, presets.EnvoyMaxRetries())
	near(t, "calls of a budget", of(t, two(r)).Budgets[0].Rate, 10)
	r.Retry.Share = "all"
	e := of(t, two(r))
	near(t, "calls of a shared budget", e.Budgets[1].Rate, 20)
	near(t, "attempts under it", e.Budgets[1].Bound, 2)

	limit := model.Layer{Limit: &model.LimitLayer{InFlight: 1, Share: "all"}}
	says(t, of(t, two(limit)), "limit-too-low", explain.Warning, "2 in flight per instance > 1")
	limit.Limit.Share = ""
	silent(t, of(t, two(limit)), "limit-too-low")

	b := breaker(last(20, 20, 0.5))
	b.Breaker.Share = "all"
	e = of(t, two(b))
	if len(e.Breakers) != 1 {
		t.Errorf("%d breakers, want the one that is shared", len(e.Breakers))
	}
	near(t, "outcomes", e.Breakers[0].Rate, 20)
	says(t, e, "shared-breaker", explain.Note, "one breaker for 2 calls")
}

// Breakers look at the busiest time of a client.
func TestRates(t *testing.T) {
	known := model.Known[float64]
	for _, tc := range []struct {
		name       string
		set        func(c *model.Client)
		peak, long float64
	}{
		{"fixed", func(c *model.Client) {}, 10, 10},
		{"ramp", func(c *model.Client) {
			c.Arrivals = model.Arrivals{Kind: model.Ramp, RateRPS: 40, ToRPS: 5, Over: time.Minute}
		}, 40, 5},
		{"bursts", func(c *model.Client) {
			c.Arrivals = model.Arrivals{Kind: model.Bursts, RateRPS: 40, On: time.Second, Off: 3 * time.Second}
		}, 40, 10},
		{"trace", func(c *model.Client) {
			c.Arrivals = model.Arrivals{}
			c.Rates = []model.Segment{{Node: "web", End: time.Second, RateRPS: known(30)}, {Node: "web", Start: time.Second, End: 3 * time.Second, RateRPS: known(6)}}
		}, 30, 14},
	} {
		c := link(10, 0, breaker(last(5, 5, 1)))
		c.Nodes[1].Workers, c.Nodes[1].Service.Mean = 1, 50*ms // 20/s
		tc.set(&c.Clients[0])
		e := of(t, c)
		near(t, tc.name, e.Breakers[0].Rate, tc.peak)
		if tc.peak > 20 {
			says(t, e, "overload", explain.Warning, "for a time")
		}
		c.Nodes[1].Service.Mean = time.Duration(float64(time.Second) / tc.long)
		says(t, of(t, c), "overload", explain.Warning, "without any retry")
	}
}

// What the model notes keeps its place, whatever the names are.
func TestNotesKeepTheirPlace(t *testing.T) {
	c := link(1, 0, timeout(time.Second))
	name := `b: "x", y`
	c.Nodes[1].Name, c.Nodes[0].Steps[0].Calls[0].To = name, name
	c.Nodes[1].Dedup = true
	c.Nodes[1].Service.Mean = 2 * time.Second
	e := of(t, c)
	f := finding(t, e, "timeout-too-short")
	if want := `node "a", step 1, call 1 to "b: \"x\", y", stack layer 1`; f.Place != want {
		t.Errorf("place %q, want %q", f.Place, want)
	}
	if f := finding(t, e, "no-effect"); f.Place != `node "b: \"x\", y"` {
		t.Errorf("place %q of %q", f.Place, f.Text)
	}
}

// A node with bounded queue makes a caller wait for its turn at most.
func TestLongestTurn(t *testing.T) {
	c := link(1, 100*ms)
	n := &c.Nodes[1]
	n.Workers = 2
	near(t, "any queue", of(t, c).Waits[0].Modelled, never)
	n.Queue.Limit = model.Known(5)
	near(t, "3 turns before its own", of(t, c).Waits[0].Modelled, 0.4)
	n.Faults = []model.Fault{{Kind: model.FaultCrash, Start: time.Second, End: time.Minute, Silent: true}}
	near(t, "no answer", of(t, c).Waits[0].Modelled, never)
	says(t, of(t, c), "no-timeout", explain.Problem, "waits for ever")
}

func TestRetriesOfNothing(t *testing.T) {
	r := retry(3)
	r.Retry.RetryOn = func(policies.Outcome) bool { return false }
	e := of(t, link(1, 0, r))
	says(t, e, "retry-never", explain.Warning)
	near(t, "attempts", worst(e), 1)
}
