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

func jitterExperiment() *Experiment {
	return &Experiment{
		Name: "jitter",
		Doc: `What does a node see after a fault that many callers share, by their back-off?
The first attempt of each of many callers fails, of all at the same instant or
spread over a time, and they try again. The node has a few workers and a short
queue beside the load of others who do not retry; what finds the queue full is
refused at once, which is one more attempt. Arrivals are counted in bins of
10 ms from the fault on. Callers that wait equally long come back together,
however often: a square wave at the interval of the back-off. Failures that are
spread at first stay as spread. Source: retry governance, second section.`,
		Factors: []Factor{
			waitFactor("fixed-100ms", "exponential-120ms-30", "full-120ms", "equal-120ms", "decorrelated-120ms"),
			number("spread_s", "time over which the first failures are spread, s; 0 for all at once", 0, 1e4, 0, 1),
			whole("attempts", "most attempts of a caller, the first included", 2, maxRetries+1, 10),
			whole("callers", "callers that the fault hits", 1, 1e6, 500),
			number("rate_rps", "load of others, who do not retry, requests/s", 0, 1e6, 500),
			whole("workers", "calls the node serves at a time", 1, 1e6, 10),
			number("service_s", "mean service time, exponential, s", 1e-6, 1e3, 0.01),
			whole("queue", "calls that wait at most", 0, 1e6, 20),
			positive("cap_s", "longest wait before jitter, s; at least the base", 1e4, 1),
			number("window_s", "time from the fault on for peak, mean and autocorrelation, s", 0.1, 1e3, 1),
			number("horizon_s", "length of a run from the fault on, s", 0.1, 1e4, 15),
		},
		Metrics: append([]Metric{
			{Name: "peak_count", Doc: "most arrivals in a bin"},
			{Name: "peak_to_mean_ratio", Doc: "that ÷ mean arrivals in a bin of the window"},
			{Name: "echo_ratio", Doc: "autocorrelation of the arrivals in bins at the base of the back-off, in the window; 0 where it is negative"},
			{Name: "base_bin_count", Doc: "arrivals in the bin that begins one base after the fault"},
			{Name: "overload_s", Doc: "fault to the end of the last 100 ms with more arrivals than capacity, s"},
			{Name: "completion_s", Doc: "fault to the bin in which the last caller succeeds or gives up, s", Censored: "incomplete_count"},
			{Name: "attempts_ratio", Doc: "attempts of the callers that the node gets ÷ callers, without the first, which fails"},
			{Name: "callers_retry_ratio", Doc: "retries of the callers ÷ all their attempts, the first included: retry_ratio without the others, who do not retry"},
			{Name: "callers_success_ratio", Doc: "share of the callers that succeed"},
			{Name: "others_success_ratio", Doc: "share of the others' requests in the window that succeed"},
		}, measuresAnd("the others, who do not retry, are in it")...),
		Reps:    20,
		Check:   checkJitter,
		Measure: measureJitter,
		Logs:    everyCell,
		Exact:   exactJitter,
		Report:  reportJitter,
		Detail:  jitterSeries,
	}
}

const (
	jitterBin   = 10 * time.Millisecond
	jitterWarm  = time.Second            // before the fault
	jitterStare = 100 * time.Millisecond // stretch over which arrivals are held against capacity
)

func checkJitter(c Cell) error {
	if w, h := c.Float("window_s"), c.Float("horizon_s"); w > h || c.Float("spread_s") > h {
		return fmt.Errorf("experiments: jitter: window_s = %s s, spread_s = %s s, want at most horizon_s = %s s", c.Text("window_s"), c.Text("spread_s"), c.Text("horizon_s"))
	}
	n := c.Float("callers")*c.Float("attempts") + c.Float("rate_rps")*(c.Float("horizon_s")+1)
	if n > maxChainCalls {
		return fmt.Errorf("experiments: jitter: callers × attempts + rate_rps × (horizon_s + 1 s) = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	if cap, base := c.Float("cap_s"), c.wait().base.Seconds(); cap < base {
		return fmt.Errorf("experiments: jitter: cap_s = %s s, want at least the base of back-off %s, %s s", c.Text("cap_s"), c.Text("backoff"), formatNumber(base))
	}
	return jitterConfig(c).Validate()
}

// jitterConfig is a node that fails the first call of each of the callers at
// once, without service: what it is to serve are the retries, and the others.
func jitterConfig(c Cell) model.Config {
	n := int(c.Float("callers"))
	cfg := model.Config{
		Horizon:  jitterWarm + seconds(c.Float("horizon_s")),
		Interval: jitterBin,
		Nodes: []model.Node{{
			Name: "node", Workers: int(c.Float("workers")),
			Service: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("service_s"))},
			Queue:   model.Queue{Limit: model.Known(int(c.Float("queue")))},
			Faults:  []model.Fault{{Kind: model.FaultError, Fast: true, First: 1, Client: "callers"}},
		}},
		Clients: []model.Client{{
			Name: "callers", Loop: model.ClosedLoop{Clients: n, Think: model.Law{Mean: forEver}}, Start: jitterWarm, Spread: seconds(c.Float("spread_s")),
			Steps: calls(model.Call{To: "node", Stack: retries(int(c.Float("attempts"))-1, c.wait().config(seconds(c.Float("cap_s"))), policies.ErrorList{})}),
		}},
	}
	if rate := c.Float("rate_rps"); rate > 0 {
		cfg.Clients = append(cfg.Clients, model.Client{
			Name: "others", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: rate}, Steps: calls(model.Call{To: "node"}),
		})
	}
	return cfg
}

