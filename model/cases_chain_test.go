package model_test

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// Small scenarios with answers that follow by arithmetic, as plain
// configurations. Arrivals are evenly spaced from t = 0, latencies constant;
// a failed call takes as long as a good one unless a case says otherwise.

// Case 4: how many calls reach a hanging backend while half-open: one at a
// time, or all that come until the first has timed out.
func TestCaseChainHangingProbes(t *testing.T) {
	for _, c := range []struct {
		name     string
		inFlight int // probes at a time, 0 for no limit
		lo, hi   float64
	}{{"one at a time", 1, 510, 520}, {"no limit", 0, 4990, 5040}} {
		hangs := backend("B", 0, model.Fault{Kind: model.FaultStall})
		s := mustSystem(t, pair(hangs, model.Stack{
			breaker(policies.BreakerConfig{
				Rule: lastCalls(5, 1), OpenFor: 30 * sec,
				HalfOpen: policies.FirstFailure, Probes: policies.Unlimited, CloseAfter: 1, ProbesInFlight: c.inFlight,
			}, ""),
			timeout(10_010 * ms),
		}, model.Client{Arrivals: evenly(50), Requests: 20_001}, 400*sec+1), 0)

		const opens = 10_090 * ms // the fifth call times out
		if n := mustReach(t, s, opens).Call("A", "B").Openings; n != 0 {
			t.Errorf("%s: %d openings before %v, want 0", c.name, n, opens)
		}
		l := mustReach(t, s, opens+1)
		if n := l.Call("A", "B").Openings; n != 1 {
			t.Errorf("%s: %d openings at %v, want 1", c.name, n, opens)
		}
		wantCount(t, c.name+": calls before the opening", l.Node("B").Attempts, 504, 506)

		l = mustReach(t, s, theEnd)
		wantCount(t, c.name+": requests", l.Client("client").Requests, 20_001, 20_001)
		wantCount(t, c.name+": calls", l.Node("B").Attempts, c.lo, c.hi)
		wantCount(t, c.name+": openings", l.Call("A", "B").Openings, 9, 10) // the 9th probe may be under way
	}
}

// Case 7: a breaker inside the retry sees attempts, outside it sees requests.
func TestCaseChainOrderOfLayers(t *testing.T) {
	b := breaker(policies.BreakerConfig{Rule: lastCalls(10, 0.5), OpenFor: 1000 * sec, Probes: 1}, "")
	r := retries(3, nil)
	r.Retry.Errors.NoRetryOn = []string{"breaker-open"}
	for _, c := range []struct {
		name     string
		stack    model.Stack
		opens    time.Duration
		requests float64
		calls    float64
		refused  float64 // of 20 requests
	}{
		{"retry outside", model.Stack{r, b}, 3010 * ms, 4, 10, 17},
		{"breaker outside", model.Stack{b, r}, 9030 * ms, 10, 30, 10},
	} {
		s := mustSystem(t, pair(backend("B", 10*ms, down), c.stack, model.Client{Arrivals: evenly(1)}, 20*sec), 0)
		if n := mustReach(t, s, c.opens).Call("A", "B").Openings; n != 0 {
			t.Errorf("%s: open before %v", c.name, c.opens)
		}
		l := mustReach(t, s, c.opens+1)
		wantCount(t, c.name+": openings", l.Call("A", "B").Openings, 1, 1)
		wantCount(t, c.name+": requests until then", l.Client("client").Requests, c.requests, c.requests)
		wantCount(t, c.name+": calls until then", l.Node("B").Attempts, c.calls, c.calls)
		l = mustReach(t, s, theEnd)
		wantCount(t, c.name+": calls in the end", l.Node("B").Attempts, c.calls, c.calls)
		wantCount(t, c.name+": refused", l.Call("A", "B").Refused, c.refused, c.refused)
		if got := l.Client("client"); got.Failed != 20 || got.ByCode[policies.ErrBreakerOpen]+got.ByCode[503] != 20 {
			t.Errorf("%s: %d failed, by code %v, want 20 of breaker-open and 503", c.name, got.Failed, got.ByCode)
		}
	}
}

