package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// Which layers of a chain retry.
const (
	retryAll       = "all"
	retryOutermost = "outermost" // the client only
	retryInnermost = "innermost" // the caller of the last service only
)

// retryAtFactor declares which layers of a chain retry.
func retryAtFactor(levels ...string) Factor {
	f := choice("retry_at", "which layers retry: all, the outermost (the client) or the innermost (the caller of the last service)",
		[]string{retryAll, retryOutermost, retryInnermost}, 0)
	f.Levels = levels
	return f
}

const maxLayers = 8

func amplificationLayers() *Experiment {
	depth := whole("depth", "service at which the calls are counted: 1 is the one the client calls", 1, maxLayers, 1, 2, 3, 4, 5)
	depth.Panel = true
	chains := chainAnswers{}
	return &Experiment{
		Name: "amplification-layers",
		Doc: `How do the retries of several layers multiply?
A client calls A, which calls B, and so on; the last service is down. The
client and every service but the last retry by the same policy, each with a
budget of its own. Source: retry budgets, third table: three layers of three
attempts turn 200 requests into 5,400 calls. Closed forms: n^layers without
budget; with r tokens per request each layer adds a share r, rounded down, of
what reaches it, so at most (1+r)^layers.`,
		Factors: []Factor{
			whole("layers", "layers that make calls, the client included: so many services in a row", 1, maxLayers, 1, 2, 3, 4, 5),
			retryFactor("policy", "none", "retry-3", "budget-20", "budget-10"),
			retryAtFactor(retryAll),
			whole("requests", "original requests", 1, 1e9, 200),
			positive("rate_rps", "original requests per second", 1e6, 100),
			number("failure_ratio", "share of the attempts at the last service that fail", 0, 1, 1),
			depth,
		},
		Metrics: append([]Metric{
			{Name: "calls_count", Doc: "attempts that reached the service at this depth"},
			{Name: "amplification_ratio", Doc: "these ÷ original requests"},
			{Name: "success_ratio", Doc: "share of the original requests that were answered well"},
		}, ofTheRun(retryMeasures)...),
		Reps:    1,
		Valid:   func(c Cell) bool { return c.Float("depth") <= c.Float("layers") },
		Check:   checkLayers,
		Measure: measureLayers,
		Logs:    everyCell,
		Exact:   chains.layers,
		Article: articleLayers,
		Report:  reportLayers,
		Detail:  layersBounds,
	}
}

// layerPolicy is the policy of the caller of the service at a depth.
func layerPolicy(c Cell, depth int) retrySpec {
	s := c.retry("policy")
	switch c.Text("retry_at") {
	case retryOutermost:
		if depth > 1 {
			return retrySpec{attempts: 1}
		}
	case retryInnermost:
		if depth < int(c.Float("layers")) {
			return retrySpec{attempts: 1}
		}
	}
	return s
}

func checkLayers(c Cell) error {
	attempts := c.Float("requests")
	for d := 1; d <= int(c.Float("layers")); d++ {
		s := layerPolicy(c, d)
		per := float64(s.attempts)
		if long, ok := s.longRun(1); ok {
			per = long
		}
		attempts *= per
	}
	if attempts > maxAttempts {
		return fmt.Errorf("experiments: amplification-layers: %s requests, %s layers and %s make up to %.3g calls, want at most %s",
			c.Text("requests"), c.Text("layers"), c.Text("policy"), attempts, formatNumber(maxAttempts))
	}
	return nil
}

// layersSystem is a client and a chain of services, the last of which fails.
func layersSystem(c Cell) model.Config {
	layers := int(c.Float("layers"))
	config := model.Config{Horizon: seconds(c.Float("requests")/c.Float("rate_rps")) + time.Millisecond}
	for d := 1; d <= layers; d++ {
		failure := 0.0
		if d == layers {
			failure = c.Float("failure_ratio")
		}
		config.Nodes = append(config.Nodes, failingServer(serviceName(d), 0, failure, 503))
	}
	call := func(depth int) []model.Step {
		return calls(model.Call{To: serviceName(depth), Stack: layerPolicy(c, depth).stack()})
	}
	for d := 1; d < layers; d++ {
		config.Nodes[d-1].Steps = call(d + 1)
	}
	config.Clients = []model.Client{{
		Name:     "client",
		Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")},
		Requests: int(c.Float("requests")),
		Steps:    call(1),
	}}
	return config
}

