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

// The settings of mesh-timeouts, in the article's order.
const (
	clientTimeout = "client-timeout"
	clientTries   = "client-retries"
	meshTries     = "mesh-per-try"
)

var timeoutSettings = []string{clientTimeout, clientTries, meshTries}

func meshTimeouts() *Experiment {
	setting := choice("setting", "who stops waiting, and who retries", timeoutSettings, 3)
	setting.label = func(level string) string {
		switch level {
		case clientTimeout:
			return "a: client waits 1 s; mesh would retry"
		case clientTries:
			return "b: client waits 1 s, 2 retries"
		}
		return "c: mesh waits 0.5 s, 2 retries, 1.5 s in all"
	}
	return &Experiment{
		Name: "mesh-timeouts",
		Doc: `What is left at the backend when callers stop waiting and try again?
Clients in a closed loop call a backend that takes longer than anybody waits.
(a) The client waits 1 s and does not retry; the sidecar would retry twice
within 10 s, but a client that leaves ends its work. (b) The client waits 1 s
and retries twice, the sidecar does not. (c) The client waits 2 s; the sidecar
waits 0.5 s for an attempt, retries twice, and answers 504 after 1.5 s in all.
With cancel on, the backend stops a call whose caller has gone. The waits before
the sidecar's retries are none by default: Envoy's own, below 25 ms and 50 ms,
let a third attempt of (c) live on beside four later ones and make 5 calls in
service for each client instead of 4. Source: mesh and application retries,
fifth table.`,
		Factors: []Factor{
			setting,
			choice("cancel", "whether the backend stops a call whose caller has gone", []string{"off", "on"}, 2),
			number("service_s", "time that the backend takes, s", 1e-6, 1e6, 2),
			whole("clients", "clients in a closed loop", 1, 100_000, 4),
			whole("requests", "requests in a run", 1, 1e6, 20),
			number("backoff_ms", "bound of the sidecar's first wait, ms; 0 for no wait", 0, 1e6, 0),
		},
		Metrics: append([]Metric{
			{Name: "attempts_count", Doc: "attempts that reach the backend"},
			{Name: "max_in_service_count", Doc: "most calls in service at a time"},
			{Name: "abandoned_s", Doc: "work done for callers that had gone, s of service"},
			{Name: "succeeded_count", Doc: "requests that succeed"},
			{Name: "timeout_count", Doc: "requests that end with the client's timeout"},
			{Name: "status_504_count", Doc: "requests that the sidecar answers 504"},
		}, retryMeasures...),
		Reps:    20,
		Check:   checkMeshTimeouts,
		Measure: measureMeshTimeouts,
		Logs:    everyCell,
		Exact:   exactMeshTimeouts,
		Article: articleMeshTimeouts,
		Report:  reportMeshTimeouts,
	}
}

// timeoutCall is the client's call in a setting.
func timeoutCall(c Cell) model.Call {
	call := model.Call{To: "backend"}
	mesh := func(retries int) model.Layer {
		return model.Layer{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{
			Attempts: retries + 1, Errors: meshErrors, Backoff: envoyBackoff(milliseconds(c.Float("backoff_ms"))),
		}}}
	}
	switch c.Text("setting") {
	case clientTimeout:
		call.Stack = model.Stack{{Timeout: time.Second}}
		call.Sidecar = model.Stack{{Timeout: 10 * time.Second}, mesh(2)}
	case clientTries:
		call.Stack = append(appRetries(2), model.Layer{Timeout: time.Second})
	case meshTries:
		call.Stack = model.Stack{{Timeout: 2 * time.Second}}
		call.Sidecar = model.Stack{{Timeout: 1500 * time.Millisecond}, mesh(2), {Timeout: 500 * time.Millisecond}}
	}
	return call
}

// patience is the longest time that a request can take.
const patience = 3 * time.Second

func checkMeshTimeouts(c Cell) error {
	if d := timeoutsHorizon(c); d > float64(maxSeconds) {
		return fmt.Errorf("experiments: mesh-timeouts: a run may take %s s, want at most %s", formatNumber(math.Round(d)), formatNumber(float64(maxSeconds)))
	}
	return nil
}

// timeoutsHorizon is the length of a run, s: the last attempt has ended by then.
func timeoutsHorizon(c Cell) float64 {
	return c.Float("requests")*patience.Seconds() + c.Float("service_s") + 1
}

