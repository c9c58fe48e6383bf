package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

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
		Metrics: append([]Metric{
			{Name: "goodput_rps", Doc: "requests of the measurement, by their start, that were answered in time, per second"},
			{Name: "success_ratio", Doc: "these ÷ all requests started in the measurement"},
			{Name: "amplification_ratio", Doc: "attempts of these requests ÷ their number"},
			{Name: "abandoned_s", Doc: "work done in the measurement for callers that had gone, s of service for each request"},
			{Name: "abandoned_work_ratio", Doc: "that work ÷ all the work done"},
			{Name: "max_in_service_count", Doc: "most calls in service at a time"},
			{Name: "max_present_count", Doc: "most calls in service and in the queue at a time"},
		}, retryMeasures...),
		Reps:    10,
		Check:   checkCancellation,
		Measure: measureCancellation,
		Logs:    everyCell,
		Exact:   exactCancellation,
		Report:  reportCancellation,
	}
}

func checkCancellation(c Cell) error {
	length := c.Float("warmup_s") + c.Float("measure_s") + cancellationPatience(c)
	if length > float64(maxSeconds) {
		return fmt.Errorf("experiments: cancellation: warmup_s + measure_s + attempts × timeout_s = %s s, want at most %s", formatNumber(length), formatNumber(float64(maxSeconds)))
	}
	if n := length * c.Float("rate_rps") * c.Float("attempts"); n > maxChainCalls {
		return fmt.Errorf("experiments: cancellation: (warmup_s + measure_s + attempts × timeout_s) × rate_rps × attempts = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	return nil
}

// cancellationPatience is the longest time that a request takes, s: it is tried
// again at once.
func cancellationPatience(c Cell) float64 { return c.Float("attempts") * c.Float("timeout_s") }

// cancellationClients are those of the warm-up, those measured, and those that
// keep the load up while the last of these wait for their answers.
func cancellationClients(c Cell) []model.Client {
	warm := seconds(c.Float("warmup_s"))
	end := warm + seconds(c.Float("measure_s"))
	client := func(name string, from, to time.Duration) model.Client {
		return model.Client{
			Name: name, Start: from, End: to,
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps: calls(model.Call{
				To:    "service",
				Stack: append(appRetries(int(c.Float("attempts"))-1), model.Layer{Timeout: seconds(c.Float("timeout_s"))}),
			}),
		}
	}
	clients := []model.Client{client("client", warm, end), client("after", end, 0)}
	if warm > 0 {
		clients = append(clients, client("before", 0, warm))
	}
	return clients
}

func measureCancellation(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	workers := int(c.Float("workers"))
	if workers == 0 {
		workers = model.Unlimited
	}
	warm, length, patience := seconds(c.Float("warmup_s")), seconds(c.Float("measure_s")), seconds(cancellationPatience(c))
	s, err := newSystem(j, model.Config{
		Horizon: warm + length + patience + time.Millisecond,
		Nodes: []model.Node{{
			Name: "service", Workers: workers, Cancel: c.Text("cancel") == "on",
			Service: model.Law{Kind: c.Text("service_law"), Mean: seconds(c.Float("service_s"))},
		}},
		Clients: cancellationClients(c),
	})
	if err != nil {
		return nil, err
	}
	var nodes [2]model.NodeLedger // at the ends of the measurement
	for i, at := range []time.Duration{warm, warm + length} {
		if err := s.RunUntil(ctx, sim.Time(at)); err != nil {
			return nil, err
		}
		nodes[i] = *s.Ledger().Node("service")
	}
	if err := runUntilAnswered(ctx, s, "client", patience+time.Millisecond); err != nil {
		return nil, err
	}
	logPending(j, s)
	l := s.Ledger()
	client, attempts := l.Client("client"), l.Call("client", "service").Attempts
	abandoned := nodes[1].AbandonedWork - nodes[0].AbandonedWork
	work := workDone(nodes[1]) - workDone(nodes[0])
	return [][]float64{withMeasures(l,
		float64(client.Succeeded)/length.Seconds(),
		quotient(client.Succeeded, client.Requests),
		quotient(attempts, client.Requests),
		quotient(abandoned.Seconds(), client.Requests),
		quotient(abandoned, work),
		float64(nodes[1].MaxServing),
		float64(nodes[1].MaxPresent),
	)}, nil
}

// runUntilAnswered goes on until no request of a client is under way, or for
// the given time.
func runUntilAnswered(ctx context.Context, s *model.System, client string, patience time.Duration) error {
	from := s.Now()
	for wait := patience / 8; ; wait *= 2 {
		if err := s.RunUntil(ctx, from.Add(min(wait, patience))); err != nil || wait >= patience {
			return err
		}
		if c := s.Ledger().Client(client); c.Succeeded+c.Failed >= c.Requests {
			return nil
		}
	}
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
	good := table.Text{
		Caption: "Requests answered in time by a service that stops work for callers who have gone, or does not: means of " + r.replications(),
		Header:  []string{"timeout s", "attempts", "requests/s"},
	}
	cost := table.Text{Caption: "What the service does for them: means of " + r.replications(), Header: slices.Clone(good.Header)}
	levels := r.Plan.level("cancel")
	for _, l := range levels {
		good.Header = append(good.Header, "cancel "+l+": goodput/s", "in time", "closed form")
		cost.Header = append(cost.Header, "cancel "+l+": amplification", "work abandoned s", "of all work", "most present")
	}
	for _, c := range r.Plan.Cells {
		if c.Text("cancel") != levels[0] {
			continue
		}
		row := []string{c.Text("timeout_s"), c.Text("attempts"),
			c.Text("rate_rps") + r.Plan.varying(c, "cancel", "timeout_s", "attempts", "rate_rps")}
		costs := slices.Clone(row)
		for _, l := range levels {
			i := r.Find(c.with("cancel", l))
			ok := r.Stat(i, "success_ratio")
			row = append(row, meanCI(r.Stat(i, "goodput_rps"), 1), short(ok.Mean, 3), exact(ok, 3))
			costs = append(costs, short(r.Stat(i, "amplification_ratio").Mean, 2), short(r.Stat(i, "abandoned_s").Mean, 4),
				fixed(100*r.Stat(i, "abandoned_work_ratio").Mean, 1)+" %", short(r.Stat(i, "max_present_count").Mean, 0))
		}
		good.Append(row...)
		cost.Append(costs...)
	}
	good.Notes = append(good.Notes, "Goodput and in time: of the requests started in the measurement, so a goodput may be above the capacity by chance. In time: their share.")
	cost.Notes = append(cost.Notes, "Work abandoned: seconds of service for each request.")
	if text := cancelGain(r); text != "" {
		cost.Notes = append(cost.Notes, text)
	}
	return []table.Text{good, cost}
}

// cancelGain names the cell in which cancelling gains most, of those whose
// intervals do not overlap.
func cancelGain(r *Result) string {
	best, gain, with, compared := -1, 0.0, 0.0, false
	for i, c := range r.Plan.Cells {
		if c.Text("cancel") != "off" {
			continue
		}
		k := r.Find(c.with("cancel", "on"))
		if k < 0 {
			continue
		}
		compared = true
		off, on := r.Stat(i, "goodput_rps"), r.Stat(k, "goodput_rps")
		if d := on.Mean - off.Mean; d > gain && on.Lo > off.Hi {
			best, gain, with = i, d, on.Mean
		}
	}
	switch {
	case !compared:
		return ""
	case best < 0:
		return "Cancelling gains nothing here: no interval of the goodput with it lies above that without it."
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
