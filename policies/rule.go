package policies

import (
	"fmt"
	"time"
)

// A RuleConfig says when too many of the recent calls are bad.
//
// After each outcome, with n calls in the window, the rule trips if
//
//	n >= EffectiveMinCalls and (failures/n >= FailureRate or slow/n >= SlowRate).
//
// Slow and failed calls are never added up: a quarter slow and a quarter
// failed are not a half.
type RuleConfig struct {
	Window   WindowConfig
	MinCalls int // calls in the window before a rate means anything, at least 1

	FailureRate float64 // trips at this share of failed calls or above, in (0, 1]; 0 switches it off
	SlowRate    float64 // trips at this share of slow calls or above, in (0, 1]; 0 switches it off

	// SlowAfter is the longest latency that is not slow: slow means strictly
	// longer. SlowRate needs it; with SlowAfter alone slow calls are counted
	// and nothing more. 0 means that no call is slow. A Rule is told what is
	// slow and never looks at it.
	SlowAfter time.Duration
}

// Validate reports the first field that makes no sense. A minimum above what
// the window can hold is capped, not refused: see EffectiveMinCalls.
func (c RuleConfig) Validate() error {
	if err := c.Window.Validate(); err != nil {
		return err
	}
	if c.MinCalls < 1 {
		return fmt.Errorf("policies: rule: minimum calls %d, want at least 1", c.MinCalls)
	}
	if err := validRate("failure rate", c.FailureRate); err != nil {
		return err
	}
	if err := validRate("slow rate", c.SlowRate); err != nil {
		return err
	}
	if c.FailureRate == 0 && c.SlowRate == 0 {
		return fmt.Errorf("policies: rule: failure rate 0 and slow rate 0, want at least one of them above 0")
	}
	if c.SlowAfter < 0 {
		return fmt.Errorf("policies: rule: slow after %v, want 0s or more", c.SlowAfter)
	}
	if c.SlowRate > 0 && c.SlowAfter == 0 {
		return fmt.Errorf("policies: rule: slow after 0s, want more than 0s for the slow rate %v", c.SlowRate)
	}
	return nil
}

func validRate(name string, rate float64) error {
	if rate >= 0 && rate <= 1 { // false for NaN
		return nil
	}
	return fmt.Errorf("policies: rule: %s %v, want above 0 and at most 1, or 0 for none", name, rate)
}

// EffectiveMinCalls is MinCalls, or the most calls that the window can hold
// if that is less: a count window of 5 never holds 10 outcomes.
func (c RuleConfig) EffectiveMinCalls() int {
	if most, ok := c.Window.most(); ok {
		return min(c.MinCalls, most)
	}
	return c.MinCalls
}

// Notes returns the remarks in words.
func (c RuleConfig) Notes() []string { return texts(c.Remarks()) }

// Remarks says what a valid configuration does not do as it is written. A
// program that lets people set a rule should show it.
func (c RuleConfig) Remarks() []Remark {
	var list []Remark
	if m := c.EffectiveMinCalls(); m < c.MinCalls {
		list = append(list, Remark{"minimum-above-window", fmt.Sprintf("minimum %d above the %s window of %d: capped to %d", c.MinCalls, c.Window.Kind, m, m)})
	}
	if c.SlowAfter > 0 && c.SlowRate == 0 {
		list = append(list, Remark{"slow-without-rate", fmt.Sprintf("slow after %v without a slow rate: slow calls are counted but never trip", c.SlowAfter)})
	}
	return list
}

// A Rule is a window and its thresholds without a state machine, for traces
// that only observe. It is not safe for concurrent use.
type Rule struct {
	window window
	limits limits
}

// NewRule returns a rule with an empty window, or the error of Validate.
func NewRule(c RuleConfig) (*Rule, error) {
	r, err := makeRule(c)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

func makeRule(c RuleConfig) (Rule, error) {
	if err := c.Validate(); err != nil {
		return Rule{}, err
	}
	kind, err := c.Window.lookup()
	if err != nil {
		return Rule{}, err
	}
	l := makeLimits(c)
	return Rule{kind.make(c.Window, l), l}, nil
}

// Observe adds the outcome of a call and reports whether the rule trips. The
// time is that since any origin and must not go backwards: an earlier one is
// taken as the latest seen. Only buckets depend on the origin, where a slice
// begins. Tripping does not empty the window; a caller who wants that calls
// Reset.
func (r *Rule) Observe(now time.Duration, failed, slow bool) (trip bool) {
	return r.window.record(int64(now), makeEntry(failed, slow))
}

// Reset empties the window and forgets the time.
func (r *Rule) Reset() { r.window.reset() }

// Counts returns what the window holds at now, which moves the window on.
func (r *Rule) Counts(now time.Duration) Counts { return r.window.counts(int64(now)) }
