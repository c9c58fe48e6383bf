package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// What a mesh retries when nobody has set anything.
const (
	noMesh   = "none"
	istio    = "istio"
	istio503 = "istio-503"
)

// Istio's defaults (istio/istio, pilot/pkg/networking/core/route/retry).
const (
	istioRetries = 2
	istioBase    = 25 * time.Millisecond // doubles up to ten times that, full jitter
)

func doubleRetry() *Experiment {
	mesh := choice("mesh", "what the mesh retries by default: none, istio (from 1.24), istio-503 (before 1.24)", []string{noMesh, istio, istio503}, 2)
	mesh.label = func(level string) string {
		switch level {
		case istio:
			return "Istio ≥ 1.24"
		case istio503:
			return "Istio < 1.24"
		}
		return "no mesh"
	}
	failure := choice("failure", "how an attempt fails", []string{"connect-failure", "503"}, 2)
	return &Experiment{
		Name: "double-retry",
		Doc: `What does a mesh that retries by default do to an application that retries as well?
Levels of mesh: istio is Istio from 1.24 on, istio-503 are the releases before,
which repeat a status 503 as well (release notes of 1.24; since then
EXCLUDE_UNSAFE_503_FROM_DEFAULT_RETRY=false brings that back).
Clients send requests at a constant rate; each attempt fails with a given
probability, either because no connection is made or with a status 503. The
application repeats whatever fails, at once unless app_backoff_ms says
otherwise. The mesh is Istio as installed: 2 retries, when no connection was
made or the connection broke, after waits uniform below 25 ms and 50 ms, and no
limit on how many there are at a time. The application sees nothing of the
mesh's retries but the time they take.`,
		Factors: []Factor{
			mesh,
			failure,
			whole("app_retries", "retries of the application", 0, maxRetries, 0, 1, 2, 3),
			number("failure_ratio", "probability that an attempt fails", 0, 1, 0.05, 0.25, 0.5, 0.75, 1),
			number("app_backoff_ms", "bound of the application's first wait, ms, which doubles up to ten times that; 0 for no wait", 0, 1e6, 0),
			number("service_ms", "time that an attempt takes, ms", 0, 1e6, 5),
			number("rate_rps", "requests per second", 1e-6, 1e6, 100),
			whole("requests", "requests in a run", 1, 1e6, 500),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts at the backend ÷ requests"},
			{Name: "success_ratio", Doc: "requests that succeed ÷ requests"},
			{Name: "latency_s", Doc: "mean latency of a request, s, failed ones included"},
		}, retryMeasures...),
		Reps:    20,
		Check:   checkDoubleRetry,
		Measure: measureDoubleRetry,
		Logs:    everyCell,
		Exact:   exactDoubleRetry,
		Report:  reportDoubleRetry,
	}
}

// meshDefault is the number of retries that the mesh makes of a cell's
// failures, and what it repeats.
func meshDefault(c Cell) (n int, on policies.ErrorList) {
	on = policies.ErrorList{RetryOn: []string{"connect-failure", "reset"}}
	if c.Text("mesh") == istio503 {
		on.RetryOn = append(on.RetryOn, "503")
	}
	switch {
	case c.Text("mesh") == noMesh:
		return 0, on
	case c.Text("failure") == "503" && c.Text("mesh") == istio:
		return 0, on
	}
	return istioRetries, on
}

func checkDoubleRetry(c Cell) error {
	n := c.Float("requests") * (1 + c.Float("app_retries")) * (1 + istioRetries)
	if n > maxChainCalls {
		return fmt.Errorf("experiments: double-retry: requests × (1 + app_retries) × %d = %s, want at most %d", 1+istioRetries, formatNumber(n), maxChainCalls)
	}
	if d := doubleHorizon(c); d > float64(maxSeconds) {
		return fmt.Errorf("experiments: double-retry: a run may take %s s, want at most %s", formatNumber(math.Round(d)), formatNumber(float64(maxSeconds)))
	}
	return nil
}

// doubleHorizon is when the last request has ended, s.
func doubleHorizon(c Cell) float64 {
	attempts := (1 + c.Float("app_retries")) * (1 + istioRetries)
	wait := 10 * (c.Float("app_backoff_ms") + istioBase.Seconds()*1e3)
	return c.Float("requests")/c.Float("rate_rps") + attempts*(c.Float("service_ms")+wait)/1e3 + 1
}

