package experiments

import (
	"math"
	"testing"

	"github.com/stormglass/stormglass/policies"
)

// No budget grants more than mostAttempts, however its policy is asked: all
// calls fail and each asks as long as it may.
func TestMostAttemptsAgainstThePolicies(t *testing.T) {
	for _, policy := range []string{"retry-3", "budget-10", "budget-20-full", "budget-10-success", "counter-10", "counter-0-attempts-5", "counter-60-attempts-2", "cap-3"} {
		s := mustRetry(t, policy)
		for _, calls := range []int{1, 50, 101, 3000, 10_000, 10_101, 25_000} {
			attempts := calls
			var budget policies.Budget
			if s.budget.Kind != "" {
				var err error
				if budget, err = policies.NewBudget(s.budget); err != nil {
					t.Fatal(err)
				}
			}
			for range calls {
				if budget == nil {
					attempts += s.attempts - 1
					continue
				}
				budget.Request()
				n, held := 1, false
				for n < s.attempts && budget.TryRetry(held) {
					budget.WaitDone()
					n, held = n+1, true
					attempts++
				}
				budget.Done(held, false)
			}
			bound := s.mostAttempts(float64(calls))
			if float64(attempts) > bound+1e-9 {
				t.Errorf("%s, %d calls: %d attempts, above the bound %v", policy, calls, attempts, bound)
			}
			if s.budget.Kind == policies.BudgetCounter && calls > 1000 && bound > 1.1*float64(attempts) {
				t.Errorf("%s, %d calls: bound %v, far above the %d attempts made", policy, calls, bound, attempts)
			}
		}
	}
	if got := mustRetry(t, "counter-10").mostAttempts(3000); math.Abs(got-3301) > 1e-9 {
		t.Errorf("counter of 10 %%: at most %v attempts of 3,000 calls, want 3,301", got)
	}
}
