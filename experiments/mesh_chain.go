package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// maxChainCalls bounds the calls of a run whose retries multiply.
const maxChainCalls = 10_000_000

// Who retries in mesh-chain.
const (
	nobodyRetries = "nobody"
	clientRetries = "client"
	appsRetry     = "applications"
	sidecarsRetry = "sidecars"
	allRetry      = "applications-and-sidecars"
)

var chainRetriers = []string{nobodyRetries, clientRetries, sidecarsRetry, appsRetry, allRetry}

func meshChain() *Experiment {
	who := choice("retrying", "who retries", chainRetriers, len(chainRetriers))
	who.label = func(level string) string {
		switch level {
		case clientRetries:
			return "the client alone"
		case appsRetry:
			return "every application"
		case sidecarsRetry:
			return "the sidecars alone"
		}
		return strings.ReplaceAll(level, "-", " ")
	}
	return &Experiment{
		Name: "mesh-chain",
		Doc: `How many calls reach the end of a chain that is down, by who retries on the way?
A client calls service A, A calls B and so on; the last service answers every
call with an error. The client and the services are applications, and between
two services the caller has a sidecar. Whoever retries makes the same number of
retries, at once and without a budget. Source: mesh and application retries,
second table.`,
		Factors: []Factor{
			who,
			whole("retries", "retries of each that retries", 0, maxRetries, 2),
			whole("services", "services in the chain", 1, 10, 3),
			whole("requests", "requests in a run", 1, 1e6, 50),
		},
		Metrics: append([]Metric{
			{Name: "last_calls_count", Doc: "calls at the last service"},
			{Name: "amplification_ratio", Doc: "calls at the last service ÷ requests"},
			{Name: "success_ratio", Doc: "requests that succeed ÷ requests"},
		}, retryMeasures...),
		Reps:    1,
		Check:   checkMeshChain,
		Measure: measureMeshChain,
		Logs:    everyCell,
		Exact:   exactMeshChain,
		Article: articleMeshChain,
		Report:  reportMeshChain,
		Detail:  meshChainHops,
	}
}

// chainRetries says how many retries the application and the sidecar in front
// of a hop make; hop 0 is the client's call.
func chainRetries(c Cell, hop int) (app, sidecar int) {
	n := int(c.Float("retries"))
	switch who := c.Text("retrying"); {
	case who == clientRetries && hop == 0:
		return n, 0
	case who == appsRetry, who == allRetry && hop == 0:
		return n, 0
	case who == sidecarsRetry && hop > 0:
		return 0, n
	case who == allRetry:
		return n, n
	}
	return 0, 0
}

// chainCalls is the closed form of the calls that reach a service of the
// chain, from 0, for each request: the product of the attempts on the way.
func chainCalls(c Cell, service int) float64 {
	var layers []int
	for hop := range service + 1 {
		app, sidecar := chainRetries(c, hop)
		layers = append(layers, 1+app, 1+sidecar)
	}
	v, err := theory.ChainAttempts(layers...)
	if err != nil {
		panic(err)
	}
	return v
}

func checkMeshChain(c Cell) error {
	if n := c.Float("requests") * chainCalls(c, int(c.Float("services"))-1); n > maxChainCalls {
		return fmt.Errorf("experiments: mesh-chain: %s calls at the last service (retrying %s, retries %s, services %s, requests %s), want at most %d",
			formatNumber(n), c.Text("retrying"), c.Text("retries"), c.Text("services"), c.Text("requests"), maxChainCalls)
	}
	return nil
}

