package model_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A randomSystem is a valid configuration of up to six nodes, with everything
// that a node, a link or a client may have, small enough to be run at once.
type randomSystem struct {
	model.Config
	// most bounds the attempts at each node for each request of all clients:
	// attempts of the layers multiplied along each path, added over the paths.
	most map[string]float64
	// instant names the nodes to which all links take no time.
	instant map[string]bool
}

// maxMost is the largest such bound that is drawn.
const maxMost = 400

// A systemDraw draws the parts of a system.
type systemDraw struct {
	*rapid.T
	randomSystem
}

func (d *systemDraw) flag(label string) bool { return rapid.Bool().Draw(d.T, label) }

// rarely is true once in n times.
func (d *systemDraw) rarely(n int, label string) bool {
	return rapid.IntRange(1, n).Draw(d.T, label) == n
}

func (d *systemDraw) number(lo, hi int, label string) int {
	return rapid.IntRange(lo, hi).Draw(d.T, label)
}

func (d *systemDraw) ms(lo, hi int, label string) time.Duration {
	return time.Duration(d.number(lo, hi, label+" in ms")) * ms
}

func pick[T any](d *systemDraw, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(d.T, label)
}

const randomHorizon = 2 * sec

// drawSystem draws nodes n0, n1, … that call only those with a higher number.
func drawSystem(t *rapid.T) randomSystem {
	d := &systemDraw{T: t, randomSystem: randomSystem{most: map[string]float64{}, instant: map[string]bool{}}}
	n := d.number(1, 6, "nodes")
	for i := range n {
		d.instant[nodeName(i)] = true
	}
	d.Horizon = randomHorizon
	d.Warmup = d.ms(0, 500, "warm-up")
	if d.flag("series") {
		d.Interval = d.ms(37, 700, "interval")
	}
	for i := range d.number(1, 2, "clients") {
		d.Clients = append(d.Clients, d.client(i, n))
	}
	for i := range n { // those that call a node come before it
		d.Nodes = append(d.Nodes, d.node(i, n))
	}
	if err := d.Validate(); err != nil {
		t.Fatalf("drew a system that is not valid: %v", err)
	}
	return d.randomSystem
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i) }

func (d *systemDraw) client(i, n int) model.Client {
	c := model.Client{Name: fmt.Sprintf("c%d", i), Instances: d.number(0, 3, "instances"), Requests: d.number(1, 40, "requests")}
	if d.flag("closed loop") {
		c.Loop = model.ClosedLoop{Clients: d.number(1, 5, "programs"), Think: d.law("think")}
		c.Spread = d.ms(0, 100, "spread")
	} else {
		c.Arrivals = model.Arrivals{Kind: pick(d, "arrivals", model.Fixed, model.Poisson), RateRPS: pick(d, "rate", 20.0, 100, 2000)}
	}
	c.Start = d.ms(0, 300, "start")
	if d.rarely(4, "ends early") {
		c.End = c.Start + d.ms(1, 500, "length")
	}
	c.Steps = d.steps(1, 0, n)
	return c
}

// law draws times that differ and times that tie.
func (d *systemDraw) law(label string) model.Law {
	switch mean := d.ms(1, 12, label); d.number(0, 4, label+" law") {
	case 0:
		return model.Law{}
	case 1:
		return model.Law{Kind: model.Exponential, Mean: mean}
	case 2:
		return model.Law{Kind: model.Lognormal, Mean: mean, CV: 2}
	case 3:
		return model.Law{Kind: model.Uniform, High: 2 * mean}
	default:
		return constant(mean)
	}
}

