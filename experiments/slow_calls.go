package experiments

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

func slowCalls() *Experiment {
	policy := policyFactor("count-20-10-50", "count-20-10-50-slow-1s-50", "count-20-10-50-slow-1s-50-inflight")
	policy.Panel = false // a breaker that opens changes the calls that follow
	return &Experiment{
		Name: "slow-calls",
		Doc: `Does a breaker notice a callee that turns slow without failing, and what does it save?
Threads call one server in a closed loop without think time. From a given
instant every call takes long and succeeds. The run ends after a number of
rounds of slow calls. Threads start at random within one fast call of each
other; a refused thread asks again after the time of a fast call. Source:
breaker windows, third table. Policies that end in -inflight count a call as
slow as soon as it has been in flight for longer than the threshold.`,
		Factors: []Factor{
			policy,
			whole("threads", "calling threads", 1, 1e6, 20),
			number("fast_s", "latency before the change, s", 1e-6, 1e6, 0.05),
			number("slow_s", "latency from the change on, s", 1e-6, 1e6, 2),
			number("slow_from_s", "instant of the change, s", 0, 1e6, 1),
			whole("rounds", "slow rounds observed", 1, 1e6, 6),
			number("open_s", "time a breaker stays open, s", 1e-6, 1e6, 60),
			whole("probes", "calls let through when half-open", 1, 1e6, 10),
		},
		Metrics: []Metric{
			{Name: "opened_at_s", Doc: "instant of the first opening, s", Censored: "unopened_count"},
			{Name: "calls_after_slow_count", Doc: "calls sent from the change on"},
			{Name: "thread_s", Doc: "time that these calls hold threads, s"},
			{Name: "refused_count", Doc: "calls refused"},
		},
		Reps:    30,
		Check:   checkSlowCalls,
		Measure: measureSlowCalls,
		Exact:   exactSlowCalls,
		Article: articleSlowCalls,
		Report:  reportSlowCalls,
		Detail:  slowCallsTimeline,
	}
}

func checkSlowCalls(c Cell) error {
	total := c.Float("slow_from_s") + c.Float("rounds")*c.Float("slow_s")
	if limit := float64(maxSeconds); total > limit {
		return fmt.Errorf("experiments: slow-calls: slow_from_s + rounds × slow_s = %s s, want at most %s", formatNumber(total), formatNumber(limit))
	}
	return nil
}

// A slowRun is one replication of one cell of slow-calls, so far.
type slowRun struct {
	openedAt float64 // s; +Inf if never
	calls    uint64  // sent from the change on
	refused  uint64
	inFlight uint64
}

// slowCallsSystem is the system of a cell: threads in a closed loop that call a
// server which turns slow.
func slowCallsSystem(c Cell, breaker policies.BreakerConfig) model.Config {
	fast, slow := seconds(c.Float("fast_s")), seconds(c.Float("slow_s"))
	change := seconds(c.Float("slow_from_s"))
	return model.Config{
		Horizon: change + time.Duration(c.Float("rounds"))*slow,
		Nodes: []model.Node{{
			Name: "server", Workers: model.Unlimited, Service: model.Law{Mean: slow},
			Trace: []model.Segment{{Node: "server", End: max(1, change), Condition: model.Condition{LatencyP50: model.Known(fast), LatencyP90: model.Known(fast)}}},
		}},
		Clients: []model.Client{{
			Name: "threads", Loop: model.ClosedLoop{Clients: int(c.Float("threads"))}, Spread: fast, FailurePause: fast,
			Steps: calls(model.Call{To: "server", Stack: model.Stack{{Breaker: &model.BreakerLayer{BreakerConfig: breaker}}}}),
		}},
	}
}

// runSlowCalls runs one cell. Observe, if not nil, is called at the given
// instants.
func runSlowCalls(ctx context.Context, j Job, c Cell, every time.Duration, observe func(t sim.Time, r *slowRun)) (slowRun, error) {
	r := slowRun{openedAt: math.Inf(1)}
	spec := c.policy()
	var s *model.System
	config := slowCallsSystem(c, policies.BreakerConfig{
		Rule:         spec.rule,
		OpenFor:      seconds(c.Float("open_s")),
		Probes:       int(c.Float("probes")),
		HalfOpen:     policies.CollectAll,
		InFlightSlow: spec.inFlight,
		OnChange: func(ch policies.Change) {
			if ch.To == policies.Open {
				r.openedAt = min(r.openedAt, s.Now().Seconds())
			}
		},
	})
	s, err := model.New(config, j.Seed, j.Replication)
	if err != nil {
		return r, err
	}
	change, end := sim.Time(seconds(c.Float("slow_from_s"))), sim.Time(config.Horizon)
	if err := s.RunUntil(ctx, change); err != nil {
		return r, err
	}
	before := s.Ledger().Node("server").Attempts
	for t := sim.Time(0); t < end; {
		t = min(end, t.Add(every))
		if err := s.RunUntil(ctx, t); err != nil {
			return r, err
		}
		l := s.Ledger()
		r.calls = l.Node("server").Attempts - min(before, l.Node("server").Attempts)
		r.refused = l.Call("threads", "server").Refused
		r.inFlight = l.Node("server").InFlight
		if observe != nil {
			observe(t, &r)
		}
	}
	return r, nil
}

