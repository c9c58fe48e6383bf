package scenario

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/experiments"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A scenario of the system of a built-in experiment measures the same, to the
// last call of every replication.
func TestSameAsExperiment(t *testing.T) {
	const reps = 3
	stacks := map[string]string{
		"none": "[]", "retry-3": "[retry: 3]", "budget-10": "[retry: {attempts: 3, budget: {kind: tokens, ratio: 10%, cap: 10}}]",
	}
	e, err := experiments.Lookup("amplification")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := experiments.NewPlan(e, experiments.Options{Seed: 1, Reps: reps, Set: map[string]string{
		"policy": "none,retry-3,budget-10", "failure_ratio": "0.35,1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Run(context.Background(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range plan.Cells {
		more := ""
		if cell.Text("policy") == "budget-10" {
			more = ", denied >= 0"
		}
		text := fmt.Sprintf(`
horizon: 1501ms
replications: %d
nodes: {server: {faults: [error: %s]}}
clients:
  client: {arrivals: 1000/s, requests: 1500, calls: [{to: server, stack: %s}]}
claims: [amplification > 0, success_ratio >= 0, calls > 0%s]
`, reps, cell.Text("failure_ratio"), stacks[cell.Text("policy")], more)
		verdicts := reportsOf(t, text, 2)[0].Verdicts
		for k, metric := range []string{"amplification_ratio", "success_ratio", "calls_count", "denied_count"}[:len(verdicts)] {
			if got, want := verdicts[k].Values, result.Values(i, metric); !slices.Equal(got, want) {
				t.Errorf("%v: %s: %v, the experiment has %v", cell, metric, got, want)
			}
		}
		want := map[string]float64{"none": 1, "retry-3": 3, "budget-10": 1.1}[cell.Text("policy")]
		if got := verdicts[0].Mean; cell.Text("failure_ratio") == "1" && got != want {
			t.Errorf("%v: amplification %v, want %v", cell, got, want)
		}
	}
}

// chain is three hops with retries under a budget, a breaker and a timeout for
// every attempt at each.
const chain = `
horizon: 30s
nodes:
  A: {workers: 64, service: exponential 1ms, calls: [{to: B, stack: [again, guard, {timeout: 1s}]}]}
  B: {workers: 64, service: exponential 1ms, calls: [{to: C, stack: [again, guard, {timeout: 1s}]}]}
  C: {workers: 64, service: exponential 10ms, faults: [{error: 2%}, {error: 100%, from: 10s, for: 2s}]}
policies:
  again: {retry: {attempts: 3, on: [any], budget: {kind: tokens, ratio: 10%, cap: 10}}}
  guard: {breaker: {window: 100, minimum: 20, failure_rate: 50%, open: 1s, probes: 5}}
clients:
  client: {arrivals: poisson 1000/s, calls: [{to: A, stack: [again, guard, {timeout: 1s}]}]}
claims:
  - success_ratio{client=client} > 50%
  - openings{link=B-C} >= 0
  - latency_p99{client=client} < 1s
`

// chainConfig is the same, written in Go.
func chainConfig() model.Config {
	hop := func(to string) []model.Step {
		return []model.Step{{Calls: []model.Call{{To: to, Stack: model.Stack{
			{Retry: &model.RetryLayer{
				RetryConfig: policies.RetryConfig{Attempts: 3, Errors: policies.ErrorList{RetryOn: []string{"any"}}},
				Budget:      &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}},
			}},
			{Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{
				Rule: policies.RuleConfig{
					Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 100},
					MinCalls: 20, FailureRate: 0.5,
				},
				OpenFor: time.Second, Probes: 5,
			}}},
			{Timeout: time.Second},
		}}}}}
	}
	node := func(name string, mean time.Duration, steps []model.Step, faults ...model.Fault) model.Node {
		return model.Node{Name: name, Workers: 64, Service: model.Law{Kind: model.Exponential, Mean: mean}, Steps: steps, Faults: faults}
	}
	const ms, s = time.Millisecond, time.Second
	return model.Config{
		Nodes: []model.Node{
			node("A", ms, hop("B")), node("B", ms, hop("C")),
			node("C", 10*ms, nil, model.Fault{Kind: model.FaultError, Ratio: 0.02}, model.Fault{Kind: model.FaultError, Ratio: 1, Start: 10 * s, End: 12 * s}),
		},
		Clients: []model.Client{{Name: "client", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 1000}, Steps: hop("A")}},
		Horizon: 30 * s,
	}
}

// ledgerOf runs a system in one replication.
func ledgerOf(t testing.TB, c model.Config, replication uint64) *model.Ledger {
	t.Helper()
	s, err := model.New(c, 1, replication)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s.Ledger()
}

// The model in a scenario is the one that Go would write, and being watched
// changes nothing in it.
func TestSameAsModel(t *testing.T) {
	c := oneCase(t, chain)
	for replication := range uint64(3) {
		want := ledgerOf(t, chainConfig(), replication)
		if got := ledgerOf(t, c.Config, replication); !reflect.DeepEqual(got, want) {
			t.Errorf("replication %d: ledger\n%+v\nwant\n%+v", replication, got, want)
		}
		o, err := c.start(replication)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.system.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := o.system.Ledger(); !reflect.DeepEqual(got, want) {
			t.Errorf("replication %d, watched: ledger\n%+v\nwant\n%+v", replication, got, want)
		}
		o.spread()
		if want.Call("B", "C").Openings == 0 || o.openings[1] == nil {
			t.Errorf("replication %d: the breaker before C does not open", replication)
		}
	}
}

// perRequest reports the time of a run by its original requests.
func perRequest(b *testing.B, requests uint64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
}

// What a replication costs from a scenario, in parts of a run as its claims
// need them.
func BenchmarkScenario(b *testing.B) {
	for _, with := range []struct{ name, claims string }{
		{"claims", ""},
		{"spans", "  - goodput > 1/s after 5s until 20s\n  - calls{node=C} > 0 before opening of B-C\n"},
		{"intervals", "  - recovery_time < 1h\n"},
		{"short", ""},
	} {
		b.Run(with.name, func(b *testing.B) {
			text := chain + with.claims
			if with.name == "short" {
				text = strings.Replace(strings.Replace(text, "30s", "1s", 1), ", {error: 100%, from: 10s, for: 2s}", "", 1)
			}
			c := casesOf(b, text)[0]
			requests := ledgerOf(b, c.Config, 0).Client("client").Requests
			for b.Loop() {
				if _, err := c.measure(context.Background(), 0); err != nil {
					b.Fatal(err)
				}
			}
			perRequest(b, requests*uint64(b.N))
		})
	}
}

// What the same costs from Go, where nobody asks anything.
func BenchmarkModel(b *testing.B) {
	for _, name := range []string{"chain", "short"} {
		b.Run(name, func(b *testing.B) {
			c := chainConfig()
			if name == "short" {
				c.Horizon, c.Nodes[2].Faults = time.Second, c.Nodes[2].Faults[:1]
			}
			requests := ledgerOf(b, c, 0).Client("client").Requests
			for b.Loop() {
				ledgerOf(b, c, 0)
			}
			perRequest(b, requests*uint64(b.N))
		})
	}
}
