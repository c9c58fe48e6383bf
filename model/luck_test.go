package model_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// What one client abandons does not change the luck of another.
func TestLuckIsNotShared(t *testing.T) {
	latency := func(patience time.Duration) time.Duration {
		exponential := model.Law{Kind: model.Exponential, Mean: 50 * ms}
		node := func(name string) model.Node {
			return model.Node{Name: name, Workers: model.Unlimited, Service: exponential}
		}
		client := func(name, to string, stack model.Stack) model.Client {
			return model.Client{Name: name, Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 100}, Requests: 1000,
				Steps: one(model.Call{To: to, Stack: stack})}
		}
		s := mustRun(t, model.Config{
			Nodes:   []model.Node{node("A"), node("B")},
			Clients: []model.Client{client("x", "A", model.Stack{timeout(patience)}), client("y", "B", nil)},
			Horizon: time.Minute,
		}, 0)
		if left := s.Ledger().Node("A").Abandoned; left < 100 {
			t.Fatalf("%d calls abandoned, too few to matter", left)
		}
		return s.Ledger().Client("y").Latency
	}
	if a, b := latency(60*ms), latency(40*ms); a != b {
		t.Errorf("the latencies of y add up to %v or %v, depending on the patience of x", a, b)
	}
}

// Where workers are unlimited, a client does not see whether work that it has
// left is done.
func TestLuckDoesNotDependOnCancellation(t *testing.T) {
	succeeded := func(cancel bool) uint64 {
		s := mustRun(t, model.Config{
			Nodes: []model.Node{{Name: "A", Workers: model.Unlimited, Cancel: cancel,
				Service: model.Law{Kind: model.Exponential, Mean: 100 * ms}}},
			Clients: []model.Client{{Name: "x", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 100}, Requests: 5000,
				Steps: one(model.Call{To: "A", Stack: model.Stack{retries(2, nil), timeout(100 * ms)}})}},
			Horizon: 2 * time.Minute,
		}, 0)
		return s.Ledger().Client("x").Succeeded
	}
	if on, off := succeeded(true), succeeded(false); on != off {
		t.Errorf("%d succeed with cancellation, %d without", on, off)
	}
}

// Two layers that retry draw their waits apart, also when nothing was sent
// between: the sum of three of them is not three times one.
func TestJitterOfNestedRetries(t *testing.T) {
	layer := func() model.Layer {
		l := retries(2, nil)
		l.Retry.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: sec}
		return l
	}
	// The first call holds the only place for ever; all others are refused.
	full := model.Layer{Limit: &model.LimitLayer{InFlight: 1}}
	latencies := func(stack ...model.Layer) (mean, top time.Duration) {
		s := mustRun(t, model.Config{
			Nodes: []model.Node{backend("A", time.Hour)},
			Clients: []model.Client{{Name: "x", Arrivals: evenly(10), Requests: 2001,
				Steps: one(model.Call{To: "A", Stack: append(stack, full)})}},
			Horizon: 10 * time.Minute,
		}, 0)
		return s.Ledger().Client("x").Latency / 2000, s.LatencyQuantile("x", 0.99)
	}
	mean, top := latencies(layer(), layer())
	if mean < 1450*ms || mean > 1550*ms {
		t.Errorf("mean of three waits %v, want 1.5 s", mean)
	}
	// P[sum of three uniform > 2.6] = 0.4³/6 = 1.1 %; three times one number is
	// above 2.97 in 1 %.
	if top < 2500*ms || top > 2750*ms {
		t.Errorf("99 %% of the sums are below %v, want 2.6 s", top)
	}
}

// RetryOn sees the latency of the attempt, and a success that it retries waits
// with jitter too.
func TestRetryOnSeesTheAttempt(t *testing.T) {
	var seen []time.Duration
	l := retries(3, nil)
	l.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: sec}
	l.Retry.RetryOn = func(o policies.Outcome) bool {
		seen = append(seen, o.Latency)
		return true
	}
	mustRun(t, model.Config{
		Nodes:   []model.Node{backend("A", 10*ms)},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(1), Requests: 1, Steps: one(model.Call{To: "A", Stack: model.Stack{l}})}},
		Horizon: time.Minute,
	}, 0)
	if len(seen) != 3 || seen[0] != 10*ms || seen[1] != 10*ms || seen[2] != 10*ms {
		t.Errorf("latencies %v, want 10 ms three times", seen)
	}
	l.Retry.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: sec}
	l.Retry.RetryConfig.Attempts = 2
	s := mustRun(t, model.Config{
		Nodes:   []model.Node{backend("A", 0)},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(10), Requests: 2000, Steps: one(model.Call{To: "A", Stack: model.Stack{l}})}},
		Horizon: time.Hour,
	}, 0)
	if mean := s.Ledger().Client("x").Latency / 2000; mean < 450*ms || mean > 550*ms {
		t.Errorf("mean wait %v before a success is repeated, want half a second", mean)
	}
}
