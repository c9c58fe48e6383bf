package experiments

import (
	"math"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/theory"
)

// binds returns the failure probability from which a budget bounds the retries
// in the long run: those wanted, p + p² + … + p^(attempts-1), are then more
// than a bucket or a counter earns. It is NaN if there is none up to 1.
func (s retrySpec) binds() float64 {
	bound := func(p float64) bool {
		long, ok := s.longRun(p)
		free := wanted(p, s.attempts)
		return ok && long < free-1e-12
	}
	if !bound(1) {
		return math.NaN()
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := (lo + hi) / 2; bound(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// longRun bounds the attempts per request in the long run if each fails with
// probability p: the attempts that are wanted, or what the budget earns if
// that is less, 1 + r per request for r tokens per request. With r tokens per
// success, a = 1 + r·(1-p)·a attempts. It is false for a budget that knows no
// such bound.
func (s retrySpec) longRun(p float64) (float64, bool) {
	free := wanted(p, s.attempts)
	switch b := s.budget; b.Kind {
	case "":
		return free, true
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		if b.Tokens.Credit == policies.CreditSuccess {
			return min(free, 1/(1-b.Tokens.Ratio*(1-p))), true
		}
		return min(free, 1+b.Tokens.Ratio), true
	}
	return 0, false
}

// mostAttempts is the most attempts that a number of calls can make: all that
// they may, or, if that is less, the calls, the retries that they earn and those
// granted at first. A counter grants its grace after every reset, and else one
// more than its ratio of the calls. What bounds retries in progress has no such
// bound.
func (s retrySpec) mostAttempts(calls float64) float64 {
	all := float64(s.attempts) * calls
	switch b := s.budget; b.Kind {
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		return min(all, calls*(1+b.Tokens.Ratio)+float64(b.Tokens.Initial))
	case policies.BudgetCounter:
		window := func(calls float64) float64 {
			free := float64(s.attempts-1) * min(calls, float64(b.Counter.Grace)+1)
			return max(free, b.Counter.Ratio*calls+1)
		}
		size := float64(b.Counter.ResetAt)
		full := math.Floor(calls / size)
		return min(all, calls+full*window(size)+window(calls-full*size))
	}
	return all
}

// wanted is the mean number of attempts, of at most n, up to the first success.
func wanted(p float64, n int) float64 {
	a, err := theory.RetryAttempts(p, n)
	if err != nil {
		panic(err) // factors and policies are checked
	}
	return a
}
