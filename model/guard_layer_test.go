package model_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// guarded is a retry layer with a guard.
func guarded(attempts int, budget *policies.BudgetConfig, order ...policies.GuardStep) model.Layer {
	l := retries(attempts, budget)
	l.Retry.Guard = &policies.GuardConfig{Order: order}
	return l
}

// opensAfter opens a breaker at so many failures in a row, for good.
func opensAfter(calls int) policies.BreakerConfig {
	return policies.BreakerConfig{Rule: lastCalls(calls, 1), OpenFor: time.Hour, Probes: 1}
}

// callToB returns the ledger of A → B in a pair whose calls are unsafe with a
// probability.
func callToB(t *testing.T, stack model.Stack, unsafe float64, client model.Client, replicas int) *model.CallLedger {
	t.Helper()
	cfg := pair(backend("B", ms, down), stack, client, 20*sec)
	cfg.Nodes[0].Steps[0].Calls[0].UnsafeRatio = unsafe
	cfg.Nodes[0].Replicas = replicas
	return mustRun(t, cfg, 0).Ledger().Call("A", "B")
}

var hundred = model.Client{Arrivals: evenly(10), Requests: 100}

// A retry is refused for the first reason in the order of the guard.
func TestGuardLayerReasons(t *testing.T) {
	tokens := &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}
	empty := &policies.BudgetConfig{Kind: policies.BudgetEmpty}
	inside := breaker(opensAfter(10), "")
	idempotent := policies.GuardIdempotent
	for _, test := range []struct {
		name                                  string
		stack                                 model.Stack
		unsafe                                float64
		retries, denied, notClosed, notUnsafe uint64
	}{
		{"all unsafe", model.Stack{guarded(3, nil, idempotent)}, 1, 0, 0, 0, 100},
		{"none unsafe", model.Stack{guarded(3, nil, idempotent)}, 0, 200, 0, 0, 0},
		{"a budget first", model.Stack{guarded(3, empty, policies.GuardBudget, idempotent)}, 1, 0, 100, 0, 0},
		{"a budget last", model.Stack{guarded(3, empty, idempotent)}, 1, 0, 0, 0, 100},
		// Every tenth request has a token and spends it on nothing.
		{"a budget that pays for nothing", model.Stack{guarded(3, tokens, policies.GuardBudget, idempotent)}, 1, 0, 90, 0, 10},
		// Three attempts of three requests and one of the fourth open the
		// breaker; that one and those that the breaker refuses then are refused.
		{"an open breaker", model.Stack{guarded(3, nil, policies.GuardBreaker), inside}, 0, 6, 0, 97, 0},
		{"an open breaker after the limit", model.Stack{guarded(3, nil, policies.GuardBreaker), {Limit: &model.LimitLayer{InFlight: 5}}, inside}, 0, 6, 0, 97, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := callToB(t, test.stack, test.unsafe, hundred, 1)
			if l.Retries != test.retries || l.Denied != test.denied || l.NotClosed != test.notClosed || l.NotIdempotent != test.notUnsafe {
				t.Errorf("%d retries, refused: %d budget, %d breaker, %d not idempotent; want %d, %d, %d, %d", l.Retries, l.Denied, l.NotClosed, l.NotIdempotent,
					test.retries, test.denied, test.notClosed, test.notUnsafe)
			}
			if l.UnsafeRetries != 0 {
				t.Errorf("%d retries of what must not be made twice", l.UnsafeRetries)
			}
		})
	}
}

// Without a guard that asks, unsafe calls are repeated, and counted.
func TestUnsafeRetries(t *testing.T) {
	for _, test := range []struct {
		unsafe       float64
		lo, hi, most uint64
	}{{1, 200, 200, 200}, {0, 0, 0, 200}, {0.3, 30, 90, 200}} {
		l := callToB(t, model.Stack{retries(3, nil)}, test.unsafe, hundred, 1)
		if l.UnsafeRetries < test.lo || l.UnsafeRetries > test.hi || l.Retries != test.most {
			t.Errorf("share %v: %d of %d retries are unsafe, want %d to %d", test.unsafe, l.UnsafeRetries, l.Retries, test.lo, test.hi)
		}
		// All retries of a request are, or none.
		if l.UnsafeRetries%2 != 0 {
			t.Errorf("share %v: %d retries are unsafe, want a multiple of 2", test.unsafe, l.UnsafeRetries)
		}
	}
}

