package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/theory"
)

// Which layers of fan-out retry.
const (
	everyLayer = "every"
	firstLayer = "nearest-user"
	lastLayer  = "nearest-callee"
)

var retryingLayers = []string{everyLayer, firstLayer, lastLayer}

func fanOut() *Experiment {
	who := choice("retrying", "which layers retry: every, nearest-user (the first alone) or nearest-callee (the last alone)", retryingLayers, 2)
	who.label = func(level string) string {
		switch level {
		case firstLayer:
			return "the layer nearest the user"
		case lastLayer:
			return "the layer nearest the callee"
		}
		return "every layer"
	}
	return &Experiment{
		Name: "fan-out",
		Doc: `By how much do layers of retries and a fan-out multiply the calls at the end, and what is one layer of them worth?
A client calls a service, that calls the next, and so on; the last call is made
in fan_out copies side by side, all of which must succeed. The node at the end
fails a share of the calls, all at 1. A layer that retries makes up to attempts
attempts, at once and without a budget; every copy has attempts of its own. The
article's amplification of a layer, 1 + (attempts − 1) × share of requests that
retry, is exact if whoever retries needs all attempts; otherwise it is a bound,
and 1 + p + p² + … holds. Source: retry governance, third section.`,
		Factors: []Factor{
			who,
			whole("layers", "layers of calls, from the client to the node at the end", 1, 10, 1, 2, 3),
			whole("fan_out", "copies of the last call", 1, 1000, 1, 3),
			number("failure_ratio", "share of the calls at the end that fail", 0, 1, 1, 0.5, 0.1),
			whole("attempts", "attempts that a layer makes at most", 1, maxRetries+1, 3),
			whole("requests", "requests in a run", 1, 1e6, 500),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "calls at the end ÷ requests"},
			{Name: "all_calls_ratio", Doc: "calls at all services ÷ requests"},
			{Name: "last_layer_ratio", Doc: "attempts ÷ calls of the last layer"},
			{Name: "last_layer_retry_ratio", Doc: "its retries ÷ those that it would make if every call used all attempts: the share with which the article's formula is exact"},
			{Name: "success_ratio", Doc: "requests that succeed ÷ requests"},
		}, retryMeasures...),
		Reps:    20,
		Check:   checkFanOut,
		Measure: measureFanOut,
		Logs:    everyCell,
		Exact:   exactFanOut,
		Article: articleFanOut,
		Report:  reportFanOut,
	}
}

// attemptsAt is the most attempts of a layer, from 1.
func attemptsAt(c Cell, layer int) int {
	switch who := c.Text("retrying"); {
	case who == firstLayer && layer > 1, who == lastLayer && layer < int(c.Float("layers")):
		return 1
	}
	return int(c.Float("attempts"))
}

func checkFanOut(c Cell) error {
	n := c.Float("requests") * fanOutExact(c, 1).all
	if n > maxChainCalls {
		return fmt.Errorf("experiments: fan-out: %s calls (layers %s, attempts %s, fan_out %s, requests %s), want at most %d",
			formatNumber(math.Round(n)), c.Text("layers"), c.Text("attempts"), c.Text("fan_out"), c.Text("requests"), maxChainCalls)
	}
	return nil
}

func measureFanOut(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	layers, requests := int(c.Float("layers")), c.Float("requests")
	const service = time.Millisecond
	step := func(layer int) []model.Step {
		call := model.Call{To: serviceName(layer), Stack: appRetries(attemptsAt(c, layer) - 1)}
		if layer == layers {
			call.Times = int(c.Float("fan_out"))
		}
		return calls(call)
	}
	cfg := model.Config{
		Clients: []model.Client{{Name: "client", Loop: model.ClosedLoop{Clients: 1}, Requests: int(requests), Steps: step(1)}},
		Horizon: time.Duration(requests*fanOutExact(c, 1).all+1) * service,
	}
	for i := 1; i < layers; i++ {
		n := failingServer(serviceName(i), service, 0, 0)
		n.Steps = step(i + 1)
		cfg.Nodes = append(cfg.Nodes, n)
	}
	cfg.Nodes = append(cfg.Nodes, failingServer(serviceName(layers), service, c.Float("failure_ratio"), 503))
	s, err := runSystem(ctx, j, cfg)
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client, all := l.Client("client"), uint64(0)
	for _, n := range l.Nodes {
		all += n.Attempts
	}
	from := "client"
	if layers > 1 {
		from = serviceName(layers - 1)
	}
	last := l.Call(from, serviceName(layers))
	return [][]float64{withMeasures(l,
		quotient(l.Node(serviceName(layers)).Attempts, client.Requests),
		quotient(all, client.Requests),
		quotient(last.Attempts, last.Calls),
		quotient(last.Retries, last.Calls*uint64(attemptsAt(c, layers)-1)),
		quotient(client.Succeeded, client.Requests),
	)}, nil
}

// A fanOutForm is the closed form of a chain.
type fanOutForm struct {
	last, all float64 // calls at the end and at all services, for each request
	perCall   float64 // attempts of a call of the last layer
	success   float64
}

// fanOutExact goes from the end to the client. Calls fail independently with
// the same probability p, so a call of a layer of n attempts takes
// (1−pⁿ)/(1−p) of them and fails with pⁿ. Copies take equally long, so none is
// left before its last attempt.
func fanOutExact(c Cell, failure float64) fanOutForm {
	layers, copies := int(c.Float("layers")), c.Float("fan_out")
	f := fanOutForm{last: 1, all: 1}
	for k := layers; k >= 1; k-- {
		n := attemptsAt(c, k)
		attempts, err := theory.RetryAttempts(failure, n)
		if err != nil {
			panic(err) // the factors have been checked
		}
		failure = math.Pow(failure, float64(n))
		if k == layers {
			f.perCall = attempts
			attempts *= copies
			failure = 1 - math.Pow(1-failure, copies)
		} else {
			f.all++
		}
		f.last *= attempts
		f.all *= attempts
	}
	f.success = 1 - failure
	return f
}

func exactFanOut(c Cell, metric string, _ int) (float64, bool) {
	f := fanOutExact(c, c.Float("failure_ratio"))
	switch metric {
	case "amplification_ratio":
		return f.last, true
	case "all_calls_ratio":
		return f.all, true
	case "last_layer_ratio":
		return f.perCall, true
	case "success_ratio":
		return f.success, true
	case "last_layer_retry_ratio":
		if n := attemptsAt(c, int(c.Float("layers"))); n > 1 {
			return (f.perCall - 1) / float64(n-1), true
		}
	}
	return 0, false
}

func articleFanOut(c Cell, metric string) (string, string, string) {
	if metric != "amplification_ratio" || c.Text("retrying") != everyLayer || c.Text("attempts") != "3" || c.Text("failure_ratio") != "1" {
		return "", "", ""
	}
	name := map[string]string{"1 1": "1 layer x 3", "2 1": "2 layers x 3", "3 1": "3 layers x 3", "3 3": "3 layers x 3, fan-out 3"}[c.Text("layers")+" "+c.Text("fan_out")]
	if name == "" {
		return "", "", ""
	}
	return "T2a", name, "amplification"
}
