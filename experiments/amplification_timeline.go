package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/theory"
)

// The troubles of amplification-timeline.
const (
	troubleLimit = "limit" // calls above the limit are rejected at once
	troubleError = "error" // as many calls fail in the mean, each at random
	troubleQueue = "queue" // the server serves no faster than the limit, and calls wait
)

var troubles = []string{troubleLimit, troubleError, troubleQueue}

func amplificationTimeline() *Experiment {
	second := whole("second", "second of the run, from 0", 0, 3599, 0, 1, 2, 3, 4, 5, 6, 7)
	second.Panel = true
	return &Experiment{
		Name: "amplification-timeline",
		Doc: `What does a server that can serve only half of its load get to see second by second?
A client sends requests at a constant rate. For a while the server serves no
more than a limit; what fails is tried again at once as far as the policy
allows. Calls are counted in the second they reach the server, successes in
the second the request was made. Source: retry budgets, second table, which
does not print limit, start and length: they follow from its rows. Troubles:
limit rejects the calls above the limit; error fails the same share at random,
so that a retry may well succeed; queue slows the one worker of a server of
capacity_rps down to the limit, and attempts time out after timeout_s.`,
		Factors: []Factor{
			retryFactor("policy", "none", "retry-3", "budget-10"),
			choice("trouble", "what happens above the limit", troubles, 1),
			choice("arrivals", "fixed (evenly spaced) or poisson", []string{model.Fixed, model.Poisson}, 1),
			positive("rate_rps", "original requests per second", 1e5, 120),
			positive("limit_rps", "calls per second that are served during the trouble", 1e6, 58),
			whole("burst", "calls that the limit lets through at once", 1, 1e6, 2),
			number("trouble_start_s", "its start, s", 0, 3600, 2),
			number("trouble_s", "its length, s", 0, 3600, 1.58),
			number("length_s", "time in which requests are made, s", 1, 3600, 8),
			positive("capacity_rps", "calls per second that are served otherwise; queue only", 1e6, 240),
			number("timeout_s", "timeout of an attempt, s; queue only", 1e-6, 3600, 0.5),
			second,
		},
		Metrics: append([]Metric{
			{Name: "calls_count", Doc: "attempts that reached the server in the second"},
			{Name: "success_ratio", Doc: "share of the requests made in the second that were answered well"},
			{Name: "retries_count", Doc: "retries granted in the second"},
			{Name: "denied_count", Doc: "retries that the budget refused in the second"},
		}, ofTheRun(retryMeasures)...),
		Reps:    20,
		Valid:   validTimeline,
		Check:   checkTimeline,
		Measure: measureTimeline,
		Logs:    everyCell,
		Exact:   exactTimeline,
		Article: articleTimeline,
		Report:  reportTimeline,
		Detail:  timelineDetail,
	}
}

// validTimeline leaves out seconds after the last request.
func validTimeline(c Cell) bool { return c.Float("second") < c.Float("length_s") }

func checkTimeline(c Cell) error {
	s := c.retry("policy")
	if n := c.Float("rate_rps") * c.Float("length_s") * float64(s.attempts); n > maxAttempts {
		return fmt.Errorf("experiments: amplification-timeline: %s requests per second × %s s × %d attempts, want at most %s attempts",
			c.Text("rate_rps"), c.Text("length_s"), s.attempts, formatNumber(maxAttempts))
	}
	switch limit := c.Float("limit_rps"); {
	case c.Text("trouble") == troubleError && limit > c.Float("rate_rps"):
		return fmt.Errorf("experiments: amplification-timeline: limit_rps %s is above rate_rps %s: no call would fail",
			c.Text("limit_rps"), c.Text("rate_rps"))
	case c.Text("trouble") == troubleQueue && limit > c.Float("capacity_rps"):
		return fmt.Errorf("experiments: amplification-timeline: limit_rps %s is above capacity_rps %s", c.Text("limit_rps"), c.Text("capacity_rps"))
	}
	return nil
}

