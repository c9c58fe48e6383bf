package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
)

// fieldQuantiles is the latency law of timeout-choice that is given by
// quantiles, as a dashboard shows them.
const fieldQuantiles = model.Quantiles

func timeoutChoice() *Experiment {
	return &Experiment{
		Name: "timeout-choice",
		Doc: `How long should a caller wait: three times the mean, or the 99th percentile and a margin?
A service with workers to spare, whose latency has a heavy tail, fails a share of
its calls for good; a client waits for an attempt until the timeout and tries
again at once. A short timeout gives up attempts that would have ended well
(needless retries, each of them work done twice); a long one holds the caller's
threads when nothing answers: attempts × timeout for each request. Timeouts are
made from the law itself, as if it were known. Closed forms, with p = P[T > timeout],
failures f = p + (1 − p)·error_ratio and A = (1 − fⁿ)/(1 − f) attempts for each
request: needless A·p·(1 − error_ratio), held A·E[min(T, timeout)] (Wald).
Source: Spring Cloud drill, on the choice of timeouts.`,
		Factors: []Factor{
			choice("law", "latency of the service: lognormal and exponential by mean_s, lognormal also by cv; quantiles through p50_s to max_s",
				[]string{model.Lognormal, fieldQuantiles, model.Exponential}, 2),
			positive("cv", "coefficient of variation of the lognormal law", 1000, 1, 2, 4),
			timeoutFactor("timeout", "mean-2", "mean-3", "mean-5", "p90", "p95", "p99", "p99-plus-20", "p99.9"),
			number("mean_s", "mean latency, lognormal and exponential, s", 1e-6, 1e4, 0.1),
			number("p50_s", "half of the calls take at most this, s; quantiles", 1e-6, 1e4, 0.05),
			number("p90_s", "90 % of them, s", 1e-6, 1e4, 0.12),
			number("p99_s", "99 % of them, s", 1e-6, 1e4, 0.6),
			number("p999_s", "99.9 % of them, s", 1e-6, 1e4, 3),
			number("max_s", "all of them, s", 1e-6, 1e4, 10),
			number("error_ratio", "share of the calls that fail, after their latency", 0, 0.99, 0.01),
			whole("attempts", "attempts of a request at most", 1, maxRetries+1, 3),
			positive("rate_rps", "requests per second, Poisson", 1e6, 100),
			whole("requests", "requests in a run", 1, 1e7, 20_000),
		},
		Metrics: append([]Metric{
			{Name: "timeout_s", Doc: "the timeout, s"},
			{Name: "timeout_ratio", Doc: "share of the attempts that time out"},
			{Name: "needless_ratio", Doc: "attempts given up that ended well later ÷ requests"},
			{Name: "amplification_ratio", Doc: "attempts ÷ requests"},
			{Name: "residual_s", Doc: "mean time that an attempt given up still took, s"},
			{Name: "held_s", Doc: "time that a request holds its thread at the caller, s"},
			{Name: "stalled_held_s", Doc: "the same when nothing answers, s"},
			{Name: "success_ratio", Doc: "share of the requests that succeed"},
			{Name: "latency_p99_s", Doc: "latency that 99 % of the requests stay below, s"},
		}, retryMeasures...),
		Reps:    10,
		Valid:   validTimeoutChoice,
		Check:   checkTimeoutChoice,
		Measure: measureTimeoutChoice,
		Exact:   exactTimeoutChoice,
		Report:  reportTimeoutChoice,
	}
}

// validTimeoutChoice leaves out what a law does not read, but for the first
// levels.
func validTimeoutChoice(c Cell) bool {
	quantiles := c.Text("law") == fieldQuantiles
	if quantiles && !c.first("mean_s") || c.Text("law") != model.Lognormal && !c.first("cv") {
		return false
	}
	for _, name := range []string{"p50_s", "p90_s", "p99_s", "p999_s", "max_s"} {
		if !quantiles && !c.first(name) {
			return false
		}
	}
	return true
}

