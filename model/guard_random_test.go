package model_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Every call that failed was refused its next attempt for exactly one reason,
// and every retry made one attempt or met the breaker, whatever the guard.
func TestGuardLayerBalances(t *testing.T) {
	const systems = 80
	pick := rand.New(rand.NewPCG(7, 11))
	budgets := []*policies.BudgetConfig{
		nil,
		{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10, Initial: 5}},
		{Kind: policies.BudgetCounter, Counter: policies.CounterConfig{Ratio: 0.1, Grace: 20, ResetAt: 200}},
		{Kind: policies.BudgetConcurrent, Concurrent: 2},
		{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.2, Floor: 1}},
		{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: time.Second, Ratio: 0.2}},
	}
	reasons := [4]uint64{}
	for i := range systems {
		order := []policies.GuardStep{policies.GuardBudget, policies.GuardBreaker, policies.GuardIdempotent}
		pick.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		order = order[:pick.IntN(len(order)+1)]
		layer := guarded(1+pick.IntN(4), budgets[pick.IntN(len(budgets))], order...)
		layer.Retry.Errors.NoRetryOn = []string{"breaker-open", "500"}
		if pick.IntN(2) == 0 {
			layer.Retry.Backoff = policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: 200 * ms, Jitter: 0.5}
		}
		if layer.Retry.Budget != nil && pick.IntN(2) == 0 {
			layer.Retry.Share = "budget"
		}
		opens := policies.BreakerConfig{Rule: lastCalls(10, 0.5), OpenFor: sec, Probes: 3}
		share := []string{"", "breaker"}[pick.IntN(2)]
		b := backend("B", 20*ms,
			model.Fault{Kind: model.FaultError, Start: 5 * sec, End: 15 * sec, Ratio: pick.Float64()},
			model.Fault{Kind: model.FaultError, Ratio: 0.05, Code: 500})
		cfg := pair(b, model.Stack{layer, breaker(opens, share), timeout(sec)},
			model.Client{Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 50}, End: 20 * sec}, 40*sec)
		cfg.Nodes[0].Steps[0].Calls[0].UnsafeRatio = pick.Float64()
		cfg.Nodes[0].Replicas = 1 + pick.IntN(3)
		l := mustRun(t, cfg, uint64(i)).Ledger().Call("A", "B")
		if got := l.Denied + l.Spent + l.NotRetryable + l.Late + l.NotClosed + l.NotIdempotent; got != l.Failed {
			t.Errorf("system %d: %d calls failed, but %d were refused: %+v", i, l.Failed, got, l)
		}
		if l.Calls+l.Retries != l.Attempts+l.Refused {
			t.Errorf("system %d: %d calls and %d retries, but %d attempts and %d refusals", i, l.Calls, l.Retries, l.Attempts, l.Refused)
		}
		asks := layer.Retry.Guard.Asks(policies.GuardIdempotent)
		if asks && l.UnsafeRetries > 0 || !asks && l.NotIdempotent > 0 || !layer.Retry.Guard.Asks(policies.GuardBreaker) && l.NotClosed > 0 {
			t.Errorf("system %d: guard %q, but %+v", i, order, l)
		}
		for k, n := range []uint64{l.Denied, l.NotClosed, l.NotIdempotent, l.UnsafeRetries} {
			reasons[k] += n
		}
	}
	for k, n := range reasons {
		if n == 0 {
			t.Errorf("reason %d was never met: the test is worth less than it seems", k)
		}
	}
}