func (d *systemDraw) node(i, n int) model.Node {
	node := model.Node{
		Name: nodeName(i), Replicas: d.number(0, 3, "replicas"), Workers: pick(d, "workers", 1, 2, 5, model.Unlimited),
		Async: d.flag("async"), Service: d.law("service"), Cancel: d.flag("cancel"),
		Writes: d.flag("writes"), Dedup: d.flag("dedup"), Waits: d.flag("waits"),
	}
	if d.rarely(3, "slows") {
		node.ServicePerInFlight = time.Duration(d.number(1, 2000, "µs per call")) * time.Microsecond
	}
	if d.flag("bounded queue") {
		node.Queue.Limit = model.Known(d.number(0, 4, "limit"))
	}
	node.Queue.Order = pick(d, "order", "", model.FIFO, model.LIFO)
	node.Queue.DropExpired = d.flag("drop expired")
	if d.rarely(4, "sheds in flight") {
		node.Shed.InFlight = d.number(1, 6, "in flight")
	}
	if d.rarely(4, "sheds rate") {
		node.Shed.RateRPS, node.Shed.Burst = pick(d, "shed rate", 5.0, 50), d.number(0, 3, "burst")
	}
	for range max(0, d.number(-1, 2, "faults")) {
		node.Faults = append(node.Faults, d.fault(max(node.Replicas, 1)))
	}
	if d.rarely(4, "trace") {
		node.Trace = []model.Segment{
			{Node: node.Name, Start: 100 * ms, End: 700 * ms, Condition: model.Condition{ErrorRatio: 0.3, LatencyMean: model.Known(5 * ms)}},
			{Node: node.Name, Start: 900 * ms, End: sec, Condition: model.Condition{CapacityFactor: model.Known(pick(d, "capacity", 0, 0.4, 1))}},
		}
	}
	if m := d.most[node.Name]; i+1 < n && m > 0 {
		node.Steps = d.steps(m, i+1, n)
	}
	return node
}

func (d *systemDraw) fault(replicas int) model.Fault {
	f := model.Fault{
		Kind: pick(d, "kind", model.FaultError, model.FaultSlow, model.FaultCapacity, model.FaultLimit,
			model.FaultStall, model.FaultPause, model.FaultCrash),
		Start: d.ms(0, 900, "from"),
	}
	if !d.rarely(4, "for good") {
		f.End = f.Start + d.ms(1, 600, "for")
	}
	if d.rarely(3, "one replica") {
		f.Replica = model.Known(d.number(0, replicas-1, "replica"))
	}
	switch f.Kind {
	case model.FaultError:
		f.Ratio = pick(d, "ratio", 0, 0.2, 0.7)
		f.First = d.number(0, 2, "first")
		f.Code = pick(d, "code", 0, policies.ErrorCode(404), 500, policies.ErrReset)
		f.Fast, f.Effect = d.flag("fast"), d.flag("effect")
	case model.FaultSlow:
		f.Factor = pick(d, "factor", 0.5, 3, 20)
	case model.FaultCapacity:
		f.Factor = pick(d, "share", 0, 0.3, 0.5, 1)
	case model.FaultLimit:
		f.RateRPS, f.Burst = pick(d, "limit", 5.0, 50), d.number(0, 3, "limit burst")
	case model.FaultCrash:
		f.Silent = d.flag("silent")
	}
	return f
}

// steps draws calls to nodes from the given one on, by a caller that is
// called at most so many times for each request.
func (d *systemDraw) steps(caller float64, from, n int) []model.Step {
	var steps []model.Step
	for range d.number(1, 2, "steps") {
		var s model.Step
		total := 0
		for range d.number(1, 2, "calls") {
			c := d.call(caller, d.number(from, n-1, "to"))
			if c.To != "" {
				s.Calls = append(s.Calls, c)
				total += max(c.Times, 1)
			}
		}
		if total > 0 {
			s.Need = d.number(0, total, "need")
			steps = append(steps, s)
		}
	}
	return steps
}

// call draws a call, or none if there would be too many attempts.
func (d *systemDraw) call(caller float64, to int) model.Call {
	c := model.Call{
		To: nodeName(to), Times: d.number(0, 2, "times"), PropagateDeadline: d.flag("propagate"),
		Balance: pick(d, "balance", "", model.RoundRobin, model.Random, model.LeastRequests, model.PowerOfTwo),
	}
	caller *= float64(max(c.Times, 1))
	room := min((maxMost-d.most[c.To])/caller, 12)
	if room < 1 {
		return model.Call{}
	}
	if d.rarely(3, "takes time") {
		c.Request, c.Response = d.law("request"), d.law("response")
		if c.Request.Kind != "" || c.Request.Mean != 0 {
			d.instant[c.To] = false
		}
	}
	attempts := 1.0
	c.Stack = d.stack(&attempts, room)
	if d.rarely(3, "sidecar") {
		c.Sidecar = d.stack(&attempts, room)
	}
	d.most[c.To] += caller * attempts
	return c
}