// Case 12: one breaker for two routes, one of which is down.
func TestCaseChainSharedBreaker(t *testing.T) {
	for _, share := range []string{"gateway", ""} {
		guard := model.Stack{breaker(policies.BreakerConfig{Rule: lastCalls(20, 0.5), OpenFor: 10 * sec, Probes: 10}, share)}
		cfg := model.Config{
			Nodes: []model.Node{
				relay("gateway-A", model.Call{To: "A", Stack: guard}), relay("gateway-B", model.Call{To: "B", Stack: guard}),
				backend("A", 10*ms), backend("B", 10*ms, down),
			},
			Clients: []model.Client{
				{Name: "to-A", Arrivals: evenly(10), Requests: 36_000, Steps: one(model.Call{To: "gateway-A"})},
				{Name: "to-B", Arrivals: evenly(10), Requests: 36_000, Start: 50 * ms, Steps: one(model.Call{To: "gateway-B"})},
			},
			Horizon: 3601 * sec,
		}
		l := mustRun(t, cfg, 0).Ledger()
		a, toA, toB := l.Client("to-A"), l.Call("gateway-A", "A"), l.Call("gateway-B", "B")
		if share == "" {
			if a.Succeeded != 36_000 || toA.Refused != 0 || toA.Openings != 0 || toB.Openings == 0 {
				t.Errorf("a breaker each: %d succeeded, %d refused, %d openings for A and %d for B, want 36,000, 0, 0 and some",
					a.Succeeded, toA.Refused, toA.Openings, toB.Openings)
			}
			continue
		}
		wantRatio(t, "shared: success of A", a.Succeeded, a.Requests, 0.04, 0.06)
		wantCount(t, "shared: success of A", a.Succeeded, 1650, 1790)
		wantCount(t, "shared: openings", toA.Openings, 336, 350)
		if toA.Openings != toB.Openings || toA.OpenTime != toB.OpenTime {
			t.Errorf("shared: %d openings in %v at one link, %d in %v at the other, want the same",
				toA.Openings, toA.OpenTime, toB.Openings, toB.OpenTime)
		}
	}
}

// atOnce makes n requests at t = 0.
func atOnce(n int) model.Client {
	return model.Client{Loop: model.ClosedLoop{Clients: n, Think: constant(time.Hour)}, Requests: n}
}

// Case 13: a cap on the retries in progress is not a number per request.
func TestCaseChainConcurrentRetries(t *testing.T) {
	for _, c := range []struct {
		requests, most int
		calls, dropped float64
	}{{4, 3, 7, 1}, {100, 3, 103, 97}, {100, 1024, 200, 0}} {
		budget := &policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: c.most}
		l := mustRun(t, pair(backend("B", 100*ms, down), model.Stack{retries(2, budget)}, atOnce(c.requests), sec), 0).Ledger()
		wantCount(t, "calls", l.Node("B").Attempts, c.calls, c.calls)
		wantCount(t, "dropped", l.Call("A", "B").Denied, c.dropped, c.dropped)
		wantCount(t, "failed", l.Client("client").Failed, float64(c.requests), float64(c.requests))
		wantCount(t, "codes", l.Client("client").ByCode[503], float64(c.requests), float64(c.requests))
	}
}

// Case 14: a share of the requests in flight with a floor is the floor at low
// concurrency.
func TestCaseChainShareWithFloor(t *testing.T) {
	share := &policies.BudgetConfig{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.2, Floor: 3}}
	cap3 := &policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 3}
	amplification := func(rps float64, budget *policies.BudgetConfig) float64 {
		l := mustRun(t, pair(backend("B", 100*ms, down), model.Stack{retries(2, budget)}, model.Client{Arrivals: evenly(rps)}, 60*sec), 0).Ledger()
		return float64(l.Node("B").Attempts) / float64(l.Client("client").Requests)
	}
	a, b, c, d := amplification(100, share), amplification(1000, share), amplification(100, cap3), amplification(1000, cap3)
	for _, row := range []struct {
		name        string
		got, lo, hi float64
	}{
		{"share, 100/s", a, 1.25, 1.31}, {"share, 1,000/s", b, 1.19, 1.26},
		{"cap 3, 100/s", c, a - 0.02, a + 0.02}, {"cap 3, 1,000/s", d, 1.02, 1.04},
	} {
		if !(row.got >= row.lo && row.got <= row.hi) {
			t.Errorf("%s: amplification %.4f, want %.2f to %.2f", row.name, row.got, row.lo, row.hi)
		}
	}
}

