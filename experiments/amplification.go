package experiments

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// budgetPolicies are the article's policies.
var budgetPolicies = []string{"none", "budget-10", "budget-20", "budget-50", "retry-3"}

func amplification() *Experiment {
	failure := number("failure_ratio", "share of the attempts that fail, each at random", 0, 1)
	for i := 0; i <= 100; i += 5 {
		failure.Levels = append(failure.Levels, formatNumber(float64(i)/100))
	}
	chains := chainAnswers{}
	return &Experiment{
		Name: "amplification",
		Doc: `How many attempts does a retry policy make of one request, and how many requests does it save?
A client sends a number of requests, evenly spaced, to a server whose attempts
fail at random. What fails is tried again at once as far as the policy allows.
Source: retry budgets, first table. The closed form of a policy without budget
is the truncated geometric mean (1-p^n)/(1-p); that of a token bucket is the
Markov chain on its tokens, which holds while each request ends before the next
begins. Of p = 1 it is exact: 1,500 requests with 10 % of a token each earn 150
retries. Tokens that are added up in float64 (budget-10-float) earn 149.`,
		Factors: []Factor{
			failure,
			retryFactor("policy", budgetPolicies...),
			whole("requests", "original requests", 1, 1e7, 1500),
			positive("rate_rps", "original requests per second", 1e6, 1000),
			number("service_s", "time an attempt takes, s", 0, 1e6, 0),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts that reached the server ÷ original requests"},
			{Name: "success_ratio", Doc: "share of the original requests that were answered well"},
			{Name: "calls_count", Doc: "attempts that reached the server"},
			{Name: "denied_count", Doc: "retries that the budget refused"},
		}, retryMeasures...),
		Reps:    20,
		Check:   checkAmplification,
		Measure: measureAmplification,
		Logs:    everyCell,
		Exact:   chains.amplification,
		Article: articleAmplification,
		Report:  reportAmplification,
		Detail:  amplificationBounds,
	}
}

// maxAttempts bounds the attempts of one replication.
const maxAttempts = 1e9

func checkAmplification(c Cell) error {
	if n := c.Float("requests") * float64(c.retry("policy").attempts); n > maxAttempts {
		return fmt.Errorf("experiments: amplification: %s requests × %d attempts of %s, want at most %s attempts",
			c.Text("requests"), c.retry("policy").attempts, c.Text("policy"), formatNumber(maxAttempts))
	}
	if requestSeconds(c) > maxSeconds {
		return fmt.Errorf("experiments: amplification: %s requests at %s per second and attempts of %s s take %s s, want at most %s",
			c.Text("requests"), c.Text("rate_rps"), c.Text("service_s"), short(requestSeconds(c), 0), formatNumber(maxSeconds))
	}
	return nil
}

// requestSeconds is the time until the last attempt has ended, s.
func requestSeconds(c Cell) float64 {
	return c.Float("requests")/c.Float("rate_rps") + float64(c.retry("policy").attempts)*c.Float("service_s")
}

// runLength is that time and a little more.
func runLength(c Cell) time.Duration { return seconds(requestSeconds(c)) + time.Millisecond }

// amplificationSystem is one client and one server.
func amplificationSystem(c Cell) model.Config {
	return model.Config{
		Nodes: []model.Node{failingServer("server", seconds(c.Float("service_s")), c.Float("failure_ratio"), 503)},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")},
			Requests: int(c.Float("requests")),
			Steps:    calls(model.Call{To: "server", Stack: c.retry("policy").stack()}),
		}},
		Horizon: runLength(c),
	}
}

func measureAmplification(ctx context.Context, j Job) ([][]float64, error) {
	s, err := runSystem(ctx, j, amplificationSystem(j.Cells[0]))
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client, server := l.Client("client"), l.Node("server")
	return [][]float64{withMeasures(l,
		quotient(server.Attempts, client.Requests), quotient(client.Succeeded, client.Requests), float64(server.Attempts), float64(l.Call("client", "server").Denied),
	)}, nil
}

// chainAnswers keeps the expected retries of tokenChain: several metrics ask
// the same.
type chainAnswers map[chainQuestion]float64

type chainQuestion struct {
	chain    tokenChain
	requests int
	failure  float64
}

// retries returns the expected retries of requests that follow each other;
// false where no closed form is known or it would cost more than reps runs.
func (known chainAnswers) retries(s retrySpec, requests int, failure float64, reps int) (float64, bool) {
	if s.budget.Kind == "" {
		return float64(requests) * (wanted(failure, s.attempts) - 1), true
	}
	chain, ok := newTokenChain(s)
	if !ok {
		return 0, false
	}
	q := chainQuestion{chain, requests, failure}
	if v, ok := known[q]; ok {
		return v, true
	}
	v, ok := chain.retries(requests, failure, reps)
	if ok {
		known[q] = v
	}
	return v, ok
}

// amplification gives the means of the metrics. Every attempt succeeds with
// the same probability, so the success is that times the amplification.
func (known chainAnswers) amplification(c Cell, metric string, reps int) (float64, bool) {
	s := c.retry("policy")
	if s.budget.Kind != "" && float64(s.attempts)*c.Float("service_s") >= 1/c.Float("rate_rps") {
		return 0, false // requests overlap
	}
	retries, ok := known.retries(s, int(c.Float("requests")), c.Float("failure_ratio"), reps)
	ratio := 1 + retries/c.Float("requests")
	switch metric {
	case "amplification_ratio":
		return ratio, ok
	case "success_ratio":
		return (1 - c.Float("failure_ratio")) * ratio, ok
	case "calls_count":
		return c.Float("requests") + retries, ok
	}
	return 0, false
}

// budgetCase is the article's name of a policy.
func budgetCase(policy string) string {
	if percent, ok := strings.CutPrefix(policy, "budget-"); ok {
		return "budget " + percent + "%"
	}
	if attempts, ok := strings.CutPrefix(policy, "retry-"); ok {
		return "unlimited " + attempts
	}
	return policy
}

func articleAmplification(c Cell, metric string) (string, string, string) {
	if !likeArticle(amplification(), c) {
		return "", "", ""
	}
	name := "p=" + c.Text("failure_ratio") + ", " + budgetCase(c.Text("policy"))
	switch metric {
	case "amplification_ratio":
		return "T0a", name, "amplification"
	case "success_ratio":
		return "T0a", name, "success_pct"
	}
	return "", "", ""
}

// amplificationBounds draws the closed forms as lines: what a policy makes of
// a request in the long run at most, at 101 failure ratios.
func amplificationBounds(_ context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	keys := []table.Column{{Name: "experiment", Doc: p.Experiment.Question()}, p.column("policy")}
	t := table.New("amplification_bound", append(keys, table.Column{Name: "failure_ratio", Doc: "share of the attempts that fail"}), []table.Column{
		{Name: "amplification_ratio", Doc: "attempts per request in the long run, at most: (1-p^n)/(1-p), or 1 + r under a budget of r tokens per request"},
	})
	for _, policy := range p.level("policy") {
		s, err := parseRetry(policy)
		if err != nil {
			return nil, err
		}
		for i := range 101 {
			failure := float64(i) / 100
			if bound, ok := s.longRun(failure); ok {
				t.Append([]string{p.Experiment.Name, policy, strconv.FormatFloat(failure, 'f', -1, 64)}, bound)
			}
		}
	}
	return []*table.Table{t}, nil
}
