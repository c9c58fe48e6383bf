package policies

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A budgetLog grants what it is told to and notes what it was asked.
type budgetLog struct {
	grant bool
	calls []string
}

func (b *budgetLog) Request() { b.calls = append(b.calls, "request") }

func (b *budgetLog) TryRetry(held bool) bool {
	b.calls = append(b.calls, map[bool]string{false: "first retry?", true: "next retry?"}[held])
	return b.grant
}

func (b *budgetLog) WaitDone() { b.calls = append(b.calls, "wait done") }

func (b *budgetLog) Done(held, success bool) {
	text := map[bool]string{false: "failed", true: "succeeded"}[success]
	if held {
		text += ", place back"
	}
	b.calls = append(b.calls, text)
}

func (b *budgetLog) check(t *testing.T, name string, want ...string) {
	t.Helper()
	if !slices.Equal(b.calls, want) {
		t.Errorf("%s: budget was told %q, want %q", name, b.calls, want)
	}
	b.calls = nil
}

var (
	answered = Outcome{Latency: time.Millisecond}
	failed   = Outcome{Latency: time.Millisecond, Err: ErrorCode(503)}
	rejected = Outcome{Latency: time.Millisecond, Err: ErrorCode(404)}
)

func TestRetryValidate(t *testing.T) {
	on := func(Outcome) bool { return true }
	for _, test := range []struct {
		cfg  RetryConfig
		want string
	}{
		{RetryConfig{Attempts: 1}, ""},
		{RetryConfig{Attempts: 3, Deadline: sec, RetryOn: on}, ""},
		{RetryConfig{Attempts: Unlimited, Deadline: 1}, ""},
		{RetryConfig{}, "policies: retry: attempts 0, want at least 1"},
		{RetryConfig{Attempts: -1}, "attempts -1, want at least 1"},
		{RetryConfig{Attempts: 3, Deadline: -1}, "policies: retry: deadline -1ns, want 0s or more"},
		{RetryConfig{Attempts: Unlimited}, "policies: retry: deadline 0s, want more than 0s for unlimited attempts"},
		{RetryConfig{Attempts: 3, RetryOn: on, Errors: ErrorList{NoRetryOn: names("429")}}, "policies: retry: errors {[] [429]}, want none beside a function"},
		{RetryConfig{Attempts: 3, Errors: ErrorList{RetryOn: names("6xx")}}, `policies: retry: retry on "6xx", want a code`},
		{RetryConfig{Attempts: 3, Backoff: BackoffConfig{Kind: FullJitter}}, "policies: full backoff: base 0s, want"},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		_, err := NewRetry(test.cfg, nil)
		checkError(t, err, test.want)
	}
}

func TestRetryNotes(t *testing.T) {
	wait := BackoffConfig{Kind: FixedBackoff, Base: ms}
	for _, test := range []struct {
		cfg  RetryConfig
		want int
	}{
		{RetryConfig{Attempts: 3}, 0},
		{RetryConfig{Attempts: 3, Backoff: wait}, 0},
		{RetryConfig{Attempts: Unlimited, Deadline: sec, Backoff: wait}, 0},
		{RetryConfig{Attempts: Unlimited, Deadline: sec}, 1},
		{RetryConfig{Attempts: 1, Backoff: wait}, 1},
	} {
		if notes := test.cfg.Notes(); len(notes) != test.want {
			t.Errorf("%+v: notes %q, want %d", test.cfg, notes, test.want)
		}
	}
}

func TestReasonText(t *testing.T) {
	want := []string{"granted", "success", "not-retryable", "attempts", "deadline", "budget", "breaker", "not-idempotent", "unknown"}
	for i, text := range want {
		if got := Reason(i).String(); got != text {
			t.Errorf("reason %d is %q, want %q", i, got, text)
		}
	}
}

