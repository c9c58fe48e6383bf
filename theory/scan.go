package theory

import (
	"fmt"
	"math"
)

// ScanProbability approximates P[some window of calls consecutive outcomes
// among trials outcomes holds at least failures failures], for independent
// outcomes of failure probability p. For a [CountRule] whose minimum is its
// window it is the probability of any trip in trials calls from an empty
// window; unlike [CountChain] it has no limit of size.
//
// It is exact for one, two and three windows of trials, and Naus's (1982)
// product-type approximation 1 - Q2·(Q3/Q2)^(trials/calls - 2) elsewhere, with
// Q2 and Q3 the probabilities of no such window in two and three windows of
// trials. Its relative error for more than two windows of trials is typically
// below 0.1 % where the result is small, and some percent where it is not; the
// tests give bounds. Cost grows with failures only.
func ScanProbability(calls, failures int, trials int64, p float64) (float64, error) {
	const what = "scan probability"
	if err := checkAtLeast(what, "calls", int64(calls), 1); err != nil {
		return 0, err
	}
	if err := checkAtLeast(what, "failures", int64(failures), 1); err != nil {
		return 0, err
	}
	if err := checkAtLeast(what, "trials", trials, 0); err != nil {
		return 0, err
	}
	if err := checkProbability(what, "failure probability", p); err != nil {
		return 0, err
	}
	if trials < int64(calls) || failures > calls || p == 0 {
		return 0, nil
	}
	if p == 1 {
		return 1, nil
	}
	s := newScan(calls, failures, p)
	windows := float64(trials) / float64(calls)
	log := s.log2 + (windows-2)*(s.log3-s.log2)
	if windows < 2 {
		log = s.log1 + (windows-1)*(s.log2-s.log1)
	}
	return -math.Expm1(log), nil
}

// ScanTripRate approximates the trips per call of a rule at a constant failure
// probability in the long run, for windows that are too large for a
// [CountChain]. The minimum must be the whole window. It sums the survival that
// [ScanProbability] approximates, as [CountChain.TripInterval] does exactly.
func ScanTripRate(calls, failures int, p float64) (float64, error) {
	const what = "scan trip rate"
	if err := checkAtLeast(what, "calls", int64(calls), 1); err != nil {
		return 0, err
	}
	if err := checkAtLeast(what, "failures", int64(failures), 1); err != nil {
		return 0, err
	}
	if err := checkProbability(what, "failure probability", p); err != nil {
		return 0, err
	}
	if p == 0 || failures > calls {
		return 0, nil
	}
	if p == 1 {
		return 1 / float64(calls), nil
	}
	s := newScan(calls, failures, p)
	n := float64(calls)
	// No trip in the first n-1 calls; from n to 2n-1 and from 2n on the
	// survival is geometric.
	first, later := s.log2-s.log1, s.log3-s.log2
	mean := n + math.Exp(s.log1)*geometricSum(first/n, n) + math.Exp(s.log2)/-math.Expm1(later/n)
	return 1 / mean, nil
}

// geometricSum is 1 + r + … + r^(terms-1) for r = e^log.
func geometricSum(log, terms float64) float64 {
	if log == 0 {
		return terms
	}
	return math.Expm1(log*terms) / math.Expm1(log)
}

// A scan holds the logarithms of the probabilities that no window has as many
// failures, in one, two and three windows of trials.
type scan struct{ log1, log2, log3 float64 }

