package experiments

import "testing"

// The article's table, and every closed form on any shape of chain.
func TestFanOut(t *testing.T) {
	r := mustRun(t, fanOut(), Options{Seed: 1, Reps: 10, Set: map[string]string{"failure_ratio": "0,0.5,1", "requests": "200", "retrying": "every,nearest-user,nearest-callee"}})
	mustBeExact(t, r, 250)
	for _, want := range []struct {
		layers, copies string
		calls, one     float64
	}{{"1", "1", 3, 3}, {"2", "1", 9, 3}, {"3", "1", 27, 3}, {"3", "3", 81, 9}} {
		cell := map[string]string{"layers": want.layers, "fan_out": want.copies, "failure_ratio": "1", "retrying": "every"}
		s, ok := r.Lookup(cell, "amplification_ratio")
		if !ok || s.Mean != want.calls || s.SD != 0 {
			t.Errorf("%s layers, %s copies: %v calls at the end, want %v", want.layers, want.copies, s.Mean, want.calls)
		}
		cell["retrying"] = "nearest-user"
		if s, _ := r.Lookup(cell, "amplification_ratio"); s.Mean != want.one {
			t.Errorf("%s layers, %s copies, one retries: %v calls at the end, want %v", want.layers, want.copies, s.Mean, want.one)
		}
	}
}

func TestFanOutArticleRows(t *testing.T) {
	ours := map[[3]string]float64{}
	for _, v := range verifyRuns {
		if e := v.experiment(); e.Name == "fan-out" {
			mustRun(t, e, v.options).collect(ours)
		}
	}
	rows := 0
	for _, e := range ExpectedRows() {
		if e.Experiment != "fan-out" {
			continue
		}
		rows++
		if v, ok := ours[e.key()]; !ok || !within(v, e) {
			t.Errorf("%s, %s: %v (measured: %v), want %s", e.Table, e.Case, v, ok, e.Exact)
		}
	}
	if rows != 4 {
		t.Errorf("%d rows, want 4", rows)
	}
}

// 1 + (attempts − 1) × share is an identity with the retries made as the share.
func TestFanOutFormulaOfTheArticle(t *testing.T) {
	r := mustRun(t, fanOut(), Options{Seed: 5, Reps: 3, Set: map[string]string{"failure_ratio": "0.4", "attempts": "2,5", "layers": "2", "fan_out": "2", "requests": "100"}})
	for i, c := range r.Plan.Cells {
		if c.Text("retrying") != everyLayer {
			continue
		}
		for rep := range r.Plan.Reps {
			share, per := r.Values(i, "last_layer_retry_ratio")[rep], r.Values(i, "last_layer_ratio")[rep]
			if want := 1 + (c.Float("attempts")-1)*share; per < want-1e-12 || per > want+1e-12 {
				t.Errorf("%s: %v attempts for each call, formula %v", c, per, want)
			}
		}
	}
}

func TestFanOutRefusesTooMuch(t *testing.T) {
	mustRefuse(t, fanOut(), map[string]string{"layers": "10"}, "calls (layers 10")
}
