package experiments

import (
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
)

// Without a limit and a budget the closed form is exact; with them it holds
// in the long run.
func TestRetryOnClosedForms(t *testing.T) {
	r := mustRun(t, retryOnExperiment(), Options{Seed: 2, Reps: 10, Set: map[string]string{
		"horizon_s": "40", "permanent_ratio": "0.3", "limit_rps": "0,60", "transient": "503", "transient_ratio": "0,0.3", "policy": "none,any,any-but-429,5xx,retry-governance",
	}})
	exact := 0
	for i, c := range r.Plan.Cells {
		free := c.Float("limit_rps") == 0 && budgetWords(c) == "none"
		for _, m := range r.Plan.Experiment.Metrics {
			s := r.Stat(i, m.Name)
			if math.IsNaN(s.Exact) {
				continue
			}
			exact++
			off := math.Abs(s.Mean - s.Exact)
			switch {
			case off < 1e-9:
			case free && s.SD > 0 && !(math.Abs(s.Z) < 4):
				t.Errorf("%s: %s %v ± %v, closed form %v", c, m.Name, s.Mean, s.SD, s.Exact)
			case !(off <= 0.03*s.Exact+0.01):
				t.Errorf("%s: %s %v, closed form %v", c, m.Name, s.Mean, s.Exact)
			}
		}
	}
	if exact < 100 {
		t.Errorf("%d closed forms, want more", exact)
	}
}

// Known answers: requests that cannot succeed make all their attempts if 400s
// are retried, and one if not.
func TestRetryOnPermanent(t *testing.T) {
	r := mustRun(t, retryOnExperiment(), Options{Reps: 1, Set: map[string]string{
		"permanent_ratio": "1", "transient_ratio": "0", "limit_rps": "0", "transient": "503", "budget_ratio": "0",
	}})
	for policy, want := range map[string]float64{
		"none": 1, "any": 3, "any-but-429": 3, "5xx": 1, "retry-governance": 1, "spring-cloud-drill": 1,
	} {
		s, ok := r.Lookup(map[string]string{"policy": policy}, "amplification_ratio")
		if !ok || s.Mean != want || s.Exact != want {
			t.Errorf("%s: %v attempts per request, closed form %v, want %v", policy, s.Mean, s.Exact, want)
		}
	}
	s, _ := r.Lookup(map[string]string{"policy": "any"}, "wasted_ratio")
	if math.Abs(s.Mean-2.0/3) > 1e-12 {
		t.Errorf("%v of the attempts wasted, want 2/3", s.Mean)
	}
	if s, _ := r.Lookup(map[string]string{"policy": "any"}, "good_success_ratio"); s.Applies() {
		t.Errorf("success of requests that are not there: %v", s.Mean)
	}
}

// The published policies retry what they say, and no more than their budgets.
func TestRetryOnPresets(t *testing.T) {
	r := mustRun(t, retryOnExperiment(), Options{Seed: 5, Reps: 2, Set: map[string]string{
		"permanent_ratio": "0", "transient_ratio": "0.5", "limit_rps": "0", "horizon_s": "60", "budget_ratio": "0", "service_s": "0",
		"transient": "503,500,timeout,connect-timeout,connect-failure,reset",
	}})
	for i, c := range r.Plan.Cells {
		code := c.Text("transient")
		retries := true
		switch c.Text("policy") {
		case "retry-governance":
			retries = code == "503" || code == "connect-timeout"
		case "spring-cloud-drill":
			retries = code != "503" && code != "500"
		default:
			continue
		}
		got := r.Stat(i, "amplification_ratio").Mean
		if retries && !(got > 1.08 && got < 1.12) || !retries && got != 1 {
			t.Errorf("%s: %v attempts per request, retried %v: want 1 or, with a budget of 10 %%, 1.1", c, got, retries)
		}
	}
}

