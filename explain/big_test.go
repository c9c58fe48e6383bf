package explain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// mesh is layers of nodes, with two ways on from each.
func mesh(layers int) model.Config {
	const wide = 8
	c := link(1, 0)
	c.Nodes = nil
	r := retry(2, presets.EnvoyMaxRetries())
	r.Retry.Share = "all"
	many := retry(policies.Unlimited)
	many.Retry.Deadline, many.Retry.Backoff = time.Hour, policies.BackoffConfig{Kind: policies.FixedBackoff, Base: ms}
	name := func(i, j int) string { return fmt.Sprintf("n%d-%d", i, j) }
	for i := range layers {
		for j := range wide {
			n := model.Node{Name: name(i, j), Workers: model.Unlimited}
			for k := range wide {
				if i+1 < layers && (k+j)%wide < 2 {
					n.Steps = append(n.Steps, model.Step{Calls: []model.Call{{To: name(i+1, k), Stack: model.Stack{r, many}}}})
				}
			}
			c.Nodes = append(c.Nodes, n)
		}
	}
	c.Clients[0].Steps[0].Calls[0].To = name(0, 0)
	return c
}

// stack is a chain with retries above each other and a breaker in each call.
func stack(layers int) model.Config {
	many := waiting(policies.Unlimited, ms)
	many.Retry.Deadline = time.Hour
	return chain(layers, model.Stack{waiting(5, 100*ms), many, breaker(within(time.Minute, 1000, 0.5)), timeout(time.Second)}, nil)
}

// The work, in allocations, grows with the calls of a system or with pairs of
// them, not with its ways, of which each layer has twice as many, nor with the
// attempts, of which it has many times as many.
func TestWorkGrowsWithCalls(t *testing.T) {
	for name, system := range map[string]func(layers int) model.Config{"mesh": mesh, "stack": stack} {
		work := func(layers int) float64 {
			c := system(layers)
			return testing.AllocsPerRun(1, func() { explain.Explain(c) })
		}
		if few, many := work(8), work(16); many > 5*few {
			t.Errorf("%s: %v allocations for 16 layers, %v for 8", name, many, few)
		}
	}
}

func TestManyWays(t *testing.T) {
	e := of(t, mesh(28)) // 2^28 ways
	if len(e.Attempts) == 0 || e.Has(explain.Problem) {
		t.Errorf("%+v", e.Findings)
	}
}

func TestBreakersBelowManyRetries(t *testing.T) {
	if b := of(t, stack(26)).Breakers[25]; !(b.Fresh > 0 && b.Fresh <= b.Latest) {
		t.Errorf("%+v", b)
	}
}
