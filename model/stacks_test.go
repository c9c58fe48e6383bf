package model_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

func wait(d time.Duration) policies.BackoffConfig {
	return policies.BackoffConfig{Kind: policies.FixedBackoff, Base: d}
}

// A retry after 50 ms, which stops for good at some age.
func patient(attempts int, deadline time.Duration) model.Layer {
	l := retries(attempts, nil)
	l.Retry.Backoff, l.Retry.Deadline = wait(50*ms), deadline
	return l
}

func limit(n int) model.Layer { return model.Layer{Limit: &model.LimitLayer{InFlight: n}} }

// One user calls B, which takes 100 ms and fails.
func TestStacksOfAFailure(t *testing.T) {
	onlyAnswers := retries(3, nil)
	onlyAnswers.Retry.Errors.RetryOn = []string{"5xx"}
	not504 := retries(3, nil)
	not504.Retry.Errors.NoRetryOn = []string{"504"}
	closed := policies.BreakerConfig{Rule: lastCalls(2, 1), OpenFor: time.Hour, Probes: 1}
	for _, test := range []struct {
		name           string
		stack, sidecar model.Stack
		takes          time.Duration
		code           policies.ErrorCode
		want           model.CallLedger // what is counted of the policies
	}{
		{"nothing", nil, nil, 100 * ms, 503, model.CallLedger{Attempts: 1}},
		{"a retry", model.Stack{retries(3, nil)}, nil, 300 * ms, 503, model.CallLedger{Attempts: 3, Retries: 2, Spent: 1}},
		{"back-off", model.Stack{patient(3, 0)}, nil, 400 * ms, 503, model.CallLedger{Attempts: 3, Retries: 2, Spent: 1}},
		{"a deadline for retries", model.Stack{patient(9, 301*ms)}, nil, 400 * ms, 503, model.CallLedger{Attempts: 3, Retries: 2, Late: 1}},
		{"which is not reached", model.Stack{patient(9, 300*ms)}, nil, 250 * ms, 503, model.CallLedger{Attempts: 2, Retries: 1, Late: 1}},
		{"not that error", model.Stack{timeout(50 * ms), onlyAnswers}, nil, 50 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 1, TimedOut: 1}},
		{"a timeout for all", model.Stack{timeout(250 * ms), retries(9, nil)}, nil, 250 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 3, Retries: 2, TimedOut: 1}},
		{"during the back-off", model.Stack{timeout(120 * ms), patient(9, 0)}, nil, 120 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 1, Retries: 1, TimedOut: 1}},
		{"a timeout for each", model.Stack{retries(3, nil), timeout(40 * ms)}, nil, 120 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 3, Retries: 2, Spent: 1, TimedOut: 3}},
		{"a timeout that is not retried", model.Stack{onlyAnswers, timeout(40 * ms)}, nil, 40 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 1, NotRetryable: 1, TimedOut: 1}},
		{"at the instant of the answer", model.Stack{timeout(100 * ms)}, nil, 100 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 1, TimedOut: 1}},
		{"a little later", model.Stack{timeout(100*ms + 1)}, nil, 100 * ms, 503, model.CallLedger{Attempts: 1}},
		{"retries in retries", model.Stack{retries(2, nil), retries(3, nil)}, nil, 600 * ms, 503, model.CallLedger{Attempts: 6, Retries: 5, Spent: 3}},
		{"the shorter of two timeouts", model.Stack{timeout(90 * ms), timeout(50 * ms)}, nil, 50 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 1, TimedOut: 1}},
		{"a breaker after two", model.Stack{retries(5, nil), breaker(closed, "")}, nil, 200 * ms, policies.ErrBreakerOpen, model.CallLedger{Attempts: 2, Retries: 4, Spent: 1, Refused: 3, Openings: 1}},
		{"a timeout in the proxy", model.Stack{retries(3, nil)}, model.Stack{timeout(40 * ms)}, 120 * ms, 504, model.CallLedger{Attempts: 3, Retries: 2, Spent: 1, TimedOut: 3}},
		{"which the caller does not retry", model.Stack{not504}, model.Stack{timeout(40 * ms)}, 40 * ms, 504, model.CallLedger{Attempts: 1, NotRetryable: 1, TimedOut: 1}},
		{"a proxy's breaker is a 503", nil, model.Stack{retries(3, nil), breaker(closed, "")}, 200 * ms, 503, model.CallLedger{Attempts: 2, Retries: 2, Spent: 1, Refused: 1, Openings: 1}},
		{"the caller leaves the proxy", model.Stack{timeout(150 * ms)}, model.Stack{retries(9, nil)}, 150 * ms, policies.ErrTimeout, model.CallLedger{Attempts: 2, Retries: 1, TimedOut: 1}},
	} {
		l := visit(t, test.name, []model.Node{backend("B", 100*ms, down)}, model.Call{Stack: test.stack, Sidecar: test.sidecar}, user{0, test.takes, test.code})
		got := l.Calls[0]
		got.From, got.To, got.OpenTime = "", "", 0
		want := test.want
		want.Calls, want.Failed = 1, 1
		// All of one call: a try is an attempt or a refusal, and all but the
		// first are repetitions.
		want.Tries = want.Attempts + want.Refused + want.Limited
		want.Repeats, want.MostAttempts, want.RefusedOpen = want.Tries-1, want.Tries, want.Refused
		if got != want {
			t.Errorf("%s:\n%+v, want\n%+v", test.name, got, want)
		}
		if n := l.Node("B"); n.InFlight != 0 || n.Attempts != want.Attempts {
			t.Errorf("%s: %+v, want %d attempts", test.name, *n, want.Attempts)
		}
	}
}

