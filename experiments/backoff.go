package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
)

// plusMinus is an exponential back-off with a jitter around it, as against
// those named after how they draw the wait.
const plusMinus = "plus-minus"

var backoffLevels = []string{
	string(policies.NoBackoff), string(policies.FixedBackoff), string(policies.ExponentialBackoff), plusMinus,
	string(policies.FullJitter), string(policies.EqualJitter), string(policies.DecorrelatedJitter),
}

// backoffWords says what each kind is.
var backoffWords = map[string]string{
	string(policies.NoBackoff):          "no back-off",
	string(policies.FixedBackoff):       "fixed",
	string(policies.ExponentialBackoff): "exponential",
	plusMinus:                           "exponential ± jitter",
	string(policies.FullJitter):         "full jitter",
	string(policies.EqualJitter):        "equal jitter",
	string(policies.DecorrelatedJitter): "decorrelated jitter",
}

// The outages of backoff.
const (
	outageError = "error" // the node answers every call at once with an error
	outageStall = "stall" // no service begins; calls wait
)

func backoffExperiment() *Experiment {
	kind := choice("kind", "wait before a retry: none, fixed, exponential, plus-minus (exponential, shorter or longer by jitter), full, equal, decorrelated",
		backoffLevels, len(backoffLevels))
	kind.label = func(level string) string { return backoffWords[level] }
	return &Experiment{
		Name: "backoff",
		Doc: `What do base and jitter of the back-off do to the load on a node that has been down, and to its recovery?
One node with limited workers and an unbounded queue, Poisson arrivals, and
clients that retry after a timeout or an error. The node answers every call with
an error at once for outage_s (error), or begins no service (stall): then calls
queue up, and abandoned work is done to its end. Back-off cannot lower the
number of attempts of requests that fail; it moves them to a time when they may
succeed. Kinds as in Brooker (2015), "Exponential Backoff And Jitter", AWS
Architecture Blog. Without back-off the base means nothing and is left out.`,
		Factors: []Factor{
			choice("outage", "what the outage is: "+outageStall+" or "+outageError, []string{outageStall, outageError}, 2),
			kind,
			positive("base_s", "first wait, s", 1e4, 0.01, 0.1, 1, 3, 5, 10),
			number("jitter_ratio", "share by which plus-minus is shorter or longer", 0, 1, 0.5),
			positive("cap_s", "longest wait before jitter, s; at least the base, but for no and fixed back-off", 1e5, 30),
			whole("attempts", "most attempts of a request, the first included", 2, 100, 4),
			positive("rate_rps", "offered load, requests/s", 1e6, 80),
			whole("workers", "calls the node serves at a time", 1, 1e6, 20),
			number("service_s", "mean service time, exponential, s", 1e-6, 1e4, 0.1),
			number("timeout_s", "timeout of an attempt, s", 1e-6, 1e4, 1),
			number("outage_at_s", "start of the outage, s", 0, 1e5, 10),
			number("outage_s", "length of the outage, s", 0.1, 1e5, 5),
			number("horizon_s", "length of a run, s", 1, 1e5, 60),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts at the node per request, whole run"},
			{Name: "success_ratio", Doc: "share of all ended requests that succeeded"},
			{Name: "outage_success_ratio", Doc: "share of the requests started in the outage that succeeded"},
			{Name: "recovery_s", Doc: "end of the outage to the end of the last second of whose requests, by the time they started, over 10 % failed for good, s; one that a later retry saves has not failed; never if fewer than 90 % of the requests of the last 10 s were answered", Censored: "unrecovered_count"},
			{Name: "peak_load_ratio", Doc: "most attempts in 100 ms from the start of the outage on, per call of capacity in 100 ms"},
			{Name: "peak_after_load_ratio", Doc: "the same from the end of the outage on"},
			{Name: "backlog_s", Doc: "most work that waited for a worker at a time, in s of the whole node's capacity"},
			{Name: "latency_p99_s", Doc: "latency that 99 % of the ended requests stay below, s, to the upper edge of its bucket, less than 1 % above"},
		}, retryMeasures...),
		Reps:    5,
		Valid:   validBackoff,
		Check:   checkBackoff,
		Measure: measureBackoff,
		Logs:    everyCell,
		Exact:   exactBackoff,
		Report:  reportBackoff,
	}
}

// validBackoff leaves out the bases of no back-off but the first, and jitters
// of kinds that do not read it.
func validBackoff(c Cell) bool {
	kind := c.Text("kind")
	return (kind != string(policies.NoBackoff) || c.first("base_s") && c.first("cap_s")) &&
		(kind == plusMinus || c.first("jitter_ratio"))
}

// first reports whether a factor has the first of its levels.
func (c Cell) first(name string) bool {
	for _, f := range c.factors {
		if f.Name == name {
			return c.Text(name) == f.Levels[0]
		}
	}
	return false
}

const backoffBin = 100 * time.Millisecond

func checkBackoff(c Cell) error {
	const after = 20
	if need := c.Float("outage_at_s") + c.Float("outage_s") + after; need > c.Float("horizon_s") {
		return fmt.Errorf("experiments: backoff: outage_at_s + outage_s + %d s = %s s, want at most horizon_s = %s s", after, formatNumber(need), c.Text("horizon_s"))
	}
	if n := c.Float("rate_rps") * c.Float("horizon_s") * c.Float("attempts"); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: backoff: rate_rps × horizon_s × attempts = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	switch kind := c.Text("kind"); kind {
	case string(policies.NoBackoff), string(policies.FixedBackoff):
	default:
		if c.Float("cap_s") < c.Float("base_s") {
			return fmt.Errorf("experiments: backoff: factor cap_s: %s, want at least base_s, %s, with kind=%s", c.Text("cap_s"), c.Text("base_s"), kind)
		}
	}
	return backoffSystem(c).Validate()
}

