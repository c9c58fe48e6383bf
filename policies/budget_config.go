package policies

import (
	"fmt"
	"strings"
)

// A BudgetKind names a kind of [Budget].
type BudgetKind string

// The kinds of budget.
const (
	BudgetUnlimited   BudgetKind = "unlimited"    // UnlimitedBudget
	BudgetEmpty       BudgetKind = "empty"        // EmptyBudget
	BudgetTokens      BudgetKind = "tokens"       // TokenBudget
	BudgetFloatTokens BudgetKind = "float-tokens" // FloatTokenBudget
	BudgetCounter     BudgetKind = "counter"      // CounterBudget
	BudgetShare       BudgetKind = "share"        // ShareBudget
	BudgetConcurrent  BudgetKind = "concurrent"   // ConcurrentBudget
	BudgetThrottle    BudgetKind = "throttle"     // ThrottleBudget
	BudgetWindow      BudgetKind = "window"       // WindowBudget
	BudgetPreset      BudgetKind = "preset"       // that of a library, see package presets
)

// A BudgetConfig describes a budget of any kind, for programs that take it as
// data. Each kind reads its own field and ignores the others.
type BudgetConfig struct {
	Kind       BudgetKind         // empty, with all other fields, means BudgetUnlimited
	Tokens     TokenConfig        // tokens and float-tokens
	Counter    CounterConfig      // counter
	Share      ShareConfig        // share
	Concurrent int                // concurrent: most retries in progress, 0 to 2,147,483,647
	Throttle   ThrottleConfig     // throttle
	Window     WindowBudgetConfig // window
	Preset     BudgetMaker        // preset
}

// A BudgetMaker is the configuration of a Budget: plain data that can be
// compared, checked, and made into as many budgets as there are instances. A
// nil clock is the real one.
type BudgetMaker interface {
	Validate() error
	NewBudget(Clock) (Budget, error)
}

// A budgetKind is one entry of the table of kinds: a new kind of budget is
// added there and in its file.
type budgetKind struct {
	kind BudgetKind
	make func(BudgetConfig, Clock) (Budget, error)
}

var budgetKinds = []budgetKind{
	{BudgetUnlimited, func(BudgetConfig, Clock) (Budget, error) { return UnlimitedBudget{}, nil }},
	{BudgetEmpty, func(BudgetConfig, Clock) (Budget, error) { return EmptyBudget{}, nil }},
	{BudgetTokens, func(c BudgetConfig, _ Clock) (Budget, error) { return asBudget(NewTokenBudget(c.Tokens)) }},
	{BudgetFloatTokens, func(c BudgetConfig, _ Clock) (Budget, error) { return asBudget(NewFloatTokenBudget(c.Tokens)) }},
	{BudgetCounter, func(c BudgetConfig, _ Clock) (Budget, error) { return asBudget(NewCounterBudget(c.Counter)) }},
	{BudgetShare, func(c BudgetConfig, _ Clock) (Budget, error) { return asBudget(NewShareBudget(c.Share)) }},
	{BudgetConcurrent, func(c BudgetConfig, _ Clock) (Budget, error) { return asBudget(NewConcurrentBudget(c.Concurrent)) }},
	{BudgetThrottle, func(c BudgetConfig, _ Clock) (Budget, error) { return asBudget(NewThrottleBudget(c.Throttle)) }},
	{BudgetWindow, func(c BudgetConfig, clock Clock) (Budget, error) { return asBudget(NewWindowBudget(c.Window, clock)) }},
	{BudgetPreset, func(c BudgetConfig, clock Clock) (Budget, error) {
		if c.Preset == nil {
			return nil, fmt.Errorf("policies: budget kind %q without a preset, want one", c.Kind)
		}
		return c.Preset.NewBudget(clock)
	}},
}

// asBudget keeps a nil pointer from becoming a Budget that is not nil.
func asBudget[B Budget](b B, err error) (Budget, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Validate reports the first field that makes no sense.
func (c BudgetConfig) Validate() error {
	_, err := NewBudget(c)
	return err
}

// NewBudget returns a budget on the real clock, or the error of Validate,
// which for an unknown kind lists the known ones.
func NewBudget(c BudgetConfig) (Budget, error) { return NewBudgetClock(c, nil) }

// NewBudgetClock is NewBudget with the clock of a budget that reads one,
// which BudgetWindow and some presets do.
func NewBudgetClock(c BudgetConfig, clock Clock) (Budget, error) {
	if c.Kind == "" {
		if c != (BudgetConfig{}) {
			return nil, fmt.Errorf("policies: budget kind %q with fields of a kind, want the kind they belong to", c.Kind)
		}
		c.Kind = BudgetUnlimited
	}
	known := make([]string, len(budgetKinds))
	for i, k := range budgetKinds {
		if k.kind == c.Kind {
			return k.make(c, clock)
		}
		known[i] = string(k.kind)
	}
	return nil, fmt.Errorf("policies: budget kind %q, want one of %s", c.Kind, strings.Join(known, ", "))
}
