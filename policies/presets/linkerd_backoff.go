package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of Linkerd, linkerd/exp-backoff/src/lib.rs of linkerd2-proxy
// @29637b64; read, not recorded.
//
// The base is Min*2^(n-1), at most Max; the factor stays at 2^32-1. The jitter
// comes on top, never above Max, so the longest waits have none. It is the
// product of the base's whole seconds and its rest with the draw, each cut to
// whole seconds and ns by itself: a base of whole seconds has a jitter of
// whole seconds, and 1 s with a jitter below 1 has none.

// LinkerdBackoffConfig describes an ExponentialBackoff.
type LinkerdBackoffConfig struct {
	Min    time.Duration // the first wait, 0 or more
	Max    time.Duration // the longest wait, above 0, at least Min
	Jitter float64       `unit:"ratio"` // the share of the base that may come on top, 0 to 100
}

// LinkerdBackoffDefaults is that of retries by annotations of a service: 25 ms
// up to 250 ms, and up to the double of the base (linkerd2 policy-controller).
func LinkerdBackoffDefaults() LinkerdBackoffConfig {
	return LinkerdBackoffConfig{Min: 25 * time.Millisecond, Max: 250 * time.Millisecond, Jitter: 1}
}

// LinkerdAccrualBackoffDefaults is that of the breaker for consecutive
// failures: 1 s up to 60 s, 0.5.
func LinkerdAccrualBackoffDefaults() LinkerdBackoffConfig {
	return LinkerdBackoffConfig{Min: time.Second, Max: time.Minute, Jitter: 0.5}
}

// Validate reports the first field that makes no sense.
func (c LinkerdBackoffConfig) Validate() error {
	f := fields{library: "linkerd back-off"}
	f.duration("Min", c.Min, 0)
	f.duration("Max", c.Max, max(c.Min, 1))
	f.within("Jitter", c.Jitter, 0, 100)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c LinkerdBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var steps waits[int64]
	for n := range 33 {
		factor := min(int64(1)<<n, math.MaxUint32)
		steps = append(steps, min(productOf(int64(c.Min), factor), int64(c.Max)))
	}
	return &stepped[int64]{steps: steps, draw: func(base int64, u float64) time.Duration {
		second := int64(time.Second)
		share := u * c.Jitter
		seconds := truncate(float64(base/second) * share)
		extra := sumOf(productOf(seconds, second), min(truncate(float64(base%second)*share), math.MaxUint32))
		return time.Duration(base + min(extra, int64(c.Max)-base))
	}}, nil
}
