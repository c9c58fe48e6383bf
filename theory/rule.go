package theory

import (
	"fmt"
	"math"
)

// A CountRule is the trip rule of a breaker that looks at the last Calls
// outcomes since its window was last emptied. It trips at an outcome after
// which at least MinCalls are recorded and the share of failures among them is
// at least FailureRate; the trip empties the window.
type CountRule struct {
	Calls       int     // size of the window, at least 1
	MinCalls    int     // at least 1; more than Calls counts as Calls
	FailureRate float64 // above 0, at most 1
}

// Validate returns an error that names the first field out of range.
func (r CountRule) Validate() error {
	if err := checkAtLeast("count rule", "calls", int64(r.Calls), 1); err != nil {
		return err
	}
	if err := checkAtLeast("count rule", "minimum calls", int64(r.MinCalls), 1); err != nil {
		return err
	}
	return checkFailureRate("count rule", r.FailureRate)
}

func checkFailureRate(what string, rate float64) error {
	if !(rate > 0 && rate <= 1) {
		return fmt.Errorf("theory: %s: failure rate %v, want above 0 and at most 1", what, rate)
	}
	return nil
}

// minCalls is the number of recorded outcomes from which on the rule can trip.
func (r CountRule) minCalls() int { return min(r.MinCalls, r.Calls) }

// FailuresToTrip returns the least number of failures k >= 1 for which k/calls
// is at least rate, or calls+1 if there is none. The quotient is compared as a
// float64, so a rate written as a decimal or as a fraction means what it says:
// 7 of 100 reach 0.07 although 0.07*100 is above 7, and 5 of 6 reach 5.0/6.
func FailuresToTrip(calls int, rate float64) int {
	reached := func(k int) bool { return reachesRate(int64(k), int64(calls), rate) }
	// Multiplication is off by one rounding, so the answer is next to it.
	k := 1
	if guess := math.Ceil(rate * float64(calls)); guess > 1 && guess <= float64(calls) {
		k = int(guess)
	} else if guess > float64(calls) {
		k = max(calls, 1)
	}
	for k > 1 && reached(k-1) {
		k--
	}
	for k <= calls && !reached(k) {
		k++
	}
	return k
}

// reachesRate reports whether the share of failures reaches the rate.
func reachesRate(failures, calls int64, rate float64) bool {
	return float64(failures)/float64(calls) >= rate
}
