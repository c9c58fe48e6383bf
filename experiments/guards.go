package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// The guards of guards.
const (
	guardBudgetOnly  = "budget-only"  // only the budget is asked
	guardBudgetFirst = "budget-first" // budget, breaker, idempotent
	guardBudgetLast  = "budget-last"  // idempotent, breaker, budget
)

var guardOrders = map[string]string{
	guardBudgetOnly:  "budget alone",
	guardBudgetFirst: "budget, breaker, idempotent",
	guardBudgetLast:  "idempotent, breaker, budget",
}

// The budgets of guards.
const (
	guardCounter = "counter"
	guardBucket  = "bucket"
	guardWindow  = "window"
	guardNone    = "none"
)

func guards() *Experiment {
	drill := policies.SpringCloudDrill()
	counter, wait := drill.Budget.Counter, drill.Retry.Backoff
	order := choice("guard", "what a retry is put to, in this order: "+guardBudgetOnly+", "+guardBudgetFirst+" (budget, breaker, idempotent), "+
		guardBudgetLast+" (idempotent, breaker, budget)", []string{guardBudgetOnly, guardBudgetFirst, guardBudgetLast}, 3)
	order.label = func(level string) string { return guardOrders[level] }
	return &Experiment{
		Name: "guards",
		Doc: `What do the guards before a retry let through, and when?
A client with at most so many attempts calls a node that answers every call, or a
share of them, with an error at once during an outage. Before a retry it asks a
budget, a breaker and whether the call may be made twice; each refusal has its
reason. The counter budget is that of the article on a drill in a Spring Cloud
chain: it refuses when it has seen more than grace requests and retries/requests
is above the ratio, and forgets both at reset_at requests. Beside it are a bucket
of tokens, empty at first, and an exact sliding window. Closed forms hold for
immediate retries of a node that is down, without other guards: the counter
grants (attempts − 1) × grace retries at first, and attempts − 1 more than that
after each reset; what healthy requests saved before the outage, ratio × requests
since the reset, comes at once when it begins.`,
		Factors: []Factor{
			choice("budget", "budget of the retries: counter, bucket, window, none", []string{guardCounter, guardBucket, guardWindow, guardNone}, 3),
			order,
			number("wait_s", "back-off before the first retry, s; 0 for none", 0, 1e4, 0, wait.Base.Seconds()),
			number("outage_at_s", "start of the outage, s", 0, 1e5, 0, 18),
			positive("outage_s", "length of the outage, s", 1e5, 42),
			positive("error_ratio", "share of the calls that fail in the outage", 1, 1, 0.2),
			number("unsafe_ratio", "share of the requests that must not be made twice", 0, 1, 0.2),
			number("ratio", "retries for each request that the budget allows", 0, 1, counter.Ratio),
			whole("grace", "requests up to which the counter refuses nothing", 0, 1e6, float64(counter.Grace)),
			whole("reset_at", "requests at which the counter begins anew", 1, 1e9, float64(counter.ResetAt)),
			whole("cap", "most tokens of the bucket", 1, 1e6, 10),
			positive("window_s", "length of the sliding window, s", 1e5, 10),
			whole("attempts", "most attempts of a request, the first included", 1, 100, float64(drill.Retry.Attempts)),
			number("multiplier", "growth of the back-off from one wait to the next, from 1 on", 1, 1000, wait.Multiplier),
			number("jitter_ratio", "share by which a wait is shorter or longer", 0, 1, wait.Jitter),
			breakerFactor("rule", "count-100-100-50"),
			positive("open_s", "time a breaker stays open, s", 1e5, 5),
			whole("probes", "calls let through when half-open", 1, 1e6, 10),
			positive("rate_rps", "offered load, evenly spaced, requests/s", 1e6, 500),
			number("horizon_s", "length of a run, s", 0.1, 1e5, 60),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts at the node per request"},
			{Name: "success_ratio", Doc: "share of the ended requests that succeeded"},
			{Name: "retries_count", Doc: "retries granted"},
			{Name: "start_retries_count", Doc: "retries granted while the first requests of the outage came, as many as the grace"},
			{Name: "reset_retries_count", Doc: "retries granted from a reset of the counter until as many requests more had come as the grace, mean over the resets in the outage; none of other budgets"},
			{Name: "burst_retries_count", Doc: "most retries granted in a second, of those that begin every 100 ms"},
			{Name: "peak_load_ratio", Doc: "most attempts at the node in 100 ms per request offered in 100 ms"},
			{Name: "budget_refused_count", Doc: "retries that the budget refused"},
			{Name: "breaker_refused_count", Doc: "retries refused since the breaker was not closed"},
			{Name: "unsafe_refused_count", Doc: "retries refused since the call must not be made twice"},
			{Name: "spent_unsent_count", Doc: "of the last two, those for which the budget, asked before, had been spent"},
			{Name: "unsafe_retries_count", Doc: "retries granted to calls that must not be made twice"},
		}, retryMeasures...),
		Reps:    3,
		Valid:   validGuards,
		Check:   checkGuards,
		Measure: measureGuards,
		Exact:   exactGuards,
		Logs:    everyCell,
		Report:  reportGuards,
		Detail:  guardsDetail,
	}
}

