package policies

import (
	"fmt"
	"testing"
)

func TestNewBudget(t *testing.T) {
	full := BudgetConfig{
		Tokens:     ten(0.1),
		Counter:    CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000},
		Share:      ShareConfig{Share: 0.2, Floor: 3},
		Concurrent: 3,
		Throttle:   ThrottleConfig{MaxTokens: 10, Ratio: 0.1},
		Window:     WindowBudgetConfig{Length: 10 * sec, Ratio: 0.2, MinRPS: 10},
	}
	for kind, want := range map[BudgetKind]string{
		BudgetUnlimited: "policies.UnlimitedBudget", BudgetEmpty: "policies.EmptyBudget",
		BudgetTokens: "*policies.TokenBudget", BudgetFloatTokens: "*policies.FloatTokenBudget",
		BudgetCounter: "*policies.CounterBudget", BudgetShare: "*policies.ShareBudget",
		BudgetConcurrent: "*policies.ConcurrentBudget", BudgetThrottle: "*policies.ThrottleBudget",
		BudgetWindow: "*policies.WindowBudget",
	} {
		cfg := full
		cfg.Kind = kind
		checkError(t, cfg.Validate(), "")
		if b, err := NewBudget(cfg); err != nil || fmt.Sprintf("%T", b) != want {
			t.Errorf("%q: %T (%v), want %s", kind, b, err, want)
		}
	}
	if b, err := NewBudget(BudgetConfig{}); err != nil || b != (UnlimitedBudget{}) {
		t.Errorf("zero value: %T (%v), want an unlimited budget", b, err)
	}
}

func TestNewBudgetErrors(t *testing.T) {
	for _, test := range []struct {
		cfg  BudgetConfig
		want string
	}{
		{BudgetConfig{Tokens: ten(0.1)}, `policies: budget kind "" with fields of a kind, want the kind they belong to`},
		{BudgetConfig{Kind: "bucket"}, `policies: budget kind "bucket", want one of unlimited, empty, tokens, float-tokens, counter, share, concurrent, throttle, window`},
		{BudgetConfig{Kind: BudgetTokens}, "policies: token budget: cap 0"},
		{BudgetConfig{Kind: BudgetFloatTokens}, "policies: token budget: cap 0"},
		{BudgetConfig{Kind: BudgetCounter}, "policies: counter budget: reset at 0"},
		{BudgetConfig{Kind: BudgetShare, Share: ShareConfig{Share: 2}}, "policies: share budget: share 2"},
		{BudgetConfig{Kind: BudgetConcurrent, Concurrent: -1}, "policies: concurrent budget: retries -1"},
		{BudgetConfig{Kind: BudgetThrottle}, "policies: throttle budget: max tokens 0"},
		{BudgetConfig{Kind: BudgetWindow}, "policies: window budget: length 0s"},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		if b, err := NewBudget(test.cfg); b != nil || err == nil {
			t.Errorf("%+v: %T and %v, want nil and an error", test.cfg, b, err)
		}
	}
}

// The zero value, and a field of another kind, do no harm.
func TestBudgetConfigIgnoresOtherKinds(t *testing.T) {
	checkError(t, BudgetConfig{}.Validate(), "")
	checkError(t, BudgetConfig{Kind: BudgetConcurrent, Tokens: ten(7)}.Validate(), "")
}

// The clock reaches the budget that reads one.
func TestNewBudgetClock(t *testing.T) {
	clock := newHandClock()
	cfg := BudgetConfig{Kind: BudgetWindow, Window: WindowBudgetConfig{Length: sec, MinRPS: 1}}
	b := must(NewBudgetClock(cfg, clock))
	if !b.TryRetry(false) || b.TryRetry(false) {
		t.Error("want one retry in the first second")
	}
	if clock.add(sec); !b.TryRetry(false) || b.TryRetry(false) {
		t.Error("want another one in the next")
	}
}
