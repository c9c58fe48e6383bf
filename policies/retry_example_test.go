package policies_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The loop around a call. In production wait is a timer and u is
// policies.NewUniform(nil).
func ExampleRetry() {
	budget, err := policies.NewTokenBudget(policies.TokenConfig{Ratio: 0.1, Cap: 10, Initial: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	retry, err := policies.NewRetry(policies.RetryConfig{
		Attempts: 4,
		Deadline: 2 * time.Second,
		Errors:   policies.ErrorList{RetryOn: []string{"connect-failure", "502", "503", "504"}},
		Backoff:  policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: 120 * time.Millisecond, Jitter: 0.3},
	}, budget)
	if err != nil {
		fmt.Println(err)
		return
	}
	u := policies.NewUniform(rand.NewPCG(1, 2))
	var now time.Duration
	call := func() policies.Outcome {
		now += 50 * time.Millisecond
		return policies.Outcome{Latency: 50 * time.Millisecond, Err: policies.ErrorCode(503)}
	}
	wait := func(d time.Duration) { now += d }

	retry.Start()
	var waited time.Duration
	for n := 1; ; n++ {
		o := call()
		d := retry.Decide(policies.Attempt{Number: n, Elapsed: now, Waited: waited, Outcome: o, U: u.Next()})
		fmt.Printf("attempt %d: %v, %v\n", n, o.Err, d.Reason)
		if !d.Retry {
			break
		}
		waited = d.Delay
		wait(waited)
		if !retry.Send() {
			break
		}
	}
	// Output:
	// attempt 1: status 503, granted
	// attempt 2: status 503, granted
	// attempt 3: status 503, budget
}

func ExampleRetryConfig_Validate() {
	fmt.Println(policies.RetryConfig{Attempts: policies.Unlimited}.Validate())
	// Output: policies: retry: deadline 0s, want more than 0s for unlimited attempts
}

func ExampleRetryConfig_Notes() {
	fmt.Println(policies.RetryConfig{Attempts: policies.Unlimited, Deadline: time.Second}.Notes()[0])
	// Output: unlimited attempts without back-off: a callee that fails at once is called without a pause until the deadline
}

func ExampleErrorList() {
	retried, err := policies.ErrorList{RetryOn: []string{"4xx", "5xx"}, NoRetryOn: []string{"429"}}.Func()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range []error{
		policies.ErrorCode(503),
		fmt.Errorf("calling the stock: %w", policies.ErrorCode(429)),
		policies.ErrTimeout,
	} {
		fmt.Println(err, retried(policies.Outcome{Err: err}))
	}
	// Output:
	// status 503 true
	// calling the stock: status 429 false
	// timeout false
}

// The intervals of the jitters before the first four retries.
func ExampleBackoff() {
	for _, kind := range []policies.BackoffKind{
		policies.ExponentialBackoff, policies.FullJitter, policies.EqualJitter, policies.DecorrelatedJitter,
	} {
		b, err := policies.NewBackoff(policies.BackoffConfig{
			Kind: kind, Base: 100 * time.Millisecond, Cap: 500 * time.Millisecond,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-12s", kind)
		var previous time.Duration
		for n := range 4 {
			low := b.Delay(n+1, previous, 0)
			previous = b.Delay(n+1, previous, 1).Round(time.Millisecond)
			fmt.Printf(" %v-%v", low, previous)
		}
		fmt.Println()
	}
	// Output:
	// exponential  100ms-100ms 200ms-200ms 400ms-400ms 500ms-500ms
	// full         0s-100ms 0s-200ms 0s-400ms 0s-500ms
	// equal        50ms-100ms 100ms-200ms 200ms-400ms 250ms-500ms
	// decorrelated 100ms-300ms 100ms-500ms 100ms-500ms 100ms-500ms
}

// Ten tenths make a whole, unless they are added up in floating point.
func ExampleTokenBudget() {
	cfg := policies.TokenConfig{Ratio: 0.1, Cap: 10}
	exact, _ := policies.NewTokenBudget(cfg)
	float, _ := policies.NewFloatTokenBudget(cfg)
	for range 10 {
		exact.Request()
		float.Request()
	}
	fmt.Println(exact.Tokens(), exact.TryRetry(false))
	fmt.Println(float.Tokens(), float.TryRetry(false))
	// Output:
	// 1 true
	// 0.9999999999999999 false
}

// The first hundred requests may retry as they like.
func ExampleCounterBudget() {
	b, _ := policies.NewCounterBudget(policies.CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000})
	for i := range 102 {
		b.Request()
		if !b.TryRetry(false) {
			fmt.Println("refused: request", i+1)
		}
	}
	fmt.Println(b.Counts())
	// Output:
	// refused: request 101
	// refused: request 102
	// 102 100
}

// A request that holds a place keeps it; the others get nothing.
func ExampleConcurrentBudget() {
	b, _ := policies.NewConcurrentBudget(1)
	fmt.Println("a, first retry: ", b.TryRetry(false))
	fmt.Println("b, first retry: ", b.TryRetry(false))
	fmt.Println("a, second retry:", b.TryRetry(true))
	b.Done(true, false)
	fmt.Println("c, first retry: ", b.TryRetry(false))
	// Output:
	// a, first retry:  true
	// b, first retry:  false
	// a, second retry: true
	// c, first retry:  true
}

// A fifth of 25 requests in flight are 5 retries.
func ExampleShareBudget() {
	b, _ := policies.NewShareBudget(policies.ShareConfig{Share: 0.2, Floor: 3})
	for range 25 {
		b.Request()
	}
	for b.TryRetry(false) {
	}
	fmt.Println(b.Counts())
	// Output: 25 5
}
