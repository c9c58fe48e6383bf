package policies

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// guardBreaker opens after two failures and stays open for a second.
func guardBreaker(t testing.TB, c Clock) *Breaker {
	return mustBreaker(t, BreakerConfig{
		Rule:    RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 2}, MinCalls: 2, FailureRate: 1},
		OpenFor: time.Second, Probes: 1,
	}, c)
}

func trip(t testing.TB, b *Breaker) {
	t.Helper()
	for range 2 {
		b.Record(mustAllow(t, b), Outcome{Err: errCall})
	}
	wantState(t, b, Open)
}

func TestGuardConfigValidate(t *testing.T) {
	for _, test := range []struct {
		order []GuardStep
		want  string
	}{
		{nil, ""},
		{[]GuardStep{GuardIdempotent}, ""},
		{[]GuardStep{GuardIdempotent, GuardBreaker, GuardBudget}, ""},
		{[]GuardStep{"bugdet"}, `policies: guard: step "bugdet", want one of budget, breaker, idempotent`},
		{[]GuardStep{GuardBreaker, GuardBreaker}, `policies: guard: step "breaker" twice, want each step once`},
	} {
		checkError(t, GuardConfig{Order: test.order}.Validate(), test.want)
	}
	_, err := NewGuard(GuardConfig{}, nil)
	checkError(t, err, `policies: guard: no breaker, want one for step "breaker"`)
	if _, err := NewGuard(GuardConfig{Order: []GuardStep{GuardIdempotent}}, nil); err != nil {
		t.Error(err)
	}
	_, err = NewGuard(GuardConfig{Order: []GuardStep{""}}, nil)
	checkError(t, err, "policies: guard: step")
}

func TestGuardAsks(t *testing.T) {
	for _, test := range []struct {
		order []GuardStep
		want  [3]bool // budget, breaker, idempotent
	}{
		{nil, [3]bool{true, true, true}},
		{[]GuardStep{GuardIdempotent}, [3]bool{true, false, true}},
		{[]GuardStep{GuardBudget, GuardBreaker}, [3]bool{true, true, false}},
	} {
		c := GuardConfig{Order: test.order}
		if got := [3]bool{c.Asks(GuardBudget), c.Asks(GuardBreaker), c.Asks(GuardIdempotent)}; got != test.want {
			t.Errorf("%q: %v, want %v", test.order, got, test.want)
		}
	}
}

// Each step refuses what it should, in the order given, and what is asked
// before it is spent.
func TestGuardOrder(t *testing.T) {
	all := []GuardStep{GuardBudget, GuardBreaker, GuardIdempotent}
	late := []GuardStep{GuardIdempotent, GuardBreaker, GuardBudget}
	for _, test := range []struct {
		name            string
		order           []GuardStep
		open, dangerous bool
		tokens          int
		reason          Reason
		left            float64
	}{
		{"all well", nil, false, false, 2, Granted, 1},
		{"no token", nil, false, false, 0, BudgetSpent, 0},
		{"no token comes first", all, true, true, 0, BudgetSpent, 0},
		{"open comes second and has spent a token", all, true, true, 2, BreakerNotClosed, 1},
		{"not idempotent comes third and has spent one", all, false, true, 2, NotIdempotent, 1},
		{"not idempotent costs nothing", late, true, true, 2, NotIdempotent, 2},
		{"open costs nothing", late, true, false, 0, BreakerNotClosed, 0},
		{"budget last", late, false, false, 0, BudgetSpent, 0},
		{"budget last, though not named", []GuardStep{GuardIdempotent}, true, false, 0, BudgetSpent, 0},
		{"not asked", []GuardStep{GuardBudget}, true, true, 1, Granted, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := guardBreaker(t, newHandClock())
			if test.open {
				trip(t, b)
			}
			budget := must(NewTokenBudget(TokenConfig{Ratio: 0, Cap: 10, Initial: test.tokens}))
			guard := must(NewGuard(GuardConfig{Order: test.order}, b))
			r := must(NewRetry(RetryConfig{Attempts: 3}, budget)).Guarded(guard)
			r.Start()
			d := r.Decide(Attempt{Number: 1, Outcome: failed, NotIdempotent: test.dangerous})
			if d.Reason != test.reason || d.Retry != (test.reason == Granted) {
				t.Errorf("%+v, want %v", d, test.reason)
			}
			if got := budget.Tokens(); got != test.left {
				t.Errorf("%v tokens left, want %v", got, test.left)
			}
			want := GuardCounts{}
			switch test.reason {
			case Granted:
				want.Granted = 1
			case BudgetSpent:
				want.Budget = 1
			case BreakerNotClosed:
				want.Breaker = 1
			case NotIdempotent:
				want.NotIdempotent = 1
			}
			if got := guard.Counts(); got != want || got.Refused()+got.Granted != 1 {
				t.Errorf("counts %+v, want %+v", got, want)
			}
		})
	}
}