// Users of one program, some of whom are one too many.
func TestStacksOfACrowd(t *testing.T) {
	for _, test := range []struct {
		name      string
		stack     model.Stack
		succeeded uint64 // of 5 who come at once, with B taking 100 ms
		latency   time.Duration
		limited   uint64
	}{
		{"a cap of 2", model.Stack{limit(2)}, 2, 200 * ms, 3},
		{"a cap inside a retry", model.Stack{retries(2, nil), limit(2)}, 2, 200 * ms, 6},
		{"with a wait that is too short", model.Stack{patient(2, 0), limit(2)}, 2, 350 * ms, 6},
		{"with one that is long enough", model.Stack{patient(4, 0), limit(2)}, 4, 2*100*ms + 2*200*ms + 150*ms, 8},
		{"a timeout frees the place", model.Stack{retries(2, nil), limit(5), timeout(50 * ms)}, 0, 500 * ms, 0},
	} {
		l := mustRun(t, model.Config{
			Nodes: []model.Node{backend("B", 100*ms)},
			Clients: []model.Client{{
				Name: "client", Loop: model.ClosedLoop{Clients: 5, Think: constant(time.Hour)},
				Steps: one(model.Call{To: "B", Stack: test.stack}),
			}},
			Horizon: sec,
		}, 0).Ledger()
		c := l.Client("client")
		if c.Succeeded != test.succeeded || c.Latency != test.latency || l.Calls[0].Limited != test.limited {
			t.Errorf("%s: %+v and %+v, want %d that succeed, %v together, %d limited", test.name, *c, l.Calls[0], test.succeeded, test.latency, test.limited)
		}
	}
}

// The calls of a step are made side by side, the steps one after the other.
func TestSteps(t *testing.T) {
	fast, slow, dead := model.Call{To: "fast"}, model.Call{To: "slow"}, model.Call{To: "dead"}
	for _, test := range []struct {
		name  string
		steps []model.Step
		takes time.Duration
		code  policies.ErrorCode
		left  uint64
	}{
		{"all", []model.Step{{Calls: []model.Call{fast, slow}}}, 30 * ms, okay, 0},
		{"one after the other", []model.Step{{Calls: []model.Call{fast}}, {Calls: []model.Call{slow}}}, 40 * ms, okay, 0},
		{"the first of two", []model.Step{{Calls: []model.Call{slow, fast}, Need: 1}}, 10 * ms, okay, 1},
		{"two of three", []model.Step{{Calls: []model.Call{fast, fast, slow}, Need: 2}}, 10 * ms, okay, 1},
		{"one that fails ends all", []model.Step{{Calls: []model.Call{slow, dead}}, {Calls: []model.Call{slow}}}, 20 * ms, 503, 1},
		{"one may fail", []model.Step{{Calls: []model.Call{slow, dead}, Need: 1}}, 30 * ms, okay, 0},
		{"two must not", []model.Step{{Calls: []model.Call{dead, slow, dead}, Need: 2}}, 20 * ms, 503, 1},
		{"four times", []model.Step{{Calls: []model.Call{{To: "fast", Times: 4}}}}, 10 * ms, okay, 0},
		{"links take time", []model.Step{{Calls: []model.Call{{To: "fast", Request: constant(3 * ms), Response: constant(4 * ms)}}}}, 17 * ms, okay, 0},
		{"there and back within the timeout", []model.Step{{Calls: []model.Call{{
			To: "fast", Request: constant(3 * ms), Response: constant(4 * ms), Stack: model.Stack{timeout(15 * ms)},
		}}}}, 15 * ms, policies.ErrTimeout, 0},
	} {
		for _, cancel := range []bool{false, true} {
			cfg := model.Config{
				Nodes:   []model.Node{backend("fast", 10*ms), backend("slow", 30*ms), backend("dead", 20*ms, down)},
				Clients: []model.Client{{Name: "client", Arrivals: evenly(1), Requests: 1, Steps: test.steps}},
				Horizon: sec,
			}
			cfg.Nodes[1].Cancel = cancel
			l := mustRun(t, cfg, 0).Ledger()
			c, left := l.Client("client"), uint64(0)
			for _, k := range l.Calls {
				left += k.Left
			}
			if c.Latency != test.takes || (c.Succeeded == 1) != (test.code == okay) || test.code != okay && c.ByCode[test.code] != 1 || left != test.left {
				t.Errorf("%s: %+v, %d left, want code %v after %v, %d left", test.name, *c, left, test.code, test.takes, test.left)
			}
			if n := l.Node("slow"); n.Abandoned > 0 {
				want := map[bool]time.Duration{false: 30 * ms, true: test.takes}[cancel]
				if n.AbandonedWork != want {
					t.Errorf("%s: %v of abandoned work, want %v", test.name, n.AbandonedWork, want)
				}
			}
		}
	}
}