func checkTimeoutChoice(c Cell) error {
	if err := latencyLaw(c).Validate(); err != nil {
		return fmt.Errorf("experiments: timeout-choice: %w", err)
	}
	t := chosenTimeout(c)
	if t < 1 {
		return fmt.Errorf("experiments: timeout-choice: timeout %s is %v, want at least 1ns", c.Text("timeout"), t)
	}
	if n := c.Float("requests") * c.Float("attempts"); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: timeout-choice: requests × attempts = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	if h := timeoutChoiceHorizon(c); h > float64(maxSeconds) {
		return fmt.Errorf("experiments: timeout-choice: a run may take %s s, want at most %s", formatNumber(math.Round(h)), formatNumber(float64(maxSeconds)))
	}
	return timeoutChoiceSystem(c).Validate()
}

// latencyLaw is how long the service takes.
func latencyLaw(c Cell) model.Law {
	switch c.Text("law") {
	case fieldQuantiles:
		l := model.Law{Kind: model.Quantiles}
		for _, q := range []struct {
			p    float64
			name string
		}{{0.5, "p50_s"}, {0.9, "p90_s"}, {0.99, "p99_s"}, {0.999, "p999_s"}, {1, "max_s"}} {
			l.Points = append(l.Points, model.Point{P: q.p, D: seconds(c.Float(q.name))})
		}
		return l
	case model.Exponential:
		return model.Law{Kind: model.Exponential, Mean: seconds(c.Float("mean_s"))}
	}
	return model.Law{Kind: model.Lognormal, Mean: seconds(c.Float("mean_s")), CV: c.Float("cv")}
}

// chosenTimeout is the timeout of a cell.
func chosenTimeout(c Cell) time.Duration {
	r, err := parseTimeoutRule(c.Text("timeout"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	return r.of(latencyLaw(c))
}

// timeoutChoiceHorizon is the length of a run, s: by then all that was given
// up has ended, but for less than one attempt in 1e12 of a law without end.
func timeoutChoiceHorizon(c Cell) float64 {
	n := c.Float("requests")
	arriving := (n + 10*math.Sqrt(n) + 10) / c.Float("rate_rps")
	return arriving + c.Float("attempts")*chosenTimeout(c).Seconds() + latencyLaw(c).Quantile(1-1e-12).Seconds() + 1
}

func timeoutChoiceSystem(c Cell) model.Config {
	node := model.Node{Name: "service", Workers: model.Unlimited, Service: latencyLaw(c), Writes: true}
	if h := c.Float("error_ratio"); h > 0 {
		node.Faults = []model.Fault{{Kind: model.FaultError, Ratio: h}}
	}
	return model.Config{
		Horizon: seconds(timeoutChoiceHorizon(c)),
		Nodes:   []model.Node{node},
		Clients: []model.Client{{
			Name: "client", Requests: int(c.Float("requests")),
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps: calls(model.Call{
				To:    "service",
				Stack: append(appRetries(int(c.Float("attempts"))-1), model.Layer{Timeout: chosenTimeout(c)}),
			}),
		}},
	}
}

// stalledRequests is how many requests meet a service that does not answer.
const stalledRequests = 20

func measureTimeoutChoice(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, timeoutChoiceSystem(c))
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client, node, call := l.Client("client"), l.Node("service"), l.Call("client", "service")

	stalled := timeoutChoiceSystem(c)
	stalled.Clients[0].Requests = stalledRequests
	stalled.Nodes[0].Faults = []model.Fault{{Kind: model.FaultStall}}
	s2, err := runSystem(ctx, j, stalled)
	if err != nil {
		return nil, err
	}
	stuck := s2.Ledger().Client("client")

	timeout := chosenTimeout(c).Seconds()
	return [][]float64{withMeasures(l,
		timeout,
		quotient(call.TimedOut, call.Attempts),
		quotient(node.Writes-node.Succeeded, client.Requests),
		quotient(call.Attempts, client.Requests),
		quotient(node.AbandonedWork.Seconds(), float64(node.Abandoned))-timeout,
		quotient(client.Latency.Seconds(), float64(client.Measured)),
		quotient(stuck.Latency.Seconds(), float64(stuck.Measured)),
		quotient(client.Succeeded, client.Requests),
		s.LatencyQuantile("client", 0.99).Seconds(),
	)}, nil
}