// What needs no retry or may have none is not put to the guard.
func TestGuardIsAskedLast(t *testing.T) {
	guard := must(NewGuard(GuardConfig{Order: []GuardStep{GuardIdempotent}}, nil))
	r := must(NewRetry(RetryConfig{Attempts: 2, Deadline: time.Second, Errors: ErrorList{NoRetryOn: []string{"400"}}}, nil)).Guarded(guard)
	for _, test := range []struct {
		a    Attempt
		want Reason
	}{
		{Attempt{Number: 1, Outcome: answered}, NotNeeded},
		{Attempt{Number: 1, Outcome: Outcome{Err: ErrorCode(400)}}, NotRetryable},
		{Attempt{Number: 2, Outcome: failed}, AttemptsSpent},
		{Attempt{Number: 1, Outcome: failed, Elapsed: time.Second}, DeadlineReached},
		{Attempt{Number: 1, Outcome: failed}, NotIdempotent},
	} {
		test.a.NotIdempotent = true
		if d := r.Decide(test.a); d.Reason != test.want {
			t.Errorf("%+v: %v, want %v", test.a, d.Reason, test.want)
		}
	}
	if got := guard.Counts(); got != (GuardCounts{NotIdempotent: 1}) {
		t.Errorf("counts %+v", got)
	}
	if d := r.Guarded(nil).Decide(Attempt{Number: 1, Outcome: failed, NotIdempotent: true}); !d.Retry {
		t.Errorf("without a guard %+v, want a retry", d)
	}
}

// A half-open breaker is probed by new requests, not by retries.
func TestGuardHalfOpen(t *testing.T) {
	clock := newHandClock()
	b := guardBreaker(t, clock)
	guard := must(NewGuard(GuardConfig{}, b))
	r := must(NewRetry(RetryConfig{Attempts: 3}, nil)).Guarded(guard)
	trip(t, b)
	clock.add(time.Second)
	probe := mustAllow(t, b)
	wantState(t, b, HalfOpen)
	if d := r.Decide(Attempt{Number: 1, Outcome: failed}); d.Reason != BreakerNotClosed {
		t.Errorf("half-open: %v", d.Reason)
	}
	b.Record(probe, Outcome{})
	if d := r.Decide(Attempt{Number: 1, Outcome: failed}); !d.Retry {
		t.Errorf("closed again: %v", d.Reason)
	}
}

// guardBudgets are budgets that know places, with what they say of them.
var guardBudgets = map[string]func() (Budget, func() string){
	"concurrent": func() (Budget, func() string) {
		b := must(NewConcurrentBudget(2))
		return b, func() string { return fmt.Sprint(b.Retries()) }
	},
	"share": func() (Budget, func() string) {
		b := must(NewShareBudget(ShareConfig{Share: 0.5, Floor: 1}))
		return b, func() string { return fmt.Sprint(b.Counts()) }
	},
	"share of active": func() (Budget, func() string) {
		b := must(NewShareBudget(ShareConfig{Share: 0.5, Floor: 1, Active: ActiveRequests}))
		return b, func() string { return fmt.Sprint(b.Counts()) }
	},
}

