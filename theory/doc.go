// Package theory holds closed forms and exact computations for what the
// simulator measures: binomial tails, detection delays, trips of a breaker's
// window, waiting times of queues, amplification by retries, and the intervals
// that tables print. Simulated values are shown beside them, and tests use
// them as oracles.
//
// Everything is a pure function of its arguments: no random numbers, no clock,
// no state between calls. Values are safe for concurrent use. An argument
// outside its range gives an error that names the field, the value and the
// rule; statistics that are undefined for too little data are NaN.
//
// Ratios are not percent, rates are per second, durations are time.Duration.
// A trial that fails is called a failure and has probability p throughout.
//
//	rule := theory.CountRule{Calls: 20, MinCalls: 20, FailureRate: 0.2}
//	chain, err := theory.NewCountChain(rule, theory.DefaultMaxStates)
//	if err != nil {
//		return err // ErrTooManyStates: fall back on TripRateUpperBound
//	}
//	trips, err := chain.Glitches(theory.GlitchTrace{
//		TotalCalls: 1_080_000, BaselineP: 0.02,
//		Glitches: 18, GlitchCalls: 250, GlitchP: 0.3,
//	})
package theory