// backoffConfig is the back-off of a cell.
func backoffConfig(c Cell) policies.BackoffConfig {
	b := policies.BackoffConfig{Kind: policies.BackoffKind(c.Text("kind")), Base: seconds(c.Float("base_s")), Cap: seconds(c.Float("cap_s"))}
	switch c.Text("kind") {
	case plusMinus:
		b.Kind, b.Jitter = policies.ExponentialBackoff, c.Float("jitter_ratio")
	case string(policies.NoBackoff):
		return policies.BackoffConfig{}
	}
	return b
}

func backoffSystem(c Cell) model.Config {
	start := seconds(c.Float("outage_at_s"))
	fault := model.Fault{Start: start, End: start + seconds(c.Float("outage_s"))}
	if c.Text("outage") == outageStall {
		fault.Kind = model.FaultStall
	} else {
		fault.Kind, fault.Fast = model.FaultError, true
	}
	return model.Config{
		Nodes: []model.Node{{
			Name:    "node",
			Workers: int(c.Float("workers")),
			Service: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("service_s"))},
			Faults:  []model.Fault{fault},
		}},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps: calls(model.Call{To: "node", Stack: model.Stack{
				{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: int(c.Float("attempts")), Backoff: backoffConfig(c)}}},
				{Timeout: seconds(c.Float("timeout_s"))},
			}}),
		}},
		Horizon:  seconds(c.Float("horizon_s")),
		Interval: backoffBin,
	}
}

func measureBackoff(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, backoffSystem(c))
	if err != nil {
		return nil, err
	}
	series := s.Series()
	start, horizon := c.Float("outage_at_s"), c.Float("horizon_s")
	end := start + c.Float("outage_s")
	perBin := c.capacity() * backoffBin.Seconds()
	var peak, after, queued float64
	var inOutage, good uint64
	for _, v := range series {
		from := v.Start.Seconds()
		load := float64(v.Nodes[0].Attempts) / perBin
		if from >= start-1e-9 {
			peak = max(peak, load)
			queued = max(queued, float64(v.Nodes[0].Queued))
		}
		if from >= end-1e-9 {
			after = max(after, load)
		}
		if from >= start-1e-9 && v.End.Seconds() <= end+1e-9 {
			inOutage += v.Clients[0].Requests
			good += v.Clients[0].StartedSucceeded
		}
	}
	recovery := max(0, lastBadSecond(series)-end)
	if !overStretch(series, horizon-10, horizon).well() {
		recovery = math.Inf(1)
	}
	l := s.Ledger()
	client := l.Client("client")
	return [][]float64{withMeasures(l,
		quotient(l.Node("node").Attempts, client.Requests),
		quotient(client.Succeeded, client.Succeeded+client.Failed),
		quotient(good, inOutage),
		recovery, peak, after, queued/c.capacity(),
		s.LatencyQuantile("client", 0.99).Seconds(),
	)}, nil
}

// exactBackoff knows what immediate retries do in an outage that answers at
// once, on a node that is otherwise far from overload: each request that comes
// in it makes all its attempts there and then, and fails.
func exactBackoff(c Cell, metric string, _ int) (float64, bool) {
	if c.Text("kind") != string(policies.NoBackoff) || c.Text("outage") != outageError ||
		c.Float("rate_rps") > c.capacity()/2 || c.Float("timeout_s") < 10*c.Float("service_s") || c.Float("workers") < 10 {
		return 0, false
	}
	share := c.Float("outage_s") / c.Float("horizon_s")
	switch metric {
	case "amplification_ratio":
		return 1 + (c.Float("attempts")-1)*share, true
	case "success_ratio":
		return 1 - share, true
	case "outage_success_ratio", "recovery_s":
		return 0, true
	}
	return 0, false
}

func reportBackoff(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("kind", "base_s", "jitter_ratio", "cap_s") {
		c := p.Cells[cells[0]]
		t := table.Text{
			Caption: fmt.Sprintf("Outage (%s) of %s s: means of %s%s", c.Text("outage"), c.Text("outage_s"), r.replications(),
				p.varying(c, "kind", "base_s", "jitter_ratio", "cap_s", "outage")),
			Header: []string{"back-off", "base s", "attempts/request", "good in outage", "recovers after s", "peak ÷ capacity", "peak after", "backlog s", "p99 s"},
			Left:   1,
		}
		for _, i := range cells {
			c := p.Cells[i]
			base := c.Text("base_s")
			if c.Text("kind") == string(policies.NoBackoff) {
				base = Blank
			}
			label := backoffWords[c.Text("kind")]
			if c.Text("kind") == plusMinus {
				label += p.varying(c, "kind", "base_s", "outage", "cap_s")
			}
			t.Append(label, base, short(r.Stat(i, "amplification_ratio").Mean, 2), short(r.Stat(i, "outage_success_ratio").Mean, 2),
				reached(r.Stat(i, "recovery_s"), 1), short(r.Stat(i, "peak_load_ratio").Mean, 2), short(r.Stat(i, "peak_after_load_ratio").Mean, 2),
				short(r.Stat(i, "backlog_s").Mean, 1), short(r.Stat(i, "latency_p99_s").Mean, 1))
		}
		t.Notes = append(t.Notes, recoveryNote)
		texts = append(texts, t)
	}
	return texts
}

// recoveryNote defines the recovery in a report.
const recoveryNote = "Recovers after: from the end of the outage to the end of the last second of whose requests, by the time they started, over 10 % failed for good. " +
	"A request that a later retry saves is none of them; 0: no second after the outage lost as many. " +
	"Never: fewer than 90 % of the requests of the run's last 10 s were answered."
