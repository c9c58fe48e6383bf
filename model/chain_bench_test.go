package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A long horizon, so that a benchmark may run as long as it likes.
const benchHorizon = 1_000_000 * time.Hour

func tenPercent() *policies.BudgetConfig {
	return &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}
}

// steady runs a system with 1,000 requests a second past its start, then for
// b.N requests more, and returns the attempts at a node in them.
func steady(b *testing.B, c model.Config, leaf string) (attempts uint64) {
	b.Helper()
	s := mustSystem(b, c, 0)
	before := mustReach(b, s, 60*sec).Node(leaf).Attempts
	end := s.Now().Add(time.Duration(b.N) * ms)
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.RunUntil(context.Background(), end); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	return s.Ledger().Node(leaf).Attempts - before
}

func perUnit(b *testing.B, n uint64, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(n, 1)), "ns/"+unit)
}

// Three hops with retries under a budget, a breaker and a timeout for every
// attempt at each; all timeouts are armed, and nearly all cancelled. Times are
// exponential, workers are limited, and 2 % of the calls of C fail. An op is a
// request, with all that it leads to.
func BenchmarkChain(b *testing.B) {
	hop := func(to string) []model.Step {
		return one(model.Call{To: to, Stack: model.Stack{
			retries(3, tenPercent()),
			breaker(policies.BreakerConfig{
				Rule: policies.RuleConfig{
					Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 100},
					MinCalls: 20, FailureRate: 0.5,
				},
				OpenFor: sec, Probes: 5,
			}, ""),
			timeout(sec),
		}})
	}
	node := func(name string, mean time.Duration, steps []model.Step, faults ...model.Fault) model.Node {
		law := model.Law{Kind: model.Exponential, Mean: mean}
		return model.Node{Name: name, Workers: 64, Service: law, Steps: steps, Faults: faults}
	}
	attempts := steady(b, model.Config{
		Nodes: []model.Node{
			node("A", ms, hop("B")), node("B", ms, hop("C")),
			node("C", 10*ms, nil, model.Fault{Kind: model.FaultError, Ratio: 0.02}),
		},
		Clients: []model.Client{{Name: "client", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 1000}, Steps: hop("A")}},
		Horizon: benchHorizon,
	}, "C")
	perUnit(b, attempts, "leaf-attempt")
}

// Three layers that each make up to 3 attempts under a budget of 10 %, above
// a node that is down. An op is a request.
func BenchmarkLayers(b *testing.B) {
	hop := func(to string) model.Call {
		return model.Call{To: to, Stack: model.Stack{retries(3, tenPercent())}}
	}
	attempts := steady(b, model.Config{
		Nodes:   []model.Node{relay("A", hop("B")), relay("B", hop("C")), backend("C", 10*ms, down)},
		Clients: []model.Client{{Name: "client", Arrivals: evenly(1000), Steps: one(hop("A"))}},
		Horizon: benchHorizon,
	}, "C")
	perUnit(b, uint64(b.N), "request")
	perUnit(b, attempts, "leaf-attempt")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