// Case 15: attempts of the application times those of its proxy, twice.
func TestCaseChainApplicationAndProxy(t *testing.T) {
	for _, c := range []struct {
		name    string
		sidecar model.Stack
		b, c    float64
	}{{"with proxies", model.Stack{retries(3, nil)}, 900, 8100}, {"without", nil, 300, 900}} {
		hop := func(to string) model.Call {
			return model.Call{To: to, Stack: model.Stack{retries(3, nil)}, Sidecar: c.sidecar}
		}
		l := mustRun(t, model.Config{
			Nodes:   []model.Node{relay("A", hop("B")), relay("B", hop("C")), backend("C", 0, down)},
			Clients: []model.Client{{Name: "client", Arrivals: evenly(10), Requests: 100, Steps: one(model.Call{To: "A"})}},
			Horizon: 20 * sec,
		}, 0).Ledger()
		wantCount(t, c.name+": calls at A", l.Node("A").Attempts, 100, 100)
		wantCount(t, c.name+": calls at B", l.Node("B").Attempts, c.b, c.b)
		wantCount(t, c.name+": calls at C", l.Node("C").Attempts, c.c, c.c)
		wantCount(t, c.name+": failed", l.Client("client").Failed, 100, 100)
	}
}

// Case 16: a timeout per attempt below the normal latency.
func TestCaseChainTimeoutBelowLatency(t *testing.T) {
	for _, c := range []struct {
		name                 string
		timeout              time.Duration
		retryOn              []string
		cancel               bool
		success, attempts    float64 // of 600 requests, per request
		latency              time.Duration
		presentLo, presentHi float64 // calls at B at a time; a tie may add those of an instant
	}{
		{"timeouts are retried", 2 * sec, nil, false, 0, 4, 8 * sec, 120, 124},
		{"and B notices", 2 * sec, nil, true, 0, 4, 8 * sec, 80, 84},
		{"only answers are retried", 2 * sec, []string{"5xx"}, false, 0, 1, 2 * sec, 30, 31},
		{"a longer timeout", 3500 * ms, nil, false, 600, 1, 3 * sec, 30, 31},
	} {
		b := backend("B", 3*sec)
		b.Cancel = c.cancel
		r := retries(4, nil)
		r.Retry.Errors.RetryOn = c.retryOn
		s := mustRun(t, pair(b, model.Stack{r, timeout(c.timeout)}, model.Client{Arrivals: evenly(10), Requests: 600}, 80*sec), 0)
		l := s.Ledger()
		client, at := l.Client("client"), l.Node("B")
		wantCount(t, c.name+": succeeded", client.Succeeded, c.success, c.success)
		wantCount(t, c.name+": failed", client.Failed, 600-c.success, 600-c.success)
		wantCount(t, c.name+": calls", at.Attempts, 600*c.attempts, 600*c.attempts)
		wantCount(t, c.name+": most calls at B", at.MaxPresent, c.presentLo, c.presentHi)
		if client.Measured != 600 || client.Latency != 600*c.latency {
			t.Errorf("%s: %d took %v together, want 600 that took %v each", c.name, client.Measured, client.Latency, c.latency)
		}
		if q := s.LatencyQuantile("client", 0.5); math.Abs(q.Seconds()/c.latency.Seconds()-1) > 0.01 {
			t.Errorf("%s: median latency %v, want %v within 1 %%", c.name, q, c.latency)
		}
		if c.success == 0 && at.Succeeded+at.Failed != 0 {
			t.Errorf("%s: B answered %d callers, want none", c.name, at.Succeeded+at.Failed)
		}
	}
}

