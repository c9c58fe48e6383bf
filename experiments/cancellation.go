package experiments

import (
	"context"
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

func cancellation() *Experiment {
	return &Experiment{
		Name: "cancellation",
		Doc: `What is it worth that a service stops working for callers who have gone?
Requests arrive at random at a service with a limited number of workers. A
client waits for an attempt no longer than its timeout and then tries again at
once. Without cancel, what it has left waits its turn and is served to the end;
with cancel it leaves the queue, or its worker, at that instant. Mesh and
application retries, fifth table, for any load.`,
		Factors: []Factor{
			choice("cancel", "whether the service stops a call whose caller has gone", []string{"off", "on"}, 2),
			number("timeout_s", "timeout of an attempt, s", 1e-6, 1e6, 0.1, 0.5),
			whole("attempts", "attempts of a request at most", 1, maxRetries+1, 1, 3),
			number("rate_rps", "requests per second", 1e-6, 1e6, 40, 80, 120, 140, 160, 200, 240),
			whole("workers", "calls served at a time; 0 means no limit", 0, 1e6, 16),
			number("service_s", "mean time that a worker needs for a call, s", 1e-6, 1e6, 0.1),
			choice("service_law", "how this time is distributed", []string{model.Exponential, model.Constant}, 1),
			number("warmup_s", "time before the measurement, s", 0, 1e6, 20),
			number("measure_s", "time of the measurement, s", 1e-3, 1e6, 60),
		},
		Metrics: []Metric{
			{Name: "goodput_rps", Doc: "requests answered in time, per second"},
			{Name: "success_ratio", Doc: "requests answered in time ÷ requests"},
			{Name: "amplification_ratio", Doc: "attempts ÷ requests"},
			{Name: "abandoned_s", Doc: "work done for callers that had gone, s of service for each request"},
			{Name: "abandoned_work_ratio", Doc: "that work ÷ all the work done"},
			{Name: "max_in_service_count", Doc: "most calls in service at a time"},
			{Name: "max_present_count", Doc: "most calls in service and in the queue at a time"},
		},
		Reps:    10,
		Check:   checkCancellation,
		Measure: measureCancellation,
		Exact:   exactCancellation,
		Report:  reportCancellation,
	}
}

func checkCancellation(c Cell) error {
	length := c.Float("warmup_s") + c.Float("measure_s")
	if length > float64(maxSeconds) {
		return fmt.Errorf("experiments: cancellation: warmup_s + measure_s = %s s, want at most %s", formatNumber(length), formatNumber(float64(maxSeconds)))
	}
	if n := length * c.Float("rate_rps") * c.Float("attempts"); n > maxChainCalls {
		return fmt.Errorf("experiments: cancellation: (warmup_s + measure_s) × rate_rps × attempts = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	return nil
}

func measureCancellation(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	workers := int(c.Float("workers"))
	if workers == 0 {
		workers = model.Unlimited
	}
	warm, length := seconds(c.Float("warmup_s")), seconds(c.Float("measure_s"))
	s, err := model.New(model.Config{
		Horizon: warm + length,
		Nodes: []model.Node{{
			Name: "service", Workers: workers, Cancel: c.Text("cancel") == "on",
			Service: model.Law{Kind: c.Text("service_law"), Mean: seconds(c.Float("service_s"))},
		}},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps: calls(model.Call{
				To:    "service",
				Stack: append(appRetries(int(c.Float("attempts"))-1), model.Layer{Timeout: seconds(c.Float("timeout_s"))}),
			}),
		}},
	}, j.Seed, j.Replication)
	if err != nil {
		return nil, err
	}
	var before model.Ledger
	before.Clients, before.Nodes = make([]model.ClientLedger, 1), make([]model.NodeLedger, 1)
	if warm > 0 {
		if err := s.RunUntil(ctx, sim.Time(warm)); err != nil {
			return nil, err
		}
		before = *s.Ledger()
	}
	if err := s.Run(ctx); err != nil {
		return nil, err
	}
	after := s.Ledger()
	c0, c1, n0, n1 := before.Clients[0], after.Clients[0], before.Nodes[0], after.Nodes[0]
	requests := c1.Requests - c0.Requests
	abandoned := n1.AbandonedWork - n0.AbandonedWork
	work := workDone(n1) - workDone(n0)
	return [][]float64{{
		float64(c1.Succeeded-c0.Succeeded) / length.Seconds(),
		ratioOf(c1.Succeeded-c0.Succeeded, requests),
		ratioOf(n1.Attempts-n0.Attempts, requests),
		ratioOf(int64(abandoned), requests) / 1e9,
		ratioOf(int64(abandoned), work),
		float64(n1.MaxServing),
		float64(n1.MaxPresent),
	}}, nil
}

// workDone is all service done by calls that have ended.
func workDone(n model.NodeLedger) int64 {
	return int64(n.Useful + n.AbandonedWork + n.Duplicate + n.RejectedWork)
}

// exactCancellation knows a service without limit, whose attempts do not meet,
// and the queue M/M/c, which timeouts without cancel and retries do not change.
func exactCancellation(c Cell, metric string, _ int) (float64, bool) {
	timeout, service := c.Float("timeout_s"), c.Float("service_s")
	if c.Text("workers") != "0" {
		if metric != "success_ratio" || c.Text("cancel") != "off" || c.Text("attempts") != "1" ||
			c.Text("service_law") != model.Exponential {
			return 0, false
		}
		return sojournWithin(theory.MMC{ArrivalRPS: c.Float("rate_rps"), ServiceRPS: 1 / service, Servers: int(c.Float("workers"))}, timeout)
	}
	fails, abandoned := math.Exp(-timeout/service), timeout
	if c.Text("service_law") == model.Constant {
		if fails = 1; service < timeout {
			fails = 0
		}
	}
	if c.Text("cancel") == "off" {
		if abandoned = timeout + service; c.Text("service_law") == model.Constant {
			abandoned = service
		}
	}
	n := int(c.Float("attempts"))
	attempts, err := theory.RetryAttempts(fails, n)
	success, err2 := theory.RetrySuccess(fails, n)
	if err != nil || err2 != nil {
		return 0, false
	}
	switch metric {
	case "success_ratio":
		return success, true
	case "amplification_ratio":
		return attempts, true
	case "abandoned_s":
		return fails * attempts * abandoned, true
	}
	return 0, false
}

// sojournWithin is the probability that wait and service in an M/M/c queue
// take less than t; false if it is too near its limit to be steady. The wait
// is exponential at the rate of spare capacity if there is one (Gross and
// Harris, Fundamentals of Queueing Theory, section 2.3).
func sojournWithin(q theory.MMC, t float64) (float64, bool) {
	if q.Validate() != nil || q.Utilization() > 0.95 {
		return 0, false
	}
	waits, err := q.WaitProbability()
	if err != nil {
		return 0, false
	}
	mu, spare := q.ServiceRPS, float64(q.Servers)*q.ServiceRPS-q.ArrivalRPS
	longer := (1 + mu*t) * math.Exp(-mu*t) // both stages at the same rate
	if d := spare - mu; math.Abs(d) > 1e-6*mu {
		longer = (spare*math.Exp(-mu*t) - mu*math.Exp(-spare*t)) / d
	}
	return 1 - (1-waits)*math.Exp(-mu*t) - waits*longer, true
}

func reportCancellation(r *Result) []table.Text {
	t := table.Text{
		Caption: "A service that stops work for callers who have gone, or does not: means of " + r.replications(),
		Header:  []string{"timeout s", "attempts", "requests/s"},
	}
	levels := r.Plan.level("cancel")
	for _, l := range levels {
		t.Header = append(t.Header, "cancel "+l+": goodput/s", "in time", "closed form", "amplification", "work abandoned s", "of all work", "most present")
	}
	for _, c := range r.Plan.Cells {
		if c.Text("cancel") != levels[0] {
			continue
		}
		row := []string{c.Text("timeout_s"), c.Text("attempts"),
			c.Text("rate_rps") + r.Plan.varying(c, "cancel", "timeout_s", "attempts", "rate_rps")}
		for _, l := range levels {
			i := r.Find(c.with("cancel", l))
			ok := r.Stat(i, "success_ratio")
			row = append(row, short(r.Stat(i, "goodput_rps").Mean, 1), short(ok.Mean, 3), exact(ok, 3),
				short(r.Stat(i, "amplification_ratio").Mean, 2), short(r.Stat(i, "abandoned_s").Mean, 4),
				fixed(100*r.Stat(i, "abandoned_work_ratio").Mean, 1)+" %", short(r.Stat(i, "max_present_count").Mean, 0))
		}
		t.Append(row...)
	}
	t.Notes = append(t.Notes, "Work abandoned: seconds of service for each request. In time: share of the requests.")
	if text := cancelGain(r); text != "" {
		t.Notes = append(t.Notes, text)
	}
	return []table.Text{t}
}

// cancelGain names the cell in which cancelling gains most.
func cancelGain(r *Result) string {
	best, gain, with := -1, 0.0, 0.0
	for i, c := range r.Plan.Cells {
		if c.Text("cancel") != "off" {
			continue
		}
		on := r.Find(c.with("cancel", "on"))
		if on < 0 {
			continue
		}
		v := r.Stat(on, "goodput_rps").Mean
		if d := v - r.Stat(i, "goodput_rps").Mean; d > gain {
			best, gain, with = i, d, v
		}
	}
	if best < 0 {
		return ""
	}
	c := r.Plan.Cells[best]
	return fmt.Sprintf("Cancelling gains most at %s requests/s, timeout %s s, %s attempts: %s/s answered in time instead of %s/s.",
		c.Text("rate_rps"), c.Text("timeout_s"), c.Text("attempts"), short(with, 1), short(with-gain, 1))
}

// with is all levels of a cell, the named one changed.
func (c Cell) with(name, level string) map[string]string {
	want := map[string]string{}
	for i, f := range c.factors {
		want[f.Name] = c.levels[i]
	}
	want[name] = level
	return want
}
