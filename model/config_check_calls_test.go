package model

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestConfigCalls(t *testing.T) {
	const call = `node "edge": step 1, call 1 to "db"`
	checkCases(t, []configCase{
		{"all is well", func(c *Config) {
			*toDB(c) = Call{To: "db", Times: 3, Balance: PowerOfTwo, Request: Law{Mean: ms}, Response: Law{Kind: Exponential, Mean: ms}, PropagateDeadline: true}
			c.Nodes[0].Steps[0].Need = 3
		}, nil},
		{"empty steps", func(c *Config) { c.Nodes[0].Steps, c.Clients[0].Steps = []Step{{}, {Need: 1}}, nil }, []string{
			`node "edge": step 1: 0 calls, want at least 1`,
			`node "edge": step 2: 0 calls, want at least 1`,
			`client "web": 0 steps, want at least 1`,
		}},
		{"need", func(c *Config) {
			s := &c.Nodes[0].Steps[0]
			s.Calls[0].Times, s.Need = 3, 4
			c.Clients[0].Steps[0].Need = -1
		}, []string{
			`node "edge": step 1: need 4, want at most the 3 calls, or 0 for all`,
			`client "web": step 1: need -1, want at most the 1 calls, or 0 for all`,
		}},
		{"times", func(c *Config) { toDB(c).Times, toEdge(c).Times = -1, 1_000_001 }, []string{
			call + `: times -1, want from 1 to 1000000, or 0 for 1`,
			`client "web": step 1, call 1 to "edge": times 1000001, want from 1 to 1000000, or 0 for 1`,
		}},
		{"balance and latencies", func(c *Config) {
			d := toDB(c)
			d.Balance, d.Request, d.Response = "least-request", Law{Kind: Uniform}, Law{Kind: Lognormal, Mean: 1, CV: math.NaN()}
		}, []string{
			call + `: balance "least-request", did you mean "least-requests"? known: round-robin, random, least-requests, power-of-two`,
			call + `: request latency "uniform": high 0s, want above low 0s`,
			call + `: response latency "lognormal": CV NaN, want above 0 and at most 1000`,
		}},
	})
}

