package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// failsafe-go's retry policy: failsafe-go/failsafe-go v0.9.8,
// retrypolicy/retry.go and retrypolicy/retryexecutor.go.
//
//   - By default 2 retries without a wait. -1 has no end.
//   - A delay is the one before times the factor, cut to whole ns, and at most
//     the longest. Jitter comes after that, so a wait can be longer than it. A
//     factor below 1 leads to a delay of 0, after which the first one follows.
//   - Jitter in time goes before jitter as a share.
//   - The last wait is cut so as to end at the maximum duration. A call that is
//     exactly that old is still retried, without a wait.

// A FailsafeRetryConfig is a retry policy of failsafe-go.
type FailsafeRetryConfig struct {
	MaxRetries   int           // 0 or more, or -1 for no end
	Delay        time.Duration // before the first retry, at least 0
	MaxDelay     time.Duration // longest delay before jitter; 0 has every delay the same
	Factor       float64       // from one delay to the next with MaxDelay, above 0; 0 is 2
	Jitter       time.Duration // that a delay varies by to both sides, at least 0
	JitterFactor float64       // share of it that it varies by, 0 to 1, without Jitter
	MaxDuration  time.Duration // age of a call above which it is not retried; 0 is none
}

// FailsafeRetryDefaults returns the library's defaults.
func FailsafeRetryDefaults() FailsafeRetryConfig { return FailsafeRetryConfig{MaxRetries: 2} }

// Validate reports the first field that makes no sense.
func (c FailsafeRetryConfig) Validate() error {
	f := fields{library: "failsafe-go retry"}
	f.count("max retries", c.MaxRetries, -1)
	f.duration("delay", c.Delay, 0)
	f.duration("max delay", c.MaxDelay, 0)
	f.atLeast("factor", c.Factor, 0)
	f.duration("jitter", c.Jitter, 0)
	f.within("jitter factor", c.JitterFactor, 0, 1)
	f.duration("max duration", c.MaxDuration, 0)
	return f.err
}

// NewDelays returns the waits, or the error of Validate. They do not know the
// age of a call, so MaxDuration is up to the caller: see FailsafeDelays.Cut.
func (c FailsafeRetryConfig) NewDelays() (policies.Delays, error) {
	return delays(c.NewFailsafeDelays())
}

// FailsafeDelays are the waits of a retry policy of failsafe-go.
type FailsafeDelays struct {
	c    FailsafeRetryConfig
	base waits[int64]
}

// NewFailsafeDelays is NewDelays with its own type.
func (c FailsafeRetryConfig) NewFailsafeDelays() (*FailsafeDelays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Factor == 0 {
		c.Factor = 2
	}
	first := int64(c.Delay)
	return &FailsafeDelays{c, grow(first, func(last int64) int64 {
		if last == 0 || c.MaxDelay == 0 {
			return first
		}
		return min(truncate(float64(last)*c.Factor), int64(c.MaxDelay))
	})}, nil
}

// Base returns the delay after a number of attempts, before jitter.
func (d *FailsafeDelays) Base(attempts int) time.Duration { return time.Duration(d.base.at(attempts)) }

// Delay returns the wait after a number of attempts, for a random number in
// [0, 1). See Cut.
func (d *FailsafeDelays) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	delay := d.Base(attempts)
	if delay == 0 {
		return 0
	}
	return max(0, failsafeJitter(delay, d.c.Jitter, d.c.JitterFactor, unit(u)))
}

// Cut returns what is left of a wait in a call of an age.
func (d *FailsafeDelays) Cut(wait, age time.Duration) time.Duration {
	if d.c.MaxDuration > 0 {
		wait = min(wait, d.c.MaxDuration-age)
	}
	return max(0, wait)
}

// Retries reports whether a call of an age is tried again that has failed
// after a number of attempts.
func (d *FailsafeDelays) Retries(attempts int, age time.Duration) bool {
	if d.c.MaxDuration > 0 && age > d.c.MaxDuration {
		return false
	}
	return d.c.MaxRetries < 0 || attempts <= d.c.MaxRetries
}
