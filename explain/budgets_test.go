package explain_test

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// bound is the amplification under a budget in a total outage.
func bound(t *testing.T, rps float64, service time.Duration, attempts int, b policies.BudgetConfig) float64 {
	t.Helper()
	e := of(t, link(rps, service, retry(attempts, b)))
	if got, want := e.Attempts[1].Bounded, e.Budgets[0].Bound; got != want {
		t.Errorf("%v attempts at the node, %v under the budget", got, want)
	}
	return e.Budgets[0].Bound
}

// Case 14: a share with a floor, and a cap.
func TestConcurrentRetries(t *testing.T) {
	near(t, "share at 100/s", bound(t, 100, 100*ms, 2, presets.EnvoyRetryBudget()), 1.3)
	near(t, "share at 1000/s", bound(t, 1000, 100*ms, 2, presets.EnvoyRetryBudget()), 1.25)
	near(t, "cap at 100/s", bound(t, 100, 100*ms, 2, presets.EnvoyMaxRetries()), 1.3)
	near(t, "cap at 1000/s", bound(t, 1000, 100*ms, 2, presets.EnvoyMaxRetries()), 1.03)
	// A running retry counts twice, and one more than the share is granted: R - 1 = 0.2 (100 + 2 R).
	near(t, "failsafe at 1000/s", bound(t, 1000, 100*ms, 2, ofLibrary(presets.FailsafeBudgetDefaults())), 1+(20/0.6+1)/100)
	e := of(t, link(1000, 100*ms, retry(2, presets.EnvoyMaxRetries())))
	says(t, e, "retry-cap", explain.Note, "at most 30/s", "3 / (100ms + 0s back-off)")
	near(t, "binds above", e.Budgets[0].BindsAbove, 30)
	says(t, of(t, link(29, 100*ms, retry(2, presets.EnvoyMaxRetries()))), "budget-never-binds", explain.Warning, "above 30/s")
}

func ofLibrary(m policies.BudgetMaker) policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetPreset, Preset: m}
}

// Case 17: three retries and no more.
func TestThrottle(t *testing.T) {
	b := policies.BudgetConfig{Kind: policies.BudgetThrottle, Throttle: policies.ThrottleConfig{MaxTokens: 10, Ratio: 0.1}}
	near(t, "throttle", bound(t, 100, 10*ms, 4, b), 1)
	e := of(t, link(100, 10*ms, retry(4, ofLibrary(presets.GRPCThrottleDefaults()))))
	if got, want := e.Budgets[0].Formula, "1, after at most 4 retries in all; off where more than 0.1/(1 + 0.1) = 9.091 % of the attempts fail"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	near(t, "aws", bound(t, 100, 10*ms, 3, ofLibrary(presets.AWSQuotaDefaults())), 1)
}

// Case 18: 2λ > 10 + 0.2λ from 5.56/s on.
func TestBudgetThatNeverBinds(t *testing.T) {
	for _, tc := range []struct {
		budget policies.BudgetConfig
		most   float64
	}{
		{policies.BudgetConfig{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: 10 * time.Second, Ratio: 0.2, MinRPS: 10}}, 1.22},
		{ofLibrary(presets.FinagleDefaults()), 1.22},
		{ofLibrary(presets.TowerDefaults()), 1.24}, // its window may be half as long
	} {
		b := tc.budget
		near(t, "at 5/s", bound(t, 5, 10*ms, 3, b), 3)
		near(t, "at 500/s", bound(t, 500, 10*ms, 3, b), tc.most)
		e := of(t, link(5, 10*ms, retry(3, b)))
		near(t, "binds above", e.Budgets[0].BindsAbove, 10/1.8)
		says(t, e, "budget-never-binds", explain.Warning, "2 λ > 10 + 0.2 λ", "λ > 5.556/s")
		c := link(20, 10*ms, retry(3, b))
		silent(t, of(t, c), "budget-never-binds", "budget-per-instance")
		c.Nodes[0].Replicas = 4
		e = of(t, c)
		says(t, e, "budget-never-binds", explain.Warning, "at 5/s")
		says(t, e, "budget-per-instance", explain.Note, "4 × 10/s = 40/s")
	}
}

// Case 19: load × attempts against the capacity.
func TestStaysDown(t *testing.T) {
	tokens := policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}
	server := func(rps float64, layers ...model.Layer) *explain.Explanation {
		c := link(rps, 10*ms, append(layers, timeout(time.Second))...)
		c.Nodes[1].Workers = 1
		return of(t, c)
	}
	near(t, "rho", server(80).Loads[1].Rho, 0.8)
	silent(t, server(80), "stays-down", "overload")
	says(t, server(80, retry(2)), "stays-down", explain.Problem, "80/s × 2 attempts = 160/s > 100/s", "up to 1.25 attempts")
	silent(t, server(40, retry(2)), "stays-down")
	e := server(80, retry(2, tokens))
	silent(t, e, "stays-down")
	says(t, e, "budget-keeps-up", explain.Note, "88/s ≤ 100/s")
	says(t, e, "budget-empty", explain.Note, "= 10 calls before the first retry")
	says(t, server(120), "overload", explain.Problem, "120/s / 100/s = 1.2")
}

func TestOtherBudgets(t *testing.T) {
	near(t, "none", bound(t, 1, ms, 3, policies.BudgetConfig{Kind: policies.BudgetUnlimited}), 3)
	near(t, "empty", bound(t, 1, ms, 3, policies.BudgetConfig{Kind: policies.BudgetEmpty}), 1)
	near(t, "counter", bound(t, 1, ms, 3, presets.CounterRatioBudget()), 1.1)
	near(t, "counter that is reset often", bound(t, 1, ms, 3, policies.BudgetConfig{Kind: policies.BudgetCounter,
		Counter: policies.CounterConfig{Ratio: 0.1, Grace: 99, ResetAt: 400}}), 1.5)
	near(t, "tokens of successes", bound(t, 1, ms, 3, policies.BudgetConfig{Kind: policies.BudgetTokens,
		Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10, Credit: policies.CreditSuccess}}), 1)
	e := of(t, link(1, 0, retry(3, presets.EnvoyMaxRetries())))
	near(t, "a cap on what takes no time", e.Budgets[0].BindsAbove, math.Inf(1))
}
