package theory

import "fmt"

// TripRateUpperBound returns a rigorous upper bound on the trips per call of a
// rule in the long run, at failure probability p, for windows of any size.
//
// A trip of a full window needs a failure that replaces a success next to
// exactly k-1 failures, which has probability p·(1-p)·P[Bin(N-1, p) = k-1] per
// call; any other trip happens while the window fills up after an earlier one,
// which has some probability F per trip, computed exactly. So the rate is at
// most the first divided by 1-F; and it is at most one per minimum of calls.
func TripRateUpperBound(rule CountRule, p float64) (float64, error) {
	b, err := newTripBound("trip rate bound", rule, p)
	if err != nil {
		return 0, err
	}
	return b.atMost(b.crossing, 1/float64(rule.minCalls())), nil
}

// ExpectedTripsUpperBound is [TripRateUpperBound] for the expected number of
// trips in some calls from an empty window.
func ExpectedTripsUpperBound(rule CountRule, calls int64, p float64) (float64, error) {
	const what = "expected trips bound"
	if err := checkAtLeast(what, "calls", calls, 0); err != nil {
		return 0, err
	}
	b, err := newTripBound(what, rule, p)
	if err != nil {
		return 0, err
	}
	most := float64(calls / int64(rule.minCalls()))
	full := float64(max(calls-int64(rule.Calls), 0)) // calls that a full window can precede
	return b.atMost(full*b.crossing+b.filling, most), nil
}

// A tripBound holds the probabilities that a full window would trip at a call,
// and that an empty one trips before or when it is full, or does not.
type tripBound struct{ crossing, filling, passing float64 }

// atMost is trips/passing, or most if that is less.
func (b tripBound) atMost(trips, most float64) float64 {
	if trips >= most*b.passing {
		return most
	}
	return trips / b.passing
}

func newTripBound(what string, rule CountRule, p float64) (tripBound, error) {
	if err := rule.Validate(); err != nil {
		return tripBound{}, err
	}
	if err := checkProbability(what, "failure probability", p); err != nil {
		return tripBound{}, err
	}
	k := FailuresToTrip(rule.Calls, rule.FailureRate)
	if work := float64(rule.Calls) * float64(k); work > maxWork {
		return tripBound{}, fmt.Errorf("theory: %s: %w: %d calls times %d failures, want at most %v", what, ErrTooLong, rule.Calls, k, float64(maxWork))
	}
	need := failuresNeeded(rule)
	b := tripBound{crossing: p * (1 - p) * binomialPMF(rule.Calls-1, k-1, p)}
	failures := make([]float64, k+1) // distribution of failures so far
	failures[0] = 1
	for i := 1; i <= rule.Calls; i++ {
		b.filling += record(failures, i, need[i], p)
	}
	b.passing = sum(failures)
	return b, nil
}
