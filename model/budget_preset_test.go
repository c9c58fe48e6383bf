package model_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// An audit is a budget that keeps books: of the requests in progress, of the
// retries that wait and that run, and of what they cost. It refuses every
// refuse-th question and every unsent-th sending, none if 0.
type audit struct {
	refuse, unsent int
	asked, sending int

	requests, running int // in progress, retries that run
	waiting           int
	ended             [3]uint64 // attempts, by class

	open      map[int32]bool // costs that may be given back
	lastCost  int32
	free, dup int // refunds of nothing; of a cost that was not taken or given back before
	refunds   int
	refused   uint64 // retries, before and after their wait
	err       error
}

// Validate and NewBudget make the audit its own configuration.
func (a *audit) Validate() error                                   { return nil }
func (a *audit) NewBudget(policies.Clock) (policies.Budget, error) { return a, nil }

func (a *audit) check(what string) {
	if a.err == nil && min(a.requests, a.running, a.waiting) < 0 {
		a.err = fmt.Errorf("%s leaves %d requests, %d running and %d waiting retries", what, a.requests, a.running, a.waiting)
	}
}

func (a *audit) Request() { a.requests++ }
func (a *audit) WaitDone() { // of a request that is given up
	a.waiting--
	a.running++
	a.check("WaitDone")
}

// TryRetry gives the last retry back and grants the next.
func (a *audit) TryRetry(held bool) bool {
	if held {
		a.running--
	}
	if a.asked++; a.refuse > 0 && a.asked%a.refuse == 0 {
		a.refused++
		return false
	}
	a.waiting++
	a.check("TryRetry")
	return true
}

func (a *audit) TrySend() bool {
	a.waiting--
	if a.sending++; a.unsent > 0 && a.sending%a.unsent == 0 {
		a.refused++
		return false
	}
	a.running++
	a.check("TrySend")
	return true
}

func (a *audit) Done(held, _ bool) {
	a.requests--
	if held {
		a.running--
	}
	a.check("Done")
}

func (a *audit) Attempt(c policies.Class) { a.ended[c]++ }

// A costing audit gives every retry a cost of its own.
type costing struct{ audit }

func (a *costing) NewBudget(policies.Clock) (policies.Budget, error) { return a, nil }

func (a *costing) TryCost(policies.Outcome) (int32, bool) {
	if a.asked++; a.refuse > 0 && a.asked%a.refuse == 0 {
		a.refused++
		return 0, false
	}
	a.lastCost++
	a.open[a.lastCost] = true
	return a.lastCost, true
}

// The hooks of a SendBudget do not concern costs.
func (a *costing) TrySend() bool  { return true }
func (a *costing) Done(_, _ bool) { a.requests-- }
func (a *costing) Refund(c int32) {
	switch {
	case c == 0:
		a.free++
	case !a.open[c]:
		a.dup++
	default:
		delete(a.open, c)
		a.refunds++
	}
}

// auditLayer is a retry with a budget of a maker and a wait, or none.
func auditLayer(attempts int, m policies.BudgetMaker, wait policies.BackoffConfig) model.Layer {
	l := retries(attempts, &policies.BudgetConfig{Kind: policies.BudgetPreset, Preset: m})
	l.Retry.Backoff = wait
	return l
}

var tenMs = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 10 * ms}

func mustBalance(t *testing.T, s *model.System) *model.Ledger {
	t.Helper()
	l := s.Ledger()
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	return l
}

// A retry that is refused when it is to be sent ends the request with the
// failure that it was to mend, at once or after its wait.
func TestSendBudgetEndsWithTheLastFailure(t *testing.T) {
	for _, test := range []struct {
		name string
		wait policies.BackoffConfig
	}{{"at once", policies.BackoffConfig{}}, {"after the wait", tenMs}} {
		t.Run(test.name, func(t *testing.T) {
			cfg := pair(backend("B", ms, model.Fault{Kind: model.FaultError, Code: 504}), model.Stack{auditLayer(3, &audit{unsent: 1}, test.wait)},
				model.Client{Arrivals: evenly(100), Requests: 100}, 5*sec)
			var first, last model.Try
			s := mustSystem(t, cfg, 0)
			s.Observe(func(try *model.Try) {
				if try.Service == "B" && first.Service == "" {
					first = *try
				}
				if try.Service == "A" && last.Service == "" {
					last = *try
				}
			})
			if err := s.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			l := mustBalance(t, s)
			link := l.Call("A", "B")
			if link.Attempts != 100 || link.Denied != 100 || link.Failed != 100 || link.Repeats != 0 || link.MostAttempts != 1 {
				t.Errorf("%d attempts, %d denied, %d failed, %d repeats, at most %d of one call; want 100, 100, 100, 0, 1",
					link.Attempts, link.Denied, link.Failed, link.Repeats, link.MostAttempts)
			}
			if first.Code != 504 || last.OK {
				t.Errorf("the attempt failed with %v, the call answered %+v", first.Code, last)
			}
			if wait := test.wait.Base; last.Latency != ms+wait {
				t.Errorf("the request ended after %v, want the attempt and the wait, %v", last.Latency, ms+wait)
			}
		})
	}
	// The code that the user sees is that of the attempt, not of the budget.
	cfg := model.Config{
		Nodes: []model.Node{backend("B", ms, model.Fault{Kind: model.FaultError, Code: 504})},
		Clients: []model.Client{{Name: "client", Arrivals: evenly(100), Requests: 100,
			Steps: one(model.Call{To: "B", Stack: model.Stack{auditLayer(3, &audit{unsent: 1}, tenMs)}})}},
		Horizon: 5 * sec,
	}
	if codes := mustBalance(t, mustRun(t, cfg, 0)).Client("client").ByCode; codes[504] != 100 || len(codes) != 1 {
		t.Errorf("codes %v, want 100 times 504", codes)
	}
}

