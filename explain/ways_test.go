package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A step waits no longer than until as many calls as it needs have been answered
// that never fail.
func TestWaitOfAStepThatNeedsSome(t *testing.T) {
	wait := func(need int, hanging ...string) float64 {
		c := chain(2, nil, nil)
		call := func(to string, d time.Duration) model.Call { return model.Call{To: to, Stack: model.Stack{timeout(d)}} }
		c.Nodes[0].Steps = []model.Step{{Calls: []model.Call{call("b", 200*ms), call("c", 700*ms), call("d", 100*ms)}, Need: need}}
		c.Nodes[1].Service.Mean = 10 * ms
		c.Nodes = append(c.Nodes, model.Node{Name: "c", Workers: model.Unlimited, Service: model.Law{Mean: 30 * ms}},
			model.Node{Name: "d", Workers: model.Unlimited, Service: model.Law{Mean: 20 * ms}})
		for i := range c.Nodes {
			for _, name := range hanging {
				if c.Nodes[i].Name == name {
					c.Nodes[i].Faults = []model.Fault{{Kind: model.FaultCrash, Silent: true}}
				}
			}
		}
		return of(t, c).Waits[0].Modelled
	}
	near(t, "the fastest of three", wait(1), 0.01)
	near(t, "two of three", wait(2), 0.02)
	near(t, "all", wait(0), 0.03)
	near(t, "the fastest, and another hangs", wait(1, "c"), 0.01)
	near(t, "two, and the third hangs", wait(2, "c"), 0.02)
	near(t, "one of two that are not enough", wait(2, "c", "d"), 0.7)
}

// An inner layer that repeats what hangs takes all of its time, so the deadline
// of the outer one leaves time for no other attempt.
func TestDeadlinesInsideEachOther(t *testing.T) {
	c := chain(3, nil, nil)
	outer := waited(3, 100*ms)
	outer.Retry.Deadline = time.Second
	c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{timeout(2 * time.Second), outer, timeout(900 * ms)}
	c.Nodes[1].Steps[0].Calls[0].Stack = model.Stack{retry(3), timeout(300 * ms)}
	near(t, "one attempt of 900 ms", of(t, c).Waits[0].Hanging, 0.9)
	c.Nodes[1].Steps[0].Calls[0].Stack[0].Retry.Budget = &policies.BudgetConfig{Kind: policies.BudgetEmpty}
	near(t, "and what a budget refuses ends sooner", of(t, c).Waits[0].Hanging, 1.9)
}

// A crash without a word ends no call, so there is nothing to repeat.
func TestSilentCrashIsNotRepeated(t *testing.T) {
	l := retry(3)
	l.Retry.Errors.NoRetryOn = []string{"timeout"}
	c := link(10, 50*ms, l, breaker(within(10*time.Second, 20, 0.5)), timeout(600*ms))
	c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultCrash, Silent: true}}
	w := of(t, c).Waits[0]
	near(t, "as modelled", w.Modelled, 0.6)
	if w.Reason != "timeout 600ms of a-b" {
		t.Errorf("which is %q", w.Reason)
	}
}

// Faults that end have a bound.
func TestWaitForTheEndOfAFault(t *testing.T) {
	wait := func(faults ...model.Fault) float64 {
		c := link(10, 200*ms)
		n := &c.Nodes[1]
		n.Workers, n.Queue.Limit, n.Faults = 4, model.Known(4), faults
		return of(t, c).Waits[0].Modelled
	}
	near(t, "a turn and its own", wait(), 0.4)
	near(t, "a stall", wait(model.Fault{Kind: model.FaultStall, Start: 30 * time.Second, End: 35 * time.Second}), 5.4)
	near(t, "a pause", wait(model.Fault{Kind: model.FaultPause, Start: 30 * time.Second, End: 35 * time.Second}), 5.4)
	near(t, "to the end of the run", wait(model.Fault{Kind: model.FaultPause, Start: 30 * time.Second}), never)
	near(t, "one worker of 4: 7 turns", wait(model.Fault{Kind: model.FaultCapacity, Factor: 0.25, Start: 30 * time.Second, End: time.Minute}), 1.6)
}

// A retry's deadline does not end an attempt that hangs.
func TestDeadlineWithoutTimeout(t *testing.T) {
	l := retry(3)
	l.Retry.Deadline = 1200 * ms
	says(t, of(t, link(10, 50*ms, l)), "no-attempt-timeout", explain.Warning, "does not end")
	says(t, of(t, link(10, 50*ms, timeout(2*time.Second), l)), "no-attempt-timeout", explain.Warning, "takes all of the 2s")
}

// Retries that never happen neither multiply nor repeat a write.
func TestRetriesThatNeverHappen(t *testing.T) {
	c := chain(2, nil, nil)
	on := retry(2)
	on.Retry.Errors.RetryOn = []string{"breaker-open"}
	c.Clients[0].Steps[0].Calls[0].Stack = model.Stack{on}
	c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{waited(4, 200*ms)}
	c.Nodes[0].Steps[0].Calls[0].UnsafeRatio = 0.5
	e := of(t, c)
	near(t, "worst", worst(e), 4)
	silent(t, e, "retry-layers")
	says(t, e, "unsafe-retry", explain.Problem, "up to 4 attempts each")
	c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{timeout(200 * ms), waited(4, 200*ms)}
	e = of(t, c)
	near(t, "no time for a retry", worst(e), 1)
	silent(t, e, "retry-layers", "unsafe-retry")
}

// What is the same at many calls is said once.
func TestSaidOnce(t *testing.T) {
	count := func(nodes int, rule string) (n int, last explain.Finding) {
		for _, f := range of(t, chain(nodes, model.Stack{retry(2)}, nil)).Findings {
			if f.Rule == rule {
				n, last = n+1, f
			}
		}
		return n, last
	}
	for _, rule := range []string{"no-timeout", "no-backoff"} {
		n, f := count(3, rule)
		if n != 1 || f.Place != "" || f.Numbers != "web-a, a-b, b-c" {
			t.Errorf("%d of %+v", n, f)
		}
		if _, f = count(1, rule); f.Place == "" {
			t.Errorf("%+v, want its place", f)
		}
		if _, f = count(20, rule); len(f.Numbers) > 100 {
			t.Errorf("%q", f.Numbers)
		}
	}
}
