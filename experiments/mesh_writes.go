package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
)

// retryOnFactor is what a proxy repeats, by the names of its retry_on.
func retryOnFactor() Factor {
	return choice("retry_on", "outcomes that the proxy repeats", []string{"5xx", "connect-failure"}, 2)
}

// retryOn are the outcomes of a level of retryOnFactor.
func retryOn(level string) policies.ErrorList {
	if level == "5xx" {
		return meshErrors
	}
	return policies.ErrorList{RetryOn: []string{level}}
}

func meshWrites() *Experiment {
	return &Experiment{
		Name: "mesh-writes",
		Doc: `What does a proxy that retries do to writes that are not idempotent?
A client sends writes one after the other through a proxy. The backend does the
first attempts of each, and answers them with a status 503 all the same; the
next one it answers well. With deduplication it knows a request by its number
and does it once. A proxy that retries on 5xx repeats a write that was done, one
that retries only when no connection was made does not. Source: mesh and
application retries, fourth table.`,
		Factors: []Factor{
			retryOnFactor(),
			choice("dedup", "whether the backend does a request once", []string{"off", "on"}, 2),
			whole("retries", "retries of the proxy", 0, maxRetries, 2),
			whole("failing_attempts", "attempts of a write that are done and answered 503", 0, maxRetries+1, 1),
			whole("requests", "writes in a run", 1, 1e6, 100),
		},
		Metrics: append([]Metric{
			{Name: "client_200_count", Doc: "writes that the client sees succeed"},
			{Name: "client_503_count", Doc: "writes that the client sees fail with a status 503"},
			{Name: "writes_count", Doc: "writes done by the backend"},
			{Name: "duplicate_writes_count", Doc: "those of them beyond the first of each request"},
		}, retryMeasures...),
		Reps:    1,
		Check:   checkMeshWrites,
		Measure: measureMeshWrites,
		Logs:    everyCell,
		Exact:   exactMeshWrites,
		Article: articleMeshWrites,
		Report:  reportMeshWrites,
	}
}

func checkMeshWrites(c Cell) error {
	if n := c.Float("requests") * (1 + c.Float("retries")); n > maxChainCalls {
		return fmt.Errorf("experiments: mesh-writes: requests × (1 + retries) = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	return nil
}

func measureMeshWrites(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	const service = time.Millisecond
	var faults []model.Fault
	if n := int(c.Float("failing_attempts")); n > 0 {
		faults = []model.Fault{{Kind: model.FaultError, First: n, Code: 503, Effect: true}}
	}
	s, err := runSystem(ctx, j, model.Config{
		Horizon: time.Duration(c.Float("requests")*(1+c.Float("retries"))+1) * service,
		Nodes: []model.Node{{
			Name: "backend", Workers: model.Unlimited, Service: model.Law{Mean: service},
			Writes: true, Dedup: c.Text("dedup") == "on", Faults: faults,
		}},
		Clients: []model.Client{{
			Name: "client", Loop: model.ClosedLoop{Clients: 1}, Requests: int(c.Float("requests")),
			Steps: calls(model.Call{
				To:      "backend",
				Sidecar: retries(int(c.Float("retries")), envoyBackoff(0), retryOn(c.Text("retry_on"))),
			}),
		}},
	})
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client, backend := l.Client("client"), l.Node("backend")
	return [][]float64{withMeasures(l,
		float64(client.Succeeded), float64(client.ByCode[503]), float64(backend.Writes), float64(backend.DuplicateWrites),
	)}, nil
}

func exactMeshWrites(c Cell, metric string, _ int) (float64, bool) {
	n, failing := c.Float("requests"), c.Float("failing_attempts")
	attempts := 1.0
	if c.Text("retry_on") == "5xx" {
		attempts = math.Min(1+c.Float("retries"), failing+1)
	}
	ok := 0.0
	if attempts > failing {
		ok = n
	}
	writes := n * attempts
	if c.Text("dedup") == "on" {
		writes = n
	}
	switch metric {
	case "client_200_count":
		return ok, true
	case "client_503_count":
		return n - ok, true
	case "writes_count":
		return writes, true
	case "duplicate_writes_count":
		return writes - n, true
	}
	return 0, false
}

func articleMeshWrites(c Cell, metric string) (string, string, string) {
	if !likeArticle(meshWrites(), c) {
		return "", "", ""
	}
	name := ""
	switch c.Text("retry_on") + " " + c.Text("dedup") {
	case "5xx off":
		name = "5xx, no dedup"
	case "5xx on":
		name = "5xx, dedup"
	case "connect-failure off":
		name = "connect-failure"
	default:
		return "", "", ""
	}
	switch metric {
	case "client_200_count":
		return "T1d", name, "client_200"
	case "client_503_count":
		return "T1d", name, "client_503"
	case "writes_count":
		return "T1d", name, "writes"
	}
	return "", "", ""
}

func reportMeshWrites(r *Result) []table.Text {
	t := table.Text{
		Caption: "Writes through a proxy that retries",
		Header:  []string{"retry on", "dedup", "client sees 200", "article", "client sees 503", "article", "writes done", "article", "too many"},
		Left:    2,
	}
	for i, c := range r.Plan.Cells {
		ok, bad, writes := r.Stat(i, "client_200_count"), r.Stat(i, "client_503_count"), r.Stat(i, "writes_count")
		t.Append(c.Text("retry_on")+r.Plan.varying(c, "retry_on", "dedup"), c.Text("dedup"),
			short(ok.Mean, 1), article(ok, 0), short(bad.Mean, 1), article(bad, 0),
			short(writes.Mean, 1), article(writes, 0), short(r.Stat(i, "duplicate_writes_count").Mean, 1))
	}
	t.Notes = append(t.Notes, "A status 503 does not say that nothing was done. Only a callee that recognises a request makes its retry safe.")
	return []table.Text{t}
}
