package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The back-off and the Retry function of github.com/cenkalti/backoff/v5
// v5.0.3, exponential.go and retry.go; recorded.
//
// The interval grows in floating point, is cut to whole ns at each step and
// becomes the maximum as soon as it is maximum/multiplier or more; the first
// one is never cut to the maximum. The randomised interval has 1 ns more, so
// that both ends are reached, and may be above the maximum. Retry stops if
// the time since its start and the next wait exceed MaxElapsedTime, strictly.

// CenkaltiConfig describes the back-off, and when Retry stops.
type CenkaltiConfig struct {
	InitialInterval     time.Duration // the first wait, above 0
	RandomizationFactor float64       `unit:"ratio"` // share by which an interval may be shorter or longer, 0 to 1
	Multiplier          float64       // growth from one wait to the next, 1 to 1000
	MaxInterval         time.Duration // the longest wait before the randomisation, above 0

	// Next alone looks at these; a back-off that only says how long to wait does
	// not.
	MaxElapsedTime time.Duration `unit:"-"` // of the request; 0 means no limit
	MaxTries       int           `unit:"-"` // attempts in all; 0 means no limit
}

// CenkaltiDefaults is 500 ms by 1.5, ± 0.5, up to 60 s, for 15 minutes.
func CenkaltiDefaults() CenkaltiConfig {
	return CenkaltiConfig{
		InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 1.5,
		MaxInterval: time.Minute, MaxElapsedTime: 15 * time.Minute,
	}
}

// Validate reports the first field that makes no sense.
func (c CenkaltiConfig) Validate() error {
	f := fields{library: "cenkalti back-off"}
	f.duration("InitialInterval", c.InitialInterval, 1)
	f.within("RandomizationFactor", c.RandomizationFactor, 0, 1)
	f.growth("Multiplier", c.Multiplier)
	f.duration("MaxInterval", c.MaxInterval, 1)
	f.duration("MaxElapsedTime", c.MaxElapsedTime, 0)
	f.count("MaxTries", c.MaxTries, 0)
	return f.err
}

// New returns the back-off, or the error of Validate.
func (c CenkaltiConfig) New() (*Cenkalti, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	limit := float64(c.MaxInterval)
	return &Cenkalti{cfg: c, steps: grow(int64(c.InitialInterval), func(interval int64) int64 {
		x := float64(interval)
		if x >= limit/c.Multiplier {
			return int64(c.MaxInterval)
		}
		return truncate(x * c.Multiplier)
	})}, nil
}

// NewDelays is New.
func (c CenkaltiConfig) NewDelays() (policies.Delays, error) { return delays(c.New()) }

// A Cenkalti is a policies.Delays.
type Cenkalti struct {
	cfg   CenkaltiConfig
	steps waits[int64]
}

// Interval returns the wait after a number of attempts without randomisation.
func (b *Cenkalti) Interval(attempts int) time.Duration { return time.Duration(b.steps.at(attempts)) }

// Delay implements policies.Delays.
func (b *Cenkalti) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	interval := b.Interval(attempts)
	if b.cfg.RandomizationFactor == 0 {
		return interval
	}
	x := float64(interval)
	delta := b.cfg.RandomizationFactor * x
	low, high := x-delta, x+delta
	return time.Duration(truncate(low + unit(u)*(high-low+1)))
}

// Next is what Retry does after an attempt that failed: it reports whether
// there is another one, and the wait before it. Elapsed is the time since the
// first attempt started.
func (b *Cenkalti) Next(attempts int, elapsed time.Duration, u float64) (wait time.Duration, again bool) {
	if b.cfg.MaxTries > 0 && attempts >= b.cfg.MaxTries {
		return 0, false
	}
	wait = b.Delay(attempts, 0, u)
	if b.cfg.MaxElapsedTime > 0 && elapsed > b.cfg.MaxElapsedTime-wait {
		return 0, false
	}
	return wait, true
}
