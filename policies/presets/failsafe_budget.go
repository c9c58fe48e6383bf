package presets

import (
	"sync"

	"github.com/stormglass/stormglass/policies"
)

// failsafe-go's budget: failsafe-go/failsafe-go v0.9.8, budget/budget.go.
//
//   - Defaults: at most 20 % of what is in flight, but never fewer than 3.
//   - In flight are the calls, with all their retries, and beside them the
//     retries that run: a running retry counts twice.
//   - A retry is refused if there are enough retries already and their share is
//     above the limit: both as they are before it, and reached is not above.
//   - It is asked after the wait, so a retry that waits holds no place. A retry
//     that is refused ends the call with the budget's error.
//   - There is no clock in it.

// A FailsafeBudgetConfig configures a FailsafeBudget.
type FailsafeBudgetConfig struct {
	MaxRate        float64 `unit:"ratio"` // share of what is in flight, 0 or more
	MinConcurrency int     // retries that are always granted, 0 or more
}

// FailsafeBudgetDefaults returns failsafe-go's defaults.
func FailsafeBudgetDefaults() FailsafeBudgetConfig {
	return FailsafeBudgetConfig{MaxRate: 0.2, MinConcurrency: 3}
}

// Validate reports the first field that makes no sense.
func (c FailsafeBudgetConfig) Validate() error {
	f := fields{library: "failsafe budget"}
	f.atLeast("maximum rate", c.MaxRate, 0)
	f.count("minimum concurrency", c.MinConcurrency, 0)
	return f.err
}

// NewBudget implements [policies.BudgetMaker]. The budget reads no clock.
func (c FailsafeBudgetConfig) NewBudget(policies.Clock) (policies.Budget, error) {
	return budget(NewFailsafeBudget(c))
}

// A FailsafeBudget is a retry budget of failsafe-go.
type FailsafeBudget struct {
	c                 FailsafeBudgetConfig
	mu                sync.Mutex
	inFlight, retries int
}

// NewFailsafeBudget returns a budget with nothing in flight, or the error of
// Validate.
func NewFailsafeBudget(c FailsafeBudgetConfig) (*FailsafeBudget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &FailsafeBudget{c: c}, nil
}

// count counts calls and retries in or out.
func (b *FailsafeBudget) count(calls, retries int) {
	b.mu.Lock()
	b.inFlight += calls + retries
	b.retries += retries
	b.mu.Unlock()
}

func (b *FailsafeBudget) rate() float64 {
	if b.inFlight == 0 {
		return 0
	}
	return float64(b.retries) / float64(b.inFlight)
}

// Rate returns the share of retries in what is in flight.
func (b *FailsafeBudget) Rate() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rate()
}

// Request counts a call in.
func (b *FailsafeBudget) Request() { b.count(1, 0) }

// TryRetry counts the request's previous retry out and grants.
func (b *FailsafeBudget) TryRetry(held bool) bool {
	if held {
		b.count(0, -1)
	}
	return true
}

// TrySend asks for a retry and counts it in.
func (b *FailsafeBudget) TrySend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.retries >= b.c.MinConcurrency && b.rate() > b.c.MaxRate {
		return false
	}
	b.retries++
	b.inFlight++
	return true
}

// WaitDone counts a retry in without a question, since the request is given up
// and Done will count it out.
func (b *FailsafeBudget) WaitDone() { b.count(0, 1) }

// Done counts a call out, and its retry if it runs one.
func (b *FailsafeBudget) Done(held, _ bool) {
	if held {
		b.count(-1, -1)
		return
	}
	b.count(-1, 0)
}
