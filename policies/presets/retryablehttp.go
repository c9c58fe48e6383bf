package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of github.com/hashicorp/go-retryablehttp v0.7.8, client.go:
// DefaultBackoff and LinearJitterBackoff; run, not recorded.
//
// The default has no jitter. An answer 429 or 503 with a Retry-After takes its
// place, also above the maximum; that is up to the caller. The linear one has
// no cap: the minimum and maximum are what it multiplies by n.

// RetryableHTTPConfig describes the waits of a client.
type RetryableHTTPConfig struct {
	RetryWaitMin time.Duration // the first wait, above 0
	RetryWaitMax time.Duration // the longest wait, above 0
	// LinearJitter waits n*U[RetryWaitMin, RetryWaitMax) before retry n
	// instead of RetryWaitMin*2^(n-1), at most RetryWaitMax.
	LinearJitter bool
}

// RetryableHTTPDefaults is 1 s up to 30 s; the client makes 4 retries.
func RetryableHTTPDefaults() RetryableHTTPConfig {
	return RetryableHTTPConfig{RetryWaitMin: time.Second, RetryWaitMax: 30 * time.Second}
}

// RetryableHTTPLinearExample is the linear one with the numbers that the
// library's documentation advises: 800 ms to 1200 ms.
func RetryableHTTPLinearExample() RetryableHTTPConfig {
	return RetryableHTTPConfig{RetryWaitMin: 800 * time.Millisecond, RetryWaitMax: 1200 * time.Millisecond, LinearJitter: true}
}

// Validate reports the first field that makes no sense.
func (c RetryableHTTPConfig) Validate() error {
	f := fields{library: "go-retryablehttp"}
	f.duration("RetryWaitMin", c.RetryWaitMin, 1)
	f.duration("RetryWaitMax", c.RetryWaitMax, 1)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate. Linear waits that
// the library lets overflow are cut to the longest Duration.
func (c RetryableHTTPConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	least, most := int64(c.RetryWaitMin), int64(c.RetryWaitMax)
	if c.LinearJitter {
		return &linearJitter{least, max(most-least, 0)}, nil
	}
	var steps waits[int64]
	for n := 0; ; n++ {
		wait := min(truncate(math.Pow(2, float64(n))*float64(least)), most)
		if steps = append(steps, wait); wait == most {
			return &stepped[int64]{steps: steps, draw: unjittered}, nil
		}
	}
}

type linearJitter struct{ least, width int64 }

// Delay implements policies.Delays.
func (l *linearJitter) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	wait := l.least + truncate(unit(u)*float64(l.width))
	return time.Duration(productOf(wait, int64(max(attempts, 1))))
}
