package experiments

import (
	"math/big"
	"strconv"

	"github.com/stormglass/stormglass/policies"
)

// chainWork is how many steps of a tokenChain are always worth while, and
// chainPerRequest how many cost as much as a simulated request.
const (
	chainWork       = 20_000_000
	chainPerRequest = 100
)

// A tokenChain is the Markov chain of a bucket of exact tokens whose requests
// follow each other, so that each ends before the next begins, and whose
// attempts fail independently with one probability. Its states are the levels
// of the bucket, in the largest unit that divides a token and a credit: at a
// ratio of 0.1 a bucket of 10 tokens has the levels 0 to 100.
type tokenChain struct {
	attempts      int
	token, credit int // in units
	onSuccess     bool
	full          int // level of a full bucket
	initial       int
}

// newTokenChain returns the chain of a policy; false if it has no bucket, one
// of float tokens, or one of too many levels.
func newTokenChain(s retrySpec) (tokenChain, bool) {
	if s.budget.Kind != policies.BudgetTokens {
		return tokenChain{}, false
	}
	t := s.budget.Tokens
	ratio, ok := new(big.Rat).SetString(strconv.FormatFloat(t.Ratio, 'f', -1, 64))
	if !ok || ratio.Denom().Cmp(big.NewInt(chainWork/int64(t.Cap))) > 0 {
		return tokenChain{}, false
	}
	token := int(ratio.Denom().Int64())
	return tokenChain{
		attempts: s.attempts, token: token, credit: int(ratio.Num().Int64()),
		onSuccess: t.Credit == policies.CreditSuccess,
		full:      t.Cap * token, initial: t.Initial * token,
	}, true
}

// retries returns the expected retries of the first so many requests at
// failure probability p; false if that would cost more than to simulate the
// requests a number of times.
func (c tokenChain) retries(requests int, p float64, simulated int) (float64, bool) {
	levels := c.full + 1
	depth := min(c.attempts, c.full/c.token+2) // a full bucket pays for no more
	if steps := float64(requests) * float64(levels) * float64(depth); steps > chainWork+chainPerRequest*float64(requests)*float64(simulated) {
		return 0, false
	}
	at, next := make([]float64, levels), make([]float64, levels)
	failed, again := make([]float64, levels), make([]float64, levels)
	at[c.initial] = 1
	total := 0.0
	for range requests {
		clear(next)
		for level, mass := range at {
			if mass == 0 {
				continue
			}
			if !c.onSuccess {
				level = min(level+c.credit, c.full)
			}
			failed[level] += mass
		}
		for n := 1; ; n++ {
			// Failed holds the requests about to make attempt n.
			any := false
			for level, mass := range failed {
				if mass == 0 {
					continue
				}
				failed[level] = 0
				after := level
				if c.onSuccess {
					after = min(level+c.credit, c.full)
				}
				next[after] += mass * (1 - p)
				if n < c.attempts && level >= c.token && p > 0 {
					again[level-c.token] += mass * p
					total += mass * p
					any = true
				} else {
					next[level] += mass * p
				}
			}
			failed, again = again, failed
			if !any {
				break
			}
		}
		at, next = next, at
	}
	return total, true
}
