package theory

import (
	"fmt"
	"math"
)

// RetryAttempts returns the expected attempts per request, (1-pⁿ)/(1-p), if
// each attempt fails independently with probability p and a request makes at
// most n attempts, the first one included (the mean of a truncated geometric
// distribution).
func RetryAttempts(p float64, attempts int) (float64, error) {
	if err := checkRetry(p, attempts); err != nil {
		return 0, err
	}
	switch p {
	case 0:
		return 1, nil
	case 1:
		return float64(attempts), nil
	}
	return math.Expm1(float64(attempts)*math.Log(p)) / (p - 1), nil
}

// RetrySuccess returns the share of requests that succeed, 1-pⁿ, under the
// assumptions of [RetryAttempts].
func RetrySuccess(p float64, attempts int) (float64, error) {
	if err := checkRetry(p, attempts); err != nil {
		return 0, err
	}
	if p == 1 {
		return 0, nil
	}
	return -math.Expm1(float64(attempts) * math.Log(p)), nil
}

func checkRetry(p float64, attempts int) error {
	if err := checkProbability("retries", "failure probability", p); err != nil {
		return err
	}
	return checkAtLeast("retries", "attempts", int64(attempts), 1)
}

// ChainAttempts returns the attempts that reach the end of a dead chain per
// request: the product of the attempts that each layer makes.
func ChainAttempts(layers ...int) (float64, error) {
	product := 1.0
	for i, n := range layers {
		if n < 1 {
			return 0, fmt.Errorf("theory: chain: attempts %d of layer %d, want at least 1", n, i)
		}
		product *= float64(n)
	}
	return product, nil
}

// BudgetBound returns the most attempts per request that can reach the end of
// a chain in the long run if every hop has a retry budget: (1+b)^hops, for a
// budget of b retries per request, at least 0.
func BudgetBound(budget float64, hops int) (float64, error) {
	if err := checkNotNegative("retry budget", "budget", budget); err != nil {
		return 0, err
	}
	if err := checkAtLeast("retry budget", "hops", int64(hops), 0); err != nil {
		return 0, err
	}
	return math.Pow(1+budget, float64(hops)), nil
}