func runMeshChain(ctx context.Context, j Job, c Cell) (*model.System, error) {
	services := int(c.Float("services"))
	const service = time.Millisecond
	call := func(hop int) []model.Step {
		app, sidecar := chainRetries(c, hop)
		return calls(model.Call{
			To:      serviceName(hop + 1),
			Stack:   appRetries(app),
			Sidecar: retries(sidecar, envoyBackoff(0), meshErrors),
		})
	}
	cfg := model.Config{
		Clients: []model.Client{{Name: "client", Loop: model.ClosedLoop{Clients: 1}, Requests: int(c.Float("requests")), Steps: call(0)}},
	}
	total := 1.0
	for i := range services {
		failure := 0.0
		if i == services-1 {
			failure = 1
		}
		n := failingServer(serviceName(i+1), service, failure, 503)
		if i < services-1 {
			n.Steps = call(i + 1)
		}
		cfg.Nodes = append(cfg.Nodes, n)
		total += chainCalls(c, i) * c.Float("requests")
	}
	cfg.Horizon = time.Duration(total+1) * service
	return runSystem(ctx, j, cfg)
}

func measureMeshChain(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runMeshChain(ctx, j, c)
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	client, last := l.Client("client"), l.Node(serviceName(int(c.Float("services"))))
	return [][]float64{withMeasures(l,
		float64(last.Attempts),
		quotient(last.Attempts, client.Requests),
		quotient(client.Succeeded, client.Requests),
	)}, nil
}

func exactMeshChain(c Cell, metric string, _ int) (float64, bool) {
	v := chainCalls(c, int(c.Float("services"))-1)
	switch metric {
	case "last_calls_count":
		return v * c.Float("requests"), true
	case "amplification_ratio":
		return v, true
	case "success_ratio": // nothing succeeds
		return 0, true
	}
	return 0, false
}

// chainCases are the article's names of those who retry.
var chainCases = map[string]string{
	nobodyRetries: "nobody", clientRetries: "client only", appsRetry: "every application",
	sidecarsRetry: "two sidecars", allRetry: "applications and sidecars",
}

func articleMeshChain(c Cell, metric string) (string, string, string) {
	if metric != "last_calls_count" || !likeArticle(meshChain(), c) {
		return "", "", ""
	}
	return "T1b", chainCases[c.Text("retrying")], "calls_at_c"
}

// meshChainHops counts the calls at every service, in replication 0.
func meshChainHops(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("mesh-chain_hops", append(p.keyColumns(), table.Column{Name: "service", Doc: "service of the chain"}), []table.Column{
		{Name: "position", Doc: "place of the service in the chain, from 1"},
		{Name: "calls_count", Doc: "calls at the service"},
		{Name: "amplification_ratio", Doc: "calls at the service ÷ requests"},
		{Name: "amplification_ratio_exact", Doc: "closed form"},
	})
	for i, c := range p.Cells {
		s, err := runMeshChain(ctx, p.Job(i, 0), c)
		if err != nil {
			return nil, err
		}
		l := s.Ledger()
		for k, n := range l.Nodes {
			t.Append(append(slices.Clone(p.keyCells(i)), n.Name), float64(k+1), float64(n.Attempts),
				quotient(n.Attempts, l.Client("client").Requests), chainCalls(c, k))
		}
	}
	return []*table.Table{t}, nil
}

func reportMeshChain(r *Result) []table.Text {
	t := table.Text{
		Caption: "Calls at the last service of a chain that is down",
		Header:  []string{"who retries", "calls at the last service", "closed form", "article", "per request", "success"},
		Left:    1,
	}
	for i, c := range r.Plan.Cells {
		calls, per, ok := r.Stat(i, "last_calls_count"), r.Stat(i, "amplification_ratio"), r.Stat(i, "success_ratio")
		label := r.Plan.column("retrying").Label(c.Text("retrying"))
		t.Append(label+r.Plan.varying(c, "retrying"), meanCI(calls, 1), exact(calls, 1), article(calls, 0), short(per.Mean, 3)+"×", short(ok.Mean, 3))
	}
	c := r.Plan.Cells[0]
	n, k := c.Float("retries"), int(c.Float("services"))
	layer := formatNumber(1 + n)
	t.Notes = append(t.Notes, "Every layer that retries multiplies by "+layer+": "+strconv.Itoa(k)+" applications and "+strconv.Itoa(k-1)+" sidecars.")
	return []table.Text{t}
}
