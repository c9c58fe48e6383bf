package policies

import (
	"math"
	"time"
)

// An Attempt is what is known of a request when one of its attempts ended.
type Attempt struct {
	Number  int           // attempts made so far, this one included, at least 1
	Elapsed time.Duration // since the request started
	Waited  time.Duration // delay before this attempt, 0 for the first
	Outcome Outcome
	U       float64 // uniform in [0, 1), for the jitter; see [Uniform]

	// NotIdempotent says that the call must not be made twice: it is no read,
	// and the callee does not recognise a repetition. Only a Guard asks.
	NotIdempotent bool
}

// A Decision says whether a request is tried again.
type Decision struct {
	Retry  bool
	Delay  time.Duration // wait before the retry; 0 if there is none
	Reason Reason
}

// A Reason says why there is or is not a retry.
type Reason uint8

// The reasons, in the order in which they are looked at.
const (
	Granted         Reason = iota
	NotNeeded              // the attempt succeeded
	NotRetryable           // the error is not one that is retried
	AttemptsSpent          // there were as many attempts as allowed
	DeadlineReached        // the retry would start at the deadline or later
	BudgetSpent            // the budget refused

	// Those of a Guard, which may be looked at before the budget.
	BreakerNotClosed // the breaker was open or half-open
	NotIdempotent    // the call must not be made twice

	reasonCount
)

var reasonNames = [reasonCount]string{"granted", "success", "not-retryable", "attempts", "deadline", "budget", "breaker", "not-idempotent"}

// String returns "granted", "success", "not-retryable", "attempts",
// "deadline", "budget", "breaker" or "not-idempotent".
func (r Reason) String() string {
	if r < reasonCount {
		return reasonNames[r]
	}
	return "unknown"
}

// Decide decides what follows an attempt. The budget is asked last, so a
// retry that is refused for another reason costs nothing of it, unless a
// [Guard] has another order. Without a retry the request is over, and the
// budget is told.
func (r *Retry) Decide(a Attempt) Decision {
	delay, reason := r.look(a)
	if r.learns != nil && reason != NotRetryable {
		r.learns.Attempt(reason == NotNeeded)
	}
	retried := a.Number > 1
	if reason == Granted && r.guard != nil {
		reason, retried = r.guard.ask(r.budget, a)
	} else if reason == Granted && r.budget != nil && !r.budget.TryRetry(retried) {
		reason, retried = BudgetSpent, false
	}
	if reason != Granted && r.budget != nil {
		r.budget.Done(retried, a.Outcome.Err == nil)
	}
	if reason != Granted {
		return Decision{Reason: reason}
	}
	return Decision{Retry: true, Delay: delay}
}

// Succeed is Decide for an attempt that succeeded, at less cost: it ends the
// request. Retried says whether a retry was granted to it. It does nothing and
// returns false if the configuration has a RetryOn, which may want to retry
// a success: then Decide is to be asked.
func (r *Retry) Succeed(retried bool) bool {
	if !r.plain {
		return false
	}
	if r.learns != nil {
		r.learns.Attempt(true)
	}
	if r.budget != nil {
		r.budget.Done(retried, true)
	}
	return true
}

// look decides apart from the budget.
func (r *Retry) look(a Attempt) (time.Duration, Reason) {
	if !r.retryOn(a.Outcome) {
		if a.Outcome.Err == nil {
			return 0, NotNeeded
		}
		return 0, NotRetryable
	}
	if a.Number >= r.attempts {
		return 0, AttemptsSpent
	}
	delay := r.backoff.Delay(a.Number, a.Waited, a.U)
	if r.deadline > 0 && (a.Elapsed > math.MaxInt64-delay || a.Elapsed+delay >= r.deadline) {
		return 0, DeadlineReached
	}
	return delay, Granted
}
