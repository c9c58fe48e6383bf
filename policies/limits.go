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

// spare is how many bad outcomes, and any number of good ones, can be added
// without reaching the limits, and false if not even a good one: a good one
// only lowers rates that are low enough. It may be less than possible.
func (l *limits) spare(c Counts) (bad int, ok bool) {
	if l.tooMany(c) {
		return 0, false
	}
	return min(l.failures.spare(c.Failures, c.Calls), l.slow.spare(c.Slow, c.Calls)), true
}

// widest is the largest number of calls for which the bad ones, with so many
// added, reach the limits; 0 if there is none.
func (l *limits) widest(c Counts, bad int) int {
	return max(l.failures.widest(c.Failures+bad), l.slow.widest(c.Slow+bad))
}

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

// spare is the largest x up to n for which k+x of n+x do not meet the
// threshold, or a little less; k of n do not.
func (t threshold) spare(k, n int) int {
	x := n
	if most := (t.rate*float64(n) - float64(k)) / (1 - t.rate); t.rate < 1 && most < float64(n) {
		x = int(most)
	}
	for x > 0 && t.met(k+x, n+x) {
		x--
	}
	return max(x, 0)
}

// widest is the largest n for which k of n meet the threshold, 0 if there is
// none.
func (t threshold) widest(k int) int {
	if k == 0 {
		return 0
	}
	n := maxCount
	if q := float64(k) / t.rate; q < maxCount {
		n = int(q) + 1
	}
	for n > 0 && !t.met(k, n) {
		n--
	}
	return n
}

// maxCount is above the number of calls that any window can hold.
const maxCount = 1 << 50

func (t threshold) met(k, n int) bool {
	return float64(k) >= t.below*float64(n) && float64(k)/float64(n) >= t.rate
}