// Case 17: a throttle of ten tokens and a tenth per success, up to 4 attempts.
func TestCaseChainThrottle(t *testing.T) {
	budget := &policies.BudgetConfig{Kind: policies.BudgetThrottle, Throttle: policies.ThrottleConfig{MaxTokens: 10, Ratio: 0.1}}
	for _, c := range []struct {
		name                     string
		ratio                    float64
		requests                 int
		callsLo, callsHi, lo, hi float64 // per request
	}{
		{"down", 1, 1000, 1.003, 1.003, 0, 0},
		{"5 % fail", 0.05, 20_000, 1.04, 1.07, 0.998, 1},
		{"20 % fail", 0.2, 20_000, 1, 1.01, 0.79, 0.82},
	} {
		fault := model.Fault{Kind: model.FaultError, Ratio: c.ratio}
		client := model.Client{Loop: model.ClosedLoop{Clients: 1}, Requests: c.requests}
		l := mustRun(t, pair(backend("B", 10*ms, fault), model.Stack{retries(4, budget)}, client, 1000*sec), 0).Ledger()
		got := l.Client("client")
		wantCount(t, c.name+": requests", got.Succeeded+got.Failed, float64(c.requests), float64(c.requests))
		wantRatio(t, c.name+": calls per request", l.Node("B").Attempts, got.Requests, c.callsLo, c.callsHi)
		wantRatio(t, c.name+": success", got.Succeeded, got.Requests, c.lo, c.hi)
	}
}

// Case 18: 20 % plus 10 a second is no bound for a caller that needs 10.
func TestCaseChainRatioWithMinimum(t *testing.T) {
	budget := &policies.BudgetConfig{
		Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: 10 * sec, Ratio: 0.2, MinRPS: 10},
	}
	for _, c := range []struct{ rps, lo, hi float64 }{{5, 3, 3}, {500, 1.2, 1.221}} {
		client := model.Client{Arrivals: evenly(c.rps), Requests: int(600 * c.rps)}
		l := mustRun(t, pair(backend("B", 10*ms, down), model.Stack{retries(3, budget)}, client, 601*sec), 0).Ledger()
		wantRatio(t, "calls per request", l.Node("B").Attempts, l.Client("client").Requests, c.lo, c.hi)
	}
}

// recovery returns how long after the given instant the first interval begins
// from which on 99 % of the requests that start succeed, and false if there is
// none before the end.
func recovery(s *model.System, from, end time.Duration) (time.Duration, bool) {
	first, ok := sim.Time(0), false
	for _, i := range s.Series() {
		if i.Start < sim.Time(from) || i.End > sim.Time(end) {
			continue
		}
		c := i.Clients[0]
		if good := float64(c.StartedSucceeded) >= 0.99*float64(c.Requests); !good {
			ok = false
		} else if !ok {
			first, ok = i.Start, true
		}
	}
	return first.Sub(sim.Time(from)), ok
}

// Case 19: a short outage that the retries keep alive.
func TestCaseChainKeptAliveByRetries(t *testing.T) {
	tokens := &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}}
	for _, c := range []struct {
		name   string
		rps    float64
		retry  model.Layer
		lo, hi time.Duration // 0 for never
	}{
		{"no retry", 80, retries(1, nil), 35 * sec, 37 * sec},
		{"a retry", 80, retries(2, nil), 0, 0},
		{"half the load", 40, retries(2, nil), 32 * sec, 35 * sec},
		{"a budget of 10 %", 80, retries(2, tokens), 55 * sec, 80 * sec},
	} {
		b := backend("B", 10*ms, model.Fault{Kind: model.FaultStall, Start: 20 * sec, End: 30 * sec})
		b.Workers = 1
		cfg := model.Config{
			Nodes: []model.Node{b},
			Clients: []model.Client{{
				Name: "client", Arrivals: evenly(c.rps), End: 600 * sec,
				Steps: one(model.Call{To: "B", Stack: model.Stack{c.retry, timeout(sec)}}),
			}},
			Horizon: 610 * sec, Interval: 500 * ms,
		}
		s := mustRun(t, cfg, 0)
		got, ok := recovery(s, 30*sec, 600*sec)
		if c.hi > 0 {
			if !ok || got < c.lo || got > c.hi {
				t.Errorf("%s: recovers after %v (%v), want %v to %v", c.name, got, ok, c.lo, c.hi)
			}
			continue
		}
		var requests, succeeded, calls uint64
		for _, i := range s.Series() {
			if i.Start >= sim.Time(570*sec) && i.End <= sim.Time(600*sec) {
				requests += i.Clients[0].Requests
				succeeded += i.Clients[0].StartedSucceeded
				calls += i.Nodes[0].Attempts
			}
		}
		if ok || succeeded != 0 {
			t.Errorf("%s: recovers after %v (%v), %d of the last %d succeed, want none", c.name, got, ok, succeeded, requests)
		}
		wantRatio(t, c.name+": calls per second in the end", calls, 30, 158, 162)
	}
}
