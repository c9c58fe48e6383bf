package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// waiting is a retry with a fixed back-off.
func waiting(attempts int, wait time.Duration) model.Layer {
	r := retry(attempts)
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: wait}
	return r
}

// A retry of a callee that hangs comes after a timeout and a back-off: at 10/s
// the 20th attempt is sent at 1.7 s, not at 0.6 s.
func TestBreakerInsideARetry(t *testing.T) {
	c := link(10, 50*ms, waiting(3, 500*ms), breaker(within(10*time.Second, 20, 0.5)), timeout(time.Second))
	e := of(t, c)
	b := e.Breakers[0]
	near(t, "fresh", b.Fresh, 1.2)
	near(t, "healthy", b.Healthy, 2.9)
	near(t, "hanging", b.FreshHanging, 2.7)
	near(t, "latest", b.Latest, 4.95)
	says(t, e, "breaker-hanging", explain.Note, "2.7s", "41 calls")
}

// Workers of the caller bound how many calls hang at a time.
func TestBreakerOfABusyCaller(t *testing.T) {
	c := link(10, 0, breaker(last(20, 20, 0.5)), timeout(3*time.Second))
	near(t, "any number of workers", of(t, c).Breakers[0].FreshHanging, 4.9)
	c.Nodes[0].Workers = 8
	near(t, "8 workers", of(t, c).Breakers[0].FreshHanging, 9.3) // the 20th at 6.3 s
	c.Nodes[0].Async = true
	near(t, "that do not wait", of(t, c).Breakers[0].FreshHanging, 4.9)

	rule := within(10*time.Second, 20, 0.5)
	rule.SlowRate, rule.SlowAfter = 0.5, time.Second
	l := breaker(rule)
	l.Breaker.InFlightSlow = true
	c = link(10, 0, l)
	e := of(t, c)
	near(t, "slow in flight", e.Breakers[0].FreshHanging, 2.9)
	near(t, "slow in flight", e.Breakers[0].SlowEarliest, 2.9)
	silent(t, e, "breaker-blind", "slow-never")
	c.Nodes[0].Workers = 8
	e = of(t, c)
	near(t, "8 calls alone", e.Breakers[0].FreshHanging, never)
	says(t, e, "breaker-blind", explain.Warning, "8 calls are under way")
	l.Breaker.InFlightSlow = false
	says(t, of(t, link(10, 0, l)), "breaker-blind", explain.Warning, "no timeout")
}

// What a callee that hangs turns away fails at once.
func TestBreakerOfAFullQueue(t *testing.T) {
	c := link(100, 0, breaker(last(20, 20, 0.5)), timeout(30*time.Second))
	c.Nodes[1].Workers, c.Nodes[1].Queue.Limit = 10, model.Known(50)
	near(t, "50 wait", of(t, c).Breakers[0].FreshHanging, 0.69)
	c = link(100, 0, breaker(last(20, 20, 0.5)), model.Layer{Limit: &model.LimitLayer{InFlight: 5}}, timeout(30*time.Second))
	near(t, "5 in flight", of(t, c).Breakers[0].FreshHanging, 0.24)
}

// Errors that a breaker does not count do not open it.
func TestBreakerThatDoesNotCount(t *testing.T) {
	counts := func(as policies.Class, code policies.ErrorCode) model.Config {
		l := breaker(last(20, 20, 0.5))
		l.Breaker.Classify = func(o policies.Outcome) policies.Class {
			switch policies.CodeOf(o.Err) {
			case code:
				return as
			}
			return policies.Failure
		}
		return link(10, 0, l, timeout(time.Second))
	}
	for _, class := range []policies.Class{policies.Success, policies.Ignored} {
		c := counts(class, 503)
		e := of(t, c)
		near(t, "503 fresh", e.Breakers[0].Fresh, never)
		near(t, "503 healthy", e.Breakers[0].Healthy, never)
		near(t, "timeouts", e.Breakers[0].FreshHanging, 2.9)
		says(t, e, "errors-not-counted", explain.Warning, "status 503")

		e = of(t, counts(class, policies.ErrTimeout))
		near(t, "503", e.Breakers[0].Fresh, 1.9)
		near(t, "timeouts", e.Breakers[0].FreshHanging, never)
		says(t, e, "errors-not-counted", explain.Warning, "hangs", "timeout")

		c = counts(class, 429)
		silent(t, of(t, c), "errors-not-counted")
		c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Code: 429}}
		says(t, of(t, c), "errors-not-counted", explain.Warning, "status 429")
	}
	c := link(10, 0, preset(presets.EnvoyOutlierDefaults()))
	silent(t, of(t, c), "errors-not-counted")
	c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Code: 404}}
	says(t, of(t, c), "errors-not-counted", explain.Warning, "status 404", "successes")
}

// Where chance has a say, the times are not bounds.
func TestRoughTimes(t *testing.T) {
	jitter := waiting(3, 500*ms)
	jitter.Retry.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: 500 * ms}
	for _, tc := range []struct {
		retry    model.Layer
		arrivals string
		rough    bool
	}{{waiting(3, 500*ms), model.Fixed, false}, {jitter, model.Fixed, true}, {waiting(3, 500*ms), model.Poisson, true}} {
		c := link(10, 50*ms, tc.retry, breaker(last(20, 20, 0.5)), timeout(time.Second))
		c.Clients[0].Arrivals.Kind = tc.arrivals
		e := of(t, c)
		words := "opens after 2.7s"
		if tc.rough {
			words = "opens after about"
		}
		says(t, e, "breaker-hanging", explain.Note, words)
		if e.Breakers[0].Rough != tc.rough {
			t.Errorf("rough is %v: %+v", e.Breakers[0].Rough, tc)
		}
	}
}

// Clients of a closed loop who begin together wait together.
func TestBreakerOfAClosedLoop(t *testing.T) {
	c := link(1, 50*ms, waiting(2, 200*ms), breaker(last(40, 20, 0.5)), timeout(time.Second))
	c.Clients[0].Arrivals, c.Clients[0].Loop = model.Arrivals{}, model.ClosedLoop{Clients: 5, Think: model.Law{Mean: 100 * ms}}
	b := of(t, c).Breakers[0]
	near(t, "hanging", b.FreshHanging, 4.5)
	near(t, "fresh", b.Fresh, 0.7)
	c.Clients[0].Spread = time.Second
	if b := of(t, c).Breakers[0]; !b.Rough {
		t.Errorf("clients at random instants: %+v", b)
	}
}
