package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRetriesPublished(t *testing.T) {
	for _, test := range []struct {
		p                 float64
		n                 int
		attempts, success float64
	}{
		{0.05, 3, 1.0525, 0.999875},
		{0.2, 3, 1.24, 0.992},
		{0.5, 3, 1.75, 0.875},
		{1, 3, 3, 0},
		{0, 3, 1, 1},
		{0.5, 1, 1, 0.5},
		{0.5, 9, 1.99609375, 0.998046875},
	} {
		near(t, "attempts", sure(RetryAttempts(test.p, test.n)), test.attempts, 1e-14)
		near(t, "success", sure(RetrySuccess(test.p, test.n)), test.success, 1e-14)
	}
}

func TestRetriesAgainstSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{1e-300, 1e-9, 1 - 1e-9, 1 - 1e-16})).Draw(t, "p")
		n := rapid.IntRange(1, 200).Draw(t, "n")
		sum, power := 0.0, 1.0
		for range n {
			sum += power
			power *= p
		}
		attempts, success := sure(RetryAttempts(p, n)), sure(RetrySuccess(p, n))
		near(t, "attempts", attempts, sum, 1e-13)
		// Every attempt succeeds with 1-p, and at most one does.
		near(t, "success", success, attempts*(1-p), 1e-12)
	})
}

func TestChainsAndBudgets(t *testing.T) {
	near(t, "three layers", sure(ChainAttempts(3, 3, 3)), 27, 0)
	near(t, "with sidecars", sure(ChainAttempts(3, 3, 3, 3, 3)), 243, 0)
	near(t, "no layer", sure(ChainAttempts()), 1, 0)
	near(t, "budgets", sure(BudgetBound(0.1, 3)), 1.331, 1e-14)
	near(t, "no hop", sure(BudgetBound(0.1, 0)), 1, 0)
	near(t, "no budget", sure(BudgetBound(0, 5)), 1, 0)
}

func TestRetryErrors(t *testing.T) {
	_, err := RetryAttempts(1.1, 3)
	wantError(t, err, "retries", "failure probability 1.1")
	_, err = RetryAttempts(0.5, 0)
	wantError(t, err, "attempts 0", "at least 1")
	_, err = RetrySuccess(math.NaN(), 3)
	wantError(t, err, "failure probability NaN")
	_, err = ChainAttempts(3, 0)
	wantError(t, err, "chain", "attempts 0 of layer 1")
	_, err = BudgetBound(-0.1, 3)
	wantError(t, err, "retry budget", "budget -0.1")
	_, err = BudgetBound(0.1, -1)
	wantError(t, err, "hops -1")
}
