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

// A system with many ways through it takes no more time than it has calls.
func TestManyWays(t *testing.T) {
	const layers, wide = 28, 8 // 2^28 ways
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
				if i+1 < layers && (k+j)%wide < 2 { // two ways on from each node
					n.Steps = append(n.Steps, model.Step{Calls: []model.Call{{To: name(i+1, k), Stack: model.Stack{r, many}}}})
				}
			}
			c.Nodes = append(c.Nodes, n)
		}
	}
	c.Clients[0].Steps[0].Calls[0].To = name(0, 0)
	begin := time.Now()
	e := of(t, c)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(e.Attempts) == 0 || e.Has(explain.Problem) {
		t.Errorf("%+v", e.Findings)
	}
}
