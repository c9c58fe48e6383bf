package presets

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A budgetClock is set by hand. It starts at a whole second.
type budgetClock struct{ now time.Time }

func newBudgetClock() *budgetClock { return &budgetClock{time.Unix(946684800, 0)} }

func (c *budgetClock) Now() time.Time       { return c.now }
func (c *budgetClock) pass(d time.Duration) { c.now = c.now.Add(d) }

// madeBudget makes a budget and fails if that does.
func madeBudget[B any](t testing.TB, b B, err error) B {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// badBudget wants an error that names the field.
func badBudget(t *testing.T, c interface{ Validate() error }, field string) {
	t.Helper()
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
		t.Errorf("%+v: error %v, want one about %s", c, err, field)
	}
	if m, ok := c.(policies.BudgetMaker); ok {
		if b, err := m.NewBudget(nil); b != nil || err == nil {
			t.Errorf("%+v: budget %v and error %v, want an error alone", c, b, err)
		}
	}
}

func TestBudgetNames(t *testing.T) {
	same(t, "names", strings.Join(BudgetNames(), " "), "finagle linkerd tower envoy-max-retries envoy-retry-budget istio "+
		"grpc-throttle aws-standard aws-standard-legacy failsafe token-bucket counter-ratio")
	for _, p := range Budgets() {
		found, err := FindBudget(p.Name)
		same(t, p.Name, found, p)
		if err != nil || p.Source == "" || p.Doc == "" || (p.Library == "") != (p.Version == "") {
			t.Errorf("%+v: error %v, want a source and a sentence", p, err)
		}
	}
	if _, err := FindBudget("polly"); err == nil || !strings.Contains(err.Error(), "finagle, linkerd") {
		t.Errorf("error %v, want one with the known names", err)
	}
}

// spend asks for retries of so many failing requests at once, which make at
// most 20 attempts each, and returns how many were made.
func spend(t testing.TB, b policies.Budget, requests int) (retries int) {
	retry := madeBudgetRetry(t, b)
	type call struct {
		number int
		carry  policies.Carry
	}
	calls := make([]call, requests)
	for i := range calls {
		retry.Start()
		calls[i].number = 1
	}
	for len(calls) > 0 {
		var next []call
		for _, c := range calls {
			d := retry.Decide(policies.Attempt{Number: c.number, Outcome: policies.Outcome{Err: policies.ErrorCode(503)}, Carry: c.carry})
			if d.Retry && retry.Send() {
				retries++
				next = append(next, call{c.number + 1, d.Carry})
			}
		}
		calls = next
	}
	return retries
}

func madeBudgetRetry(t testing.TB, b policies.Budget) *policies.Retry {
	t.Helper()
	r, err := policies.NewRetry(policies.RetryConfig{Attempts: 20}, b)
	return madeBudget(t, r, err)
}

// What 40 requests that fail at once get, at the start of each budget.
func TestBudgetsAtFirst(t *testing.T) {
	for name, want := range map[string]int{
		"finagle":             108, // 10 a second for 10 s, and a fifth of 40
		"linkerd":             100, // failures earn nothing
		"tower":               108,
		"envoy-max-retries":   57,       // 3 places: 19 retries of 3 requests
		"envoy-retry-budget":  8 + 3*18, // a fifth of 40; then 8 are active
		"istio":               40 * 19,
		"grpc-throttle":       4,  // 10 to 6, and 5 is too few
		"aws-standard":        35, // 500 at 14
		"aws-standard-legacy": 100,
		"failsafe":            11 + 3*18, // 11/51 is above a fifth; then 11 calls are left
		"token-bucket":        4,
		"counter-ratio":       40 * 19, // below 100 requests
	} {
		p, err := FindBudget(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.New(newBudgetClock())
		if got := spend(t, madeBudget(t, b, err), 40); got != want {
			t.Errorf("%s: %d retries, want %d", name, got, want)
		}
	}
}

func TestBudgetsNeedNoMemory(t *testing.T) {
	for _, p := range Budgets() {
		clock := newBudgetClock()
		b, err := p.New(clock)
		retry := madeBudgetRetry(t, madeBudget(t, b, err))
		if n := testing.AllocsPerRun(1000, func() {
			clock.pass(90 * time.Millisecond)
			retry.Start()
			d := retry.Decide(policies.Attempt{Number: 1, Outcome: policies.Outcome{Err: policies.ErrTimeout}})
			if d.Retry && retry.Send() {
				retry.Decide(policies.Attempt{Number: 2, Carry: d.Carry})
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations, want none", p.Name, n)
		}
	}
}

// Many goroutines leave a budget as one would: full, or with nothing in flight.
func TestBudgetsAreSafe(t *testing.T) {
	for _, p := range Budgets() {
		b, err := p.New(newBudgetClock())
		retry := madeBudgetRetry(t, madeBudget(t, b, err))
		var wait sync.WaitGroup
		for worker := range 8 {
			wait.Go(func() {
				for i := range 200 {
					retry.Start()
					a := policies.Attempt{Number: 1, Outcome: policies.Outcome{Err: policies.ErrorCode(503)}}
					for d := retry.Decide(a); d.Retry && retry.Send(); d = retry.Decide(a) {
						a.Number, a.Carry = a.Number+1, d.Carry
						if (i+worker)%3 == 0 {
							retry.GiveUp(true)
							break
						}
						if a.Number > 3 {
							a.Outcome.Err = nil
						}
					}
				}
			})
		}
		wait.Wait()
		switch b := b.(type) {
		case *FailsafeBudget:
			same(t, "rate", b.Rate(), 0)
			same(t, "in flight", b.inFlight, 0)
		case *policies.ShareBudget:
			active, retries := b.Counts()
			same(t, "active", active+retries, 0)
		case *policies.ConcurrentBudget:
			same(t, "retries", b.Retries(), 0)
		}
	}
}

// A clock that jumps or stands still is no trouble.
func TestBudgetsAndTheClock(t *testing.T) {
	for _, p := range Budgets() {
		clock := newBudgetClock()
		b, err := p.New(clock)
		madeBudget(t, b, err)
		for _, d := range []time.Duration{0, time.Hour, -time.Minute, math.MaxInt64, 1, -math.MaxInt64} {
			clock.pass(d)
			spend(t, b, 3)
		}
	}
}
