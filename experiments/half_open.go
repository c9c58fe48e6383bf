package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/theory"
)

// The callees of half-open.
const (
	calleePartial = "partial" // fails a share of the calls all the time
	calleeRamp    = "ramp"    // is down, and then its capacity returns step by step
)

// The rules of half-open: what it calls collect-one lets one probe in at a time.
const (
	collectAll   = string(policies.CollectAll)
	collectOne   = "collect-one-at-a-time"
	firstFailure = string(policies.FirstFailure)
)

var halfOpenRules = []string{collectAll, firstFailure, collectOne}

func halfOpen() *Experiment {
	callee := choice("callee", "what is wrong: partial (failure_ratio of the calls fail all the time) or ramp (down for outage_s, then the capacity returns over ramp_s)",
		[]string{calleePartial, calleeRamp}, 2)
	callee.label = func(level string) string {
		if level == calleePartial {
			return "fails a share of the calls"
		}
		return "recovers slowly"
	}
	rule := choice("half_open", "how probes decide: collect-all, first-failure, or collect-one-at-a-time (collect-all with one probe in flight)", halfOpenRules, 3)
	return &Experiment{
		Name: "half-open",
		Doc: `Which probes and which cool-down keep a breaker from flapping, and what do they cost in recovery?
A caller with a breaker, Poisson arrivals, no retries. Partial: the callee fails
a share of the calls all the time, above the threshold of the rule, so the right
state is open. Ramp: the callee is down for outage_s and then has a tenth of its
capacity more every tenth of ramp_s, with a queue without bound and work that is
done although the caller has timed out; a breaker that closes too early floods
it. A flap is an opening from closed after the first one: partial has them all the
time, so they are counted by the hour, ramp in its one recovery. Source: retry
governance, thirteenth section: a breaker that opens and closes all the time
lets too many probes through; fewer of them and a longer cool-down are to help.`,
		Factors: []Factor{
			callee,
			rule,
			whole("probes", "calls let through when half-open", 1, 1e4, 1, 3, 10, 30),
			positive("open_s", "cool-down: time the breaker stays open, s", 1e5, 1, 5, 30),
			breakerFactor("breaker", "time-10s-20-20"),
			positive("rate_rps", "load, calls/s", 1e5, 100),
			number("failure_ratio", "share of the calls that partial fails", 0, 1, 0.3),
			number("outage_s", "length of ramp's outage, s", 0, 1e5, 20),
			positive("ramp_s", "time in which ramp's capacity returns, s", 1e5, 120),
			whole("workers", "calls the callee serves at a time", 1, 1e6, 20),
			number("service_s", "mean service time, exponential, s", 1e-6, 1e3, 0.1),
			number("timeout_s", "timeout of a call, s", 1e-3, 1e4, 1),
			number("length_s", "length of a run, s", 30, 1e5, 600),
		},
		Metrics: append([]Metric{
			{Name: "flaps_count", Doc: "openings from closed after the first, in the run; in ramp these are the flaps of its one recovery"},
			{Name: "flaps_per_hour", Doc: "the same per hour; not in ramp, where a longer run has no more of them"},
			{Name: "probe_failure_ratio", Doc: "share of the half-open states that ended in opening again"},
			{Name: "closed_after_s", Doc: "mean time from an opening from closed to closed again, failed probing included, s"},
			{Name: "recovery_s", Doc: "from where the callee's capacity is above the load again to the end of the last second in which over 10 % of the calls failed, refused ones included, s; not in partial", Censored: "unrecovered_count"},
			{Name: "success_ratio", Doc: "share of all calls that succeed"},
			{Name: "refused_ratio", Doc: "share of the calls that the breaker refuses"},
			{Name: "callee_failed_ratio", Doc: "share of the calls that reach the callee and fail or time out"},
		}, retryMeasures...),
		Reps:    5,
		Check:   checkHalfOpen,
		Measure: measureHalfOpen,
		Logs:    everyCell,
		Exact:   exactHalfOpen,
		Report:  reportHalfOpen,
		Detail:  halfOpenStates,
	}
}

const (
	halfOpenAt    = 30 * time.Second // start of ramp's outage
	halfOpenSteps = 10               // of its capacity
)

