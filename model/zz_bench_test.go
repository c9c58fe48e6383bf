package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

func zzChain(d time.Duration) model.Config {
	st := func(to string) []model.Step {
		return []model.Step{{Calls: []model.Call{{To: to, Stack: model.Stack{
			{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: 3}, Budget: &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}}},
			{Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{Rule: policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: 100}, MinCalls: 20, FailureRate: 0.5}, OpenFor: time.Second, Probes: 5}}},
			{Timeout: time.Second},
		}}}}}
	}
	return model.Config{Horizon: d,
		Nodes: []model.Node{
			{Name: "A", Workers: 100, Service: model.Law{Kind: model.Exponential, Mean: time.Millisecond}, Steps: st("B")},
			{Name: "B", Workers: 100, Service: model.Law{Kind: model.Exponential, Mean: time.Millisecond}, Steps: st("C")},
			{Name: "C", Workers: 100, Service: model.Law{Kind: model.Exponential, Mean: 10 * time.Millisecond}, Faults: []model.Fault{{Kind: model.FaultError, Ratio: 0.02}}},
		},
		Clients: []model.Client{{Name: "client", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 1000}, Steps: st("A")}},
	}
}

func BenchmarkZZ(b *testing.B) {
	s, err := model.New(zzChain(time.Hour*1000), 1, 0)
	if err != nil {
		b.Fatal(err)
	}
	s.RunUntil(context.Background(), 10e9)
	before := s.Ledger().Node("C").Attempts
	b.ReportAllocs()
	b.ResetTimer()
	s.RunUntil(context.Background(), s.Now().Add(time.Duration(b.N)*time.Millisecond))
	b.StopTimer()
	n := s.Ledger().Node("C").Attempts - before
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/leaf")
}
