package policies

import "math"

// limits are what the counts of a window are held against. A window carries
// them itself, so that an outcome costs one call through an interface.
type limits struct {
	minCalls int
	failures threshold
	slow     threshold
}

func makeLimits(c RuleConfig) limits {
	return limits{
		minCalls: c.EffectiveMinCalls(),
		failures: makeThreshold(c.FailureRate),
		slow:     makeThreshold(c.SlowRate),
	}
}

// reached reports whether there are enough calls and too many bad ones.
func (l *limits) reached(c Counts) bool {
	return c.Failures|c.Slow != 0 && c.Calls >= l.minCalls && l.tooMany(c)
}

// calm reports whether no number of good outcomes alone, without others that
// leave, can reach the limits: each of them only lowers rates that are low
// enough.
func (l *limits) calm(c Counts) bool { return !l.tooMany(c) }

// tooMany compares the rates alone, however few the calls.
func (l *limits) tooMany(c Counts) bool {
	return l.failures.met(c.Failures, c.Calls) || c.Slow != 0 && l.slow.met(c.Slow, c.Calls)
}

// A threshold compares a share k/n with a rate exactly as the decimal was
// meant: 7 of 100 reach 0.07. The quotient of two integers below 2^53 is
// rounded to the nearest float64, and so is the decimal in the source, so
// equal numbers stay equal; a product such as 0.07*100 would not do. The
// product only serves to skip most divisions.
type threshold struct {
	rate float64
	// below is so little under rate that k < below*n implies k/n < rate: the
	// product errs by at most 1 part in 2^53, the margin is 1 in 2^50.
	below float64
}

func makeThreshold(rate float64) threshold {
	if rate == 0 {
		rate = math.Inf(1)
	}
	return threshold{rate: rate, below: rate * (1 - 0x1p-50)}
}

func (t threshold) met(k, n int) bool {
	return float64(k) >= t.below*float64(n) && float64(k)/float64(n) >= t.rate
}
