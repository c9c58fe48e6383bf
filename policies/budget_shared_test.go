package policies

import (
	"sync"
	"sync/atomic"
	"testing"
)

// everyBudget makes one of each kind that keeps count.
func everyBudget() map[string]Budget {
	perSuccess := TokenConfig{Ratio: 0.1, Cap: 10, Credit: CreditSuccess}
	return map[string]Budget{
		"tokens":             must(NewTokenBudget(ten(0.1))),
		"tokens per success": must(NewTokenBudget(perSuccess)),
		"float tokens":       must(NewFloatTokenBudget(ten(0.1))),
		"counter":            must(NewCounterBudget(CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000})),
		"share":              must(NewShareBudget(ShareConfig{Share: 0.2, Floor: 3})),
		"share of attempts":  must(NewShareBudget(ShareConfig{Share: 0.2, Floor: 3, Active: ActiveAttempts})),
		"concurrent":         must(NewConcurrentBudget(3)),
		"throttle":           must(NewThrottleBudget(ThrottleConfig{MaxTokens: 1000, Ratio: 0.1})),
		"window":             must(NewWindowBudget(WindowBudgetConfig{Length: ms, Ratio: 0.2, MinRPS: 1000}, nil)),
		"unlimited":          UnlimitedBudget{},
		"empty":              EmptyBudget{},
	}
}

// together runs f on several goroutines at once.
func together(goroutines int, f func(g int)) {
	var group sync.WaitGroup
	for g := range goroutines {
		group.Add(1)
		go func() {
			defer group.Done()
			f(g)
		}()
	}
	group.Wait()
}

// Whatever the order, no token is lost or made: what was earned below the cap
// is what was taken and what is left.
func TestTokensAreExactWhenShared(t *testing.T) {
	const goroutines, each = 8, 5000
	b := must(NewTokenBudget(TokenConfig{Ratio: 0.3, Cap: maxTokens, Initial: 100}))
	var retries atomic.Int64
	together(goroutines, func(int) {
		for range each {
			b.Request()
			if b.TryRetry(false) {
				retries.Add(1)
			}
			if tokens := b.Tokens(); tokens < 0 {
				t.Errorf("%v tokens", tokens)
			}
			b.Done(false, false)
		}
	})
	if got, want := b.level.Load(), 100*b.one+goroutines*each*b.credit-retries.Load()*b.one; got != want {
		t.Errorf("%d units left, want %d", got, want)
	}
}

// A full bucket is shared out to the last token.
func TestTokensAreGivenOnce(t *testing.T) {
	for _, b := range []tokenBucket{
		must(NewTokenBudget(TokenConfig{Cap: 1000, Initial: 1000})),
		must(NewFloatTokenBudget(TokenConfig{Cap: 1000, Initial: 1000})),
	} {
		var retries atomic.Int64
		together(8, func(int) {
			for range 500 {
				if b.TryRetry(false) {
					retries.Add(1)
				}
			}
		})
		if retries.Load() != 1000 || b.Tokens() != 0 {
			t.Errorf("%T: %d retries and %v tokens left, want 1000 and 0", b, retries.Load(), b.Tokens())
		}
	}
}

func TestCounterIsExactWhenShared(t *testing.T) {
	const goroutines, each = 8, 3000
	b := must(NewCounterBudget(CounterConfig{Ratio: 0.5, Grace: 10, ResetAt: goroutines*each + 1}))
	var granted atomic.Int64
	together(goroutines, func(int) {
		for range each {
			b.Request()
			if b.TryRetry(false) {
				granted.Add(1)
			}
		}
	})
	requests, retries := b.Counts()
	if requests != goroutines*each || int64(retries) != granted.Load() {
		t.Errorf("counters %d and %d, want %d and %d", requests, retries, goroutines*each, granted.Load())
	}
	if most := requests/2 + 1 + 10*goroutines; retries > most {
		t.Errorf("%d retries of %d requests, want at most %d", retries, requests, most)
	}
}

// Retries in progress, counted by those that make them, never exceed the cap,
// and a request that holds a place never loses it.
func TestPlacesWhenShared(t *testing.T) {
	const most = 3
	for _, b := range []Budget{
		must(NewConcurrentBudget(most)),
		must(NewShareBudget(ShareConfig{Floor: most})),
	} {
		var inProgress, granted atomic.Int64
		together(8, func(g int) {
			for i := range 2000 {
				b.Request()
				held := false
				for n := range 3 {
					if !b.TryRetry(held) {
						if held {
							t.Errorf("%T: refused retry %d of a request that holds a place", b, n+1)
						}
						break
					}
					if !held {
						granted.Add(1)
						if now := inProgress.Add(1); now > most {
							t.Errorf("%T: %d retries in progress, want at most %d", b, now, most)
						}
					}
					held = true
					b.WaitDone()
				}
				if held {
					inProgress.Add(-1)
				}
				b.Done(held, (i+g)%2 == 0)
			}
		})
		if granted.Load() == 0 {
			t.Errorf("%T: nothing was granted", b)
		}
		switch b := b.(type) {
		case *ConcurrentBudget:
			if n := b.Retries(); n != 0 {
				t.Errorf("%d retries in the end", n)
			}
		case *ShareBudget:
			if active, n := b.Counts(); active != 0 || n != 0 {
				t.Errorf("%d active and %d retries in the end", active, n)
			}
		}
	}
}

// One policy serves many goroutines, with every kind of budget.
func TestRetryWhenShared(t *testing.T) {
	for name, b := range everyBudget() {
		r := must(NewRetry(RetryConfig{Attempts: 3, Backoff: BackoffConfig{Kind: FullJitter, Base: ms}}, b))
		u := NewUniform(nil)
		var attempts, requests atomic.Int64
		together(4, func(g int) {
			for i := range 1000 {
				requests.Add(1)
				r.Start()
				for n := 1; ; n++ {
					attempts.Add(1)
					o := failed
					if (i+g+n)%3 == 0 {
						o = answered
					}
					if d := r.Decide(Attempt{Number: n, Outcome: o, U: u.Next()}); !d.Retry {
						break
					}
					r.WaitDone()
				}
			}
		})
		if n := attempts.Load(); n < requests.Load() || n > 3*requests.Load() {
			t.Errorf("%s: %d attempts of %d requests", name, n, requests.Load())
		}
	}
}

func TestBudgetsDoNotAllocate(t *testing.T) {
	wrapped := Outcome{Err: timeoutError(true)}
	for name, b := range everyBudget() {
		for _, kind := range backoffKinds {
			r := must(NewRetry(RetryConfig{
				Attempts: 3, Deadline: sec,
				Errors:  ErrorList{RetryOn: names("5xx", "timeout"), NoRetryOn: names("501")},
				Backoff: BackoffConfig{Kind: kind, Base: ms, Cap: 20 * ms, Jitter: 0.3},
			}, b))
			u := NewUniform(nil)
			request := func() {
				r.Start()
				for n := 1; ; n++ {
					o := failed
					if n == 2 {
						o = wrapped
					}
					if d := r.Decide(Attempt{Number: n, Outcome: o, Waited: ms, U: u.Next()}); !d.Retry {
						return
					}
					r.WaitDone()
				}
			}
			if got := testing.AllocsPerRun(1000, request); got != 0 {
				t.Errorf("%s, %s: %v allocations per request", name, kind, got)
			}
		}
	}
}