// Policies with a name are shared, and so must be the same wherever it stands.
var (
	randomBudgets = []policies.BudgetConfig{
		{Kind: policies.BudgetUnlimited},
		{Kind: policies.BudgetEmpty},
		{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.3, Cap: 5, Initial: 2}},
		{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.3, Cap: 5, Credit: policies.CreditSuccess}},
		{Kind: policies.BudgetFloatTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}},
		{Kind: policies.BudgetCounter, Counter: policies.CounterConfig{Ratio: 0.2, Grace: 3, ResetAt: 20}},
		{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.2, Floor: 1}},
		{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.5, Active: policies.ActiveAttempts}},
		{Kind: policies.BudgetConcurrent, Concurrent: 2},
		{Kind: policies.BudgetThrottle, Throttle: policies.ThrottleConfig{MaxTokens: 4, Ratio: 0.5}},
		{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: 100 * ms, Ratio: 0.2, MinRPS: 10}},
	}
	randomBreakers = []policies.BreakerConfig{
		{Rule: lastCalls(4, 0.5), OpenFor: 20 * ms, Probes: 2},
		{Rule: lastCalls(3, 1), OpenFor: 5 * ms, HalfOpen: policies.FirstFailure, Probes: policies.Unlimited, CloseAfter: 1, ProbesInFlight: 1},
		{
			Rule: policies.RuleConfig{
				Window:   policies.WindowConfig{Kind: policies.TimeWindow, Length: 50 * ms},
				MinCalls: 3, FailureRate: 0.5, SlowRate: 0.8, SlowAfter: 8 * ms,
			},
			OpenFor: 30 * ms, Probes: 3, HalfOpenFor: 40 * ms, InFlightSlow: true,
		},
	}
)

// stack draws layers, and multiplies the attempts by those that it makes.
func (d *systemDraw) stack(attempts *float64, room float64) model.Stack {
	var s model.Stack
	for range max(0, d.number(-1, 4, "layers")) {
		switch d.number(0, 5, "layer") {
		case 0, 1:
			s = append(s, timeout(d.ms(1, 60, "timeout")))
		case 2, 3:
			r, most := d.retry()
			if *attempts*most > room {
				continue
			}
			*attempts *= most
			s = append(s, model.Layer{Retry: r})
		case 4:
			i := d.number(0, len(randomBreakers)-1, "breaker")
			s = append(s, breaker(randomBreakers[i], d.share("breaker", i)))
		case 5:
			i := d.number(1, 4, "limit")
			s = append(s, model.Layer{Limit: &model.LimitLayer{InFlight: i, Share: d.share("limit", i)}})
		}
	}
	return s
}

func (d *systemDraw) share(kind string, i int) string {
	if d.rarely(3, "shared") {
		return fmt.Sprintf("%s-%d", kind, i)
	}
	return ""
}

// retry draws a retry layer, and says how many attempts it makes at most.
func (d *systemDraw) retry() (*model.RetryLayer, float64) {
	r := &model.RetryLayer{}
	r.Attempts = d.number(1, 4, "attempts")
	most := float64(r.Attempts)
	kind := pick(d, "back-off", policies.NoBackoff, policies.FixedBackoff, policies.ExponentialBackoff,
		policies.FullJitter, policies.EqualJitter, policies.DecorrelatedJitter)
	if kind != policies.NoBackoff {
		r.Backoff = policies.BackoffConfig{Kind: kind, Base: d.ms(1, 10, "base"), Cap: 20 * ms}
	}
	switch d.number(0, 5, "retry deadline") {
	case 0:
		r.Deadline = d.ms(1, 60, "deadline")
	case 1: // attempts at 0, 5, 10 and 15 ms at the earliest
		r.Attempts, most, r.Deadline = policies.Unlimited, 4, 20*ms
		r.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 5 * ms}
	}
	if d.rarely(3, "error list") {
		r.Errors.RetryOn = []string{"5xx", "timeout", "limit"}
		r.Errors.NoRetryOn = []string{"500"}
	}
	if d.flag("budget") {
		i := d.number(0, len(randomBudgets)-1, "budget kind")
		r.Budget, r.Share = &randomBudgets[i], d.share("budget", i)
	}
	return r, most
}
