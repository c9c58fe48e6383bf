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
	Carry   Carry   // that of the last decision; zero for the first attempt

	// NotIdempotent says that the call must not be made twice: it is no read,
	// and the callee does not recognise a repetition. Only a Guard asks.
	NotIdempotent bool
}

// A Decision says whether a request is tried again.
type Decision struct {
	Delay  time.Duration // wait before the retry; 0 if there is none
	Carry  Carry         // hand it back with the next attempt
	Retry  bool
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
	d := r.look(&a)
	if r.learns != nil {
		r.learns.Attempt(classes[d.Reason])
	}
	held := a.Number > 1
	if d.Retry {
		d.Reason, held = r.ask(&a)
		d.Retry = d.Reason == Granted
	}
	if d.Retry {
		d.Carry.cost = a.Carry.cost
		return d
	}
	if r.budget != nil {
		if r.costs != nil && d.Reason == NotNeeded {
			r.costs.Refund(a.Carry.cost)
		}
		r.budget.Done(held, a.Outcome.Err == nil)
	}
	return Decision{Reason: d.Reason}
}

// classes are what an AttemptBudget is told of an attempt.
var classes = [reasonCount]Class{Granted: Failure, NotNeeded: Success, NotRetryable: Ignored, AttemptsSpent: Failure, DeadlineReached: Failure}

// ask puts a retry that nothing else forbids to the guard, or to the budget
// alone. Held says whether the request holds a place in the budget then.
func (r *Retry) ask(a *Attempt) (reason Reason, held bool) {
	if r.guard != nil {
		return r.guard.ask(r, a)
	}
	if !r.take(a) {
		return BudgetSpent, false
	}
	return Granted, true
}

// take asks the budget, and notes what it took.
func (r *Retry) take(a *Attempt) (ok bool) {
	switch {
	case r.costs != nil:
		a.Carry.cost, ok = r.costs.TryCost(a.Outcome)
		return ok
	case r.budget != nil:
		return r.budget.TryRetry(a.Number > 1)
	}
	return true
}

// Succeed is Decide for an attempt that succeeded, at less cost: it ends the
// request. Retried says whether a retry was granted to it. It does nothing and
// returns false if the configuration has a RetryOn, which may want to retry
// a success, or a budget that must know which retry succeeded: then Decide is
// to be asked.
func (r *Retry) Succeed(retried bool) bool {
	if !r.plain || r.costs != nil && retried {
		return false
	}
	if r.learns != nil {
		r.learns.Attempt(Success)
	}
	if r.costs != nil {
		r.costs.Refund(0)
	}
	if r.budget != nil {
		r.budget.Done(retried, true)
	}
	return true
}

// look decides apart from the budget.
func (r *Retry) look(a *Attempt) (d Decision) {
	if !r.retryOn(a.Outcome) {
		if a.Outcome.Err == nil {
			return Decision{Reason: NotNeeded}
		}
		return Decision{Reason: NotRetryable}
	}
	if a.Number >= r.attempts {
		return Decision{Reason: AttemptsSpent}
	}
	if r.memory != nil {
		d.Delay, d.Carry.memory = r.memory.DelayFrom(a.Number, a.Carry.memory, a.U)
	} else {
		d.Delay = r.delays.Delay(a.Number, a.Waited, a.U)
	}
	if r.deadline > 0 && (a.Elapsed > math.MaxInt64-d.Delay || a.Elapsed+d.Delay >= r.deadline) {
		return Decision{Reason: DeadlineReached}
	}
	d.Retry = true
	return d
}
