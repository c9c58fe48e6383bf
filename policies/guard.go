package policies

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// A GuardStep is a question that a [Guard] asks before a retry is granted.
type GuardStep string

// The steps of a guard.
const (
	GuardBudget     GuardStep = "budget"     // does the budget of the Retry grant it?
	GuardBreaker    GuardStep = "breaker"    // is the breaker closed?
	GuardIdempotent GuardStep = "idempotent" // may the call be made twice?
)

// guardSteps are all of them, in the order in which they are asked by default.
var guardSteps = []GuardStep{GuardBudget, GuardBreaker, GuardIdempotent}

// A GuardConfig describes a guard.
type GuardConfig struct {
	// Order lists the steps as they are asked, each at most once. Empty means
	// budget, breaker, idempotent. A step that is left out is not asked, but for
	// the budget: that is asked last then, as it is without a guard.
	//
	// A budget that grants a retry which a later step refuses has spent on it
	// what it takes for one, tokens or a count, and does not get it back. To ask
	// it last costs it nothing but the retries that are made.
	Order []GuardStep
}

// Validate reports the first step that makes no sense.
func (c GuardConfig) Validate() error {
	for i, s := range c.Order {
		if !slices.Contains(guardSteps, s) {
			known := make([]string, len(guardSteps))
			for k, step := range guardSteps {
				known[k] = string(step)
			}
			return fmt.Errorf("policies: guard: step %q, want one of %s", s, strings.Join(known, ", "))
		}
		if slices.Contains(c.Order[:i], s) {
			return fmt.Errorf("policies: guard: step %q twice, want each step once", s)
		}
	}
	return nil
}

// Asks reports whether a guard with this configuration asks a step.
func (c GuardConfig) Asks(s GuardStep) bool {
	return s == GuardBudget || len(c.Order) == 0 || slices.Contains(c.Order, s)
}

// steps is the order in full.
func (c GuardConfig) steps() []GuardStep {
	switch {
	case len(c.Order) == 0:
		return guardSteps
	case slices.Contains(c.Order, GuardBudget):
		return slices.Clone(c.Order)
	}
	return append(slices.Clone(c.Order), GuardBudget)
}

// A Guard stands before the retries of a [Retry], which asks it once the
// outcome, the attempts and the deadline allow one, and before the back-off.
// The first step that refuses gives the reason, and each refusal is counted.
//
// The breaker is the one that the attempts pass. It is only looked at: a retry
// is refused unless it is closed, so a half-open breaker is probed by requests
// that are new. A retry that was granted still passes it when it is sent, and
// may be refused then.
//
// A Guard is safe for concurrent use and may be shared by many Retries.
type Guard struct {
	steps   []GuardStep
	breaker CircuitBreaker
	granted atomic.Uint64
	refused [3]atomic.Uint64 // BudgetSpent, BreakerNotClosed, NotIdempotent
}

// NewGuard returns a guard, or the error of Validate. The breaker may be nil
// only if it is not asked.
func NewGuard(c GuardConfig, breaker CircuitBreaker) (*Guard, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if breaker == nil && c.Asks(GuardBreaker) {
		return nil, fmt.Errorf("policies: guard: no breaker, want one for step %q", GuardBreaker)
	}
	return &Guard{steps: c.steps(), breaker: breaker}, nil
}

// GuardCounts are the decisions of a guard so far.
type GuardCounts struct {
	Granted       uint64
	Budget        uint64 // refused, since the budget was spent
	Breaker       uint64 // refused, since the breaker was open or half-open
	NotIdempotent uint64 // refused, since the call must not be made twice
}

// Refused is the sum of the refusals.
func (c GuardCounts) Refused() uint64 { return c.Budget + c.Breaker + c.NotIdempotent }

// Counts returns the decisions so far. Taken while others use the guard, it
// may hold one decision and not yet another that came before.
func (g *Guard) Counts() GuardCounts {
	of := func(r Reason) uint64 { return g.refused[r-BudgetSpent].Load() }
	return GuardCounts{g.granted.Load(), of(BudgetSpent), of(BreakerNotClosed), of(NotIdempotent)}
}

// ask puts the steps to a retry that nothing else forbids. Held says whether
// the request holds the place of an earlier retry, and then whether it still
// does.
func (g *Guard) ask(r *Retry, a *Attempt) (reason Reason, held bool) {
	held = a.Number > 1
	waiting := false // the budget has granted a retry
	for _, s := range g.steps {
		switch s {
		case GuardBudget:
			if r.budget == nil {
				break
			}
			if waiting = r.take(a); !waiting {
				reason, held = BudgetSpent, false
			} else {
				held = true
			}
		case GuardBreaker:
			if g.breaker.State() != Closed {
				reason = BreakerNotClosed
			}
		case GuardIdempotent:
			if a.NotIdempotent {
				reason = NotIdempotent
			}
		}
		if reason != Granted {
			g.refused[reason-BudgetSpent].Add(1)
			if waiting {
				r.budget.WaitDone() // the retry will not be sent
			}
			return reason, held
		}
	}
	g.granted.Add(1)
	return Granted, held
}
