package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Where the breakers of budget-breaker stand.
const (
	breakerNone    = "none"
	breakerInside  = "inside"  // the retry: it sees every attempt
	breakerOutside = "outside" // the retry: it sees every request of the hop
)

// chainHops are the hops of client → A → B → C: caller and callee.
var chainHops = [][2]string{{"client", "A"}, {"A", "B"}, {"B", "C"}}

func budgetBreaker() *Experiment {
	return &Experiment{
		Name: "budget-breaker",
		Doc: `What do a retry budget and a circuit breaker do together, and which layer should retry?
A chain client → A → B → C in which C fails a share of its calls. Retries are
immediate; all layers make them, the outermost alone, which is the client, or the
innermost, which is B, next to C.
Breakers, one for each hop, stand inside the retry, where they see every attempt,
or outside, where they see what came of all attempts. A retry that stands outside
a breaker meets its refusals: it gives up (retry_refused = no) and the budget
never hears of them, or it spends an attempt and a token on each (yes). A layer
further up sees a status 503 and cannot tell. Bound of the attempts per request
at C: the product, over the layers that retry, of their attempts, or of 1 + ratio
for those with a bucket or a counter, and what these grant at first. A cap or a
share of the retries in progress bounds none of that.`,
		Factors: []Factor{
			retryFactor("retry", "none", "retry-3", "budget-10"),
			choice("breaker", "breakers of all hops: none, inside or outside the retry", []string{breakerNone, breakerInside, breakerOutside}, 3),
			retryAtFactor(retryOutermost, retryAll, retryInnermost),
			choice("retry_refused", "whether a call that a breaker refused is tried again: no, yes", []string{"no", "yes"}, 2),
			number("error_ratio", "share of calls that fail at C", 0, 1, 0.1, 0.5, 1),
			breakerFactor("rule", "count-20-20-50"),
			number("open_s", "time a breaker stays open, s", 1e-6, 1e5, 5),
			whole("probes", "calls let through when half-open", 1, 1e6, 10),
			positive("rate_rps", "offered load, evenly spaced, requests/s", 1e6, 50),
			number("service_s", "service time at C, s", 0, 100, 0.01),
			number("fail_s", "time from the start on in which C fails, s; 0 for the whole run", 0, 1e6, 0),
			number("horizon_s", "time in which requests come, s", 0.001, 1e6, 60),
		},
		Metrics: append([]Metric{
			{Name: "success_ratio", Doc: "share of the ended requests that succeeded"},
			{Name: "a_amplification_ratio", Doc: "attempts at A per request"},
			{Name: "b_amplification_ratio", Doc: "attempts at B per request"},
			{Name: "c_amplification_ratio", Doc: "attempts at C per request"},
			{Name: "c_bound_ratio", Doc: "closed-form bound of the attempts at C per request"},
			{Name: "denied_count", Doc: "retries that budgets refused, on all hops, in a run"},
			{Name: "refused_count", Doc: "calls that breakers refused, on all hops, in a run"},
			{Name: "open_ratio", Doc: "share of the run in which the breaker before C, B → C, was open"},
		}, retryMeasures...),
		Reps:    10,
		Valid:   validBudgetBreaker,
		Check:   checkBudgetBreaker,
		Measure: measureBudgetBreaker,
		Logs:    everyCell,
		Exact:   exactBudgetBreaker,
		Report:  reportBudgetBreaker,
	}
}

// validBudgetBreaker leaves out combinations that repeat others: without
// retries it does not matter who makes them, nor on which side of them the
// breakers stand, and no retry meets a refusal unless its breaker is inside.
func validBudgetBreaker(c Cell) bool {
	switch {
	case !c.retry("retry").retries():
		return c.first("retry_at") && c.first("retry_refused") && (c.Text("breaker") != breakerOutside || !slices.Contains(c.levelsOf("breaker"), breakerInside))
	case c.Text("breaker") != breakerInside:
		return c.first("retry_refused")
	}
	return true
}

// levelsOf lists the levels of a factor in the cell's plan.
func (c Cell) levelsOf(name string) []string {
	for _, f := range c.factors {
		if f.Name == name {
			return f.Levels
		}
	}
	return nil
}

