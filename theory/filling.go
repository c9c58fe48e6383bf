package theory

import "math"

// failuresNeeded lists the failures that trip a window of 0, 1, …, N outcomes;
// below the minimum no number does.
func failuresNeeded(rule CountRule) []int {
	need := make([]int, rule.Calls+1)
	for i := range need {
		need[i] = math.MaxInt
		if i >= rule.minCalls() {
			need[i] = FailuresToTrip(i, rule.FailureRate)
		}
	}
	return need
}

// record brings the distribution of the failures in a window that is filling
// up from i-1 outcomes to i; the last entry stands for more failures too. The
// part that has at least need failures trips: it is taken away and returned.
func record(failures []float64, i, need int, p float64) (trips float64) {
	most, q := len(failures)-1, 1-p
	top := min(i, most)
	if top == most {
		failures[top] += p * failures[top-1]
	} else {
		failures[top] = p * failures[top-1]
	}
	for j := top - 1; j > 0; j-- {
		failures[j] = q*failures[j] + p*failures[j-1]
	}
	failures[0] *= q
	for j := need; j <= top; j++ {
		trips += failures[j]
		failures[j] = 0
	}
	return trips
}