// The user waits 250 ms. A calls B, which takes 100 ms and fails, for ever.
func TestDeadlines(t *testing.T) {
	for _, test := range []struct {
		name      string
		propagate bool
		calls     uint64 // of B
		timedOut  uint64 // at A
	}{{"A is told", true, 3, 1}, {"A is not told", false, 20, 0}} {
		a := relay("A", model.Call{To: "B", Stack: model.Stack{retries(20, nil)}})
		l := visit(t, test.name, []model.Node{a, backend("B", 100*ms, down)},
			model.Call{Stack: model.Stack{timeout(250 * ms)}, PropagateDeadline: test.propagate}, user{0, 250 * ms, policies.ErrTimeout})
		if k := l.Call("A", "B"); k.Attempts != test.calls || k.TimedOut != test.timedOut {
			t.Errorf("%s: %+v, want %d attempts and %d timeouts", test.name, *k, test.calls, test.timedOut)
		}
	}
	// A deadline that has passed when A comes to its call: nothing is sent.
	a := model.Node{Name: "A", Workers: 1, Service: constant(300 * ms), Steps: one(model.Call{To: "B"})}
	l := visit(t, "too late", []model.Node{a, backend("B", 100*ms)},
		model.Call{Stack: model.Stack{timeout(250 * ms)}, PropagateDeadline: true}, user{0, 250 * ms, policies.ErrTimeout})
	if k := l.Call("A", "B"); k.Calls != 1 || k.Attempts != 0 || k.TimedOut != 1 {
		t.Errorf("too late: %+v, want a call without attempts", *k)
	}
}

// Who shares a policy: the requests of an instance, all instances under a
// name, and nobody else.
func TestShares(t *testing.T) {
	const instances = 4
	budget := &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Cap: 3, Initial: 3}}
	for name, want := range map[string]uint64{"": instances * 3, "bucket": 3} {
		r := retries(2, budget)
		r.Retry.Share = name
		client := model.Client{Name: "client", Instances: instances, Arrivals: evenly(100), Requests: 100, Steps: one(model.Call{To: "B", Stack: model.Stack{r}})}
		l := mustRun(t, model.Config{Nodes: []model.Node{backend("B", ms, down)}, Clients: []model.Client{client}, Horizon: 10 * sec}, 0).Ledger()
		if got := l.Calls[0].Retries; got != want {
			t.Errorf("clients share %q: %d retries, want %d", name, got, want)
		}
		a := relay("A", model.Call{To: "B", Stack: model.Stack{r}})
		a.Replicas = instances
		client.Instances, client.Steps = 0, one(model.Call{To: "A"})
		l = mustRun(t, model.Config{Nodes: []model.Node{a, backend("B", ms, down)}, Clients: []model.Client{client}, Horizon: 10 * sec}, 0).Ledger()
		if got := l.Call("A", "B").Retries; got != want {
			t.Errorf("replicas share %q: %d retries, want %d", name, got, want)
		}
	}
}
