package experiments

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// published are the settings of the simulation known for the way a budget is
// credited.
func published(more map[string]string) map[string]string {
	set := map[string]string{"trigger_s": "10", "trigger_at_s": "30", "horizon_s": "400", "judge_s": "30"}
	for k, v := range more {
		set[k] = v
	}
	return set
}

// recoveries counts the replications that were well at the end.
func recoveries(r *Result, cell int) (n int) {
	for _, v := range r.Values(cell, "recovered_ratio") {
		n += int(v)
	}
	return n
}

// The way a budget is credited decides whether the system comes back: per
// request it is stuck as soon as load × (1 + ratio) reaches the capacity of
// 300/s, per success it never is.
func TestMetastableCrediting(t *testing.T) {
	reps, loads := 10, "250,265,280"
	if testing.Short() {
		reps, loads = 1, "250"
	}
	r := mustRun(t, metastable(), Options{Seed: 1, Reps: reps, Set: published(map[string]string{
		"policy": "budget-request,budget-success", "rate_rps": loads, "ratio": "0.1,0.2",
	})})
	for i, c := range r.Plan.Cells {
		policy, demand := c.Text("policy"), c.Float("rate_rps")*(1+c.Float("ratio"))
		lo, hi := reps, reps
		switch {
		case policy == "budget-request" && demand > 299.5:
			lo, hi = 0, 0
		case policy == "budget-request" && demand > 290:
			// 9 of 10 are known. The backlog drains at 8.5/s and takes 306 s on
			// average, with a standard deviation of 50 s, of the 330 s there are.
			lo = 4 * reps / 10
		case demand > 335: // 9 of 10 are known
			lo = 8 * reps / 10
		}
		if n := recoveries(r, i); n < lo || n > hi {
			t.Errorf("%s at %v/s × %v = %.1f: %d of %d recover, want %d to %d", policy, c.Text("rate_rps"), 1+c.Float("ratio"), demand, n, reps, lo, hi)
		} else {
			t.Logf("%s at %.1f: %d of %d", policy, demand, n, reps)
		}
	}
}

// Half the capacity is the limit for one retry, and none for no retry. The
// known counts, 10 of 10 at 120/s, 9 at 140/s and 0 from 145/s on, are those of
// runs that have some 140 s after the stall; at 145/s the backlog takes 285 s
// to drain and is gone in a longer one.
func TestMetastableKnownLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("long runs")
	}
	const reps = 10
	for _, test := range []struct {
		policy, load, horizon string
		lo, hi                int
	}{
		{"none", "280", "400", 10, 10},
		{"unlimited", "120", "200", 10, 10},
		{"unlimited", "140", "200", 6, 10},
		{"unlimited", "145", "200", 0, 0},
		{"unlimited", "160", "400", 0, 0},
	} {
		r := mustRun(t, metastable(), Options{Seed: 1, Reps: reps, Set: published(map[string]string{
			"policy": test.policy, "rate_rps": test.load, "horizon_s": test.horizon,
		})})
		n := recoveries(r, 0)
		t.Logf("%s at %s/s: %d of %d", test.policy, test.load, n, reps)
		if n < test.lo || n > test.hi {
			t.Errorf("%s at %s/s: %d of %d recover, want %d to %d", test.policy, test.load, n, reps, test.lo, test.hi)
		}
	}
}

// Every run is one of the three, and what they say is consistent.
func TestMetastableOutcomes(t *testing.T) {
	r := mustRun(t, metastable(), Options{Seed: 2, Reps: 2, Set: map[string]string{
		"rate_rps": "10,19,26", "workers": "2", "trigger_s": "0,6", "horizon_s": "120",
	}})
	for i, c := range r.Plan.Cells {
		for rep := range r.Plan.Reps {
			at := func(metric string) float64 { return r.Values(i, metric)[rep] }
			if s := at("recovered_ratio") + at("stuck_ratio") + at("collapsed_before_ratio"); s != 1 {
				t.Errorf("%s: %v outcomes, want 1", c, s)
			}
			stall := c.Float("trigger_s") > 0
			if never := math.IsInf(at("recovery_s"), 1); never != (stall && at("stuck_ratio") == 1) {
				t.Errorf("%s: recovery after %v s with stuck = %v", c, at("recovery_s"), at("stuck_ratio"))
			}
			if stall == math.IsNaN(at("recovery_s")) && at("collapsed_before_ratio") == 0 || stall != math.IsNaN(at("collapse_s")) {
				t.Errorf("%s: recovery %v s and collapse %v s, want the one with a stall and the other without", c, at("recovery_s"), at("collapse_s"))
			}
			if a := at("amplification_ratio"); c.Text("policy") == "none" && a != 1 || a > 2.3 {
				t.Errorf("%s: %v attempts per request", c, a)
			}
			if c.Float("rate_rps") == 26 && c.Text("policy") == "none" && at("collapsed_before_ratio") != 1 {
				t.Errorf("%s: no collapse although the load is above the capacity of 20/s", c)
			}
		}
	}
	if s, _ := r.Lookup(map[string]string{"policy": "cancel", "rate_rps": "10", "trigger_s": "6"}, "abandoned_ratio"); s.Mean > 0.1 {
		t.Errorf("with cancellation a share of %v of the work is abandoned, want little", s.Mean)
	}
}