func TestConfigLayers(t *testing.T) {
	const stack, sidecar = `node "edge": step 1, call 1 to "db": stack layer `, `node "edge": step 1, call 1 to "db": sidecar layer `
	retry := func(change func(r *RetryLayer)) func(*Config) {
		return func(c *Config) { change(toDB(c).Stack[0].Retry) }
	}
	budget := func(b policies.BudgetConfig) func(*Config) {
		return retry(func(r *RetryLayer) { r.Budget = &b })
	}
	unknownKind := strings.TrimPrefix(policies.BudgetConfig{Kind: "token"}.Validate().Error(), "policies: ")
	checkCases(t, []configCase{
		{"one of each, twice", func(c *Config) {
			d := toDB(c)
			d.Stack = append(d.Stack, Layer{Breaker: someBreaker()}, Layer{Limit: &LimitLayer{InFlight: 1}})
			d.Sidecar = Stack{{Timeout: 1}, {Retry: &RetryLayer{RetryConfig: policies.RetryConfig{Attempts: 1}}}, {Breaker: someBreaker()}, {Limit: &LimitLayer{InFlight: Unlimited}}}
		}, nil},
		{"none and several", func(c *Config) {
			toDB(c).Stack = Stack{{}, {Timeout: 1, Limit: &LimitLayer{InFlight: 1}}}
			toDB(c).Sidecar = Stack{{Timeout: 1, Retry: someRetry(2), Breaker: someBreaker()}}
		}, []string{
			stack + `1: nothing set, want a timeout, retry, breaker or limit`,
			stack + `2: timeout and limit, want only one of them`,
			sidecar + `1: timeout and retry and breaker, want only one of them`,
		}},
		{"timeout and limit", func(c *Config) {
			toDB(c).Stack = Stack{{Timeout: -ms}, {Limit: &LimitLayer{}}}
			toDB(c).Sidecar = Stack{{Limit: &LimitLayer{InFlight: -1}}}
		}, []string{
			stack + `1: timeout -1ms, want above 0s`,
			stack + `2: limit: in flight 0, want at least 1`,
			sidecar + `1: limit: in flight -1, want at least 1`,
		}},
		{"too many", func(c *Config) {
			for range 1001 {
				toDB(c).Sidecar = append(toDB(c).Sidecar, Layer{Timeout: time.Hour})
			}
		}, []string{`node "edge": step 1, call 1 to "db": sidecar of 1001 layers, want at most 1000`}},
		{"attempts", retry(func(r *RetryLayer) { r.Attempts = 0 }), []string{stack + `1: retry: attempts 0, want at least 1`}},
		{"unlimited", retry(func(r *RetryLayer) { r.Attempts = Unlimited }), []string{
			stack + `1: retry: deadline 0s, want more than 0s for unlimited attempts`}},
		{"errors", retry(func(r *RetryLayer) { r.Errors.RetryOn = []string{"600"} }), []string{
			stack + `1: retry: retry on "600", want a code from 100 to 599 or one of any, timeout, connect-failure, connect-timeout, reset, breaker-open, limit, left, other, 4xx, 5xx, gateway-error`}},
		{"back-off", retry(func(r *RetryLayer) { r.Backoff.Kind = policies.FullJitter }), []string{
			stack + `1: full backoff: base 0s, want 1ns to 8760h0m0s`}},
		{"a ratio above 1", budget(policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 1.2, Cap: 10}}), []string{
			stack + `1: token budget: ratio 1.2, want 0 to 1`}},
		{"a ratio that is none", budget(policies.BudgetConfig{Kind: policies.BudgetCounter, Counter: policies.CounterConfig{Ratio: math.NaN(), ResetAt: 10}}), []string{
			stack + `1: counter budget: ratio NaN, want 0 to 1`}},
		{"budget kind", budget(policies.BudgetConfig{Kind: "token"}), []string{stack + `1: ` + unknownKind}},
		{"breaker", func(c *Config) {
			b := someBreaker()
			b.OpenFor = 0
			toDB(c).Stack = Stack{{Breaker: b}}
		}, []string{stack + `1: breaker: open for 0s, want more than 0s`}},
		{"nothing to share", retry(func(r *RetryLayer) { r.Budget, r.Share = nil, "s" }), []string{
			stack + `1: retry: share "s", want a budget to share`}},
	})
}

func TestConfigShares(t *testing.T) {
	const db, web = `node "edge": step 1, call 1 to "db": stack layer `, `client "web": step 1, call 1 to "edge": stack layer `
	limit := func(n int) Layer { return Layer{Limit: &LimitLayer{InFlight: n, Share: "s"}} }
	breaker := func(openFor time.Duration) Layer {
		b := someBreaker()
		b.OpenFor, b.Share = openFor, "s"
		b.Classify = func(policies.Outcome) policies.Class { return policies.Success }
		return Layer{Breaker: b}
	}
	retry := func(attempts, concurrent int) Layer {
		r := someRetry(attempts)
		r.Budget.Concurrent, r.Share = concurrent, "s"
		return Layer{Retry: r}
	}
	both := func(a, b Layer) func(*Config) {
		return func(c *Config) { toDB(c).Stack, toEdge(c).Stack = Stack{a}, Stack{b} }
	}
	checkCases(t, []configCase{
		{"limits alike", both(limit(3), limit(3)), nil},
		{"breakers alike", both(breaker(1), breaker(1)), nil},
		{"budgets alike, attempts not", both(retry(2, 5), retry(3, 5)), nil},
		{"limits", both(limit(3), limit(4)), []string{web + `1: limit: share "s", want it configured as that of ` + db + `1`}},
		{"breakers", both(breaker(1), breaker(2)), []string{web + `1: breaker: share "s", want it configured as that of ` + db + `1`}},
		{"budgets", both(retry(2, 5), retry(2, 6)), []string{web + `1: budget: share "s", want it configured as that of ` + db + `1`}},
		{"kinds", both(retry(2, 5), limit(6)), []string{web + `1: limit: share "s", want another name than the budget of ` + db + `1`}},
	})
}

