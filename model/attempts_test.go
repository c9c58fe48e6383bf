package model_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// What is told of every try adds up to the ledger's own measures.
func TestTriesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawSystem(t).Config
		s, err := model.New(c, 1, 0)
		if err != nil {
			t.Skip(err)
		}
		var m model.Measures
		count := func(y *model.Try) {
			m.Tries++
			if y.Number > 1 {
				m.Repeats++
				if y.OK {
					m.RepeatsSucceeded++
				}
			}
			m.MostAttempts = max(m.MostAttempts, uint64(y.Number))
			if y.Guarded && y.Breaker == policies.Open {
				m.RefusedOpen++
			}
			if y.Latency < 0 || y.At > s.Now() || y.OK && (y.Code != 0 || y.Pending) {
				t.Fatalf("%+v", *y)
			}
		}
		s.Observe(count)
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Pending(count)
		want := s.Ledger().Measures()
		m.Openings, m.OpenTime = want.Openings, want.OpenTime
		if m != want {
			t.Fatalf("%+v, want %+v", m, want)
		}
	})
}

func TestMeasures(t *testing.T) {
	// Three tries of each of four calls; the last breaker of the second call
	// is open.
	s := mustRun(t, model.Config{
		Nodes: []model.Node{backend("A", ms, down)},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(10), Requests: 4, Steps: one(model.Call{To: "A", Stack: model.Stack{
			retries(3, nil), breaker(policies.BreakerConfig{Rule: lastCalls(5, 1), OpenFor: 1000 * sec, Probes: 1}, "")}})}},
		Horizon: 10 * sec,
	}, 0)
	m := s.Ledger().Measures()
	if m.Tries != 12 || m.Repeats != 8 || m.RepeatsSucceeded != 0 || m.MostAttempts != 3 || m.RefusedOpen != 7 || m.Openings != 1 {
		t.Errorf("%+v, want 12 tries, 8 repeats, none good, 3 at most, 7 refused by the breaker that opened once", m)
	}
	if r := m.RetryRatio(); math.Abs(r-2.0/3) > 1e-15 || m.RetrySuccessRatio() != 0 {
		t.Errorf("retry ratio %v, success %v, want 2/3 and 0", r, m.RetrySuccessRatio())
	}
	if none := (model.Measures{}); !math.IsNaN(none.RetryRatio()) || !math.IsNaN(none.RetrySuccessRatio()) {
		t.Error("ratios of nothing are numbers")
	}
}