// Each row is one question. The wait is 100 ms doubling, there are at most 3
// attempts, and no retry starts from 1 s on.
func TestDecide(t *testing.T) {
	cfg := RetryConfig{
		Attempts: 3, Deadline: sec, Errors: ErrorList{RetryOn: names("5xx")},
		Backoff: BackoffConfig{Kind: ExponentialBackoff, Base: 100 * ms},
	}
	const first, next = "first retry?", "next retry?"
	for _, test := range []struct {
		name   string
		a      Attempt
		grant  bool
		want   Decision
		budget []string
	}{
		{"first failure", Attempt{Number: 1, Outcome: failed}, true, Decision{Retry: true, Delay: 100 * ms, Reason: Granted}, []string{first}},
		{"second failure", Attempt{Number: 2, Outcome: failed}, true, Decision{Retry: true, Delay: 200 * ms, Reason: Granted}, []string{next}},
		{"third failure", Attempt{Number: 3, Outcome: failed}, true, Decision{Reason: AttemptsSpent}, []string{"failed, place back"}},
		{"more than there may be", Attempt{Number: 4, Outcome: failed}, true, Decision{Reason: AttemptsSpent}, []string{"failed, place back"}},
		{"success at once", Attempt{Number: 1, Outcome: answered}, true, Decision{Reason: NotNeeded}, []string{"succeeded"}},
		{"success of a retry", Attempt{Number: 2, Outcome: answered}, true, Decision{Reason: NotNeeded}, []string{"succeeded, place back"}},
		{"another error", Attempt{Number: 1, Outcome: rejected}, true, Decision{Reason: NotRetryable}, []string{"failed"}},
		{"another error of a retry", Attempt{Number: 3, Outcome: rejected}, true, Decision{Reason: NotRetryable}, []string{"failed, place back"}},
		{"in time by 1 ns", Attempt{Number: 1, Elapsed: 900*ms - 1, Outcome: failed}, true, Decision{Retry: true, Delay: 100 * ms, Reason: Granted}, []string{first}},
		{"at the deadline", Attempt{Number: 1, Elapsed: 900 * ms, Outcome: failed}, true, Decision{Reason: DeadlineReached}, []string{"failed"}},
		{"in time by 1 ns, second", Attempt{Number: 2, Elapsed: 800*ms - 1, Outcome: failed}, true, Decision{Retry: true, Delay: 200 * ms, Reason: Granted}, []string{next}},
		{"at the deadline, second", Attempt{Number: 2, Elapsed: 800 * ms, Outcome: failed}, true, Decision{Reason: DeadlineReached}, []string{"failed, place back"}},
		{"long past it", Attempt{Number: 1, Elapsed: math.MaxInt64, Outcome: failed}, true, Decision{Reason: DeadlineReached}, []string{"failed"}},
		{"attempts before the deadline", Attempt{Number: 3, Elapsed: 2 * sec, Outcome: failed}, true, Decision{Reason: AttemptsSpent}, []string{"failed, place back"}},
		{"no budget", Attempt{Number: 1, Outcome: failed}, false, Decision{Reason: BudgetSpent}, []string{first, "failed"}},
		{"no budget for the next", Attempt{Number: 2, Outcome: failed}, false, Decision{Reason: BudgetSpent}, []string{next, "failed"}},
		{"budget not asked in vain", Attempt{Number: 3, Outcome: failed}, false, Decision{Reason: AttemptsSpent}, []string{"failed, place back"}},
	} {
		log := &budgetLog{grant: test.grant}
		r := must(NewRetry(cfg, log))
		if got := r.Decide(test.a); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		log.check(t, test.name, test.budget...)
		want := test.want
		if want.Reason == BudgetSpent {
			want = Decision{Retry: true, Delay: 100 * ms * time.Duration(test.a.Number), Reason: Granted}
		}
		if got := r.With(nil).Decide(test.a); got != want {
			t.Errorf("%s: without a budget %+v, want %+v", test.name, got, want)
		}
	}
}

func TestRetryTellsTheBudget(t *testing.T) {
	log := &budgetLog{grant: true}
	r := must(NewRetry(RetryConfig{Attempts: 3}, log))
	r.Start()
	r.Decide(Attempt{Number: 1, Outcome: failed})
	r.WaitDone()
	r.Decide(Attempt{Number: 2, Outcome: failed})
	r.WaitDone()
	r.GiveUp(true)
	log.check(t, "given up", "request", "first retry?", "wait done", "next retry?", "wait done", "failed, place back")
	r.Start()
	r.GiveUp(false)
	log.check(t, "given up at once", "request", "failed")

	free := must(NewRetry(RetryConfig{Attempts: 2}, nil))
	free.Start()
	if d := free.Decide(Attempt{Number: 1, Outcome: failed}); !d.Retry {
		t.Error("refused without a budget")
	}
	free.WaitDone()
	free.GiveUp(true)
}