// guardsStep is the width of the intervals of the series.
const guardsStep = 100 * time.Millisecond

// validGuards leaves out what repeats others: without a budget it does not
// matter when it is asked, and the order that is named first stands for both.
func validGuards(c Cell) bool {
	if c.Text("budget") != guardNone || c.Text("guard") == guardBudgetOnly {
		return true
	}
	for _, f := range c.factors {
		for _, level := range f.Levels {
			if f.Name == "guard" && level != guardBudgetOnly {
				return c.Text("guard") == level
			}
		}
	}
	return true
}

// guardsAsked says in words what a retry of the cell is put to.
func guardsAsked(c Cell) string {
	switch {
	case c.Text("budget") != guardNone:
		return guardOrders[c.Text("guard")]
	case c.Text("guard") == guardBudgetOnly:
		return "nothing"
	}
	return "breaker, idempotent"
}

func checkGuards(c Cell) error {
	if n := c.Float("rate_rps") * c.Float("horizon_s") * c.Float("attempts"); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: guards: rate_rps × horizon_s × attempts = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	if n := c.Float("horizon_s") / guardsStep.Seconds(); n > maxGuardBins {
		return fmt.Errorf("experiments: guards: horizon_s = %s, want at most %s", c.Text("horizon_s"), formatNumber(maxGuardBins*guardsStep.Seconds()))
	}
	if c.Float("outage_at_s") >= c.Float("horizon_s") {
		return fmt.Errorf("experiments: guards: outage_at_s = %s, want below horizon_s = %s", c.Text("outage_at_s"), c.Text("horizon_s"))
	}
	return guardsSystem(c).Validate()
}

// maxGuardBins bounds the series of a run.
const maxGuardBins = 200_000

// guardBudget is the budget of a cell; nil if there is none.
func guardBudget(c Cell) *policies.BudgetConfig {
	ratio := c.Float("ratio")
	switch c.Text("budget") {
	case guardCounter:
		return &policies.BudgetConfig{Kind: policies.BudgetCounter, Counter: policies.CounterConfig{
			Ratio: ratio, Grace: int(c.Float("grace")), ResetAt: int(c.Float("reset_at"))}}
	case guardBucket:
		return &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: ratio, Cap: int(c.Float("cap"))}}
	case guardWindow:
		return &policies.BudgetConfig{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: seconds(c.Float("window_s")), Ratio: ratio}}
	}
	return nil
}

// guardStack is the retry of a cell and, if it is asked, the breaker inside it.
func guardStack(c Cell) model.Stack {
	retry := &model.RetryLayer{
		RetryConfig: policies.RetryConfig{
			Attempts: int(c.Float("attempts")),
			Errors:   policies.ErrorList{NoRetryOn: []string{"breaker-open"}},
		},
		Budget: guardBudget(c),
	}
	if wait := c.Float("wait_s"); wait > 0 {
		retry.Backoff = policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: seconds(wait),
			Multiplier: c.Float("multiplier"), Jitter: c.Float("jitter_ratio")}
	}
	if c.Text("guard") == guardBudgetOnly {
		return model.Stack{{Retry: retry}}
	}
	retry.Guard = &policies.GuardConfig{Order: []policies.GuardStep{policies.GuardBudget, policies.GuardBreaker, policies.GuardIdempotent}}
	if c.Text("guard") == guardBudgetLast {
		retry.Guard.Order = []policies.GuardStep{policies.GuardIdempotent, policies.GuardBreaker, policies.GuardBudget}
	}
	spec, err := parsePolicy(c.Text("rule"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	return model.Stack{{Retry: retry}, {Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{
		Rule: spec.rule, InFlightSlow: spec.inFlight, OpenFor: seconds(c.Float("open_s")), Probes: int(c.Float("probes")),
	}}}}
}

