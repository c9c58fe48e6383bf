package model_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// mustSystem makes a system, or ends the test.
func mustSystem(t testing.TB, c model.Config, replication uint64) *model.System {
	t.Helper()
	s, err := model.New(c, 1, replication)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustRun runs a system to its horizon.
func mustRun(t testing.TB, c model.Config, replication uint64) *model.System {
	t.Helper()
	s := mustSystem(t, c, replication)
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

// theEnd is beyond every horizon.
const theEnd = time.Duration(math.MaxInt64)

func mustReach(t testing.TB, s *model.System, at time.Duration) *model.Ledger {
	t.Helper()
	if err := s.RunUntil(context.Background(), sim.Time(at)); err != nil {
		t.Fatal(err)
	}
	return s.Ledger()
}

func constant(d time.Duration) model.Law { return model.Law{Mean: d} }

func evenly(rps float64) model.Arrivals { return model.Arrivals{Kind: model.Fixed, RateRPS: rps} }

// one is a step of a single call.
func one(c model.Call) []model.Step { return []model.Step{{Calls: []model.Call{c}}} }

// relay is a node that costs nothing and passes calls on.
func relay(name string, calls ...model.Call) model.Node {
	return model.Node{Name: name, Workers: model.Unlimited, Async: true, Steps: []model.Step{{Calls: calls}}}
}

// backend has no queue, and fails as the fault says.
func backend(name string, latency time.Duration, faults ...model.Fault) model.Node {
	return model.Node{Name: name, Workers: model.Unlimited, Service: constant(latency), Faults: faults}
}

var down = model.Fault{Kind: model.FaultError}

func retries(attempts int, budget *policies.BudgetConfig) model.Layer {
	return model.Layer{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: attempts}, Budget: budget}}
}

func timeout(d time.Duration) model.Layer { return model.Layer{Timeout: d} }

func breaker(c policies.BreakerConfig, share string) model.Layer {
	return model.Layer{Breaker: &model.BreakerLayer{BreakerConfig: c, Share: share}}
}

// lastCalls opens at half of the last calls.
func lastCalls(calls int, rate float64) policies.RuleConfig {
	return policies.RuleConfig{
		Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: calls},
		MinCalls: calls, FailureRate: rate,
	}
}

// pair is client → A → B with a stack on the call to B.
func pair(b model.Node, stack model.Stack, client model.Client, horizon time.Duration) model.Config {
	client.Name, client.Steps = "client", one(model.Call{To: "A"})
	return model.Config{
		Nodes:   []model.Node{relay("A", model.Call{To: b.Name, Stack: stack}), b},
		Clients: []model.Client{client},
		Horizon: horizon,
	}
}

func wantCount(t *testing.T, what string, got uint64, lo, hi float64) {
	t.Helper()
	if x := float64(got); !(x >= lo && x <= hi) {
		t.Errorf("%s: %d, want %g to %g", what, got, lo, hi)
	}
}

func wantRatio(t *testing.T, what string, part, whole uint64, lo, hi float64) {
	t.Helper()
	if x := float64(part) / float64(whole); !(x >= lo && x <= hi) {
		t.Errorf("%s: %d of %d are %.5f, want %g to %g", what, part, whole, x, lo, hi)
	}
}
