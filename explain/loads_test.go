package explain_test

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/sim"
)

// What is said of a node after an outage is what a run shows, with closed loops
// as with open ones: of 170 clients whose calls time out, each request makes 2
// attempts in 3 s, and with a budget 1.1 in 2.1 s.
func TestStaysDownAsInRuns(t *testing.T) {
	tokens := policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}
	others := retry(2)
	others.Retry.Errors.NoRetryOn = []string{"timeout"}
	for _, tc := range []struct {
		name    string
		clients int
		rps     float64
		retry   model.Layer
		outside time.Duration // timeout around it, 0 for none
		down    bool
		keeps   string // what the budgets keep up
	}{
		{"closed", 170, 0, retry(2), 0, true, ""},
		{"closed that fit", 130, 0, retry(2), 0, false, ""},
		{"closed with a budget", 170, 0, retry(2, tokens), 0, false, "89.05/s of closed loops"},
		{"both", 60, 60, retry(3), 0, true, ""},
		{"both with a budget", 50, 60, retry(3, tokens), 0, false, "60/s × 1.1 attempts"},
		{"open", 0, 60, retry(2), 0, true, ""},
		{"open, whose 3 retries at a time take 1 s each", 0, 80, retry(2, presets.EnvoyMaxRetries()), 0, false, "80/s × 1.038 attempts"},
		{"open, which has no time for a second attempt", 0, 60, retry(2), time.Second, false, ""},
		{"open, which repeats other errors", 0, 60, others, 0, false, ""},
		{"both above the capacity with a budget", 90, 60, retry(3, tokens), 0, true, ""},
	} {
		c := link(tc.rps, 10*ms)
		stack := model.Stack{tc.retry, timeout(time.Second)}
		if tc.outside > 0 {
			stack = append(model.Stack{timeout(tc.outside)}, stack...)
		}
		open := c.Clients[0]
		open.Steps = []model.Step{{Calls: []model.Call{{To: "b", Stack: stack}}}}
		loop := open
		loop.Name, loop.Arrivals, loop.Spread = "loop", model.Arrivals{}, time.Second
		loop.Loop = model.ClosedLoop{Clients: tc.clients, Think: model.Law{Mean: time.Second}}
		c.Nodes, c.Clients = c.Nodes[1:], nil
		if tc.clients > 0 {
			c.Clients = append(c.Clients, loop)
		}
		if tc.rps > 0 {
			c.Clients = append(c.Clients, open)
		}
		c.Horizon = 1600 * time.Second
		c.Nodes[0].Workers = 1
		c.Nodes[0].Faults = []model.Fault{{Kind: model.FaultStall, Start: 20 * time.Second, End: 30 * time.Second}}
		e := of(t, c)
		switch {
		case tc.name == "both above the capacity with a budget":
			says(t, e, "overload", explain.Problem, "without any outage", "1.25s at 100/s ≥ 1s")
		case tc.down:
			says(t, e, "stays-down", explain.Problem)
			silent(t, e, "budget-keeps-up")
		case tc.keeps != "":
			silent(t, e, "stays-down")
			says(t, e, "budget-keeps-up", explain.Note, "in the long run", tc.keeps)
		default:
			silent(t, e, "stays-down", "budget-keeps-up")
		}
		s, err := model.New(c, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		succeeded := func(until time.Duration) uint64 {
			if err := s.RunUntil(context.Background(), sim.Time(until)); err != nil {
				t.Fatal(err)
			}
			return s.Ledger().Client(c.Clients[0].Name).Succeeded
		}
		before := succeeded(1500 * time.Second)
		if after := succeeded(c.Horizon); (after == before) != tc.down {
			t.Errorf("%s: %d requests succeed at the end", tc.name, after-before)
		}
	}
}

// What the load is under budgets is said to be that.
func TestLoadsSayWhichRetries(t *testing.T) {
	tokens := policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.5, Cap: 10}}
	for words, r := range map[string]model.Layer{
		"with all retries": retry(2), "with the retries that the budgets grant in the long run": retry(2, tokens),
	} {
		c := link(80, 10*ms, r, timeout(time.Second))
		c.Nodes[1].Workers = 1
		says(t, of(t, c), "stays-down", explain.Problem, words)
	}
}
