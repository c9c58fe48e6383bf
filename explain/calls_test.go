package explain_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// chain is a client and so many nodes, each with layers on the call of the
// next, the client's call included.
func chain(nodes int, stack, sidecar model.Stack) model.Config {
	c := link(10, 0)
	c.Nodes = nil
	call := func(to int) []model.Step {
		return []model.Step{{Calls: []model.Call{{To: string(rune('a' + to)), Stack: stack, Sidecar: sidecar}}}}
	}
	for i := range nodes {
		n := model.Node{Name: string(rune('a' + i)), Workers: model.Unlimited}
		if i+1 < nodes {
			n.Steps = call(i + 1)
		}
		c.Nodes = append(c.Nodes, n)
	}
	c.Clients[0].Steps = call(0)
	return c
}

func worst(e *explain.Explanation) float64 { return e.Attempts[len(e.Attempts)-1].Worst }

// Case 15, and the chains of the articles: 3 × 3, 27, 81, 243.
func TestAttemptsMultiply(t *testing.T) {
	three := model.Stack{retry(3)}
	e := of(t, chain(1, three, three))
	near(t, "application and proxy", worst(e), 9)
	near(t, "three layers", worst(of(t, chain(3, three, nil))), 27)

	c := chain(3, three, three)
	c.Clients[0].Steps[0].Calls[0].Stack, c.Clients[0].Steps[0].Calls[0].Sidecar = nil, nil
	e = of(t, c)
	near(t, "at b", e.Attempts[1].Worst, 9)
	near(t, "two hops of both", worst(e), 81)
	if got, want := e.Attempts[2].Product, "3 a-b × 3 a-b sidecar × 3 b-c × 3 b-c sidecar"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	says(t, e, "retry-layers", explain.Warning, "9 attempts")
	near(t, "without the proxy", worst(of(t, chain(2, three, nil))), 9)

	c = chain(3, three, nil)
	for i := range 2 {
		c.Nodes[i].Steps[0].Calls[0].Times = 3
	}
	e = of(t, c)
	near(t, "meant with a fan-out of three", e.Attempts[2].Meant, 9)
	near(t, "and retries", worst(e), 243)
}

// Two ways to a node add up.
func TestAttemptsAddUp(t *testing.T) {
	c := chain(3, model.Stack{retry(2)}, nil)
	c.Nodes[0].Steps[0].Calls = append(c.Nodes[0].Steps[0].Calls, model.Call{To: "c"})
	near(t, "attempts", worst(of(t, c)), 2*2*2+2)
}

// A timeout around a retry leaves no time for all attempts.
func TestAttemptsWithinDeadline(t *testing.T) {
	r := retry(10)
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: time.Second}
	near(t, "attempts that begin in 3 s", worst(of(t, link(1, 0, timeout(3*time.Second), r))), 3)
	r = retry(policies.Unlimited)
	r.Retry.Deadline = time.Second
	near(t, "attempts without end", worst(of(t, link(1, 0, r))), math.Inf(1))

	r = retry(3)
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 100 * ms}
	e := of(t, link(1, 0, timeout(1200*ms), r, timeout(500*ms)))
	d := e.Deadlines[0]
	near(t, "begun", d.Started, 2)
	near(t, "whole", d.Full, 2)
	says(t, e, "attempts-cut", explain.Warning, "only 2 of 3 attempts begin within 1.2s", "3 × 500ms + 200ms back-off > 1.2s")
	e = of(t, link(1, 0, timeout(1400*ms), r, timeout(500*ms)))
	d = e.Deadlines[0]
	near(t, "begun", d.Started, 3)
	near(t, "whole", d.Full, 2)
	near(t, "last", d.Last, 0.2)
	near(t, "longest wait", e.Waits[0].Hanging, 1.4)
}

// Case 16: four attempts of 2 s for an answer of 3 s.
func TestTimeoutBelowLatency(t *testing.T) {
	c := link(10, 3*time.Second, retry(4), timeout(2*time.Second))
	e := of(t, c)
	says(t, e, "every-attempt-times-out", explain.Problem, "4 attempts", "8s", "4 × 2s")
	says(t, e, "timeout-too-short", explain.Problem, "less than 3s")
	near(t, "longest wait", e.Waits[0].Hanging, 8)
	near(t, "load", e.Loads[1].Worst, 40)

	c.Nodes[0].Steps[0].Calls[0].Stack[0].Retry.Errors.RetryOn = []string{"5xx"}
	e = of(t, c)
	near(t, "attempts that begin", e.Deadlines[0].Started, 1)
	says(t, e, "timeouts-not-retried", explain.Note, "2s")
	silent(t, e, "every-attempt-times-out")

	e = of(t, link(10, 3*time.Second, retry(4), timeout(3500*ms)))
	silent(t, e, "every-attempt-times-out", "timeout-too-short")
}

