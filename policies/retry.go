package policies

import (
	"fmt"
	"time"
)

// A RetryConfig says when a request is tried again.
type RetryConfig struct {
	// Attempts is the most attempts of a request in all, the first included:
	// 1 never retries. Unlimited needs a Deadline.
	Attempts int
	// Deadline is the age of a request at which no retry starts any more: one
	// that would start then or later is refused. 0 means no deadline.
	Deadline time.Duration

	// RetryOn reports whether an outcome calls for a retry. Nil means that
	// Errors decides.
	RetryOn func(Outcome) bool
	// Errors lists the errors that are retried; empty means every error. It
	// must be empty if RetryOn is not nil.
	Errors ErrorList

	// Backoff is the wait before each retry.
	Backoff BackoffConfig
	// Delays takes the place of Backoff, which must be empty then. Nil means
	// that there is only Backoff.
	Delays Delays
}

// Validate reports the first field that makes no sense.
func (c RetryConfig) Validate() error {
	if c.Attempts < 1 {
		return fmt.Errorf("policies: retry: attempts %d, want at least 1", c.Attempts)
	}
	if c.Deadline < 0 {
		return fmt.Errorf("policies: retry: deadline %v, want 0s or more", c.Deadline)
	}
	if c.Attempts == Unlimited && c.Deadline == 0 {
		return fmt.Errorf("policies: retry: deadline 0s, want more than 0s for unlimited attempts")
	}
	if c.RetryOn != nil && len(c.Errors.RetryOn)+len(c.Errors.NoRetryOn) > 0 {
		return fmt.Errorf("policies: retry: errors %v, want none beside a function", c.Errors)
	}
	if err := c.Errors.Validate(); err != nil {
		return err
	}
	if c.Delays != nil && c.Backoff != (BackoffConfig{}) {
		return fmt.Errorf("policies: retry: backoff %q, want none beside delays", c.Backoff.Kind)
	}
	return c.Backoff.Validate()
}

// Waits reports whether there is a wait before any retry.
func (c RetryConfig) Waits() bool {
	return c.Delays != nil || c.Backoff.Kind != "" && c.Backoff.Kind != NoBackoff
}

// Notes returns the remarks in words.
func (c RetryConfig) Notes() []string { return texts(c.Remarks()) }

// Remarks says what a valid configuration does that may not be meant. A program
// that lets people set retries should show it.
func (c RetryConfig) Remarks() []Remark {
	var list []Remark
	waits := c.Waits()
	if c.Attempts == Unlimited && !waits {
		list = append(list, Remark{"no-backoff", "unlimited attempts without back-off: a callee that fails at once is called without a pause until the deadline"})
	}
	if c.Attempts == 1 && waits {
		list = append(list, Remark{"no-effect", "1 attempt with back-off: there is no retry to wait for"})
	}
	return list
}

// A Retry decides after each attempt of a request whether there is another.
// It keeps no state of its own, so the requests that share a budget and a
// configuration may share one Retry; it is safe for concurrent use if RetryOn
// is.
//
// The caller tells it of a request by Start, of each attempt that ended by
// Decide, and of the end of each wait by Send, or by WaitDone if nothing will
// be sent. A decision without a retry ends the request; GiveUp ends it without
// one.
type Retry struct {
	attempts int
	deadline time.Duration
	retryOn  func(Outcome) bool
	delays   Delays
	memory   MemoryDelays  // the delays, if they remember
	budget   Budget        // nil if unlimited
	learns   AttemptBudget // the budget, if it wants to know of attempts
	costs    CostBudget    // the budget, if its retries cost different amounts
	sends    SendBudget    // the budget, if it decides after the wait
	guard    *Guard        // nil if only the budget is asked
	plain    bool          // only errors are retried
}

// NewRetry returns a retry policy, or the error of Validate. The budget may
// be shared with other policies; nil means that there is none to keep.
func NewRetry(c RetryConfig, budget Budget) (*Retry, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Retry{attempts: c.Attempts, deadline: c.Deadline, retryOn: c.RetryOn, delays: c.Delays, plain: c.RetryOn == nil}
	var err error
	if r.delays == nil {
		if r.delays, err = NewBackoff(c.Backoff); err != nil {
			return nil, err
		}
	}
	r.memory, _ = r.delays.(MemoryDelays)
	r.setBudget(budget)
	if r.retryOn == nil {
		if r.retryOn, err = c.Errors.Func(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// With returns the same policy with another budget, for callers that each
// have their own: they share the table of waits.
func (r *Retry) With(budget Budget) *Retry {
	other := *r
	other.setBudget(budget)
	return &other
}

// Guarded returns the same policy, which asks a guard before it grants a
// retry; with nil it asks none. In Decide, [Guard] takes the place of the
// question to the budget.
func (r *Retry) Guarded(g *Guard) *Retry {
	other := *r
	other.guard = g
	return &other
}

func (r *Retry) setBudget(budget Budget) {
	r.budget = budget
	r.learns, _ = budget.(AttemptBudget)
	r.costs, _ = budget.(CostBudget)
	r.sends, _ = budget.(SendBudget)
}

// Start tells the budget of an original request, before its first attempt.
func (r *Retry) Start() {
	if r.budget != nil {
		r.budget.Request()
	}
}

// WaitDone tells the budget that the wait of a granted retry is over because
// the request will be given up.
func (r *Retry) WaitDone() {
	if r.budget != nil {
		r.budget.WaitDone()
	}
}

// Send tells the budget that the wait of a granted retry is over, and reports
// whether it may be sent now. Only a [SendBudget] ever refuses; the request is
// over then.
func (r *Retry) Send() bool {
	switch {
	case r.sends != nil:
		if !r.sends.TrySend() {
			r.budget.Done(false, false)
			return false
		}
	case r.budget != nil:
		r.budget.WaitDone()
	}
	return true
}

// GiveUp ends a request that needs no decision any more, since its caller has
// gone. Retried says whether a retry was granted to it; if that is still
// waiting, WaitDone comes first.
func (r *Retry) GiveUp(retried bool) {
	if r.budget != nil {
		r.budget.Done(retried, false)
	}
}
