package presets

import "github.com/stormglass/stormglass/policies"

// A trip says when the calls in a window are bad enough. The libraries differ
// in how they round, and that decides at the border.
type trip interface {
	met(c policies.Counts) bool
}

// rateOf32 is 100*k/n as Java's float arithmetic has it; -1 stands for a rate
// that means nothing yet.
func rateOf32(k, n int) float32 { return float32(k) * 100 / float32(n) }

// percentOf is 100*k/n cut to a whole number.
func percentOf(k, n int) int {
	if n == 0 {
		return 0
	}
	return 100 * k / n
}
