package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of Resilience4j 2.4.0, resilience4j-core
// io/github/resilience4j/core/IntervalFunction.java; recorded.
//
// The library counts in whole ms. It multiplies the wait step by step and cuts
// it to whole ms, saturated at 2^63-1, each time; so 500 ms by 1.5 goes 750,
// 1125, 1687, 2530. A randomised wait is drawn from the wait ± factor, both
// ends included by adding 1 ms to the width; it is at least 1 ms. The cap
// comes after that, and the wait grows on below it.

// Resilience4jBackoffConfig describes the waits between attempts.
type Resilience4jBackoffConfig struct {
	// InitialInterval is the first wait in whole ms, 1 ms or more; a fixed
	// wait may be 0.
	InitialInterval time.Duration
	// Multiplier is the growth from one wait to the next, 1 to 1000; 1 is a
	// fixed wait.
	Multiplier float64
	// RandomizationFactor is the share by which a wait may be shorter or
	// longer, 0 to 1.
	RandomizationFactor float64 `unit:"ratio"`
	// MaxInterval caps the wait after that, in whole ms; 0 means no cap.
	MaxInterval time.Duration
}

// Resilience4jBackoffDefaults is IntervalFunction.ofExponentialBackoff():
// 500 ms by 1.5. A retry without further settings waits a fixed 500 ms.
func Resilience4jBackoffDefaults() Resilience4jBackoffConfig {
	return Resilience4jBackoffConfig{InitialInterval: 500 * time.Millisecond, Multiplier: 1.5}
}

// Resilience4jRandomBackoffDefaults is
// IntervalFunction.ofExponentialRandomBackoff(): 500 ms by 1.5, ± 0.5.
func Resilience4jRandomBackoffDefaults() Resilience4jBackoffConfig {
	c := Resilience4jBackoffDefaults()
	c.RandomizationFactor = 0.5
	return c
}

// Validate reports the first field that makes no sense.
func (c Resilience4jBackoffConfig) Validate() error {
	f := fields{library: "resilience4j back-off"}
	least := time.Millisecond
	if c.Multiplier == 1 && c.RandomizationFactor == 0 {
		least = 0
	}
	f.milliseconds("InitialInterval", c.InitialInterval, least)
	f.growth("Multiplier", c.Multiplier)
	f.within("RandomizationFactor", c.RandomizationFactor, 0, 1)
	f.milliseconds("MaxInterval", c.MaxInterval, 0)
	return f.err
}

// New returns the back-off, or the error of Validate.
func (c Resilience4jBackoffConfig) New() (*Resilience4jBackoff, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Resilience4jBackoff{factor: c.RandomizationFactor, limit: math.MaxInt64}
	if c.MaxInterval != 0 {
		b.limit = c.MaxInterval.Milliseconds()
	}
	b.steps = grow(c.InitialInterval.Milliseconds(), func(ms int64) int64 {
		return truncate(float64(ms) * c.Multiplier)
	})
	return b, nil
}

// NewDelays is New.
func (c Resilience4jBackoffConfig) NewDelays() (policies.Delays, error) { return delays(c.New()) }

// A Resilience4jBackoff is a policies.Delays.
type Resilience4jBackoff struct {
	steps  waits[int64] // in ms
	factor float64
	limit  int64
}

// Milliseconds returns the wait after a number of attempts in whole ms, up to
// 2^63-1. It is 0 only if the wait is fixed.
func (b *Resilience4jBackoff) Milliseconds(attempts int, u float64) int64 {
	ms := b.steps.at(attempts)
	if b.factor > 0 {
		x := float64(ms)
		delta := b.factor * x
		low, high := x-delta, x+delta
		ms = max(truncate(low+unit(u)*(high-low+1)), 1)
	}
	return min(ms, b.limit)
}

// Delay implements policies.Delays. A wait that is longer than the longest
// Duration is cut to it.
func (b *Resilience4jBackoff) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	return fromMilliseconds(b.Milliseconds(attempts, u))
}
