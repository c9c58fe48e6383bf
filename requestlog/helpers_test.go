package requestlog_test

import (
	"bytes"
	"encoding/csv"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/requestlog"
)

const ms = time.Millisecond

func calls(to string, stack ...model.Layer) []model.Step {
	return []model.Step{{Calls: []model.Call{{To: to, Stack: stack}}}}
}

func retry(attempts int, wait time.Duration) model.Layer {
	return model.Layer{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{
		Attempts: attempts, Backoff: policies.BackoffConfig{Kind: policies.FixedBackoff, Base: wait}}}}
}

func breaker() model.Layer {
	return model.Layer{Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{
		Rule: policies.RuleConfig{
			Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 20},
			MinCalls: 20, FailureRate: 0.6,
		},
		OpenFor: 300 * ms, Probes: 3,
	}}}
}

// storm is a chain of two calls with retries, a breaker, a cap and timeouts,
// where enough goes wrong for many kinds of row.
func storm(horizon time.Duration) model.Config {
	return model.Config{
		Horizon: horizon,
		Nodes: []model.Node{
			{Name: "front", Workers: model.Unlimited, Cancel: true, Service: model.Law{Kind: "exponential", Mean: 5 * ms},
				Steps: calls("back", retry(3, 20*ms), breaker(), model.Layer{Timeout: 60 * ms})},
			{Name: "back", Workers: 4, Service: model.Law{Kind: "exponential", Mean: 30 * ms},
				Faults: []model.Fault{{Kind: model.FaultError, Ratio: 0.3, Code: 503}}},
		},
		Clients: []model.Client{{
			Name: "user", Arrivals: model.Arrivals{Kind: "poisson", RateRPS: 120},
			Steps: calls("front", model.Layer{Timeout: 250 * ms}, retry(2, 50*ms),
				model.Layer{Limit: &model.LimitLayer{InFlight: 20}}),
		}},
	}
}

// logged runs a system and returns its log and its own measures.
func logged(t testing.TB, c model.Config, o requestlog.Options) (text []byte, m model.Measures) {
	t.Helper()
	s, err := model.New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	l, err := requestlog.New(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Observe(l.Try)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Pending(l.Try)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), s.Ledger().Measures()
}

// rows reads a CSV log as maps from column to text.
func rows(t testing.TB, text []byte) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		out = append(out, row)
	}
	return out
}

// measures are what the article's query counts, as fractions.
type measures struct {
	ratio, success *big.Rat
	most, open     int64
}

func measured(rows []map[string]string) (m measures) {
	var repeats, good int64
	for _, r := range rows {
		attempt, _ := strconv.ParseInt(r["attempt"], 10, 64)
		m.most = max(m.most, attempt)
		if attempt > 1 {
			repeats++
			if r["status"] == "ok" {
				good++
			}
		}
		if r["circuit_state"] == "open" {
			m.open++
		}
	}
	m.ratio, m.success = big.NewRat(repeats, int64(len(rows))), big.NewRat(good, repeats)
	return m
}
