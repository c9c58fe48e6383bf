package policies

import (
	"math"
	"math/big"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func TestThrottleConfigValidate(t *testing.T) {
	for _, test := range []struct {
		cfg  ThrottleConfig
		want string
	}{
		{ThrottleConfig{MaxTokens: 10, Ratio: 0.1}, ""}, {ThrottleConfig{MaxTokens: 1}, ""}, {ThrottleConfig{MaxTokens: maxTokens, Ratio: 1}, ""},
		{ThrottleConfig{Ratio: 0.1}, "policies: throttle budget: max tokens 0, want 1 to 1000000000"},
		{ThrottleConfig{MaxTokens: maxTokens + 1}, "max tokens 1000000001, want"},
		{ThrottleConfig{MaxTokens: 10, Ratio: 1.1}, "policies: throttle budget: ratio 1.1, want 0 to 1"},
		{ThrottleConfig{MaxTokens: 10, Ratio: math.NaN()}, "ratio NaN, want 0 to 1"},
		{ThrottleConfig{MaxTokens: 10, Ratio: 1.0 / 3}, "ratio 0.3333333333333333, want at most 9 decimals"},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		_, err := NewThrottleBudget(test.cfg)
		checkError(t, err, test.want)
	}
}

// The edges of the rule: half is not above half, nothing goes below 0 or above
// the most, and a tenth is a tenth.
func TestThrottleTimeLine(t *testing.T) {
	b := must(NewThrottleBudget(ThrottleConfig{MaxTokens: 10, Ratio: 0.1}))
	for _, row := range []struct {
		name              string
		successes, failed int
		tokens            float64
		retry             bool
	}{
		{"full at first", 0, 0, 10, true},
		{"no more than full", 100, 0, 10, true},
		{"4 failures", 0, 4, 6, true},
		{"half", 0, 1, 5, false},
		{"a tenth above half", 1, 0, 5.1, true},
		{"9 failures", 0, 9, 0, false},
		{"50 successes are half", 50, 0, 5, false},
		{"51 are more", 1, 0, 5.1, true},
	} {
		for range row.successes {
			b.Attempt(Success)
		}
		for range row.failed {
			b.Attempt(Failure)
		}
		b.Request()
		if got := b.TryRetry(false); got != row.retry || b.Tokens() != row.tokens {
			t.Errorf("%s: %v with %v tokens, want %v with %v", row.name, got, b.Tokens(), row.retry, row.tokens)
		}
		b.WaitDone()
		b.Done(false, false)
	}
}

// What the policy tells: each attempt once, the last one of a request too,
// and not those with an error that is not retried.
func TestThrottleLearnsFromRetry(t *testing.T) {
	b := must(NewThrottleBudget(ThrottleConfig{MaxTokens: 10, Ratio: 0.5}))
	other := must(NewThrottleBudget(ThrottleConfig{MaxTokens: 10, Ratio: 0.5}))
	r := must(NewRetry(RetryConfig{Attempts: 3, Errors: ErrorList{RetryOn: names("503")}}, other)).With(b)
	for _, row := range []struct {
		name   string
		number int
		o      Outcome
		reason Reason
		tokens float64
	}{
		{"fails", 1, failed, Granted, 9},
		{"fails again", 2, failed, Granted, 8},
		{"and a last time", 3, failed, AttemptsSpent, 7},
		{"is the caller's fault", 1, rejected, NotRetryable, 7},
		{"succeeds", 1, answered, NotNeeded, 7.5},
		{"fails", 1, failed, Granted, 6.5},
		{"fails", 2, failed, Granted, 5.5},
		{"is throttled", 1, failed, BudgetSpent, 4.5},
		{"still is", 1, failed, BudgetSpent, 3.5},
		{"succeeds", 1, answered, NotNeeded, 4},
	} {
		r.Start()
		if d := r.Decide(Attempt{Number: row.number, Outcome: row.o}); d.Reason != row.reason || b.Tokens() != row.tokens {
			t.Errorf("%s: %v, %v tokens, want %v, %v", row.name, d.Reason, b.Tokens(), row.reason, row.tokens)
		}
	}
	if other.Tokens() != 10 {
		t.Errorf("the other caller's budget holds %v tokens, want 10", other.Tokens())
	}
	b = must(NewThrottleBudget(ThrottleConfig{MaxTokens: 10}))
	slow := must(NewRetry(RetryConfig{Attempts: 3, RetryOn: func(Outcome) bool { return true }}, b))
	if slow.Decide(Attempt{Number: 1, Outcome: answered}); b.Tokens() != 9 {
		t.Errorf("an answer that is retried left %v tokens, want 9", b.Tokens())
	}
}

// An outage of 1,000 requests one after the other, up to 4 attempts each: the
// first request takes the count from 10 to 6 and the second to 5.
func TestThrottleInAnOutage(t *testing.T) {
	b := must(NewThrottleBudget(ThrottleConfig{MaxTokens: 10, Ratio: 0.1}))
	r := must(NewRetry(RetryConfig{Attempts: 4}, b))
	attempts := 0
	for range 1000 {
		r.Start()
		for n := 1; ; n++ {
			attempts++
			if !r.Decide(Attempt{Number: n, Outcome: failed}).Retry {
				break
			}
		}
	}
	if attempts != 1003 {
		t.Errorf("%d attempts, want 1003", attempts)
	}
}

func TestThrottleAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		billionths := rapid.Int64Range(0, 1e9).Draw(t, "ratio in 1e-9")
		cfg := ThrottleConfig{MaxTokens: rapid.IntRange(1, 6).Draw(t, "tokens"), Ratio: float64(billionths) / 1e9}
		b := must(NewThrottleBudget(cfg))
		ratio, one := big.NewRat(billionths, 1e9), big.NewRat(1, 1)
		most, half := big.NewRat(int64(cfg.MaxTokens), 1), big.NewRat(int64(cfg.MaxTokens), 2)
		level := new(big.Rat).Set(most)
		for i, success := range rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(t, "attempts") {
			b.Attempt(classOf(success))
			if success {
				level.Add(level, ratio)
			} else {
				level.Sub(level, one)
			}
			if level.Sign() < 0 {
				level.SetInt64(0)
			}
			if level.Cmp(most) > 0 {
				level.Set(most)
			}
			if got, want := b.TryRetry(i%2 == 0), level.Cmp(half) > 0; got != want {
				t.Fatalf("attempt %d: retry %v with %v tokens of %v, want %v", i, got, level, most, want)
			}
			if got := big.NewRat(b.level.Load(), b.one); got.Cmp(level) != 0 {
				t.Fatalf("attempt %d: %v tokens, want %v", i, got, level)
			}
		}
	})
}

// Whatever the order, no token is lost or made.
func TestThrottleIsExactWhenShared(t *testing.T) {
	b := must(NewThrottleBudget(ThrottleConfig{MaxTokens: 100_000, Ratio: 0.3}))
	b.level.Store(b.most / 2)
	var granted atomic.Int64
	together(8, func(int) {
		for i := range 3000 {
			b.Attempt(classOf(i%2 == 0))
			if b.TryRetry(false) {
				granted.Add(1)
			}
		}
	})
	if got, want := b.level.Load(), 50_000*b.one-8*1500*(b.one-b.credit); got != want {
		t.Errorf("%d units left, want %d", got, want)
	}
	if granted.Load() > 8 {
		t.Errorf("%d retries, want none but those before the first failures", granted.Load())
	}
}

func classOf(success bool) Class {
	if success {
		return Success
	}
	return Failure
}