// A system that waits for a load of c/a is stuck above it and not below.
func TestHysteresis(t *testing.T) {
	if testing.Short() {
		t.Skip("long runs")
	}
	r := mustRun(t, metastable(), Options{Seed: 1, Reps: 2, Set: map[string]string{
		"policy": "none,unlimited,budget-request", "rate_rps": "40,60,85,96,120", "workers": "10", "trigger_s": "0,5", "ratio": "0.1", "horizon_s": "300",
	}})
	tables, err := hysteresisTable(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	h := tables[0]
	for policy, want := range map[string][3]float64{ // recovers up to, stuck from, closed form
		"none": {85, math.NaN(), 100}, "unlimited": {40, 60, 50}, "budget-request": {85, 96, 100 / 1.1},
	} {
		rows := h.Select(map[string]string{"policy": policy})
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows, want 1", policy, len(rows))
		}
		up, from, limit := h.Value(rows[0], "recovers_up_to_rps"), h.Value(rows[0], "stuck_from_rps"), h.Value(rows[0], "stuck_above_rps")
		if policy == "none" {
			if up < want[0] { // near the capacity chance decides
				t.Errorf("none: recovers up to %v, want 85 or more", up)
			}
			continue
		}
		if up != want[0] || from != want[1] || math.Abs(limit-want[2]) > 1e-9 {
			t.Errorf("%s: recovers up to %v, stuck from %v, closed form %v; want %v", policy, up, from, limit, want)
		}
	}
}

func TestMetastableClosedForms(t *testing.T) {
	r := mustPlan(t, metastable(), Options{Set: map[string]string{
		"rate_rps": "100", "trigger_s": "10", "trigger_at_s": "30", "horizon_s": "400", "judge_s": "30",
	}})
	want := map[string][2]float64{ // stuck above, drained below: 330 s are left
		"none":           {300, 300 * 331.0 / 340},
		"unlimited":      {150, 150 * 331.0 / 340},
		"budget-request": {300 / 1.1, 300 / 1.1 * 331.0 / 340},
		"budget-success": {300, 300 * 331.0 / 340},
	}
	for _, c := range r.Cells {
		w, known := want[c.Text("policy")]
		above, below := stuckAbove(c), drainsBelow(c)
		if !known {
			if !math.IsNaN(above) || !math.IsNaN(below) {
				t.Errorf("%s: closed forms %v and %v, want none", c.Text("policy"), above, below)
			}
			continue
		}
		if math.Abs(above-w[0]) > 1e-9 || math.Abs(below-w[1]) > 1e-9 {
			t.Errorf("%s: closed forms %v and %v, want %v", c.Text("policy"), above, below, w)
		}
	}
}

func TestMetastableRefuses(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"trigger_s", "90", "trigger_at_s + trigger_s + judge_s = 120 s, want at most horizon_s = 100 s"},
		{"rate_rps", "1000000", "rate_rps × horizon_s × attempts = 200000000, want at most 1e+08"},
		{"policy", "retries", "policy"},
		{"ratio", "1.5", "ratio"},
		{"attempts", "1", "attempts"},
		{"breaker", "count-20", "breaker"},
		{"rate_rps", "0", "above 0"},
		{"service_s", "NaN", "finite"},
	} {
		set := map[string]string{"policy": "unlimited", test.factor: test.levels}
		_, err := NewPlan(metastable(), Options{Set: set})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
}

// A cell with different outcomes names them all, and a run with stalls alone
// does not know the width.
func TestMetastableReport(t *testing.T) {
	r := mustRun(t, metastable(), Options{Seed: 2, Reps: 1, Set: map[string]string{
		"policy": "none,unlimited", "rate_rps": "10,19", "workers": "2", "trigger_s": "0,6", "horizon_s": "60", "attempts": "2,3",
	}})
	for i := range r.Plan.Cells {
		values := r.values[i]
		one := slices.Clone(values[0])
		// Three runs back, one stuck, one down before.
		copy(one, []float64{1, 0, 0})
		two, three := slices.Clone(one), slices.Clone(one)
		copy(two, []float64{0, 1, 0})
		copy(three, []float64{0, 0, 1})
		r.values[i] = [][]float64{one, one, one, two, three}
	}
	r.summary = nil
	for i, c := range r.Plan.Cells {
		want := "3 back, 1 stuck, 1 down before"
		if c.Float("trigger_s") == 0 {
			want = "3 well, 2 collapsed"
		}
		if got := phaseWord(r, i); got != want {
			t.Errorf("%s: %q, want %q", c, got, want)
		}
	}
	if c := r.Plan.Cells[len(r.Plan.Cells)-1]; metaName(c) != "2 retries, no budget" {
		t.Errorf("%s is named %q", c, metaName(c))
	}
	alone := mustRun(t, metastable(), Options{Seed: 2, Reps: 1, Set: map[string]string{
		"policy": "none", "rate_rps": "10,30", "workers": "2", "trigger_s": "6", "horizon_s": "60",
	}})
	for _, h := range hystereses(alone) {
		if !math.IsNaN(h.width()) || !math.IsNaN(h.collapses) {
			t.Errorf("width %v and collapse at %v, want neither without a run that has no stall", h.width(), h.collapses)
		}
	}
}