// A function decides on any outcome, also on a success that came too late.
func TestRetryOnFunction(t *testing.T) {
	log := &budgetLog{}
	r := must(NewRetry(RetryConfig{Attempts: 2, RetryOn: func(o Outcome) bool { return o.Latency > sec }}, log))
	slow := Outcome{Latency: 2 * sec}
	if d := r.Decide(Attempt{Number: 1, Outcome: slow}); d.Reason != BudgetSpent {
		t.Errorf("slow answer: %v, want %v", d.Reason, BudgetSpent)
	}
	log.check(t, "slow answer", "first retry?", "succeeded")
	if d := r.Decide(Attempt{Number: 1, Outcome: failed}); d.Reason != NotRetryable {
		t.Errorf("failure: %v, want %v", d.Reason, NotRetryable)
	}
}

// Attempts follow each other until the deadline and not longer: with a fixed
// wait of 100 ms and attempts of 50 ms, they start at 0, 150, ..., 900 ms.
func TestUnlimitedAttempts(t *testing.T) {
	r := must(NewRetry(RetryConfig{
		Attempts: Unlimited, Deadline: sec, Backoff: BackoffConfig{Kind: FixedBackoff, Base: 100 * ms},
	}, nil))
	var starts []time.Duration
	for now, n := time.Duration(0), 1; ; n++ {
		starts = append(starts, now)
		now += 50 * ms
		d := r.Decide(Attempt{Number: n, Elapsed: now, Outcome: failed})
		if !d.Retry {
			if d.Reason != DeadlineReached {
				t.Errorf("ended by %v, want %v", d.Reason, DeadlineReached)
			}
			break
		}
		now += d.Delay
	}
	if last := starts[len(starts)-1]; len(starts) != 7 || last != 900*ms {
		t.Errorf("%d attempts, the last at %v, want 7 and 900ms", len(starts), last)
	}
}

// The wait that was decided before is what decorrelated jitter grows from.
func TestRetryPassesTheWait(t *testing.T) {
	r := must(NewRetry(RetryConfig{
		Attempts: 9, Backoff: BackoffConfig{Kind: DecorrelatedJitter, Base: 100 * ms, Cap: 10 * sec},
	}, nil))
	var waited time.Duration
	for i, want := range []time.Duration{200 * ms, 350 * ms, 575 * ms} {
		waited = r.Decide(Attempt{Number: i + 1, Waited: waited, Outcome: failed, U: 0.5}).Delay
		if waited != want {
			t.Errorf("wait %d: %v, want %v", i+1, waited, want)
		}
	}
}

// Whatever happens, a request makes at most its attempts, none of them starts
// at the deadline or later, and the budget is left as it was found.
func TestRetryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := RetryConfig{
			Attempts: rapid.IntRange(1, 5).Draw(t, "attempts"),
			Deadline: time.Duration(rapid.IntRange(0, 50).Draw(t, "deadline")),
			Errors:   ErrorList{RetryOn: names("5xx")},
			Backoff:  BackoffConfig{Kind: rapid.SampledFrom(backoffKinds).Draw(t, "kind"), Base: 3, Cap: 20},
		}
		share := must(NewShareBudget(ShareConfig{Share: 0.5, Active: ActiveAttempts}))
		capped := must(NewConcurrentBudget(rapid.IntRange(0, 2).Draw(t, "most")))
		for range rapid.IntRange(1, 10).Draw(t, "requests") {
			for _, b := range []Budget{share, capped} {
				r := must(NewRetry(cfg, b))
				r.Start()
				var now, waited time.Duration
				for n := 1; ; n++ {
					if n > cfg.Attempts || n > 1 && cfg.Deadline > 0 && now >= cfg.Deadline {
						t.Fatalf("attempt %d at %d, want at most %d before %d", n, now, cfg.Attempts, cfg.Deadline)
					}
					now += time.Duration(rapid.IntRange(0, 20).Draw(t, "took"))
					if n > 1 && rapid.IntRange(0, 9).Draw(t, "gives up") == 0 {
						r.GiveUp(true)
						break
					}
					o := rapid.SampledFrom([]Outcome{answered, failed, failed, failed, rejected}).Draw(t, "outcome")
					d := r.Decide(Attempt{Number: n, Elapsed: now, Waited: waited, Outcome: o, U: rapid.Float64Range(0, lastU).Draw(t, "u")})
					if !d.Retry {
						if d.Delay != 0 || d.Reason == Granted {
							t.Fatalf("decision %+v", d)
						}
						break
					}
					now, waited = now+d.Delay, d.Delay
					r.WaitDone()
				}
			}
		}
		active, retries := share.Counts()
		if active != 0 || retries != 0 || capped.Retries() != 0 {
			t.Fatalf("left %d active, %d and %d retries, want none", active, retries, capped.Retries())
		}
	})
}
