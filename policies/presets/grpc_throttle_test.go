package presets

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestGRPCThrottleConfigs(t *testing.T) {
	same(t, "defaults", GRPCThrottleDefaults(), GRPCThrottleConfig{MaxTokens: 10, TokenRatio: 0.1})
	badBudget(t, GRPCThrottleConfig{TokenRatio: 0.1}, "max tokens")
	badBudget(t, GRPCThrottleConfig{MaxTokens: 1001, TokenRatio: 0.1}, "max tokens")
	badBudget(t, GRPCThrottleConfig{MaxTokens: 10}, "token ratio")
	badBudget(t, GRPCThrottleConfig{MaxTokens: 10, TokenRatio: math.Inf(1)}, "token ratio")
	retry := GRPCRetryConfig{MaxAttempts: 4, Retryable: []GRPCCode{GRPCUnavailable}}
	if err := retry.Validate(); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*GRPCRetryConfig){
		"max attempts":        func(c *GRPCRetryConfig) { c.MaxAttempts = 1 },
		"client max attempts": func(c *GRPCRetryConfig) { c.ClientMaxAttempts = -1 },
		"no retryable codes":  func(c *GRPCRetryConfig) { c.Retryable = nil },
		"retryable code OK":   func(c *GRPCRetryConfig) { c.Retryable = []GRPCCode{GRPCOK} },
		"Code(17)":            func(c *GRPCRetryConfig) { c.Retryable = []GRPCCode{17} },
	} {
		c := retry
		change(&c)
		badBudget(t, c, field)
	}
}

// Tokens are float64: ten times 0.1 is less than 1.
func TestGRPCThrottleTokens(t *testing.T) {
	b, err := NewGRPCThrottle(GRPCThrottleConfig{MaxTokens: 3, TokenRatio: 0.1})
	madeBudget(t, b, err)
	b.Attempt(policies.Failure)
	same(t, "more than half", b.TryRetry(false), true)
	b.Attempt(policies.Failure)
	same(t, "less than half", b.TryRetry(false), false)
	b.Attempt(policies.Failure)
	b.Attempt(policies.Failure)
	same(t, "not below 0", b.Tokens(), 0)
	for range 10 {
		b.Attempt(policies.Success)
		b.Attempt(policies.Ignored)
	}
	same(t, "tokens", b.Tokens(), 0.9999999999999999)
	for range 50 {
		b.Attempt(policies.Success)
	}
	same(t, "not above", b.Tokens(), 3)
}

func TestGRPCRetry(t *testing.T) {
	const notFound = GRPCCode(5)
	millisecond := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, test := range []struct {
		name    string
		attempt GRPCAttempt
		want    GRPCDecision
		tokens  float64 // of 4, ratio 0.5, from 3
	}{
		{"success", GRPCAttempt{Number: 1}, GRPCDecision{Reason: policies.NotNeeded}, 3.5},
		{"a success counts once", GRPCAttempt{Number: 3, Committed: true, Pushback: []string{"-1"}}, GRPCDecision{Reason: policies.NotNeeded}, 3.5},
		{"half of the tokens", GRPCAttempt{Number: 1, Code: GRPCUnavailable}, GRPCDecision{Reason: policies.BudgetSpent}, 2},
		{"committed", GRPCAttempt{Number: 1, Code: GRPCUnavailable, Committed: true, Pushback: []string{"x"}}, GRPCDecision{Reason: policies.NotRetryable}, 3},
		{"not retryable", GRPCAttempt{Number: 1, Code: notFound, Pushback: []string{"1"}}, GRPCDecision{Reason: policies.NotRetryable}, 3},
		{"stop", GRPCAttempt{Number: 1, Code: notFound, Pushback: []string{"-1"}}, GRPCDecision{Reason: policies.NotRetryable}, 2},
		{"two values", GRPCAttempt{Number: 1, Code: GRPCUnavailable, Pushback: []string{"1", "1"}}, GRPCDecision{Reason: policies.NotRetryable}, 2},
		{"exhausted", GRPCAttempt{Number: 5, Code: GRPCUnavailable}, GRPCDecision{Reason: policies.AttemptsSpent}, 2},
	} {
		b, err := NewGRPCThrottle(GRPCThrottleConfig{MaxTokens: 4, TokenRatio: 0.5})
		madeBudget(t, b, err).Attempt(policies.Failure)
		r, err := NewGRPCRetry(GRPCRetryConfig{MaxAttempts: 9, Retryable: []GRPCCode{GRPCUnavailable}}, b)
		same(t, test.name, madeBudget(t, r, err).Decide(test.attempt), test.want)
		same(t, test.name, b.Tokens(), test.tokens)
	}
	delays, err := GRPCBackoffExample().NewDelays()
	madeBudget(t, delays, err)
	r, err := NewGRPCRetry(GRPCRetryConfig{MaxAttempts: 5, Retryable: []GRPCCode{GRPCUnavailable}, Delays: delays}, nil)
	madeBudget(t, r, err)
	a := GRPCAttempt{Number: 1, Code: GRPCUnavailable}
	for i, want := range []GRPCDecision{{true, millisecond(80), 0, 1}, {true, millisecond(160), 0, 2}, {true, millisecond(7), 0, 0}, {true, millisecond(80), 0, 1}} {
		a.Pushback = nil
		if i == 2 {
			a.Pushback = []string{"7"}
		}
		d := r.Decide(a)
		same(t, "decision", d, want)
		a.Number, a.Backoffs = a.Number+1, d.Backoffs
		same(t, "send", r.Send(), true)
	}
	same(t, "allocations", testing.AllocsPerRun(100, func() { r.Decide(a) }), 0)
	same(t, "longest push-back", grpcPushback([]string{"9223372036854775807"}), math.MaxInt64)
}

func TestGRPCCodes(t *testing.T) {
	for name, code := range map[string]GRPCCode{"OK": 0, "CANCELLED": 1, "Canceled": 1, "NOT_FOUND": 5, "Unavailable": 14, "UNAUTHENTICATED": 16} {
		got, ok := LookupGRPCCode(name)
		same(t, name, got, code)
		same(t, name, ok, true)
	}
	_, ok := LookupGRPCCode("unavailable")
	same(t, "another name", ok, false)
	same(t, "name", GRPCCode(5).Error()+" "+GRPCCode(99).String(), "NotFound Code(99)")
}
