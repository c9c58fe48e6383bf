package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// wait.Backoff of Kubernetes' apimachinery v0.37.2, pkg/util/wait/backoff.go;
// recorded.
//
// Each call of Step returns the duration with the jitter on top and then
// multiplies the duration, as long as there are steps; a product above the cap
// becomes the cap and ends the steps. The first duration is not cut to the
// cap. When the steps are used up the duration stays, but the library's loops
// end.

// WaitBackoffConfig describes a wait.Backoff.
type WaitBackoffConfig struct {
	Duration time.Duration // the first wait, above 0
	Factor   float64       // growth from one wait to the next, 0 to 1000; 0 means that the duration stays
	// Jitter is the share of a wait that may come on top of it, 0 to 100, also
	// above the cap.
	Jitter float64       `unit:"ratio"`
	Steps  int           // how often the duration may change
	Cap    time.Duration // the longest wait before the jitter; 0 means none
}

// WaitBackoffDefaults is retry.DefaultBackoff of client-go: 10 ms, by 5, 10 %,
// 4 steps.
func WaitBackoffDefaults() WaitBackoffConfig {
	return WaitBackoffConfig{Duration: 10 * time.Millisecond, Factor: 5, Jitter: 0.1, Steps: 4}
}

// WaitBackoffConflict is its retry.DefaultRetry, for conflicting updates: 10
// ms, by 1, 10 %, 5 steps.
func WaitBackoffConflict() WaitBackoffConfig {
	return WaitBackoffConfig{Duration: 10 * time.Millisecond, Factor: 1, Jitter: 0.1, Steps: 5}
}

// Validate reports the first field that makes no sense.
func (c WaitBackoffConfig) Validate() error {
	f := fields{library: "apimachinery wait.Backoff"}
	f.duration("Duration", c.Duration, 1)
	f.within("Factor", c.Factor, 0, 1000)
	f.within("Jitter", c.Jitter, 0, 100)
	f.count("Steps", c.Steps, 0)
	f.duration("Cap", c.Cap, 0)
	return f.err
}

// New returns the back-off, or the error of Validate.
func (c WaitBackoffConfig) New() (*WaitBackoff, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &WaitBackoff{jitter: c.Jitter, calls: c.Steps, steps: c.Steps}
	for wait := int64(c.Duration); ; {
		b.waits = append(b.waits, wait)
		if c.Factor == 0 || len(b.waits) > min(c.Steps, maxWaits) {
			return b, nil
		}
		next := truncate(float64(wait) * c.Factor)
		if c.Cap > 0 && next > int64(c.Cap) {
			b.waits = append(b.waits, int64(c.Cap))
			b.calls = len(b.waits) - 1
			return b, nil
		}
		if next == wait {
			return b, nil
		}
		wait = next
	}
}

// NewDelays is New.
func (c WaitBackoffConfig) NewDelays() (policies.Delays, error) { return delays(c.New()) }

// A WaitBackoff is a policies.Delays.
type WaitBackoff struct {
	waits  waits[int64]
	jitter float64
	steps  int
	calls  int // calls of Step after which no step is left
}

// Delay implements policies.Delays; it is the n-th call of Step.
func (b *WaitBackoff) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	wait := b.waits.at(attempts)
	return time.Duration(sumOf(wait, truncate(unit(u)*b.jitter*float64(wait))))
}

// StepsLeft returns the field Steps after a number of calls of Step.
func (b *WaitBackoff) StepsLeft(calls int) int {
	if calls >= b.calls {
		return 0
	}
	return b.steps - calls
}
