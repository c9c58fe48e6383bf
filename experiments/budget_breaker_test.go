package experiments

import (
	"math"
	"strings"
	"testing"
)

// Without breakers a dead chain has exact loads: 3, 9 and 27 with three
// attempts at each layer, 1.1, 1.21 and 1.331 with budgets of 10 %.
func TestBudgetBreakerDeadChain(t *testing.T) {
	r := mustRun(t, budgetBreaker(), Options{Reps: 1, Set: map[string]string{
		"breaker": "none", "error_ratio": "1", "rate_rps": "50", "horizon_s": "40",
	}})
	want := map[[2]string][3]float64{
		{"none", "outermost"}:      {1, 1, 1},
		{"retry-3", "outermost"}:   {3, 3, 3},
		{"retry-3", "all"}:         {3, 9, 27},
		{"retry-3", "innermost"}:   {1, 1, 3},
		{"budget-10", "outermost"}: {1.1, 1.1, 1.1},
		{"budget-10", "all"}:       {1.1, 1.21, 1.331},
		{"budget-10", "innermost"}: {1, 1, 1.1},
	}
	if len(r.Plan.Cells) != len(want) {
		t.Errorf("%d cells, want %d", len(r.Plan.Cells), len(want))
	}
	for i, c := range r.Plan.Cells {
		w := want[[2]string{c.Text("retry"), c.Text("retry_at")}]
		for k, metric := range []string{"a_amplification_ratio", "b_amplification_ratio", "c_amplification_ratio"} {
			s := r.Stat(i, metric)
			// 2,000 requests: the third bucket earns 0.1 × 2,420 tokens.
			if math.Abs(s.Mean-w[k]) > 1e-9 || math.Abs(s.Exact-w[k]) > 1e-9 {
				t.Errorf("%s: %s is %v, closed form %v, want %v", c, metric, s.Mean, s.Exact, w[k])
			}
		}
		if b := r.Stat(i, "c_bound_ratio").Mean; math.Abs(b-w[2]) > 1e-9 {
			t.Errorf("%s: bound %v, want %v", c, b, w[2])
		}
	}
}

// Where half of the calls fail, retries have closed forms too.
func TestBudgetBreakerChance(t *testing.T) {
	r := mustRun(t, budgetBreaker(), Options{Seed: 5, Reps: 20, Set: map[string]string{
		"breaker": "none", "error_ratio": "0.5", "retry": "none,retry-3", "horizon_s": "20",
	}})
	for i, c := range r.Plan.Cells {
		for _, metric := range []string{"success_ratio", "a_amplification_ratio", "b_amplification_ratio", "c_amplification_ratio"} {
			s := r.Stat(i, metric)
			if math.IsNaN(s.Exact) || s.SD > 0 && !(math.Abs(s.Z) < 3.5) || s.SD == 0 && math.Abs(s.Mean-s.Exact) > 1e-6 {
				t.Errorf("%s: %s is %v ± %v, closed form %v", c, metric, s.Mean, s.SD, s.Exact)
			}
		}
	}
}

// No combination exceeds its bound, and a breaker never adds load.
func TestBudgetBreakerBound(t *testing.T) {
	reps, horizon := 2, "20"
	if testing.Short() {
		reps, horizon = 1, "10"
	}
	r := mustRun(t, budgetBreaker(), Options{Seed: 1, Reps: reps, Set: map[string]string{"horizon_s": horizon, "retry": "none,retry-3,budget-10,budget-20-full"}})
	for i, c := range r.Plan.Cells {
		for rep := range r.Plan.Reps {
			at := func(metric string) float64 { return r.Values(i, metric)[rep] }
			if at("c_amplification_ratio") > at("c_bound_ratio")+1e-9 {
				t.Errorf("%s: %v attempts at C per request, above the bound %v", c, at("c_amplification_ratio"), at("c_bound_ratio"))
			}
			if c.Text("breaker") == "none" && at("breaker_openings_count")+at("refused_count")+at("open_ratio") != 0 {
				t.Errorf("%s: openings without a breaker", c)
			}
			if o := at("open_ratio"); o < 0 || o > 1 {
				t.Errorf("%s: open for a share of %v", c, o)
			}
		}
		if c.Float("error_ratio") == 1 && c.Text("breaker") != "none" && r.Stat(i, "c_amplification_ratio").Mean > 0.3 {
			t.Errorf("%s: %v attempts at C per request, want the breaker to keep nearly all away", c, r.Stat(i, "c_amplification_ratio").Mean)
		}
	}
}

// A budget hears of refusals only if they are retried.
func TestBudgetSeesRefusals(t *testing.T) {
	r := mustRun(t, budgetBreaker(), Options{Reps: 1, Set: map[string]string{
		"retry": "budget-10", "retry_at": "outermost", "breaker": "inside", "error_ratio": "1",
	}})
	denied := func(retried string) float64 {
		s, _ := r.Lookup(map[string]string{"retry_refused": retried}, "denied_count")
		return s.Mean
	}
	if no, yes := denied("no"), denied("yes"); !(yes > 20*no) {
		t.Errorf("denied %v with refusals retried and %v without, want far more", yes, no)
	}
	if text := reportBudgetBreaker(r)[0]; !strings.Contains(strings.Join(text.Notes, " "), "only if its own layer retries them") {
		t.Errorf("notes %q", text.Notes)
	}
}

func TestBudgetBreakerRefuses(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"retry", "retry-1000", "want at most 1e+08"},
		{"retry", "budget-110", "budget"},
		{"error_ratio", "1.1", "error_ratio"},
		{"rule", "count-20-20-0", "rule"},
		{"horizon_s", "0", "horizon_s"},
	} {
		_, err := NewPlan(budgetBreaker(), Options{Set: map[string]string{test.factor: test.levels}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
}
