package policies

import (
	"fmt"
	"time"
)

// A BreakerConfig describes a circuit breaker.
type BreakerConfig struct {
	// Rule opens a closed breaker. It is held against the window after each
	// outcome that counts.
	Rule RuleConfig

	// OpenFor is how long an open breaker refuses everything, above 0. The
	// first Allow at or after that instant makes it half-open; there is no
	// timer.
	OpenFor time.Duration

	// Probes is the number of permits handed out in half-open, at least 1;
	// more calls are refused until the outcomes have decided. Permits whose
	// call was cancelled or ignored can be handed out again.
	Probes int
	// ProbesInFlight limits how many probes may be in flight at a time; 0
	// means no limit besides Probes.
	ProbesInFlight int
	// HalfOpen says how the probes decide; empty means CollectAll.
	HalfOpen HalfOpenRule
	// CloseAfter is the number of good probes that close the breaker under
	// FirstFailure, at most Probes; 0 means Probes.
	CloseAfter int
	// HalfOpenFor is the longest stay in half-open: when it is over without a
	// decision, the breaker opens again, for OpenFor from that instant. 0
	// means no limit, and then a probe that never comes back may keep the
	// breaker half-open for ever: see Cancel.
	HalfOpenFor time.Duration

	// Classify says what an outcome counts as. It is called without the lock.
	// Nil means Failure if there is an error, otherwise Success.
	Classify func(Outcome) Class

	// InFlightSlow counts a call as slow as soon as it is in flight for
	// longer than Rule.SlowAfter, at that instant, instead of when it ends.
	// If it ends with a failure, that is added to the outcome already
	// counted, provided that it is still in the window. It needs SlowRate.
	//
	// The breaker notices at the next call of any method, and then decides
	// as if it had noticed in time. A host that wants to know at once calls
	// Advance at NextDeadline.
	InFlightSlow bool

	// OnChange is told of every change of state, in order and one at a time.
	// It is called without the lock, by a goroutine that is using the breaker
	// and has just unlocked it, so it may use the breaker; a change that it
	// brings about is told after it has returned. Nil means nobody is told.
	OnChange func(Change)

	// Unshared is the caller's promise that calls never overlap, as in a
	// simulator with a single thread: the breaker then does without its lock.
	// The zero value is safe for concurrent use.
	Unshared bool
}

// Validate reports the first field that makes no sense.
func (c BreakerConfig) Validate() error {
	if err := c.Rule.Validate(); err != nil {
		return err
	}
	if c.OpenFor <= 0 {
		return fmt.Errorf("policies: breaker: open for %v, want more than 0s", c.OpenFor)
	}
	if c.InFlightSlow && c.Rule.SlowRate == 0 {
		return fmt.Errorf("policies: breaker: slow rate 0, want above 0 for slow calls in flight")
	}
	return c.validateProbes()
}