// What retrying 400s costs those who could have been served: with a limit, the
// places, and with a budget, the tokens.
func TestRetryOnTakesFromOthers(t *testing.T) {
	r := mustRun(t, retryOnExperiment(), Options{Seed: 3, Reps: 4, Set: map[string]string{"permanent_ratio": "0.4", "transient": "503"}})
	good := func(policy, budget, limit string) float64 {
		s, ok := r.Lookup(map[string]string{"policy": policy, "budget_ratio": budget, "limit_rps": limit}, "good_success_ratio")
		if !ok {
			t.Fatalf("no cell %s, %s, %s", policy, budget, limit)
		}
		return s.Mean
	}
	for _, test := range []struct{ budget, limit string }{{"0", "110"}, {"0.1", "0"}, {"0.1", "110"}} {
		any, some := good("any", test.budget, test.limit), good("5xx", test.budget, test.limit)
		if !(any < some-0.05) {
			t.Errorf("budget %s, limit %s: %v succeed if any error is retried, %v if 5xx: want far less", test.budget, test.limit, any, some)
		}
	}
	if any, some := good("any", "0", "0"), good("5xx", "0", "0"); math.Abs(any-some) > 1e-3 {
		t.Errorf("without limit and budget %v and %v: want the same", any, some)
	}
	texts := reportRetryOn(r)
	if len(texts) != 2 || len(texts[0].Rows) != 9 || !strings.Contains(texts[0].Notes[0], "With 40 % of the requests answered 400, retrying any error makes 1.8") {
		t.Errorf("%d tables, notes %q", len(texts), texts[0].Notes)
	}
	if free, limited := texts[0].Notes[0], texts[1].Notes[0]; strings.Contains(free, "429 alone") || !strings.Contains(limited, "To leave out 429 alone is worse, ") {
		t.Errorf("notes %q and %q", free, limited)
	}
}

// The share that a limit refuses agrees with itself, and the budget is kept.
func TestRetryFlow(t *testing.T) {
	for _, load := range []float64{0, 0.5, 0.95, 1, 1.5, 10} {
		for _, budget := range []float64{0, 0.1, 1, math.Inf(1)} {
			for n := 1; n <= 5; n++ {
				f := retryFlow{attempts: n, permanent: 0.2, transient: 0.3, onLimit: 1, onPermanent: 1, onTransient: 1, budget: budget, load: load}
				f.solve()
				if f.all-1 > budget+1e-9 || f.all < 1 || f.all > float64(n)+1e-9 {
					t.Errorf("load %v, budget %v, %d attempts: %v attempts per request", load, budget, n, f.all)
				}
				want := 0.0
				if load > 0 {
					want = max(0, 1-1/(load*f.all))
				}
				if math.Abs(f.limited-want) > 1e-6 {
					t.Errorf("load %v, budget %v, %d attempts: %v limited, want %v", load, budget, n, f.limited, want)
				}
				if f.success < f.retrySuccess || f.success > 1 {
					t.Errorf("success %v, by a retry %v", f.success, f.retrySuccess)
				}
			}
		}
	}
	if got := geometric(1, 7); got != 7 {
		t.Errorf("seven attempts that all fail are %v", got)
	}
}

func TestPresetLayer(t *testing.T) {
	drill := policies.SpringCloudDrill()
	if l := presetLayer(drill, false); len(l.Guard.Order) != 2 || l.Guard.Asks(policies.GuardBreaker) {
		t.Errorf("guard %v without a breaker", l.Guard.Order)
	}
	if l := presetLayer(drill, true); len(l.Guard.Order) != 3 || l.Budget.Counter.ResetAt != 10_000 || l.Attempts != 3 {
		t.Errorf("%+v", l)
	}
	if l := presetLayer(policies.RetryGovernance(), false); l.Guard != nil || l.Budget.Tokens.Ratio != 0.1 {
		t.Errorf("%+v", l)
	}
	if got := presetNames(); len(got) != len(policies.RetryPresets()) {
		t.Errorf("%q", got)
	}
}

func TestRetryOnRefuses(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"policy", "4xx", "known"},
		{"permanent_ratio", "1.1", "permanent_ratio"},
		{"transient", "404", "known"},
		{"attempts", "1e9", "attempts"},
		{"rate_rps", "1e6", "want at most 1e+08"},
		{"limit_burst", "0", "limit_burst"},
		{"base_s", "-1", "base_s"},
	} {
		_, err := NewPlan(retryOnExperiment(), Options{Set: map[string]string{test.factor: test.levels}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
	// Odd, but possible.
	mustRun(t, retryOnExperiment(), Options{Reps: 1, Set: map[string]string{
		"attempts": "1,100", "base_s": "0,1e4", "horizon_s": "0.1", "limit_rps": "0.001", "permanent_ratio": "1e-9,1", "budget_ratio": "0,1", "transient_ratio": "1",
	}})
}