func measureSlowCalls(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	r, err := runSlowCalls(ctx, j, c, maxSeconds*time.Second, nil)
	if err != nil {
		return nil, err
	}
	return [][]float64{{r.openedAt, float64(r.calls), float64(r.calls) * c.Float("slow_s"), float64(r.refused)}}, nil
}

// slowCallsTimeline samples replication 0 of every cell 400 times.
func slowCallsTimeline(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("slow-calls_timeline", append(p.keyColumns(), table.Column{Name: "replication"}), []table.Column{
		{Name: "t_s", Doc: "instant, s"},
		{Name: "in_flight_count", Doc: "calls in flight, each holding a thread"},
		{Name: "calls_after_slow_count", Doc: "calls sent from the change on, so far"},
		{Name: "refused_count", Doc: "calls refused so far"},
	})
	for i, c := range p.Cells {
		end := c.Float("slow_from_s") + c.Float("rounds")*c.Float("slow_s")
		_, err := runSlowCalls(ctx, p.Job(i, 0), c, max(1, seconds(end/400)), func(at sim.Time, r *slowRun) {
			t.Append(append(p.keyCells(i), "0"), at.Seconds(), float64(r.inFlight), float64(r.calls), float64(r.refused))
		})
		if err != nil {
			return nil, err
		}
	}
	return []*table.Table{t}, nil
}

// exactSlowCalls gives what a policy without slow-call rule must see.
func exactSlowCalls(c Cell, metric string, _ int) (float64, bool) {
	spec := c.policy()
	slowest := max(c.Float("slow_s"), c.Float("fast_s"))
	if spec.rule.SlowRate > 0 && spec.rule.SlowAfter < seconds(slowest) {
		return 0, false
	}
	// Every thread must be under way, and back from its last fast call, within
	// one slow round.
	if c.Float("fast_s") > c.Float("slow_s") || c.Float("fast_s") > c.Float("slow_from_s") {
		return 0, false
	}
	calls := c.Float("threads") * c.Float("rounds")
	switch metric {
	case "opened_at_s":
		return math.Inf(1), true
	case "calls_after_slow_count":
		return calls, true
	case "thread_s":
		return calls * c.Float("slow_s"), true
	case "refused_count":
		return 0, true
	}
	return 0, false
}

// slowCase is the article's name of a policy, "" if it has none.
func slowCase(c Cell) string {
	switch c.Text("policy") {
	case "count-20-10-50":
		return "A failure rate only"
	case "count-20-10-50-slow-1s-50":
		return "B failure + slow rate"
	}
	return ""
}

func articleSlowCalls(c Cell, metric string) (string, string, string) {
	if !likeArticle(slowCalls(), c) {
		return "", "", ""
	}
	return "T4c", slowCase(c), strings.TrimSuffix(metric, "_count")
}

func reportSlowCalls(r *Result) []table.Text {
	t := table.Text{
		Caption: "Slow calls: means of " + r.replications(),
		Header:  []string{"policy", "opens at s", "article", "calls after the change", "article", "thread time s", "article", "refused"},
		Left:    1,
	}
	base := map[string]float64{} // thread time of the first policy, by the other factors
	for i, c := range r.Plan.Cells {
		others := r.Plan.varying(c, "policy")
		opened, calls := r.Stat(i, "opened_at_s"), r.Stat(i, "calls_after_slow_count")
		thread, refused := r.Stat(i, "thread_s"), r.Stat(i, "refused_count")
		t.Append(c.policy().String()+others, reached(opened, 3), article(opened, 2), meanCI(calls, 1), article(calls, 0),
			meanCI(thread, 1), article(thread, 0), short(refused.Mean, 1))
		first, ok := base[others]
		if !ok {
			base[others], first = thread.Mean, thread.Mean
		}
		if saved := first - thread.Mean; saved > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s saves %s of %s s of thread time, %s.",
				c.policy().String()+others, short(saved, 1), short(first, 1), formatPercent(math.Round(1000*saved/first)/1000)))
		}
	}
	t.Notes = append(t.Notes, "A call is known to be slow only when it returns, unless calls in flight count: no rule without -inflight opens before the first slow call is back.")
	return []table.Text{t}
}