// timelineServer is the server with its trouble.
func timelineServer(c Cell) model.Node {
	start := seconds(c.Float("trouble_start_s"))
	n := model.Node{Name: "server", Workers: model.Unlimited}
	f := model.Fault{Start: start, End: start + seconds(c.Float("trouble_s"))}
	limit := c.Float("limit_rps")
	switch c.Text("trouble") {
	case troubleLimit:
		f.Kind, f.RateRPS, f.Burst = model.FaultLimit, limit, int(c.Float("burst"))
	case troubleError:
		f.Kind, f.Ratio = model.FaultError, 1-limit/c.Float("rate_rps")
		if f.Ratio == 0 {
			return n
		}
	case troubleQueue:
		n.Workers, n.Service = 1, model.Law{Mean: seconds(1 / c.Float("capacity_rps"))}
		f.Kind, f.Factor = model.FaultCapacity, limit/c.Float("capacity_rps")
	}
	if f.End > f.Start {
		n.Faults = []model.Fault{f}
	}
	return n
}

// timelineSystem is one client and one server whose series has intervals of
// the given width.
func timelineSystem(c Cell, interval time.Duration) model.Config {
	s := c.retry("policy")
	stack := s.stack()
	end := seconds(c.Float("length_s"))
	horizon := time.Duration(math.Ceil(end.Seconds())+1) * time.Second
	if c.Text("trouble") == troubleQueue {
		stack = append(stack, model.Layer{Timeout: seconds(c.Float("timeout_s"))})
		horizon += time.Duration(min(float64(s.attempts)*c.Float("timeout_s"), 3600)) * time.Second
	}
	return model.Config{
		Nodes: []model.Node{timelineServer(c)},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: c.Text("arrivals"), RateRPS: c.Float("rate_rps")},
			End:      end,
			Steps:    calls(model.Call{To: "server", Stack: stack}),
		}},
		Horizon:  horizon,
		Interval: interval,
	}
}

func measureTimeline(ctx context.Context, j Job) ([][]float64, error) {
	s, err := runSystem(ctx, j, timelineSystem(j.Cells[0], time.Second))
	if err != nil {
		return nil, err
	}
	series := s.Series()
	rows := make([][]float64, len(j.Cells))
	for i, c := range j.Cells {
		rows[i] = withMeasures(s.Ledger(), timelineValues(series[int(c.Float("second"))])...)
	}
	return rows, nil
}

// timelineValues are the metrics of an interval.
func timelineValues(v model.Interval) []float64 {
	client, call := v.Clients[0], v.Calls[0]
	return []float64{float64(v.Nodes[0].Attempts), quotient(client.StartedSucceeded, client.Requests), float64(call.Retries), float64(call.Denied)}
}

// exactTimeline knows what a client without retries sends, and that nothing
// fails before the trouble.
func exactTimeline(c Cell, metric string, _ int) (float64, bool) {
	if c.Text("arrivals") != model.Fixed || c.Text("trouble") == troubleQueue {
		return 0, false
	}
	from := seconds(c.Float("second"))
	to := min(from+time.Second, seconds(c.Float("length_s")))
	start := seconds(c.Float("trouble_start_s"))
	calm := to <= start || from >= start+seconds(c.Float("trouble_s"))
	requests, err := theory.CallsIn(c.Float("rate_rps"), from, to)
	if err != nil || !calm && c.retry("policy").retries() {
		return 0, false
	}
	switch metric {
	case "calls_count":
		return float64(requests), true
	case "success_ratio":
		return 1, calm && requests > 0
	case "retries_count", "denied_count":
		return 0, true
	}
	return 0, false
}

func articleTimeline(c Cell, metric string) (string, string, string) {
	if !likeArticle(amplificationTimeline(), c) {
		return "", "", ""
	}
	name := budgetCase(c.Text("policy")) + ", second " + c.Text("second")
	switch metric {
	case "calls_count":
		return "T0b", name, "calls"
	case "success_ratio":
		return "T0b", name, "success_pct"
	}
	return "", "", ""
}