// forEver is a thinking time after which no run goes on: each caller makes one
// request.
const forEver = 100 * 365 * 24 * time.Hour

func measureJitter(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, jitterConfig(c))
	if err != nil {
		return nil, err
	}
	series := s.Series()[jitterWarm/jitterBin:]
	var arrivals []float64
	completion, ended := 0.0, uint64(0)
	var others, good uint64
	window := int(math.Round(c.Float("window_s") / jitterBin.Seconds()))
	for i := range series {
		v := &series[i]
		arrivals = append(arrivals, jitterArrivals(v))
		if n := v.Clients[0].Succeeded + v.Clients[0].Failed; n > 0 {
			ended += n
			completion = (v.End.Sub(0) - jitterWarm).Seconds()
		}
		if i < window && len(v.Clients) > 1 {
			others += v.Clients[1].Requests
			good += v.Clients[1].StartedSucceeded
		}
	}
	callers := s.Ledger().Client("callers")
	if ended < uint64(c.Float("callers")) {
		completion = math.Inf(1)
	}
	window = min(window, len(arrivals))
	peak := 0.0
	for _, a := range arrivals {
		peak = max(peak, a)
	}
	lag := int(math.Round(c.wait().base.Seconds() / jitterBin.Seconds()))
	baseBin := math.NaN()
	if lag < len(arrivals) {
		baseBin = arrivals[lag]
	}
	l := s.Ledger()
	link := l.Call("callers", "node")
	return [][]float64{withMeasures(l,
		peak, peak/mean(arrivals[:window]), max(0, autocorrelation(arrivals[:window], lag)), baseBin,
		overloadEnd(arrivals, c.capacity()), completion,
		quotient(link.Retries, callers.Requests), quotient(link.Retries, link.Attempts),
		quotient(callers.Succeeded, callers.Requests),
		quotient(good, others),
	)}, nil
}

// measuresAnd is the measures of retries with a remark on what they count.
func measuresAnd(remark string) []Metric {
	all := slices.Clone(retryMeasures)
	for i := range all {
		all[i].Doc += "; " + remark
	}
	return all
}

// jitterArrivals is the attempts of an interval at the node without the first
// of each caller: these fail when they are made.
func jitterArrivals(v *model.Interval) float64 {
	return float64(v.Nodes[0].Attempts) - float64(v.Clients[0].Requests)
}

// mean is the arithmetic mean; NaN of nothing.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// autocorrelation is the sample autocorrelation at a lag (Box and Jenkins):
// Σ(x_i − m)(x_{i+lag} − m) ÷ Σ(x_i − m)²; NaN where the lag does not fit or
// nothing varies.
func autocorrelation(x []float64, lag int) float64 {
	if lag < 0 || lag >= len(x) {
		return math.NaN()
	}
	m, both, square := mean(x), 0.0, 0.0
	for i := range x {
		square += (x[i] - m) * (x[i] - m)
		if i+lag < len(x) {
			both += (x[i] - m) * (x[i+lag] - m)
		}
	}
	return quotient(both, square)
}

// overloadEnd is the end of the last stretch of jitterStare in which more came
// than the node can serve in it, s; 0 if there is none.
func overloadEnd(arrivals []float64, capacity float64) float64 {
	n := int(jitterStare / jitterBin)
	sum, end := 0.0, 0
	for i, a := range arrivals {
		sum += a
		if i >= n {
			sum -= arrivals[i-n]
		}
		if i+1 >= n && sum > capacity*jitterStare.Seconds() {
			end = i + 1
		}
	}
	return float64(end) * jitterBin.Seconds()
}

// exactJitter knows the bin one base after a fault that hits all at once: with
// the same wait all callers are in it, with a jitter of ±j the share of a bin
// in 2j bases. There is no second retry before.
func exactJitter(c Cell, metric string, _ int) (float64, bool) {
	w, n := c.wait(), c.Float("callers")
	if metric != "base_bin_count" || c.Text("spread_s") != "0" || w.base%jitterBin != 0 {
		return 0, false
	}
	if w.base.Seconds() >= c.Float("horizon_s") {
		return 0, false
	}
	others := c.Float("rate_rps") * jitterBin.Seconds()
	spread := time.Duration(w.jitter * float64(w.base))
	switch {
	case w.kind != policies.FixedBackoff && w.kind != policies.ExponentialBackoff, w.jitter >= 0.3334:
		return 0, false
	case spread == 0:
		return n + others, true
	case spread < jitterBin:
		return n/2 + others, true
	}
	return n*float64(jitterBin)/(2*float64(spread)) + others, true
}
