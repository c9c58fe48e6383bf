package policies

import (
	"fmt"
	"testing"
)

// Asks for a retry that is granted, and earns or gives back what it took.
func BenchmarkTryRetryGranted(b *testing.B) {
	budgets := benchBudgets(1)
	for _, name := range benchNames {
		b.Run(name, func(b *testing.B) {
			budget := budgets[name]
			for range b.N {
				budget.Request()
				if !budget.TryRetry(false) && name != "counter" {
					b.Fatal("refused")
				}
				budget.WaitDone()
				budget.Done(true, true)
			}
		})
	}
}

// The same by two goroutines that share a budget.
func BenchmarkTryRetryContended(b *testing.B) {
	budgets := benchBudgets(1)
	for _, name := range benchNames {
		if name == "share-unshared" {
			continue // is not safe for concurrent use
		}
		b.Run(name, func(b *testing.B) {
			budget := budgets[name]
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					budget.Request()
					held := budget.TryRetry(false)
					if held {
						budget.WaitDone()
					}
					budget.Done(held, true)
				}
			})
		})
	}
}

// Asks alone, mostly refused.
func BenchmarkTryRetry(b *testing.B) {
	for _, goroutines := range []int{1, 2} {
		budgets := benchBudgets(0)
		for _, name := range benchNames {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, goroutines), func(b *testing.B) {
				budget := budgets[name]
				for range 200 { // past the grace
					budget.Request()
				}
				if goroutines == 1 {
					for range b.N {
						budget.TryRetry(false)
					}
					return
				}
				if name == "share-unshared" {
					b.Skip("is not safe for concurrent use")
				}
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						budget.TryRetry(false)
					}
				})
			})
		}
	}
}

var benchNames = []string{"tokens", "float-tokens", "counter", "share", "share-unshared", "concurrent", "throttle", "window"}

func benchBudgets(ratio float64) map[string]Budget {
	throttle := must(NewThrottleBudget(ThrottleConfig{MaxTokens: maxTokens, Ratio: ratio}))
	if ratio == 0 {
		throttle.level.Store(0)
	}
	return map[string]Budget{
		"tokens":         must(NewTokenBudget(ten(ratio))),
		"float-tokens":   must(NewFloatTokenBudget(ten(ratio))),
		"counter":        must(NewCounterBudget(CounterConfig{Ratio: ratio, Grace: 100, ResetAt: 10_000})),
		"share":          must(NewShareBudget(ShareConfig{Share: ratio})),
		"share-unshared": must(NewShareBudget(ShareConfig{Share: ratio, Unshared: true})),
		"concurrent":     must(NewConcurrentBudget(3 * int(ratio))),
		"throttle":       throttle,
		"window":         must(NewWindowBudget(WindowBudgetConfig{Length: ms, Ratio: ratio, MinRPS: 10_000 * ratio}, nil)),
	}
}

func BenchmarkBackoffDelay(b *testing.B) {
	for _, kind := range backoffKinds {
		b.Run(string(kind), func(b *testing.B) {
			backoff := mustBackoff(b, BackoffConfig{Kind: kind, Base: ms, Cap: sec, Jitter: 0.3})
			previous := ms
			for i := range b.N {
				previous = backoff.Delay(i&7+1, previous, 0.625)
			}
		})
	}
}

// A whole request whose attempts all fail, per attempt.
func BenchmarkDecide(b *testing.B) {
	for _, name := range append([]string{"none"}, benchNames...) {
		b.Run(name, func(b *testing.B) {
			r := must(NewRetry(RetryConfig{
				Attempts: 3, Deadline: sec,
				Errors:  ErrorList{RetryOn: names("5xx", "timeout"), NoRetryOn: names("501")},
				Backoff: BackoffConfig{Kind: FullJitter, Base: ms, Cap: 20 * ms},
			}, benchBudgets(1)[name]))
			for i := 0; i < b.N; {
				r.Start()
				for n := 1; ; n++ {
					i++
					if !r.Decide(Attempt{Number: n, Outcome: failed, U: 0.5}).Retry {
						break
					}
					r.WaitDone()
				}
			}
		})
	}
}

func BenchmarkUniform(b *testing.B) {
	u := NewUniform(nil)
	for range b.N {
		u.Next()
	}
}