func checkHalfOpen(c Cell) error {
	if n := c.Float("rate_rps") * c.Float("length_s"); n > maxChainCalls {
		return fmt.Errorf("experiments: half-open: rate_rps × length_s = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	if c.Text("callee") == calleeRamp {
		if need := halfOpenAt.Seconds() + c.Float("outage_s") + c.Float("ramp_s") + 30; need > c.Float("length_s") {
			return fmt.Errorf("experiments: half-open: 60 s + outage_s + ramp_s = %s s, want at most length_s = %s s", formatNumber(need), c.Text("length_s"))
		}
	}
	return halfOpenConfig(c, nil).Validate()
}

// halfOpenBreaker is the breaker of a cell; watch is told of its changes.
func halfOpenBreaker(c Cell, watch func(policies.Change)) policies.BreakerConfig {
	spec, err := parsePolicy(c.Text("breaker"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	b := policies.BreakerConfig{
		Rule: spec.rule, InFlightSlow: spec.inFlight, OpenFor: seconds(c.Float("open_s")),
		Probes: int(c.Float("probes")), OnChange: watch, Unshared: true,
	}
	switch c.Text("half_open") {
	case collectOne:
		b.ProbesInFlight = 1
	case firstFailure:
		b.HalfOpen = policies.FirstFailure
	}
	return b
}

func halfOpenConfig(c Cell, watch func(policies.Change)) model.Config {
	node := model.Node{
		Name: "callee", Workers: int(c.Float("workers")),
		Service: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("service_s"))},
	}
	if c.Text("callee") == calleePartial {
		if p := c.Float("failure_ratio"); p > 0 {
			node.Faults = []model.Fault{{Kind: model.FaultError, Ratio: p}}
		}
	} else {
		at := halfOpenAt + seconds(c.Float("outage_s"))
		if at > halfOpenAt {
			node.Faults = append(node.Faults, model.Fault{Kind: model.FaultError, Fast: true, Start: halfOpenAt, End: at})
		}
		step := max(1, seconds(c.Float("ramp_s"))/halfOpenSteps)
		for k := 1; k < halfOpenSteps; k++ {
			from := at + time.Duration(k-1)*step
			node.Faults = append(node.Faults, model.Fault{Kind: model.FaultCapacity, Start: from, End: from + step, Factor: float64(k) / halfOpenSteps})
		}
	}
	return model.Config{
		Horizon: seconds(c.Float("length_s")), Interval: time.Second,
		Nodes: []model.Node{node},
		Clients: []model.Client{{
			Name: "caller", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps: calls(model.Call{To: "callee", Stack: model.Stack{
				{Breaker: &model.BreakerLayer{BreakerConfig: halfOpenBreaker(c, watch)}}, {Timeout: seconds(c.Float("timeout_s"))},
			}}),
		}},
	}
}

// runHalfOpen runs a cell and returns the changes of its breaker.
func runHalfOpen(ctx context.Context, j Job, c Cell) (*model.System, []policies.Change, error) {
	var changes []policies.Change
	s, err := runSystem(ctx, j, halfOpenConfig(c, func(ch policies.Change) { changes = append(changes, ch) }))
	return s, changes, err
}

// capableAt is when ramp's capacity is above the load again, s; +Inf if never.
func capableAt(c Cell) float64 {
	at := halfOpenAt.Seconds() + c.Float("outage_s")
	for k := 1; k <= halfOpenSteps; k++ {
		if c.capacity()*float64(k)/halfOpenSteps > c.Float("rate_rps") {
			return at + float64(k-1)*c.Float("ramp_s")/halfOpenSteps
		}
	}
	return math.Inf(1)
}

func measureHalfOpen(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, changes, err := runHalfOpen(ctx, j, c)
	if err != nil {
		return nil, err
	}
	var trips, again, closed int
	var opened time.Time
	var open time.Duration
	for _, ch := range changes {
		switch {
		case ch.From == policies.Closed:
			trips++
			opened = ch.At
		case ch.From == policies.HalfOpen && ch.To == policies.Open:
			again++
		case ch.To == policies.Closed:
			closed++
			open += ch.At.Sub(opened)
		}
	}
	recovery := math.NaN()
	if at := capableAt(c); c.Text("callee") == calleeRamp && !math.IsInf(at, 1) {
		series := s.Series()
		recovery = max(0, lastBadSecond(series)-at)
		if length := c.Float("length_s"); !overStretch(series, length-10, length).well() {
			recovery = math.Inf(1)
		}
	}
	flaps, hourly := float64(max(0, trips-1)), math.NaN()
	if c.Text("callee") == calleePartial {
		hourly = flaps * 3600 / c.Float("length_s")
	}
	l := s.Ledger()
	link, client := l.Call("caller", "callee"), l.Client("caller")
	return [][]float64{withMeasures(l,
		flaps, hourly,
		quotient(float64(again), float64(again+closed)),
		quotient(open.Seconds(), float64(closed)),
		recovery,
		quotient(client.Succeeded, client.Succeeded+client.Failed),
		quotient(link.Refused, link.Calls),
		quotient(link.Failed-link.Refused, link.Calls),
	)}, nil
}

// exactHalfOpen knows a callee that fails calls independently: by how many
// probes fail the breaker opens again.
func exactHalfOpen(c Cell, metric string, _ int) (float64, bool) {
	spec, err := parsePolicy(c.Text("breaker"))
	if err != nil || c.Text("callee") != calleePartial || metric != "probe_failure_ratio" || spec.rule.SlowRate > 0 {
		return 0, false
	}
	// The service time must not fail calls, nor the load the queue.
	if c.Float("rate_rps") > c.capacity()/1.3 || c.Float("timeout_s") < 8*c.Float("service_s") || c.Float("failure_ratio") == 0 {
		return 0, false
	}
	p, n := c.Float("failure_ratio"), int(c.Float("probes"))
	p += (1 - p) * math.Exp(-c.Float("timeout_s")/c.Float("service_s"))
	if c.Text("half_open") == firstFailure {
		return 1 - math.Pow(1-p, float64(n)), true
	}
	least := max(1, int(math.Ceil(spec.rule.FailureRate*float64(n)-1e-9)))
	again, err := theory.BinomialTail(n, p, least)
	return again, err == nil
}

// flapMetric is how the flaps of a callee are counted, and its name in tables.
func flapMetric(c Cell) (metric, name string) {
	if c.Text("callee") == calleeRamp {
		return "flaps_count", "flaps in the recovery"
	}
	return "flaps_per_hour", "flaps/h"
}
