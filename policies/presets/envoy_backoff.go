package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of Envoy, source/common/common/backoff_strategy.cc @4280ef77
// (JitteredExponentialBackOffStrategy now); read, not recorded. Istio sets
// nothing else.
//
// A wait is a whole number of ms from 0 to w-1. The width w starts with the
// base and doubles while it is below half of the maximum, rounded down; then it
// is the maximum at once. The defaults give 25, 50, 100, 200, 250.
//
// The documentation (docs/root/configuration/http/http_filters/router_filter.rst
// @040783c8) still has widths of (2^n-1)*base, up to the maximum: 25, 75, 175,
// 250. The code before the rewrite (@18a4509c) drew from such widths, the last
// of them above the maximum, and cut the wait instead of the width.

// EnvoyBackoffConfig describes the waits before retries.
type EnvoyBackoffConfig struct {
	BaseInterval time.Duration // width of the first wait in whole ms, 1 ms or more
	// MaxInterval is the greatest width, at least the base, in whole ms. 0 means 10 times the base.
	MaxInterval time.Duration
	// Documented takes the widths of the documentation instead of the code.
	Documented bool
}

// EnvoyBackoffDefaults is 25 ms up to 250 ms.
func EnvoyBackoffDefaults() EnvoyBackoffConfig {
	return EnvoyBackoffConfig{BaseInterval: 25 * time.Millisecond}
}

// EnvoyDocumentedBackoffDefaults is the same as the documentation has it.
func EnvoyDocumentedBackoffDefaults() EnvoyBackoffConfig {
	return EnvoyBackoffConfig{BaseInterval: 25 * time.Millisecond, Documented: true}
}

// Validate reports the first field that makes no sense.
func (c EnvoyBackoffConfig) Validate() error {
	f := fields{library: "envoy back-off"}
	f.milliseconds("BaseInterval", c.BaseInterval, time.Millisecond)
	if c.MaxInterval != 0 {
		f.milliseconds("MaxInterval", c.MaxInterval, c.BaseInterval)
	}
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c EnvoyBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	base, limit := c.BaseInterval.Milliseconds(), c.MaxInterval.Milliseconds()
	if limit == 0 {
		limit = 10 * base
	}
	next := func(w int64) int64 {
		if w < limit/2 {
			return 2 * w
		}
		return limit
	}
	if c.Documented {
		next = func(w int64) int64 { return min(2*w+base, limit) }
	}
	return &stepped[int64]{steps: grow(base, next), draw: func(w int64, u float64) time.Duration {
		return fromMilliseconds(drawBelow(u, w))
	}}, nil
}