// newScan evaluates Naus's (1982) formulas for Q2 and Q3, in the notation of
// Glaz, Naus and Wallenstein (2001, section 4.2), for 1 <= k <= n and p inside
// (0, 1). It adds up 1-Q rather than Q, so that small probabilities are exact.
func newScan(n, k int, p float64) scan {
	b := func(j int) float64 { return binomialPMF(n, j, p) }
	// cdf(j, d) is P[Bin(n-d, p) <= j].
	cdf := func(j, d int) float64 { return binomialCDF(max(n-d, 0), j, p) }
	np, r := float64(n)*p, float64(k)
	tail := binomialTail(n, k, p)
	at, below := b(k), 1-tail // exactly k, fewer than k
	lead := (r-1)*cdf(k-2, 0) - np*cdf(k-3, 1)

	u2 := tail*(2-tail) + at*lead // 1 - Q2

	a1 := 2 * at * below * lead
	a2 := 0.5 * at * at * ((r-1)*(r-2)*cdf(k-3, 0) - 2*(r-2)*np*cdf(k-4, 1) + np*(np-p)*cdf(k-5, 2))
	a3, a4 := 0.0, 0.0
	for i := 1; i < k; i++ {
		far := b(2*k - i)
		if far == 0 {
			continue
		}
		a3 += far * cdf(i-1, 0) * cdf(i-1, 0)
		if i > 1 {
			a4 += far * b(i) * (float64(i-1)*cdf(i-2, 0) - np*cdf(i-3, 1))
		}
	}
	u3 := tail*(3-tail*(3-tail)) + a1 - a2 - a3 + a4 // 1 - Q3
	return scan{math.Log1p(-tail), log1mClamped(u2), log1mClamped(u3)}
}

// log1mClamped is ln(1-u), for a u that rounding may have moved out of [0, 1].
func log1mClamped(u float64) float64 { return math.Log1p(-min(max(u, 0), 1)) }

// TripRateUpperBound returns a rigorous upper bound on the trips per call of a
// rule in the long run, at failure probability p, for windows of any size.
//
// A trip of a full window needs a failure that replaces a success next to
// exactly k-1 failures, which has probability p·(1-p)·P[Bin(N-1, p) = k-1] per
// call; any other trip happens while the window fills up after an earlier one,
// which has some probability F per trip, computed exactly. So the rate is at
// most the first divided by 1-F; and it is at most one per minimum of calls.
func TripRateUpperBound(rule CountRule, p float64) (float64, error) {
	crossing, filling, err := tripBounds("trip rate bound", rule, p)
	if err != nil {
		return 0, err
	}
	return min(crossing/(1-filling), 1/float64(rule.minCalls())), nil
}

// ExpectedTripsUpperBound is [TripRateUpperBound] for the expected number of
// trips in some calls from an empty window.
func ExpectedTripsUpperBound(rule CountRule, calls int64, p float64) (float64, error) {
	const what = "expected trips bound"
	if err := checkAtLeast(what, "calls", calls, 0); err != nil {
		return 0, err
	}
	crossing, filling, err := tripBounds(what, rule, p)
	if err != nil {
		return 0, err
	}
	most := float64(calls / int64(rule.minCalls()))
	full := float64(max(calls-int64(rule.Calls), 0)) // calls that a full window can precede
	return min((full*crossing+filling)/(1-filling), most), nil
}

// tripBounds returns the probabilities that a full window would trip at a
// call, and that an empty one trips before or when it is full.
func tripBounds(what string, rule CountRule, p float64) (crossing, filling float64, err error) {
	if err := rule.Validate(); err != nil {
		return 0, 0, err
	}
	if err := checkProbability(what, "failure probability", p); err != nil {
		return 0, 0, err
	}
	k := FailuresToTrip(rule.Calls, rule.FailureRate)
	if work := float64(rule.Calls) * float64(k); work > maxWork {
		return 0, 0, fmt.Errorf("theory: %s: %w: %d calls times %d failures, want at most %v", what, ErrTooLong, rule.Calls, k, float64(maxWork))
	}
	need := failuresNeeded(rule)
	crossing = p * (1 - p) * binomialPMF(rule.Calls-1, k-1, p)
	failures := make([]float64, k+1) // distribution of failures so far; k stands for more too
	failures[0] = 1
	for i := 1; i <= rule.Calls; i++ {
		top := min(i, k)
		if top == k {
			failures[k] += p * failures[k-1]
		} else {
			failures[top] = p * failures[top-1]
		}
		for j := min(i-1, k-1); j > 0; j-- {
			failures[j] = (1-p)*failures[j] + p*failures[j-1]
		}
		failures[0] *= 1 - p
		for j := need[i]; j <= top; j++ {
			filling += failures[j]
			failures[j] = 0
		}
	}
	return crossing, min(filling, 1), nil
}