func guardsSystem(c Cell) model.Config {
	start := seconds(c.Float("outage_at_s"))
	return model.Config{
		Nodes: []model.Node{{
			Name: "node", Workers: model.Unlimited,
			Faults: []model.Fault{{Kind: model.FaultError, Fast: true, Ratio: c.Float("error_ratio"),
				Start: start, End: start + seconds(c.Float("outage_s"))}},
		}},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")},
			Steps:    calls(model.Call{To: "node", Stack: guardStack(c), UnsafeRatio: c.Float("unsafe_ratio")}),
		}},
		Horizon:  seconds(c.Float("horizon_s")),
		Interval: guardsStep,
	}
}

func measureGuards(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := newSystem(j, guardsSystem(c))
	if err != nil {
		return nil, err
	}
	w := guardStretches(c)
	granted := make([]float64, len(w))
	for i, stretch := range w {
		for k, at := range stretch {
			if err := s.RunUntil(ctx, at); err != nil {
				return nil, err
			}
			if retries := float64(s.Ledger().Call("client", "node").Retries); k == 0 {
				granted[i] = -retries
			} else {
				granted[i] += retries
			}
		}
	}
	if err := s.Run(ctx); err != nil {
		return nil, err
	}
	logPending(j, s)
	if c.Text("budget") != guardCounter {
		granted = granted[:1] // nothing is reset
	}
	resets := math.NaN()
	for i, v := range granted[1:] {
		if i == 0 {
			resets = 0
		}
		resets += v / float64(len(granted)-1)
	}
	peak, burst, second := 0.0, 0.0, 0.0
	series := s.Series()
	const inSecond = int(time.Second / guardsStep)
	for i, v := range series {
		if v.End.Sub(v.Start) == guardsStep {
			peak = max(peak, float64(v.Nodes[0].Attempts))
		}
		second += float64(v.Calls[0].Retries)
		if i >= inSecond {
			second -= float64(series[i-inSecond].Calls[0].Retries)
		}
		burst = max(burst, second)
	}
	l := s.Ledger()
	client, call := l.Client("client"), l.Call("client", "node")
	spent := 0.0
	if c.Text("guard") == guardBudgetFirst && c.Text("budget") != guardNone {
		spent = float64(call.NotClosed + call.NotIdempotent)
	}
	return [][]float64{withMeasures(l,
		quotient(l.Node("node").Attempts, client.Requests),
		quotient(client.Succeeded, client.Succeeded+client.Failed),
		float64(call.Retries), granted[0], resets, burst, peak/(c.Float("rate_rps")*guardsStep.Seconds()),
		float64(call.Denied), float64(call.NotClosed), float64(call.NotIdempotent), spent,
		float64(call.UnsafeRetries),
	)}, nil
}

// guardStretches are the times in which the requests come that the counter
// does not bound: the first of the outage, and those from each of its resets in
// the outage on, that which resets it included. They begin and end between
// requests and do not overlap.
func guardStretches(c Cell) [][2]sim.Time {
	f := guardFigures(c)
	at := func(request float64) sim.Time { // number from 0, the instant half a period before it
		return sim.Time(seconds(max(0, (request-0.5)/c.Float("rate_rps"))))
	}
	var w [][2]sim.Time
	for _, v := range f.stretches() {
		w = append(w, [2]sim.Time{at(f.before + v[0]), at(f.before + v[1])})
	}
	return w
}

// maxGuardResets bounds the resets that are looked at.
const maxGuardResets = 1000
