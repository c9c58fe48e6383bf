package theory

import "math"

// ScanProbability approximates P[some window of calls consecutive outcomes
// among trials outcomes holds at least failures failures], for independent
// outcomes of failure probability p. For a [CountRule] whose minimum is its
// window it is the probability of any trip in trials calls from an empty
// window; unlike [CountChain] it has no limit of size.
//
// It is exact for one, two and three windows of trials, and Naus's (1982)
// product-type approximation 1 - Q2·(Q3/Q2)^(trials/calls - 2) elsewhere, with
// Q2 and Q3 the probabilities of no such window in two and three windows of
// trials. In the tests its relative error is below 0.1 % for more than two
// windows of trials, and below 6 % between one and two, where the logarithm is
// interpolated. Its cost grows with failures only.
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
	if windows < 2 {
		return -math.Expm1(s.log1 + (windows-1)*s.second), nil
	}
	return -math.Expm1(s.log1 + s.second + (windows-2)*s.third), nil
}

// ScanTripRate approximates the trips per call of a rule at a constant failure
// probability in the long run, for windows that are too large for a
// [CountChain]. The minimum must be the whole window. It sums the survival that
// [ScanProbability] approximates, as [CountChain.TripInterval] does exactly; in
// the tests they differ by less than 0.3 %.
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
	mean := n + math.Exp(s.log1)*geometricSum(s.second/n, n) + math.Exp(s.log1+s.second)/-math.Expm1(s.third/n)
	return 1 / mean, nil
}

// geometricSum is 1 + r + … + r^(terms-1) for r = e^log.
func geometricSum(log, terms float64) float64 {
	if log == 0 {
		return terms
	}
	return math.Expm1(log*terms) / math.Expm1(log)
}

// A scan holds the natural logarithms of the probabilities that no window has
// as many failures: in one window of trials, in two given none in one, and in
// three given none in two.
type scan struct{ log1, second, third float64 }

// newScan evaluates Naus's (1982) formulas for Q2 and Q3, in the notation of
// Glaz, Naus and Wallenstein (2001), for 1 <= k <= n and p inside
// (0, 1). Of Q and 1-Q it adds up the smaller one, as a difference from the
// other would lose its digits.
func newScan(n, k int, p float64) scan {
	b := func(j int) float64 { return binomialPMF(n, j, p) }
	// cdf(j, d) is P[Bin(n-d, p) <= j].
	cdf := func(j, d int) float64 { return binomialCDF(max(n-d, 0), j, p) }
	np, r := float64(n)*p, float64(k)
	tail, below := binomialTail(n, k, p), binomialCDF(n, k-1, p)
	at := b(k) // exactly k
	lead := (r-1)*cdf(k-2, 0) - np*cdf(k-3, 1)
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
	var log1, log2, log3 float64
	if tail < 0.5 {
		log1 = math.Log1p(-tail)
		log2 = math.Log1p(-(tail*(2-tail) + at*lead))
		log3 = math.Log1p(-(tail*(3-tail*(3-tail)) + a1 - a2 - a3 + a4))
	} else {
		log1 = math.Log(below)
		log2 = math.Log(below*below - at*lead)
		log3 = math.Log(below*below*below - a1 + a2 + a3 - a4)
	}
	return scan{log1, notAbove0(log2 - log1), notAbove0(log3 - log2)}
}

// notAbove0 is the logarithm of a probability that rounding may have moved
// above 1, or below 0: then it is so small that it does not matter.
func notAbove0(log float64) float64 {
	if math.IsNaN(log) {
		return -1e300
	}
	return min(max(log, -1e300), 0)
}