func measureLayers(ctx context.Context, j Job) ([][]float64, error) {
	s, err := runSystem(ctx, j, layersSystem(j.Cells[0]))
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client := l.Client("client")
	success := quotient(client.Succeeded, client.Requests)
	rows := make([][]float64, len(j.Cells))
	for i, c := range j.Cells {
		attempts := l.Node(serviceName(int(c.Float("depth")))).Attempts
		rows[i] = withMeasures(l, float64(attempts), quotient(attempts, client.Requests), success)
	}
	return rows, nil
}

// layerFailures returns the probability that an attempt at each depth fails,
// at 0 that a request does; NaN where it depends on the tokens in a bucket.
func layerFailures(c Cell) []float64 {
	layers := int(c.Float("layers"))
	failure := make([]float64, layers+1)
	failure[layers] = c.Float("failure_ratio")
	for d := layers - 1; d >= 0; d-- {
		s, f := layerPolicy(c, d+1), failure[d+1]
		failure[d] = math.NaN()
		if f == 0 || f == 1 || s.budget.Kind == "" {
			failure[d] = math.Pow(f, float64(s.attempts))
		}
	}
	return failure
}

// layers gives the mean calls at a depth where they are known: what a layer
// without budget adds is a factor, and what a token bucket adds depends on the
// number of calls that reach it, if that number is certain.
func (known chainAnswers) layers(c Cell, metric string, reps int) (float64, bool) {
	failure := layerFailures(c)
	switch metric {
	case "success_ratio":
		return 1 - failure[0], !math.IsNaN(failure[0])
	case "calls_count", "amplification_ratio":
	default:
		return 0, false
	}
	calls, certain := c.Float("requests"), true
	for d := 1; d <= int(c.Float("depth")); d++ {
		s, f := layerPolicy(c, d), failure[d]
		switch {
		case f == 0 || !s.retries():
		case math.IsNaN(f) || s.budget.Kind != "" && !certain:
			return 0, false
		case s.budget.Kind == "":
			calls *= wanted(f, s.attempts)
			certain = f == 1
		default:
			more, ok := known.retries(s, int(calls), f, reps)
			if !ok {
				return 0, false
			}
			calls += math.Round(more*1e9) / 1e9
			certain = f == 1
		}
	}
	if metric == "amplification_ratio" {
		calls /= c.Float("requests")
	}
	return calls, true
}

// layersBound is the most calls per request at a depth in the long run.
func layersBound(c Cell) (float64, bool) {
	failure := layerFailures(c)
	bound := 1.0
	for d := 1; d <= int(c.Float("depth")); d++ {
		s, f := layerPolicy(c, d), failure[d]
		if math.IsNaN(f) {
			f = 1
		}
		long, ok := s.longRun(f)
		if !ok {
			return 0, false
		}
		bound *= long
	}
	return bound, true
}

func articleLayers(c Cell, metric string) (string, string, string) {
	if metric != "calls_count" || c.Text("layers") != "3" || c.Text("depth") != "3" || !likeArticle(amplificationLayers(), c) {
		return "", "", ""
	}
	return "T0c", budgetCase(c.Text("policy")), "calls_at_c"
}

// layersBounds lists the bound at the end of each chain.
func layersBounds(_ context.Context, r *Result) ([]*table.Table, error) {
	t := table.New("amplification-layers_bound", r.Plan.keyColumns(), []table.Column{
		{Name: "amplification_ratio", Doc: "calls per request at this depth in the long run, at most"},
	})
	for i, c := range r.Plan.Cells {
		if bound, ok := layersBound(c); ok && c.Float("depth") == c.Float("layers") {
			t.Append(r.Plan.keyCells(i), bound)
		}
	}
	return []*table.Table{t}, nil
}