func TestConfigClients(t *testing.T) {
	web := func(change func(c *Client)) func(*Config) {
		return func(c *Config) { change(&c.Clients[0]) }
	}
	closed := func(l ClosedLoop) func(*Config) {
		return web(func(c *Client) { c.Arrivals, c.Loop = Arrivals{}, l })
	}
	checkCases(t, []configCase{
		{"open", web(func(c *Client) { c.Instances, c.Start, c.End, c.Requests = 7, 1, 2, 1 }), nil},
		{"closed", web(func(c *Client) {
			c.Arrivals, c.Loop, c.Spread, c.FailurePause = Arrivals{}, ClosedLoop{Clients: 3}, time.Second, ms
		}), nil},
		{"a closed loop without clients", closed(ClosedLoop{Think: Law{Mean: ms}}), []string{`client "web": closed loop: clients 0, want at least 1`}},
		{"negative clients", closed(ClosedLoop{Clients: -1}), []string{`client "web": closed loop: clients -1, want at least 1`}},
		{"too many clients", closed(ClosedLoop{Clients: 10_000_001}), []string{`client "web": closed loop: clients 10000001, want at most 10000000`}},
		{"think time", closed(ClosedLoop{Clients: 1, Think: Law{Kind: Empirical}}), []string{
			`client "web": closed loop: think time "empirical": 0 samples, want from 1 to 1000000`}},
		{"neither", closed(ClosedLoop{}), []string{`client "web": no arrivals and no closed loop, want one of them`}},
		{"both", web(func(c *Client) { c.Loop.Clients = 1 }), []string{`client "web": arrivals and a closed loop, want only one of them`}},
		{"rate", web(func(c *Client) { c.Arrivals = Arrivals{Kind: Poisson, RateRPS: math.NaN()} }), []string{
			`client "web": arrivals "poisson": rate NaN, want above 0 and at most 1e+09 per second`}},
		{"ticks", web(func(c *Client) { c.Arrivals.TicksPerSecond = 1 << 48 }), []string{
			`client "web": arrivals "poisson": ticks per second 281474976710656, want 0: a system counts nanoseconds`}},
		{"numbers", web(func(c *Client) {
			c.Instances, c.Spread, c.FailurePause, c.Start, c.Requests = -1, -1, -1, -1, -1
		}), []string{
			`client "web": instances -1, want at least 1, or 0 for 1`,
			`client "web": spread -1ns, want at least 0s`,
			`client "web": pause after a failure -1ns, want at least 0s`,
			`client "web": start -1ns, want at least 0s`,
			`client "web": requests -1, want at least 1, or 0 for no bound`,
		}},
		{"open loops have no pauses", web(func(c *Client) { c.Spread, c.FailurePause = 1, 1 }), []string{
			`client "web": spread 1ns, only a closed loop has one`,
			`client "web": pause after a failure 1ns, only a closed loop has one`,
		}},
		{"span", web(func(c *Client) { c.Start, c.End = 5, 5 }), []string{`client "web": end 5ns, want above the start 5ns, or 0s for the horizon`}},
		{"starts too late", web(func(c *Client) { c.Start = time.Hour }), []string{`client "web": start 1h0m0s, want below the horizon 1m0s`}},
		{"too many outcomes", web(func(c *Client) {
			c.Instances = 1000
			c.Steps[0].Calls[0].Stack = Stack{{Breaker: &BreakerLayer{BreakerConfig: policies.BreakerConfig{Probes: 1, OpenFor: time.Second,
				Rule: policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: 5_000_000}, MinCalls: 1, FailureRate: 1}}}}}
		}), []string{"config: 5000000000 outcomes in the count windows of all instances, want at most 4000000000"}},
		{"too many instances", web(func(c *Client) { c.Instances = 10_000_001 }), []string{"config: 10000001 instances of all clients, want at most 10000000"}},
		{"too many policies", web(func(c *Client) {
			c.Instances = 10_000_000
			c.Steps[0].Calls[0].Stack = Stack{{Retry: someRetry(2)}, {Limit: &LimitLayer{InFlight: 1}}, {Limit: &LimitLayer{InFlight: 1, Share: "s"}}}
		}), []string{"config: 20000001 budgets, breakers and limits of all instances, want at most 2000000"}},
	})
}