// auditStacks are stacks that end requests in every way: an answer, attempts
// spent, a refusal before and after the wait, a timeout in an attempt and in a
// wait, a caller that leaves.
func auditStacks(m policies.BudgetMaker) map[string]model.Stack {
	return map[string]model.Stack{
		"plain":             {auditLayer(4, m, policies.BackoffConfig{})},
		"waits":             {auditLayer(4, m, tenMs)},
		"attempt timeouts":  {auditLayer(4, m, tenMs), timeout(15 * ms)},
		"request timeouts":  {timeout(25 * ms), auditLayer(4, m, tenMs)},
		"both, and breaker": {timeout(60 * ms), auditLayer(4, m, tenMs), breaker(policies.BreakerConfig{Rule: lastCalls(20, 0.6), OpenFor: sec, Probes: 1}, ""), timeout(15 * ms)},
	}
}

// unsure is a server that fails and hangs at random.
var unsure = model.Node{Name: "B", Workers: model.Unlimited, Service: model.Law{Kind: model.Exponential, Mean: 10 * ms},
	Faults: []model.Fault{{Kind: model.FaultError, Ratio: 0.4}, {Kind: model.FaultError, Ratio: 0.1, Code: 404}}}

// auditRun runs a stack until nothing is in progress.
func auditRun(t *testing.T, stack model.Stack) *model.CallLedger {
	t.Helper()
	stack[0] = quiet404(stack[0])
	for i := range stack {
		stack[i] = quiet404(stack[i])
	}
	s := mustRun(t, pair(unsure, stack, model.Client{Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 500}, Requests: 3000}, 60*sec), 3)
	l := mustBalance(t, s).Call("A", "B")
	if l.InFlight != 0 || l.Calls != 3000 {
		t.Errorf("%d calls, %d in flight, want 3000 and none", l.Calls, l.InFlight)
	}
	return l
}

// quiet404 does not retry 404.
func quiet404(l model.Layer) model.Layer {
	if l.Retry != nil {
		l.Retry.Errors.NoRetryOn = []string{"404"}
	}
	return l
}

// When all requests have ended, a budget holds nothing, and knows of every
// attempt that its caller did not give up.
func TestBudgetBooksBalance(t *testing.T) {
	for name := range auditStacks(nil) {
		for _, refuse := range []struct{ before, after int }{{0, 0}, {3, 0}, {0, 3}, {3, 2}, {1, 0}, {0, 1}} {
			t.Run(fmt.Sprintf("%s, refuses %v", name, refuse), func(t *testing.T) {
				a := &audit{refuse: refuse.before, unsent: refuse.after}
				l := auditRun(t, auditStacks(a)[name])
				if a.err != nil || a.requests != 0 || a.running != 0 || a.waiting != 0 {
					t.Errorf("in the end %d requests, %d running and %d waiting retries, error %v", a.requests, a.running, a.waiting, a.err)
				}
				if l.Denied != a.refused {
					t.Errorf("%d denied, want the %d that were refused", l.Denied, a.refused)
				}
				ended := a.ended[policies.Success] + a.ended[policies.Failure] + a.ended[policies.Ignored]
				if request := strings.Contains(name, "request") || strings.Contains(name, "both"); ended > l.Tries || !request && ended != l.Tries {
					t.Errorf("told of %d attempts, made %d", ended, l.Tries)
				}
				if a.ended[policies.Success] != l.Succeeded {
					t.Errorf("told of %d successes, %d calls succeeded", a.ended[policies.Success], l.Succeeded)
				}
				if refuse.before != 1 && refuse.after != 1 && l.Repeats == 0 {
					t.Error("no retry")
				}
			})
		}
	}
}

