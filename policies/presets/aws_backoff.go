package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of the AWS SDK for Go, aws/retry/jitter_backoff.go of
// github.com/aws/aws-sdk-go-v2: v1.48.0 (standard mode) and v1.30.5 (legacy);
// both recorded. And those of the article that the terms are from: Brooker
// (2015), "Exponential Backoff And Jitter", AWS Architecture Blog, with the
// numbers of its simulator (aws-samples/aws-arch-backoff-simulator
// src/backoff_simulator.py @095a0760).

// AWSBackoffConfig describes the waits of v1.48.0: full jitter, uniform from 0
// to BaseDelay*2^(n-1) before retry n, at most MaxBackoff.
type AWSBackoffConfig struct {
	BaseDelay  time.Duration // bound of the first wait, above 0
	MaxBackoff time.Duration // bound of all, above 0; it may be below the base
}

// AWSBackoffDefaults is 50 ms up to 20 s.
func AWSBackoffDefaults() AWSBackoffConfig {
	return AWSBackoffConfig{BaseDelay: 50 * time.Millisecond, MaxBackoff: 20 * time.Second}
}

// AWSThrottledBackoffDefaults is what the library waits after an error that
// tells of throttling, whatever its base is: 1 s up to 20 s.
func AWSThrottledBackoffDefaults() AWSBackoffConfig {
	c := AWSBackoffDefaults()
	c.BaseDelay = time.Second
	return c
}

// Validate reports the first field that makes no sense.
func (c AWSBackoffConfig) Validate() error {
	f := fields{library: "aws back-off"}
	f.duration("BaseDelay", c.BaseDelay, 1)
	f.duration("MaxBackoff", c.MaxBackoff, 1)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c AWSBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return delays(policies.NewBackoff(policies.BackoffConfig{
		Kind: policies.FullJitter, Base: min(c.BaseDelay, c.MaxBackoff), Cap: c.MaxBackoff,
	}))
}

// AWSLegacyBackoffConfig describes the waits of v1.30.5: uniform from 0 to 2^n
// seconds before retry n, and exactly MaxBackoff, without jitter, as soon as n
// is above the whole part of log2 of MaxBackoff in seconds.
type AWSLegacyBackoffConfig struct {
	MaxBackoff time.Duration // the longest wait, above 0
}

// AWSLegacyBackoffDefaults is 20 s.
func AWSLegacyBackoffDefaults() AWSLegacyBackoffConfig {
	return AWSLegacyBackoffConfig{MaxBackoff: 20 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c AWSLegacyBackoffConfig) Validate() error {
	f := fields{library: "aws legacy back-off"}
	f.duration("MaxBackoff", c.MaxBackoff, 1)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c AWSLegacyBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &awsLegacy{last: int(math.Log2(float64(c.MaxBackoff) / float64(time.Second))), limit: c.MaxBackoff}, nil
}

type awsLegacy struct {
	last  int // attempts that have jitter
	limit time.Duration
}

// Delay implements policies.Delays.
func (a *awsLegacy) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	attempts = max(attempts, 1)
	if attempts > a.last {
		return a.limit
	}
	seconds := unit(u) * float64(int64(1)<<attempts)
	return time.Duration(truncate(seconds * float64(time.Second)))
}

// AWSBlogFullJitter is the full jitter of the article: 5 ms by 2, which is 10
// ms before the first retry, up to 2 s.
func AWSBlogFullJitter() policies.BackoffConfig { return awsBlog(policies.FullJitter) }

// AWSBlogEqualJitter is its equal jitter, with the same numbers.
func AWSBlogEqualJitter() policies.BackoffConfig { return awsBlog(policies.EqualJitter) }

// AWSBlogDecorrelatedJitter is its decorrelated jitter, from 5 ms to 2 s.
func AWSBlogDecorrelatedJitter() policies.BackoffConfig { return awsBlog(policies.DecorrelatedJitter) }

func awsBlog(kind policies.BackoffKind) policies.BackoffConfig {
	return policies.BackoffConfig{Kind: kind, Base: 5 * time.Millisecond, Cap: 2 * time.Second, FirstExponent: 1}
}