// The same requests are unsafe whatever the policies do.
func TestUnsafeIsTheRequest(t *testing.T) {
	many := model.Client{Arrivals: evenly(1000), Requests: 10_000}
	once := callToB(t, model.Stack{guarded(2, nil, policies.GuardIdempotent)}, 0.25, many, 1)
	often := callToB(t, model.Stack{guarded(5, nil, policies.GuardIdempotent)}, 0.25, many, 3)
	if once.NotIdempotent != often.NotIdempotent || math.Abs(float64(once.NotIdempotent)-2500) > 4*43.3 {
		t.Errorf("%d and %d calls are unsafe, want the same, 2500 ± 43", once.NotIdempotent, often.NotIdempotent)
	}
}

// Each instance asks its own breaker, whatever budget it shares; or all the
// one that they share.
func TestGuardLayerInstances(t *testing.T) {
	const replicas, each = 5, 6 // retries before a breaker opens at ten failures
	for _, test := range []struct {
		budget, breaker string
		want            uint64
	}{{"", "", replicas * each}, {"b", "", replicas * each}, {"", "x", each}, {"b", "x", each}} {
		t.Run(fmt.Sprintf("budget %q, breaker %q", test.budget, test.breaker), func(t *testing.T) {
			layer := guarded(3, &policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 1000}, policies.GuardBudget, policies.GuardBreaker)
			layer.Retry.Share = test.budget
			l := callToB(t, model.Stack{layer, breaker(opensAfter(10), test.breaker)}, 0, hundred, replicas)
			if l.Retries != test.want {
				t.Errorf("%d retries, want %d", l.Retries, test.want)
			}
		})
	}
}

// The answers to calls that are rejected have the codes that are set, and what
// is not retried is not.
func TestRejectionCodes(t *testing.T) {
	for _, test := range []struct {
		name string
		node func(n *model.Node)
		code policies.ErrorCode
	}{
		{"shed in flight", func(n *model.Node) { n.Shed = model.Shed{InFlight: 1, Code: 429} }, 429},
		{"shed in flight, as ever", func(n *model.Node) { n.Shed = model.Shed{InFlight: 1} }, 503},
		{"shed rate", func(n *model.Node) { n.Shed = model.Shed{RateRPS: 1, Code: 429} }, 429},
		{"shed rate, as ever", func(n *model.Node) { n.Shed = model.Shed{RateRPS: 1} }, 503},
		{"limit", func(n *model.Node) { n.Faults = []model.Fault{{Kind: model.FaultLimit, RateRPS: 1, Code: 429}} }, 429},
		{"limit, as ever", func(n *model.Node) { n.Faults = []model.Fault{{Kind: model.FaultLimit, RateRPS: 1}} }, 503},
		{"limit under shed", func(n *model.Node) {
			n.Shed = model.Shed{RateRPS: 1e6, Burst: 1e6, Code: 500}
			n.Faults = []model.Fault{{Kind: model.FaultLimit, RateRPS: 1, Code: policies.ErrReset}}
		}, 503}, // which A tells its own caller
	} {
		t.Run(test.name, func(t *testing.T) {
			b := backend("B", 10*sec)
			test.node(&b)
			layer := retries(3, nil)
			layer.Retry.Errors.NoRetryOn = []string{"429"}
			l := mustRun(t, pair(b, model.Stack{layer}, model.Client{Arrivals: evenly(1000), Requests: 100}, 5*sec), 0).Ledger()
			codes := l.Client("client").ByCode
			if len(codes) != 1 || codes[test.code] != 99 {
				t.Errorf("codes %v, want 99 × %d", codes, test.code)
			}
			if got, retried := l.Call("A", "B").NotRetryable, test.code != 429; (got == 0) != retried {
				t.Errorf("%d not retried", got)
			}
		})
	}
}

// An error fault may concern the requests of one client alone.
func TestFaultOfAClient(t *testing.T) {
	for _, fast := range []bool{false, true} {
		c := model.Config{
			Nodes: []model.Node{
				relay("A", model.Call{To: "B"}),
				backend("B", ms, model.Fault{Kind: model.FaultError, Client: "bad", Code: 400, Fast: fast}, model.Fault{Kind: model.FaultError, Client: "other", Ratio: 0.5}),
			},
			Horizon: 10 * sec,
		}
		for _, name := range []string{"good", "bad", "other"} {
			c.Clients = append(c.Clients, model.Client{Name: name, Arrivals: evenly(100), Requests: 500, Steps: one(model.Call{To: "A"})})
		}
		l := mustRun(t, c, 0).Ledger()
		if good, bad := l.Client("good"), l.Client("bad"); good.Succeeded != 500 || bad.ByCode[400] != 500 {
			t.Errorf("fast %v: good %+v, bad %+v", fast, good, bad)
		}
		wantCount(t, "failures of the other", l.Client("other").ByCode[503], 200, 300)
	}
}
