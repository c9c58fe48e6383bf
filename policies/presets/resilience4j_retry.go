package presets

import (
	"sync/atomic"
	"time"
)

// The retry of Resilience4j 2.4.0, resilience4j-retry
// io/github/resilience4j/retry/internal/RetryImpl.java, used through its
// decorators; recorded.
//
// The error or result of the last attempt is the answer of the call. A call
// that ends with an ignored error counts as failed without retry, also after
// retries. A last result that is not acceptable counts as two attempts: when
// it is looked at and when the call is over. With FailAfterMaxAttempts the
// exception for it is thrown inside the loop that catches the errors of
// attempts: so it counts as a third attempt, and the call as failed twice.

// Resilience4jRetryConfig describes a retry.
type Resilience4jRetryConfig struct {
	MaxAttempts int // attempts of a call in all, at least 1
	// FailAfterMaxAttempts makes a call fail whose last result is still not
	// acceptable.
	FailAfterMaxAttempts bool
	Wait                 Resilience4jBackoffConfig
}

// Resilience4jRetryDefaults is 3 attempts with waits of 500 ms.
func Resilience4jRetryDefaults() Resilience4jRetryConfig {
	return Resilience4jRetryConfig{MaxAttempts: 3, Wait: Resilience4jBackoffConfig{InitialInterval: 500 * time.Millisecond, Multiplier: 1}}
}

// Validate reports the first field that makes no sense.
func (c Resilience4jRetryConfig) Validate() error {
	f := fields{library: "resilience4j retry"}
	f.count("MaxAttempts", c.MaxAttempts, 1)
	if f.err == nil {
		f.err = c.Wait.Validate()
	}
	return f.err
}

// New returns the retry, or the error of Validate.
func (c Resilience4jRetryConfig) New() (*Resilience4jRetry, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	wait, err := c.Wait.New()
	return &Resilience4jRetry{cfg: c, wait: wait}, err
}

// A Resilience4jRetry decides for calls and counts them. It is safe for
// concurrent use.
type Resilience4jRetry struct {
	cfg  Resilience4jRetryConfig
	wait *Resilience4jBackoff

	successes, retriedSuccesses, failures, retriedFailures, total atomic.Int64
}

// Resilience4jCounts are the figures that the library shows.
type Resilience4jCounts struct {
	SuccessfulWithoutRetry, SuccessfulWithRetry int64
	FailedWithoutRetry, FailedWithRetry         int64
	Total                                       int64 // attempts, as the library counts them
}

// Counts returns the figures.
func (r *Resilience4jRetry) Counts() Resilience4jCounts {
	return Resilience4jCounts{
		SuccessfulWithoutRetry: r.successes.Load(), SuccessfulWithRetry: r.retriedSuccesses.Load(),
		FailedWithoutRetry: r.failures.Load(), FailedWithRetry: r.retriedFailures.Load(), Total: r.total.Load(),
	}
}

// A Resilience4jAttempt is how an attempt ends.
type Resilience4jAttempt uint8

// The ends of an attempt.
const (
	ResultAccepted Resilience4jAttempt = iota
	ResultRetried                      // retryOnResult says so
	ErrorRetried
	ErrorIgnored // it is not retried
)

// A Resilience4jEnd is what a call has after an attempt.
type Resilience4jEnd uint8

// The ends of a call.
const (
	GoesOn             Resilience4jEnd = iota // wait, then make the next attempt
	EndsWithResult                            // that of the last attempt
	EndsWithError                             // that of the last attempt
	MaxRetriesExceeded                        // the error of FailAfterMaxAttempts
)

// After tells that an attempt has ended, and its number in the call, from 1
// on. Only if the call goes on there is a wait, in ms; u is uniform in [0, 1).
func (r *Resilience4jRetry) After(a Resilience4jAttempt, number int, u float64) (ms int64, end Resilience4jEnd) {
	r.total.Add(1)
	switch {
	case a == ErrorIgnored:
		r.failures.Add(1)
		return 0, EndsWithError
	case a == ResultAccepted && number > 1:
		r.retriedSuccesses.Add(1)
		return 0, EndsWithResult
	case a == ResultAccepted:
		r.successes.Add(1)
		return 0, EndsWithResult
	case number < r.cfg.MaxAttempts:
		return r.wait.Milliseconds(number, u), GoesOn
	}
	r.retriedFailures.Add(1)
	switch {
	case a == ErrorRetried:
		return 0, EndsWithError
	case r.cfg.FailAfterMaxAttempts:
		r.total.Add(2)
		r.retriedFailures.Add(1)
		return 0, MaxRetriesExceeded
	}
	r.total.Add(1)
	return 0, EndsWithResult
}