func TestLongestWait(t *testing.T) {
	r := retry(3)
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: 100 * ms}
	e := of(t, link(1, 0, r, timeout(time.Second)))
	near(t, "no error to repeat", e.Waits[0].Modelled, 0)
	near(t, "3 × 1 s and 0.1 + 0.2 s", e.Waits[0].Hanging, 3.3)
	hang := func(layers ...model.Layer) *explain.Explanation {
		c := link(1, 0, layers...)
		c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultStall, Start: time.Second}}
		return of(t, c)
	}
	near(t, "a node that stands still", hang(r, timeout(time.Second)).Waits[0].Modelled, 3.3)
	e = hang(r)
	near(t, "no timeout", e.Waits[0].Modelled, math.Inf(1))
	says(t, e, "unbounded-wait", explain.Warning, `node "b" may stand still`)

	c := link(1, 0, retry(3), timeout(time.Second))
	c.Nodes[1].Service = model.Law{Kind: model.Exponential, Mean: ms}
	c.Clients[0].Steps[0].Calls[0].Stack = model.Stack{timeout(1500 * ms)}
	e = of(t, c)
	near(t, "the client", e.Waits[0].Hanging, 1.5)
	says(t, e, "outlives-callers", explain.Warning, "go on for 3s", "longer than 1.5s")
	c.Clients[0].Steps[0].Calls[0].PropagateDeadline = true
	silent(t, of(t, c), "outlives-callers")
}

func TestUnsafeRetries(t *testing.T) {
	c := link(1, 0, retry(3))
	c.Nodes[0].Steps[0].Calls[0].UnsafeRatio = 0.25
	says(t, of(t, c), "unsafe-retry", explain.Problem, "25 %")
	c.Nodes[0].Steps[0].Calls[0].Stack[0].Retry.Guard = &policies.GuardConfig{Order: []policies.GuardStep{policies.GuardIdempotent}}
	silent(t, of(t, c), "unsafe-retry")
	c = link(1, 0, retry(3))
	c.Nodes[1].Writes = true
	says(t, of(t, c), "repeated-write", explain.Warning)
	c.Nodes[1].Dedup = true
	silent(t, of(t, c), "repeated-write")
}

func TestLimitBelowNeed(t *testing.T) {
	cap := func(n int) model.Config { return link(100, 200*ms, model.Layer{Limit: &model.LimitLayer{InFlight: n}}) }
	says(t, of(t, cap(19)), "limit-too-low", explain.Warning, "20 in flight per instance > 19")
	silent(t, of(t, cap(20)), "limit-too-low")
}

func TestText(t *testing.T) {
	var b strings.Builder
	c := link(80, 10*ms, retry(2), timeout(time.Second))
	c.Nodes[1].Workers = 1
	if err := of(t, c).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"request of a client, at worst\n\nclient  node  meant  worst  with budgets  product\n------  ----  -----  -----  ------------  -------\n" +
			"web     a     1      1      1\nweb     b     1      2      2             2 a-b\n",
		"Problems (1)\n  node \"b\"\n    the node can stay down",
		"[no-backoff]",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
	bad := explain.Explain(model.Config{})
	if !bad.Has(explain.Problem) || len(bad.Attempts) > 0 {
		t.Errorf("of no system: %+v", bad)
	}
}

func TestLoadThatDoesNotLast(t *testing.T) {
	c := link(40, 10*ms, retry(2), timeout(time.Second))
	c.Nodes[1].Workers = 1
	surge := c.Clients[0]
	surge.Name, surge.Start, surge.End = "surge", time.Minute, 2*time.Minute
	surge.Arrivals.RateRPS = 70
	c.Clients = append(c.Clients, surge)
	e := of(t, c)
	says(t, e, "overload", explain.Warning, "for a time", "110/s / 100/s")
	silent(t, e, "stays-down")

	c = link(1, 10*ms)
	c.Nodes[1].Workers = 1
	c.Clients[0].Arrivals, c.Clients[0].Loop = model.Arrivals{}, model.ClosedLoop{Clients: 5}
	e = of(t, c)
	near(t, "5 clients of a node that takes 10 ms", e.Loads[1].Rate, 500)
	says(t, e, "saturated", explain.Note, "500/s / 100/s = 5")
	silent(t, e, "overload", "stays-down")
}

// A step that needs one of two calls takes the time of the faster one.
func TestStepThatNeedsOne(t *testing.T) {
	c := chain(2, nil, nil)
	c.Nodes = append(c.Nodes, model.Node{Name: "slow", Workers: model.Unlimited, Service: model.Law{Mean: time.Second}})
	step := &c.Nodes[0].Steps[0]
	step.Calls = append(step.Calls, model.Call{To: "slow"})
	near(t, "all", of(t, c).Loads[0].Held, 1)
	step.Need = 1
	near(t, "one", of(t, c).Loads[0].Held, 0)
}
