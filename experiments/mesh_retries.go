package experiments

import (
	"context"
	"fmt"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// maxRetries bounds the retries of one layer.
const maxRetries = 50

func meshRetries() *Experiment {
	return &Experiment{
		Name: "mesh-retries",
		Doc: `How many calls does a callee get when an application retries and the proxy beside it retries too?
One client sends requests one after the other. Its call fails with a given
probability, each attempt for itself. The application makes a retries and the
sidecar, unseen by it, m for each of the application's attempts, all at once
and without a budget: up to (1+a)(1+m) attempts. Source: mesh and application
retries, first table.`,
		Factors: []Factor{
			number("failure_ratio", "probability that an attempt fails", 0, 1, 0.1, 0.25, 0.5, 0.75, 0.9, 1),
			whole("app_retries", "retries of the application", 0, maxRetries, 0, 2),
			whole("mesh_retries", "retries of the sidecar", 0, maxRetries, 0, 2),
			whole("requests", "requests in a run", 1, 1e6, 200),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts at the callee ÷ requests"},
			{Name: "success_ratio", Doc: "requests that succeed ÷ requests"},
		}, retryMeasures...),
		Reps:    200,
		Check:   checkMeshRetries,
		Measure: measureMeshRetries,
		Logs:    everyCell,
		Exact:   exactMeshRetries,
		Article: articleMeshRetries,
		Report:  reportMeshRetries,
	}
}

// layeredAttempts is the most attempts of one request.
func layeredAttempts(c Cell) float64 {
	return (1 + c.Float("app_retries")) * (1 + c.Float("mesh_retries"))
}

func checkMeshRetries(c Cell) error {
	if n := c.Float("requests") * layeredAttempts(c); n > maxChainCalls {
		return fmt.Errorf("experiments: mesh-retries: requests × (1 + app_retries) × (1 + mesh_retries) = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	return nil
}

func measureMeshRetries(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	const service = time.Millisecond
	s, err := runSystem(ctx, j, model.Config{
		Horizon: time.Duration(c.Float("requests")*layeredAttempts(c)+1) * service,
		Nodes:   []model.Node{failingServer("backend", service, c.Float("failure_ratio"), 503)},
		Clients: []model.Client{{
			Name: "client", Loop: model.ClosedLoop{Clients: 1}, Requests: int(c.Float("requests")),
			Steps: calls(model.Call{
				To:      "backend",
				Stack:   appRetries(int(c.Float("app_retries"))),
				Sidecar: retries(int(c.Float("mesh_retries")), envoyBackoff(0), meshErrors),
			}),
		}},
	})
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client := l.Client("client")
	return [][]float64{withMeasures(l,
		quotient(l.Node("backend").Attempts, client.Requests),
		quotient(client.Succeeded, client.Requests),
	)}, nil
}

func exactMeshRetries(c Cell, metric string, _ int) (float64, bool) {
	p, n := c.Float("failure_ratio"), int(layeredAttempts(c))
	switch metric {
	case "amplification_ratio":
		v, err := theory.RetryAttempts(p, n)
		return v, err == nil
	case "success_ratio":
		v, err := theory.RetrySuccess(p, n)
		return v, err == nil
	}
	return 0, false
}

func articleMeshRetries(c Cell, metric string) (string, string, string) {
	if c.Text("requests") != "200" {
		return "", "", ""
	}
	name := fmt.Sprintf("p=%s a=%s m=%s", c.Text("failure_ratio"), c.Text("app_retries"), c.Text("mesh_retries"))
	switch metric {
	case "amplification_ratio":
		return "T1a", name, "amplification"
	case "success_ratio":
		return "T1a", name, "success_pct"
	}
	return "", "", ""
}

func reportMeshRetries(r *Result) []table.Text {
	t := table.Text{
		Caption: "Retries of the application and of its sidecar: means of " + r.replications(),
		Header:  []string{"failure ratio", "app retries", "mesh retries", "attempts per request", "closed form", "article", "success", "closed form", "article"},
	}
	for i, c := range r.Plan.Cells {
		a, s := r.Stat(i, "amplification_ratio"), r.Stat(i, "success_ratio")
		t.Append(c.Text("failure_ratio"), c.Text("app_retries"), c.Text("mesh_retries")+r.Plan.varying(c, "failure_ratio", "app_retries", "mesh_retries"),
			meanCI(a, 3), exact(a, 4), article(a, 2), meanCI(s, 3), exact(s, 4), article(s, 3))
	}
	t.Notes = append(t.Notes, "Closed form: (1 − pⁿ) ÷ (1 − p) attempts and 1 − pⁿ successes, with n = (1 + app retries) × (1 + mesh retries).")
	return []table.Text{t}
}