func measureMeshTimeouts(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, model.Config{
		Horizon: seconds(timeoutsHorizon(c)),
		Nodes: []model.Node{{
			Name: "backend", Workers: model.Unlimited, Cancel: c.Text("cancel") == "on",
			Service: model.Law{Mean: seconds(c.Float("service_s"))},
		}},
		Clients: []model.Client{{
			Name: "client", Loop: model.ClosedLoop{Clients: int(c.Float("clients"))},
			Requests: int(c.Float("requests")), Steps: calls(timeoutCall(c)),
		}},
	})
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client, backend := l.Client("client"), l.Node("backend")
	return [][]float64{withMeasures(l,
		float64(backend.Attempts), float64(backend.MaxServing), backend.AbandonedWork.Seconds(),
		float64(client.Succeeded), float64(client.ByCode[policies.ErrTimeout]), float64(client.ByCode[504]),
	)}, nil
}

// exactMeshTimeouts follows a client whose every attempt is too long. Its
// attempts begin at even distances, without a wait between them.
func exactMeshTimeouts(c Cell, metric string, _ int) (float64, bool) {
	wait, attempts, outcome := 1.0, 1.0, "timeout_count"
	switch c.Text("setting") {
	case clientTries:
		attempts = 3
	case meshTries:
		wait, attempts, outcome = 0.5, 3, "status_504_count"
	}
	service, requests, clients := c.Float("service_s"), c.Float("requests"), c.Float("clients")
	backoff := c.Text("setting") == meshTries && c.Text("backoff_ms") != "0"
	if service <= wait || backoff && c.Float("backoff_ms") > 100 {
		return 0, false
	}
	cancel := c.Text("cancel") == "on"
	switch metric {
	case "attempts_count":
		return requests * attempts, true
	case "max_in_service_count":
		rounds := math.Floor(requests / clients)
		if backoff && !cancel || rounds*clients != requests {
			return 0, false
		}
		if cancel {
			return clients, true
		}
		return clients * math.Min(math.Ceil(service/wait), rounds*attempts), true
	case "abandoned_s":
		if !cancel {
			return requests * attempts * service, true
		}
		total := attempts * wait
		if backoff {
			// Two mean waits go off the 1.5 s: half the bounds b and 2b.
			total -= 1.5 * c.Float("backoff_ms") / 1e3
		}
		return requests * total, true
	case outcome:
		return requests, true
	case "succeeded_count", "timeout_count", "status_504_count":
		return 0, true
	}
	return 0, false
}

func articleMeshTimeouts(c Cell, metric string) (string, string, string) {
	if c.Text("cancel") == "on" || !likeArticle(meshTimeouts(), c) {
		return "", "", ""
	}
	name := map[string]string{clientTimeout: "a", clientTries: "b", meshTries: "c"}[c.Text("setting")]
	switch metric {
	case "attempts_count":
		return "T1e", name, "attempts"
	case "max_in_service_count":
		return "T1e", name, "max_in_service"
	}
	return "", "", ""
}

func reportMeshTimeouts(r *Result) []table.Text {
	t := table.Text{
		Caption: "Timeouts and retries: means of " + r.replications(),
		Header:  []string{"setting", "cancel", "client sees", "attempts", "article", "most in service", "article", "work abandoned s", "closed form"},
		Left:    3,
	}
	left := false
	for i, c := range r.Plan.Cells {
		attempts, most, work := r.Stat(i, "attempts_count"), r.Stat(i, "max_in_service_count"), r.Stat(i, "abandoned_s")
		left = left || work.Mean > 0
		label := r.Plan.column("setting").Label(c.Text("setting"))
		t.Append(label+r.Plan.varying(c, "setting", "cancel"), c.Text("cancel"), timeoutOutcomes(r, i),
			meanCI(attempts, 1), article(attempts, 0), meanCI(most, 1), article(most, 0), meanCI(work, 2), exact(work, 3))
	}
	if left {
		t.Notes = append(t.Notes, "A timeout ends the wait of a caller, not the work of a callee: without cancel every attempt is done to its end.")
	} else {
		t.Notes = append(t.Notes, "Every call ended before anybody stopped waiting: no timeout is at work here.")
	}
	return []table.Text{t}
}

// timeoutOutcomes says how the requests of a cell end: "timeout × 20".
func timeoutOutcomes(r *Result, cell int) string {
	text := ""
	for _, o := range []struct{ metric, name string }{
		{"succeeded_count", "success"}, {"timeout_count", "timeout"}, {"status_504_count", "504"},
	} {
		if n := r.Stat(cell, o.metric).Mean; n > 0 {
			if text != "" {
				text += ", "
			}
			text += o.name + " × " + short(n, 1)
		}
	}
	if text == "" {
		return Blank
	}
	return text
}