func measureDoubleRetry(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	code := policies.ErrConnect
	if c.Text("failure") == "503" {
		code = 503
	}
	call := model.Call{
		To:    "backend",
		Stack: retries(int(c.Float("app_retries")), envoyBackoff(milliseconds(c.Float("app_backoff_ms"))), policies.ErrorList{}),
	}
	if c.Text("mesh") != noMesh {
		_, on := meshDefault(c)
		call.Sidecar = retries(istioRetries, envoyBackoff(istioBase), on)
	}
	s, err := runSystem(ctx, j, model.Config{
		Horizon: seconds(doubleHorizon(c)),
		Nodes:   []model.Node{failingServer("backend", milliseconds(c.Float("service_ms")), c.Float("failure_ratio"), code)},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")},
			Requests: int(c.Float("requests")), Steps: calls(call),
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
		quotient(client.Latency.Seconds(), client.Measured),
	)}, nil
}

// exactDoubleRetry treats both layers as independent trials. The mesh tries
// m+1 times for each attempt of the application, which fails with q = p^(m+1).
func exactDoubleRetry(c Cell, metric string, _ int) (float64, bool) {
	p := c.Float("failure_ratio")
	m, _ := meshDefault(c)
	a := int(c.Float("app_retries"))
	attempts, err := theory.RetryAttempts(p, (1+a)*(1+m))
	if err != nil {
		return 0, false
	}
	switch metric {
	case "amplification_ratio":
		return attempts, true
	case "success_ratio":
		v, err := theory.RetrySuccess(p, (1+a)*(1+m))
		return v, err == nil
	case "latency_s":
	default:
		return 0, false
	}
	q := math.Pow(p, float64(1+m))
	tries, err := theory.RetryAttempts(q, 1+a)
	if err != nil {
		return 0, false
	}
	return attempts*c.Float("service_ms")/1e3 +
		tries*expectedWaits(p, m, istioBase.Seconds()) +
		expectedWaits(q, a, c.Float("app_backoff_ms")/1e3), true
}

// expectedWaits is the mean time that a layer of n retries waits: before retry
// k, if the k tries so far have failed, half the bound base·2^(k-1) or ten
// times the base.
func expectedWaits(p float64, n int, base float64) float64 {
	sum, reached, bound := 0.0, p, base
	for range n {
		sum += reached * bound / 2
		reached *= p
		bound = math.Min(2*bound, 10*base)
	}
	return sum
}

func reportDoubleRetry(r *Result) []table.Text {
	t := table.Text{
		Caption: "An application that retries over a mesh that retries by default: means of " + r.replications(),
		Header:  []string{"failure", "app retries", "failure ratio"},
		Left:    1,
	}
	meshes := r.Plan.level("mesh")
	for _, m := range meshes {
		t.Header = append(t.Header, r.Plan.column("mesh").Label(m)+": attempts [95 %]", "closed form", "z", "success", "latency s", "closed form", "z")
	}
	for _, c := range r.Plan.Cells {
		if c.Text("mesh") != meshes[0] {
			continue
		}
		row := []string{c.Text("failure"), c.Text("app_retries"),
			c.Text("failure_ratio") + r.Plan.varying(c, "mesh", "failure", "app_retries", "failure_ratio")}
		for _, m := range meshes {
			cell := r.Find(c.with("mesh", m))
			a, s, l := r.Stat(cell, "amplification_ratio"), r.Stat(cell, "success_ratio"), r.Stat(cell, "latency_s")
			row = append(row, meanCI(a, 3), exact(a, 3), fixed(a.Z, 1), short(s.Mean, 4), short(l.Mean, 4), exact(l, 4), fixed(l.Z, 1))
		}
		t.Append(row...)
	}
	t.Notes = doubleRetryNotes(r)
	return []table.Text{t}
}

// doubleRetryNotes says what the default costs when everything fails.
func doubleRetryNotes(r *Result) []string {
	var notes []string
	for i, c := range r.Plan.Cells {
		if c.Text("mesh") != noMesh || c.Text("failure_ratio") != "1" || c.Text("app_retries") == "0" {
			continue
		}
		on := r.Find(c.with("mesh", istio))
		if on < 0 {
			continue
		}
		what := "When no connection is made"
		if c.Text("failure") == "503" {
			what = "When every answer is a 503"
		}
		without, with := r.Stat(i, "amplification_ratio").Mean, r.Stat(on, "amplification_ratio").Mean
		text := fmt.Sprintf("%s, an application with retries=%s makes %s attempts", what, c.Text("app_retries"), short(without, 2))
		if without == with {
			text += ", and over Istio's defaults no more."
		} else {
			text += ", and over Istio's defaults " + short(with, 2) + "."
		}
		notes = append(notes, text+r.Plan.varying(c, "mesh", "failure", "app_retries", "failure_ratio"))
	}
	return notes
}