// What a retry that succeeded has cost is given back once, and nothing else.
func TestCostBudgetRefunds(t *testing.T) {
	for name := range auditStacks(nil) {
		for _, refuse := range []int{0, 3} {
			a := &costing{audit{refuse: refuse, open: map[int32]bool{}}}
			l := auditRun(t, auditStacks(a)[name])
			if a.dup > 0 || uint64(a.refunds) != l.RetriesSucceeded || uint64(a.free) != l.Succeeded-l.RetriesSucceeded || a.requests != 0 {
				t.Errorf("%s: %d refunds, %d of nothing, %d wrong; %d retries and %d first attempts succeeded; %d requests left",
					name, a.refunds, a.free, a.dup, l.RetriesSucceeded, l.Succeeded-l.RetriesSucceeded, a.requests)
			}
			if l.RetriesSucceeded == 0 || l.Denied != a.refused {
				t.Errorf("%s: %d retries succeeded, %d denied, %d refused", name, l.RetriesSucceeded, l.Denied, a.refused)
			}
		}
	}
}

// A keeper is a configuration that keeps the budget it makes.
type keeper struct {
	presets.FailsafeBudgetConfig
	made *presets.FailsafeBudget
}

func (k *keeper) NewBudget(policies.Clock) (policies.Budget, error) {
	b, err := presets.NewFailsafeBudget(k.FailsafeBudgetConfig)
	k.made = b
	return b, err
}

// When all requests have ended, failsafe-go's budget has nothing in flight: a
// single retry too many or too few would show in its rate.
func TestFailsafeBudgetEmpties(t *testing.T) {
	for name := range auditStacks(nil) {
		k := &keeper{FailsafeBudgetConfig: presets.FailsafeBudgetDefaults()}
		l := auditRun(t, auditStacks(k)[name])
		if rate := k.made.Rate(); rate != 0 {
			t.Errorf("%s: a rate of %v with nothing in flight", name, rate)
		}
		if l.Repeats == 0 || l.Denied == 0 {
			t.Errorf("%s: %d retries, %d denied, want some", name, l.Repeats, l.Denied)
		}
	}
}

// A system with any preset balances, and gives the same bytes for the same
// seed.
func TestBudgetPresetsInSystems(t *testing.T) {
	for _, p := range presets.Budgets() {
		t.Run(p.Name, func(t *testing.T) {
			run := func(replication uint64) string {
				layer := retries(4, &p.Config)
				layer.Retry.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: 10 * ms}
				cfg := pair(unsure, model.Stack{layer, timeout(30 * ms)}, model.Client{Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 200}}, 5*sec)
				return tryBytes(t, cfg, replication)
			}
			a, b, other := run(1), run(1), run(2)
			if a != b || a == other {
				t.Errorf("equal bytes for one seed: %v, for another: %v", a == b, a == other)
			}
		})
	}
}

// tryBytes runs a system and renders every try and the ledger.
func tryBytes(t *testing.T, cfg model.Config, replication uint64) string {
	t.Helper()
	s := mustSystem(t, cfg, replication)
	var b strings.Builder
	s.Observe(func(try *model.Try) { fmt.Fprintf(&b, "%+v\n", *try) })
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%+v\n", *mustBalance(t, s))
	return b.String()
}

// Breakers and throttles of libraries refuse in a system; a throttle draws from
// the stream of the system, so equal seeds give equal bytes.
func TestBreakerPresetsInSystems(t *testing.T) {
	for _, p := range presets.Breakers() {
		t.Run(p.Name, func(t *testing.T) {
			failing := backend("B", ms, model.Fault{Kind: model.FaultError, Ratio: 0.9, Start: 4 * sec, End: 9 * sec})
			run := func(replication uint64, share string) string {
				stack := model.Stack{retries(2, nil), {Breaker: &model.BreakerLayer{Preset: p.Defaults(), Share: share}}}
				cfg := pair(failing, stack, model.Client{Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 100}}, 12*sec)
				cfg.Nodes[0].Replicas = 3
				return tryBytes(t, cfg, replication)
			}
			a, b, other := run(1, ""), run(1, ""), run(2, "")
			if a != b || a == other {
				t.Errorf("equal bytes for one seed: %v, for another: %v", a == b, a == other)
			}
			if p.Throttle && run(1, "all") != run(1, "all") {
				t.Error("shared: the same seed gives other bytes")
			}
			if p.Throttle && !strings.Contains(a, fmt.Sprintf("Code:%v", policies.ErrBreakerOpen)) {
				t.Error("it refuses nothing in an outage of 5 s")
			}
		})
	}
}

// The zero budget is the unlimited one, in a run as in a check.
func TestZeroBudgetIsUnlimited(t *testing.T) {
	c := model.Config{
		Horizon: time.Second,
		Nodes:   []model.Node{{Name: "b", Workers: model.Unlimited, Faults: []model.Fault{{Kind: model.FaultError}}}},
		Clients: []model.Client{{Name: "web", Arrivals: model.Arrivals{Kind: "fixed", RateRPS: 10}, Steps: []model.Step{{Calls: []model.Call{{
			To: "b", Stack: model.Stack{{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: 3}, Budget: &policies.BudgetConfig{}}}},
		}}}}}},
	}
	s, err := model.New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Ledger().Node("b").Attempts; n != 30 {
		t.Errorf("%d attempts, want 30", n)
	}
}