// However requests go, all places are free when none is left.
func TestGuardGivesPlacesBack(t *testing.T) {
	for name, make := range guardBudgets {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				clock := newHandClock()
				b := guardBreaker(&testing.T{}, clock)
				budget, say := make()
				before := say()
				order := rapid.Permutation(guardSteps).Draw(t, "order")
				order = order[:rapid.IntRange(0, 3).Draw(t, "steps")]
				guard := must(NewGuard(GuardConfig{Order: order}, b))
				r := must(NewRetry(RetryConfig{Attempts: 3}, budget)).Guarded(guard)
				var asked uint64
				type request struct {
					number    int
					waits     bool
					dangerous bool
				}
				var alive []*request
				for range rapid.IntRange(1, 40).Draw(t, "steps taken") {
					switch rapid.IntRange(0, 4).Draw(t, "what") {
					case 0:
						r.Start()
						alive = append(alive, &request{number: 1, dangerous: rapid.Bool().Draw(t, "dangerous")})
					case 1:
						clock.add(time.Second)
						if p, ok := b.Allow(); ok {
							b.Record(p, Outcome{Err: rapid.SampledFrom([]error{nil, errCall}).Draw(t, "probe")})
						}
					default:
						if len(alive) == 0 {
							break
						}
						i := rapid.IntRange(0, len(alive)-1).Draw(t, "which")
						q := alive[i]
						if q.waits {
							q.waits = false
							r.WaitDone()
						}
						if rapid.IntRange(0, 5).Draw(t, "leaves") > 0 {
							if q.number < 3 {
								asked++
							}
							d := r.Decide(Attempt{Number: q.number, Outcome: failed, NotIdempotent: q.dangerous})
							if d.Retry {
								if q.dangerous && (GuardConfig{Order: order}).Asks(GuardIdempotent) {
									t.Fatal("a call that is not idempotent is tried again")
								}
								q.number, q.waits = q.number+1, true
								break
							}
						} else {
							r.GiveUp(q.number > 1)
						}
						alive = slices.Delete(alive, i, i+1)
					}
				}
				for _, q := range alive {
					if q.waits {
						r.WaitDone()
					}
					r.GiveUp(q.number > 1)
				}
				if after := say(); after != before {
					t.Fatalf("places %s at first, %s in the end", before, after)
				}
				if c := guard.Counts(); c.Granted+c.Refused() != asked {
					t.Fatalf("%+v, asked %d times", c, asked)
				}
			})
		})
	}
}

func TestGuardConcurrently(t *testing.T) {
	const goroutines, each = 8, 500
	b := guardBreaker(t, nil)
	budget := must(NewConcurrentBudget(3))
	guard := must(NewGuard(GuardConfig{}, b))
	r := must(NewRetry(RetryConfig{Attempts: 3}, budget)).Guarded(guard)
	var wg sync.WaitGroup
	var granted sync.Map
	for g := range goroutines {
		wg.Go(func() {
			mine := uint64(0)
			for i := range each {
				r.Start()
				for n := 1; ; n++ {
					if p, ok := b.Allow(); ok {
						b.Record(p, Outcome{Err: []error{nil, errCall}[i%2]})
					}
					d := r.Decide(Attempt{Number: n, Outcome: failed, NotIdempotent: i%3 == 0})
					if !d.Retry {
						break
					}
					mine++
					r.WaitDone()
				}
			}
			granted.Store(g, mine)
		})
	}
	wg.Wait()
	sum := uint64(0)
	granted.Range(func(_, v any) bool { sum += v.(uint64); return true })
	if c := guard.Counts(); c.Granted != sum || budget.Retries() != 0 {
		t.Errorf("%+v, want %d granted; %d places held, want 0", c, sum, budget.Retries())
	}
}

func BenchmarkGuardRefusal(b *testing.B) {
	guard := must(NewGuard(GuardConfig{Order: []GuardStep{GuardIdempotent}}, nil))
	r := must(NewRetry(RetryConfig{Attempts: 3}, nil)).Guarded(guard)
	b.ReportAllocs()
	for b.Loop() {
		r.Decide(Attempt{Number: 1, Outcome: failed, NotIdempotent: true})
	}
}
