package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/theory"
)

// The failures of storm.
const (
	downError  = "error"  // the node answers every call at once with an error
	downHang   = "hang"   // it answers none
	fewRandom  = "random" // a share of the calls fails, each at random
	fewStalled = "stall"  // as many requests meet a stall, all in a row
)

var stormFailures = []string{downError, downHang, fewRandom, fewStalled}

func storm() *Experiment {
	failure := choice("failure", "what is wrong: error (the node answers all with an error), hang (it answers none), random (failure_ratio of the calls fail), stall (no service begins for stall_s)",
		stormFailures, 4)
	failure.label = func(level string) string {
		switch level {
		case downError:
			return "down, answers with errors"
		case downHang:
			return "down, answers nothing"
		case fewRandom:
			return "a few calls fail at random"
		}
		return "a short stall"
	}
	return &Experiment{
		Name: "storm",
		Doc: `Which retries make twelve times the load of a node, and when do 0.3 % of failures make it ten times?
Layers of callers, each with a number of attempts and a timeout for each, stand
between the users and a node; the last call may be made in copies. A caller that
times out tries again at once; services work on for callers that have gone. Load
is counted by the second from the fault on, against the requests (6,000/s for
500/s is 12) and as growth over the node's own load before: copies are in both,
so they make no storm. At random, failures of a share p multiply by 1 + p + … as
long as there is capacity to spare; a queue that makes all wait longer than their
timeout makes them all fail. Then a run grows or does not: shares of runs say so.
Source: retry governance, introduction.`,
		Factors: []Factor{
			failure,
			topologyFactor("4", "4*3", "3-3", "4-3", "3-3-3"),
			number("capacity_ratio", "capacity of the node ÷ its load, where it is not down", 0.1, 1e3, 1.2, 2),
			number("timeout_s", "timeout of an attempt at every layer, s", 1e-3, 1e4, 3),
			number("failure_ratio", "share of the calls that fail at random", 0, 1, 0.003),
			positive("stall_s", "length of the stall, s; 3.6 s is 0.3 % of 20 min", 1e4, 3.6),
			positive("rate_rps", "requests/s", 1e5, 200),
			number("service_s", "mean service time, exponential, s; as near as a whole number of workers allows", 1e-6, 1e4, 0.1),
			number("claim_ratio", "growth to look for", 1, 1e6, 10),
			number("length_s", "time from the fault on, s", 10, 1e5, 30),
		},
		Metrics: append([]Metric{
			{Name: "load_after_2s_rps", Doc: "calls at the node in the third second after the fault began"},
			{Name: "load_ratio", Doc: "most calls at the node in a second ÷ mean requests"},
			{Name: "growth_ratio", Doc: "peak growth: the same ÷ the node's mean load without failures"},
			{Name: "mean_growth_ratio", Doc: "calls at the node ÷ calls without failures of the requests made meanwhile, in the second half of the time"},
			{Name: "reach_s", Doc: "fault to the end of the first second in which the load has grown claim_ratio times, s", Censored: "unreached_count"},
			{Name: "success_ratio", Doc: "share of the requests that ended after the fault which succeeded"},
		}, retryMeasures...),
		Reps:    8,
		Valid:   validStorm,
		Check:   checkStorm,
		Measure: measureStorm,
		Logs:    everyCell,
		Exact:   exactStorm,
		Report:  reportStorm,
		Detail:  stormSeries,
	}
}

const stormWarm = 10 * time.Second // before the fault

// validStorm leaves out capacities of a node that is down.
func validStorm(c Cell) bool {
	return !isDown(c) || c.first("capacity_ratio")
}

// isDown reports whether the node serves nothing after the fault.
func isDown(c Cell) bool { return c.Text("failure") == downError || c.Text("failure") == downHang }

func checkStorm(c Cell) error {
	n := c.Float("rate_rps") * (c.Float("length_s") + stormWarm.Seconds()) * c.topology().product() * float64(c.topology().copies)
	if w := c.Float("capacity_ratio") * c.Float("rate_rps") * float64(c.topology().copies) * c.Float("service_s"); w > 1e6 {
		return fmt.Errorf("experiments: storm: capacity_ratio × rate_rps × copies × service_s = %s workers, want at most 1000000", formatNumber(w))
	}
	if n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: storm: %s calls (topology %s, rate_rps %s, length_s %s), want at most %g",
			formatNumber(math.Round(n)), c.Text("topology"), c.Text("rate_rps"), c.Text("length_s"), float64(maxAttemptsPerRun))
	}
	return stormConfig(c).Validate()
}