func checkBudgetBreaker(c Cell) error {
	calls := c.Float("rate_rps") * c.Float("horizon_s") * chainBound(c)
	if !(calls <= maxAttemptsPerRun) {
		return fmt.Errorf("experiments: budget-breaker: rate_rps × horizon_s × attempts at C = %s, want at most %g", formatNumber(calls), float64(maxAttemptsPerRun))
	}
	return budgetBreakerConfig(c).Validate()
}

// retriesAt reports whether a hop of the chain retries.
func retriesAt(c Cell, hop int) bool {
	switch c.Text("retry_at") {
	case retryOutermost:
		return hop == 0
	case retryInnermost:
		return hop == len(chainHops)-1
	}
	return true
}

// hopStack is the stack of a hop.
func hopStack(c Cell, hop int) model.Stack {
	var s model.Stack
	if layer := c.retry("retry").layer(); layer != nil && retriesAt(c, hop) {
		if c.Text("retry_refused") == "no" {
			layer.Errors.NoRetryOn = []string{"breaker-open"}
		}
		s = model.Stack{{Retry: layer}}
	}
	if c.Text("breaker") == breakerNone {
		return s
	}
	spec, err := parsePolicy(c.Text("rule"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	breaker := model.Layer{Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{
		Rule:         spec.rule,
		OpenFor:      seconds(c.Float("open_s")),
		Probes:       int(c.Float("probes")),
		InFlightSlow: spec.inFlight,
		Unshared:     true,
	}}}
	if c.Text("breaker") == breakerInside {
		return append(s, breaker)
	}
	return append(model.Stack{breaker}, s...)
}

func budgetBreakerConfig(c Cell) model.Config {
	step := func(hop int) []model.Step {
		return calls(model.Call{To: chainHops[hop][1], Stack: hopStack(c, hop)})
	}
	last := model.Node{
		Name: "C", Workers: model.Unlimited,
		Service: model.Law{Kind: model.Constant, Mean: seconds(c.Float("service_s"))},
	}
	if p := c.Float("error_ratio"); p > 0 {
		last.Faults = []model.Fault{{Kind: model.FaultError, Ratio: p, End: seconds(c.Float("fail_s"))}}
	}
	end := seconds(c.Float("horizon_s"))
	return model.Config{
		Nodes: []model.Node{
			{Name: "A", Workers: model.Unlimited, Async: true, Steps: step(1)},
			{Name: "B", Workers: model.Unlimited, Async: true, Steps: step(2)},
			last,
		},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")},
			Steps:    step(0),
			End:      end,
		}},
		Horizon: end + chainTime(c),
	}
}

// chainTime is longer than any request lasts: all attempts there can be, one
// after the other.
func chainTime(c Cell) time.Duration {
	attempts := math.Pow(float64(c.retry("retry").attempts), float64(len(chainHops)))
	return seconds(min(1+attempts*c.Float("service_s"), 1e6))
}

// chainRequests is the number of requests of a run.
func chainRequests(c Cell) float64 {
	return max(1, math.Ceil(c.Float("rate_rps")*c.Float("horizon_s")-1e-9))
}

// chainBound is the most attempts per request that can reach C, hop by hop.
func chainBound(c Cell) float64 {
	requests := chainRequests(c)
	calls := requests
	for hop := range chainHops {
		if retriesAt(c, hop) {
			calls = c.retry("retry").mostAttempts(calls)
		}
	}
	return calls / requests
}

func measureBudgetBreaker(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, budgetBreakerConfig(c))
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client := l.Client("client")
	var denied, refused float64
	for _, hop := range chainHops {
		h := l.Call(hop[0], hop[1])
		denied += float64(h.Denied)
		refused += float64(h.Refused)
	}
	open := l.Call("B", "C").OpenTime.Seconds() / s.Now().Seconds()
	amplification := func(node string) float64 { return quotient(l.Node(node).Attempts, client.Requests) }
	return [][]float64{withMeasures(l,
		quotient(client.Succeeded, client.Succeeded+client.Failed),
		amplification("A"), amplification("B"), amplification("C"), chainBound(c),
		denied, refused, open,
	)}, nil
}
