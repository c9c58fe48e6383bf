package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of Spring Retry,
// org/springframework/retry/backoff/ExponentialBackOffPolicy.java and
// ExponentialRandomBackOffPolicy.java @c8977dda; read, not recorded.
//
// The interval is multiplied step by step and cut to whole ms each time, and
// grows until it is above the maximum. The random policy multiplies the capped
// interval by a factor of [1, Multiplier) and caps the product again; the
// factor has 24 random bits, for which the first ones of u are taken.

// SpringBackoffConfig describes the waits between attempts.
type SpringBackoffConfig struct {
	InitialInterval time.Duration // the first wait in whole ms, 1 ms or more
	Multiplier      float64       // growth from one wait to the next, 1 to 1000
	MaxInterval     time.Duration // the longest wait in whole ms, 1 ms or more
	Random          bool          // up to as much on top as the next wait is longer
}

// SpringBackoffDefaults is 100 ms by 2 up to 30 s.
func SpringBackoffDefaults() SpringBackoffConfig {
	return SpringBackoffConfig{InitialInterval: 100 * time.Millisecond, Multiplier: 2, MaxInterval: 30 * time.Second}
}

// SpringRandomBackoffDefaults is the random policy with the same numbers.
func SpringRandomBackoffDefaults() SpringBackoffConfig {
	c := SpringBackoffDefaults()
	c.Random = true
	return c
}

// Validate reports the first field that makes no sense.
func (c SpringBackoffConfig) Validate() error {
	f := fields{library: "spring back-off"}
	f.milliseconds("InitialInterval", c.InitialInterval, time.Millisecond)
	f.growth("Multiplier", c.Multiplier)
	f.milliseconds("MaxInterval", c.MaxInterval, time.Millisecond)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c SpringBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	limit := c.MaxInterval.Milliseconds()
	steps := grow(c.InitialInterval.Milliseconds(), func(ms int64) int64 {
		if ms > limit {
			return ms
		}
		return truncate(float64(ms) * c.Multiplier)
	})
	return &stepped[int64]{steps: steps, draw: func(ms int64, u float64) time.Duration {
		ms = min(ms, limit)
		if c.Random {
			factor := 1 + math.Floor(u*0x1p24)/0x1p24*(c.Multiplier-1)
			ms = min(truncate(float64(ms)*factor), limit)
		}
		return fromMilliseconds(ms)
	}}, nil
}