func stormConfig(c Cell) model.Config {
	t := c.topology()
	layers, rate := len(t.attempts), c.Float("rate_rps")
	capacity := c.Float("capacity_ratio") * rate * float64(t.copies)
	workers := max(1, math.Round(capacity*c.Float("service_s")))
	node := model.Node{
		Name: "node", Workers: int(workers),
		Service: model.Law{Kind: model.Exponential, Mean: max(1, seconds(workers/capacity))},
	}
	arrivals := model.Arrivals{Kind: model.Poisson, RateRPS: rate}
	fault := model.Fault{Kind: model.FaultError, Start: stormWarm}
	switch c.Text("failure") {
	case downError:
		fault.Fast = true
	case downHang:
		fault.Kind = model.FaultStall
	case fewStalled:
		fault.Kind, fault.End = model.FaultStall, stormWarm+seconds(c.Float("stall_s"))
	case fewRandom:
		fault.Ratio = c.Float("failure_ratio")
	}
	if fault.Kind != model.FaultError || c.Text("failure") == downError || fault.Ratio > 0 {
		node.Faults = []model.Fault{fault}
	}
	if isDown(c) {
		// Before the fault nothing waits or fails, so that all is exact after it.
		arrivals.Kind, node.Workers, node.Service = model.Fixed, model.Unlimited, model.Law{Mean: time.Microsecond}
	}
	step := func(layer int) []model.Step {
		call := model.Call{To: "node", Times: t.copies}
		if layer < layers {
			call = model.Call{To: serviceName(layer)}
		}
		call.Stack = append(appRetries(t.attempts[layer-1]-1), model.Layer{Timeout: seconds(c.Float("timeout_s"))})
		return calls(call)
	}
	cfg := model.Config{
		Horizon: stormWarm + seconds(c.Float("length_s")), Interval: time.Second,
		Nodes:   []model.Node{node},
		Clients: []model.Client{{Name: "users", Arrivals: arrivals, Steps: step(1)}},
	}
	for k := 1; k < layers; k++ {
		cfg.Nodes = append(cfg.Nodes, model.Node{Name: serviceName(k), Workers: model.Unlimited, Steps: step(k + 1)})
	}
	return cfg
}

func measureStorm(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, stormConfig(c))
	if err != nil {
		return nil, err
	}
	rate, copies := c.Float("rate_rps"), float64(c.topology().copies)
	peak, reach, third := 0.0, math.Inf(1), math.NaN()
	var half, made, good, ended uint64
	series := s.Series()[stormWarm/time.Second:]
	for i := range series {
		v := &series[i]
		width := time.Duration(v.End - v.Start).Seconds()
		load := float64(v.Nodes[0].Attempts) / width
		peak = max(peak, load)
		if i == 2 {
			third = load
		}
		if load >= c.Float("claim_ratio")*rate*copies*(1-1e-9) {
			reach = min(reach, float64(i+1))
		}
		if 2*i >= len(series) {
			half += v.Nodes[0].Attempts
			made += v.Clients[0].Requests
		}
		good += v.Clients[0].Succeeded
		ended += v.Clients[0].Succeeded + v.Clients[0].Failed
	}
	return [][]float64{withMeasures(s.Ledger(),
		third, peak/rate, peak/rate/copies, quotient(half, made)/copies, reach, quotient(good, ended),
	)}, nil
}

// exactStorm knows a node that is down, and few failures at random that do not
// queue up.
func exactStorm(c Cell, metric string, _ int) (float64, bool) {
	t := c.topology()
	rate, copies := c.Float("rate_rps"), float64(t.copies)
	if c.Text("failure") == fewRandom {
		if metric == "mean_growth_ratio" && c.Float("capacity_ratio") >= 1.2 && c.Float("failure_ratio") <= 0.05 &&
			rate*copies*c.Float("service_s") >= 10 && c.Float("timeout_s") >= 20*c.Float("service_s") {
			return randomGrowth(t, c.Float("failure_ratio")), true
		}
		return 0, false
	}
	length := c.Float("length_s")
	if !isDown(c) || length != math.Trunc(length) || rate != math.Trunc(rate) {
		return 0, false
	}
	ages := []float64{0} // at which a request makes its attempts; several may coincide
	if c.Text("failure") == downHang {
		ages = t.ages(c.Float("timeout_s"))
		for _, a := range ages {
			if part := a * rate; math.Abs(part-math.Round(part)) > 1e-6 {
				return 0, false // a request more or less in a second
			}
		}
	} else {
		ages = make([]float64, int(t.product()))
	}
	// load is the growth in the second that begins after s: an attempt of age a
	// belongs to a request of s−a or later, before the fault there are none.
	load := func(s float64) (sum float64) {
		for _, a := range ages {
			sum += max(0, min(1, s+1-a))
		}
		return sum
	}
	switch metric {
	case "load_after_2s_rps":
		return load(2) * rate * copies, true
	case "load_ratio":
		return load(length-1) * copies, true
	case "growth_ratio":
		return load(length - 1), true
	case "mean_growth_ratio":
		half := math.Ceil(length / 2)
		sum := 0.0
		for s := half; s < length; s++ {
			sum += load(s)
		}
		return sum / (length - half), true
	case "reach_s":
		for s := range int(length) {
			if load(float64(s)) >= c.Float("claim_ratio")*(1-1e-9) {
				return float64(s + 1), true
			}
		}
		return math.Inf(1), true
	case "success_ratio":
		if c.Text("failure") == downError {
			return 0, true
		}
	}
	return 0, false
}

// randomGrowth is by how much failures at random of a share p multiply the
// calls at the node; a layer sees those that the layer below it could not mend.
func randomGrowth(t topologySpec, p float64) float64 {
	growth := 1.0
	for k := len(t.attempts) - 1; k >= 0; k-- {
		a, err := theory.RetryAttempts(p, t.attempts[k])
		if err != nil {
			panic(err) // the factors have been checked
		}
		growth *= a
		p = math.Pow(p, float64(t.attempts[k]))
		if k == len(t.attempts)-1 {
			p = 1 - math.Pow(1-p, float64(t.copies))
		}
	}
	return growth
}
