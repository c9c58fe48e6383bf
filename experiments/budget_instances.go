package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
)

func budgetInstances() *Experiment {
	chains := chainAnswers{}
	return &Experiment{
		Name: "budget-instances",
		Doc: `What is left of a retry budget when every program has a bucket of its own?
A number of programs share a constant load in turn, each with a private bucket,
and call one server whose attempts fail at random. A bucket that is full at
first grants its cap in each program before the budget binds, so together they
make 1 + r + cap × programs ÷ requests attempts of a request; one that is empty
grants nothing until its program has made 1/r requests. The closed form is the
Markov chain on the tokens of a program.`,
		Factors: []Factor{
			retryFactor("policy", "budget-10", "budget-10-full", "budget-10-full-success"),
			number("failure_ratio", "share of the attempts that fail, each at random", 0, 1, 1, 0.2),
			whole("instances", "programs, each with a bucket of its own", 1, 1e5, 1, 10, 100, 1000, 3000, 10_000),
			whole("requests", "original requests of all programs together", 1, 1e7, 30_000),
			positive("rate_rps", "original requests per second of all programs together", 1e6, 1000),
			number("service_s", "time an attempt takes, s", 0, 1e6, 0),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts that reached the server ÷ original requests"},
			{Name: "success_ratio", Doc: "share of the original requests that were answered well"},
			{Name: "denied_count", Doc: "retries that the budgets refused"},
		}, retryMeasures...),
		Reps:    10,
		Check:   checkInstances,
		Measure: measureInstances,
		Logs:    everyCell,
		Exact:   chains.instances,
		Report:  reportInstances,
		Detail:  instancesBounds,
	}
}

func checkInstances(c Cell) error {
	s := c.retry("policy")
	if n := c.Float("requests") * float64(s.attempts); n > maxAttempts {
		return fmt.Errorf("experiments: budget-instances: %s requests × %d attempts of %s, want at most %s attempts",
			c.Text("requests"), s.attempts, c.Text("policy"), formatNumber(maxAttempts))
	}
	if total := requestSeconds(c); total > maxSeconds {
		return fmt.Errorf("experiments: budget-instances: %s requests at %s per second and attempts of %s s take %s s, want at most %s",
			c.Text("requests"), c.Text("rate_rps"), c.Text("service_s"), short(total, 0), formatNumber(maxSeconds))
	}
	return nil
}

func measureInstances(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, model.Config{
		Nodes: []model.Node{failingServer("server", seconds(c.Float("service_s")), c.Float("failure_ratio"), 503)},
		Clients: []model.Client{{
			Name:      "client",
			Instances: int(c.Float("instances")),
			Arrivals:  model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")},
			Requests:  int(c.Float("requests")),
			Steps:     calls(model.Call{To: "server", Stack: c.retry("policy").stack()}),
		}},
		Horizon: runLength(c),
	})
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client := l.Client("client")
	return [][]float64{withMeasures(l,
		quotient(l.Node("server").Attempts, client.Requests), quotient(client.Succeeded, client.Requests), float64(l.Call("client", "server").Denied),
	)}, nil
}

// instances adds the closed form up over the programs, which differ by one
// request at most.
func (known chainAnswers) instances(c Cell, metric string, reps int) (float64, bool) {
	requests, programs := int(c.Float("requests")), int(c.Float("instances"))
	each, more := requests/programs, requests%programs
	failure := c.Float("failure_ratio")
	if s := c.retry("policy"); s.budget.Kind != "" && float64(s.attempts)*c.Float("service_s") >= float64(programs)/c.Float("rate_rps") {
		return 0, false // the requests of a program overlap
	}
	few, ok := known.retries(c.retry("policy"), each, failure, reps)
	many, ok2 := known.retries(c.retry("policy"), each+1, failure, reps)
	ratio := 1 + (few*float64(programs-more)+many*float64(more))/float64(requests)
	switch metric {
	case "amplification_ratio":
		return ratio, ok && ok2
	case "success_ratio":
		return (1 - failure) * ratio, ok && ok2
	}
	return 0, false
}

// instancesBound is the most attempts per request that so many programs make:
// what the policy earns in the long run and what the buckets hold at first, and
// never more than are wanted without a budget. With h tokens per request held
// and r earned per success, a = 1 + h + r·(1-p)·a.
func instancesBound(c Cell, programs float64) (float64, bool) {
	s, p := c.retry("policy"), c.Float("failure_ratio")
	bound, ok := s.longRun(p)
	held := float64(s.budget.Tokens.Initial) * programs / c.Float("requests")
	if s.budget.Tokens.Credit == policies.CreditSuccess {
		bound *= 1 + held
	} else {
		bound += held
	}
	return min(bound, wanted(p, s.attempts)), ok
}

// boundPoints is how many points of its curve are drawn.
const boundPoints = 61

// instancesBounds draws the bound as a curve over the number of programs.
func instancesBounds(_ context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("budget-instances_bound", p.keyColumns(), []table.Column{
		{Name: "amplification_ratio", Doc: "attempts per request, at most"},
	})
	instances := slices.IndexFunc(p.Factors, func(f Factor) bool { return f.Name == "instances" })
	first, last := math.Inf(1), 0.0
	for _, level := range p.level("instances") {
		v, err := parseNumber(level)
		if err != nil {
			return nil, err
		}
		first, last = min(first, v), max(last, v)
	}
	seen := map[string]bool{}
	for i, c := range p.Cells {
		keys := p.keyCells(i)
		keys[1+instances] = ""
		key := strings.Join(keys, "\x00")
		if seen[key] {
			continue
		}
		seen[key] = true
		for k := range boundPoints {
			programs := first * math.Pow(last/first, float64(k)/(boundPoints-1))
			if bound, ok := instancesBound(c, programs); ok {
				keys := slices.Clone(keys)
				keys[1+instances] = formatNumber(programs)
				t.Append(keys, bound)
			}
		}
	}
	return []*table.Table{t}, nil
}

func reportInstances(r *Result) []table.Text {
	t := table.Text{
		Caption: "Attempts per request by the number of programs with a bucket each: means of " + r.replications(),
		Header:  []string{"policy", "failure ratio", "programs", "requests each", "attempts per request [95 %]", "closed form", "z", "bound", "success %", "refused"},
		Left:    1,
	}
	for i, c := range r.Plan.Cells {
		a := r.Stat(i, "amplification_ratio")
		bound := Blank
		if b, ok := instancesBound(c, c.Float("instances")); ok {
			bound = short(b, 4)
		}
		t.Append(c.retry("policy").String()+r.Plan.varying(c, "policy", "failure_ratio", "instances"), c.Text("failure_ratio"), c.Text("instances"),
			short(c.Float("requests")/c.Float("instances"), 1),
			meanCI(a, 4), exact(a, 4), fixed(a.Z, 1), bound, fixed(100*r.Stat(i, "success_ratio").Mean, 2), short(r.Stat(i, "denied_count").Mean, 1))
	}
	t.Notes = append(idleNotes(r.Plan), "Bound: 1 + r + cap × programs ÷ requests for buckets that are full at first, 1 + r for empty ones, and (1 − pⁿ)/(1 − p) if that is less.")
	return []table.Text{t}
}
