package experiments

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

func meshRetryCap() *Experiment {
	return &Experiment{
		Name: "mesh-retry-cap",
		Doc: `What do a proxy's cap on concurrent retries and its retry budget let through, with few calls in flight and with many?
Clients in a closed loop, which all start at once, call a backend that fails
every call after a given time. Their common proxy allows two retries, and no
more retries at a time than the limit says. A retry holds its place from the
decision through the wait to the end of its attempt; the next retry of the same
request takes the place over. Each call takes 3 ms and a client thinks for
50 ms, both within 20 % evenly; the wait before a retry is uniform below 1 ms,
then below 2 ms. Source: mesh and application retries, third table, which does
not give the number of clients.
Limits are cap-N, at most N retries in progress, and share-PERCENT-floor-N, at
most that share of the requests with an attempt under way, those in back-off not
counted, but N always. Envoy
counts the attempt that has just failed among them: 20 clients, all in flight,
then have a fourth place, which is gone when the others are, and leaves a
request with one retry of two. The article's counts are those of whole pairs, so
its budget is taken as share-20-floor-3-others: the request that asks does not
count.`,
		Factors: []Factor{
			limitFactor("cap-3", "cap-1024", "share-20-floor-3-others"),
			number("failure_ms", "time after which the backend fails, ms", 0, 1e6, 0, 100),
			whole("clients", "clients in a closed loop", 1, 100_000, 20, 500),
			whole("requests_per_client", "requests in a run ÷ clients: one pool, from which all clients take until it is empty", 1, 1e6, 25),
			number("overhead_ms", "mean time that a call takes besides, ms", 0, 1e6, 3),
			number("think_ms", "mean think time of a client, ms", 0, 1e6, 50),
			number("backoff_ms", "bound of the first wait, ms; 0 for no wait", 0, 1e6, 1),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts at the backend ÷ requests"},
			{Name: "retries_count", Doc: "retries started"},
			{Name: "overflow_count", Doc: "overflow: retries that the limit refused, after which the request failed at once; so many requests"},
			{Name: "split_count", Doc: "split requests: those that got their first retry but were refused the second, as a share had shrunk meanwhile"},
			{Name: "retried_ratio", Doc: "requests that got a retry ÷ requests"},
		}, retryMeasures...),
		Reps:    20,
		Check:   checkMeshRetryCap,
		Measure: measureMeshRetryCap,
		Logs:    everyCell,
		Exact:   exactMeshRetryCap,
		Article: articleMeshRetryCap,
		Report:  reportMeshRetryCap,
	}
}

func milliseconds(ms float64) time.Duration { return time.Duration(math.Round(ms * 1e6)) }

// around is the uniform law within 20 % of a mean.
func around(mean time.Duration) model.Law {
	if mean < 5 {
		return model.Law{Mean: mean} // too short to be spread
	}
	return model.Law{Kind: model.Uniform, Low: mean - mean/5, High: mean + mean/5}
}

// capRequests is the number of requests of a run.
func capRequests(c Cell) float64 { return c.Float("clients") * c.Float("requests_per_client") }

func checkMeshRetryCap(c Cell) error {
	s, _, err := parseLimit(c.Text("limit"))
	if err != nil {
		return fmt.Errorf("experiments: mesh-retry-cap: %w", err)
	}
	if s.attempts < 2 || s.attempts > maxRetries+1 {
		return fmt.Errorf("experiments: mesh-retry-cap: limit %s: attempts %d, want 2 to %d", c.Text("limit"), s.attempts, maxRetries+1)
	}
	if n := capRequests(c) * float64(s.attempts); n > maxChainCalls {
		return fmt.Errorf("experiments: mesh-retry-cap: clients × requests_per_client × attempts = %s, want at most %d", formatNumber(n), maxChainCalls)
	}
	if d := capHorizon(c, s.attempts); d > float64(maxSeconds) {
		return fmt.Errorf("experiments: mesh-retry-cap: a run may take %s s, want at most %s", formatNumber(math.Round(d)), formatNumber(float64(maxSeconds)))
	}
	return nil
}

// capHorizon bounds the length of a run, s: each client makes at most all the
// requests, one after the other.
func capHorizon(c Cell, attempts int) float64 {
	one := float64(attempts)*(c.Float("failure_ms")+1.2*c.Float("overhead_ms")+10*c.Float("backoff_ms")) + 1.2*c.Float("think_ms")
	return capRequests(c)*one/1e3 + 1
}

func measureMeshRetryCap(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	layer, err := limitLayer(c)
	if err != nil {
		return nil, err
	}
	s, err := runSystem(ctx, j, model.Config{
		Horizon: seconds(capHorizon(c, layer.Retry.Attempts)),
		Nodes:   []model.Node{failingServer("backend", milliseconds(c.Float("failure_ms")), 1, 503)},
		Clients: []model.Client{{
			Name:     "client",
			Loop:     model.ClosedLoop{Clients: int(c.Float("clients")), Think: around(milliseconds(c.Float("think_ms")))},
			Requests: int(capRequests(c)),
			Steps: calls(model.Call{
				To:      "backend",
				Sidecar: model.Stack{layer},
				Request: around(milliseconds(c.Float("overhead_ms"))),
			}),
		}},
	})
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	n, call := l.Client("client").Requests, l.Call("client", "backend")
	// Of n requests, each fails with all its retries or is refused one.
	retries, refused, extra := float64(call.Retries), float64(call.Denied), float64(layer.Retry.Attempts-1)
	all := float64(n) - refused // requests with all their retries
	split, retried := math.NaN(), math.NaN()
	if extra <= 2 {
		split = retries - extra*all // each of them has one
		retried = (all + split) / float64(n)
	}
	return [][]float64{withMeasures(l, quotient(l.Node("backend").Attempts, n), retries, refused, split, retried)}, nil
}

// exactMeshRetryCap gives what a limit lets through that cannot bind: there
// is room for a retry of every client.
func exactMeshRetryCap(c Cell, metric string, _ int) (float64, bool) {
	s, _, err := parseLimit(c.Text("limit"))
	if err != nil || float64(max(s.budget.Concurrent, s.budget.Share.Floor)) < c.Float("clients") {
		return 0, false
	}
	switch metric {
	case "amplification_ratio":
		return float64(s.attempts), true
	case "retries_count":
		return capRequests(c) * float64(s.attempts-1), true
	case "retried_ratio":
		return 1, true
	case "overflow_count", "split_count":
		return 0, true
	}
	return 0, false
}

var capCases = map[string]string{
	"cap-3": "max_retries 3", "cap-1024": "max_retries 1024", "share-20-floor-3-others": "budget 20%",
}

func articleMeshRetryCap(c Cell, metric string) (string, string, string) {
	name, ok := capCases[c.Text("limit")]
	if !ok || c.Text("clients") != "20" || !likeArticle(meshRetryCap(), c) {
		return "", "", ""
	}
	switch metric {
	case "retries_count", "overflow_count":
		return "T1c", c.Text("failure_ms") + " ms, " + name, strings.TrimSuffix(metric, "_count")
	}
	return "", "", ""
}
