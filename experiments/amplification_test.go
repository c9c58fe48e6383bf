package experiments

import (
	"context"
	"math"
	"strings"
	"testing"
)

func TestAmplificationOfATotalOutage(t *testing.T) {
	r := mustRun(t, amplification(), Options{Seed: 3, Reps: 2, Set: map[string]string{
		"failure_ratio": "1", "policy": "none,budget-10,budget-20,budget-50,retry-3,budget-10-float,budget-10-full",
	}})
	for policy, want := range map[string]float64{
		"none": 1500, "budget-10": 1650, "budget-20": 1800, "budget-50": 2250, "retry-3": 4500,
		"budget-10-float": 1649, "budget-10-full": 1659,
	} {
		cell := map[string]string{"policy": policy}
		if s, ok := r.Lookup(cell, "calls_count"); !ok || s.Mean != want || s.SD != 0 {
			t.Errorf("%s: %v calls, want %v", policy, s.Mean, want)
		} else if policy != "budget-10-float" && s.Exact != want {
			t.Errorf("%s: closed form %v, want %v", policy, s.Exact, want)
		}
		if s, _ := r.Lookup(cell, "success_ratio"); s.Mean != 0 {
			t.Errorf("%s: success %v", policy, s.Mean)
		}
	}
}

// articleMisses returns the rows of the articles' tables that a result has and
// that are out of range, and how many it has.
func articleMisses(r *Result) (misses []string, rows int) {
	ours := map[[3]string]float64{}
	r.collect(ours)
	for _, e := range ExpectedRows() {
		v, ok := ours[e.key()]
		if !ok {
			continue
		}
		rows++
		if !within(v, e) {
			misses = append(misses, e.Table+", "+e.Case+", "+e.Metric+": "+format(v)+", want "+e.Low+" to "+e.High)
		}
	}
	return misses, rows
}

func TestAmplificationReproducesTheArticle(t *testing.T) {
	r := mustRun(t, amplification(), Options{Seed: 1, Reps: 50, Set: map[string]string{"failure_ratio": "0.05,0.2,0.5,1"}})
	misses, rows := articleMisses(r)
	if len(misses) > 0 || rows != 40 {
		t.Errorf("%d rows, want 40; out of range: %s", rows, strings.Join(misses, "; "))
	}
}

func TestAmplificationFollowsTheClosedForm(t *testing.T) {
	r := mustRun(t, amplification(), Options{Seed: 2, Reps: 40, Set: map[string]string{
		"failure_ratio": "0,0.1,0.3,0.9", "requests": "400",
		"policy": "none,retry-2,retry-5,budget-10,budget-30-cap-3-attempts-4,budget-20-success,budget-20-full",
	}})
	for i, c := range r.Plan.Cells {
		for _, metric := range []string{"amplification_ratio", "success_ratio", "calls_count"} {
			s := r.Stat(i, metric)
			if math.IsNaN(s.Exact) || math.Abs(s.Z) > 4 || s.SD == 0 && math.Abs(s.Mean-s.Exact) > 1e-3 {
				t.Errorf("%s: %s %v, closed form %v, z = %.1f", c, metric, s.Mean, s.Exact, s.Z)
			}
		}
	}
}

// Requests that overlap earn tokens while others wait, so the chain says
// nothing of them; without a budget nothing changes.
func TestAmplificationOfRequestsThatOverlap(t *testing.T) {
	r := mustRun(t, amplification(), Options{Seed: 1, Reps: 3, Set: map[string]string{
		"failure_ratio": "1", "policy": "budget-10,retry-3,share-20-floor-3,cap-3", "service_s": "0.05",
	}})
	get := func(policy string) Stat {
		s, _ := r.Lookup(map[string]string{"policy": policy}, "amplification_ratio")
		return s
	}
	if s := get("budget-10"); !math.IsNaN(s.Exact) || s.Mean != 1.1 {
		t.Errorf("budget: %v, closed form %v; want 1.1 and none", s.Mean, s.Exact)
	}
	if s := get("retry-3"); s.Exact != 3 || s.Mean != 3 {
		t.Errorf("no budget: %v, closed form %v, want 3", s.Mean, s.Exact)
	}
	// 1,000 requests/s of 0.05 s and more: about 60 in flight, 12 of them retries.
	if s := get("share-20-floor-3"); s.Mean < 1.15 || s.Mean > 1.3 {
		t.Errorf("share of 20 %%: %v attempts per request, want about 1.2", s.Mean)
	}
	// 3 places, each free again every 0.05 or 0.1 s: at most 60 retries/s.
	if s := get("cap-3"); s.Mean < 1.03 || s.Mean > 1.07 {
		t.Errorf("cap 3: %v attempts per request, want about 1.06", s.Mean)
	}
}

func TestAmplificationRefuses(t *testing.T) {
	for _, c := range []struct{ factor, levels, want string }{
		{"policy", "budget-10%", `"budget-10%"`},
		{"policy", "retry-1000000", "want at most 1000000000 attempts"},
		{"rate_rps", "1e-9", "want at most 7200000000"},
		{"rate_rps", "0", "above 0"},
		{"requests", "0", "1 to 10000000"},
		{"failure_ratio", "1.1", "0 to 1"},
		{"service_s", "NaN", "finite"},
	} {
		_, err := NewPlan(amplification(), Options{Set: map[string]string{c.factor: c.levels}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %q", c.factor, c.levels, err, c.want)
		}
	}
}

func TestAmplificationBounds(t *testing.T) {
	r := mustRun(t, amplification(), Options{Reps: 1, Set: map[string]string{"failure_ratio": "0.5", "policy": "budget-10,retry-3,cap-3"}})
	tables, err := amplificationBounds(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		policy, failure string
		want            float64
	}{
		{"budget-10", "0", 1}, {"budget-10", "0.05", 1.0525}, {"budget-10", "0.5", 1.1}, {"budget-10", "1", 1.1},
		{"retry-3", "0.5", 1.75}, {"retry-3", "1", 3},
	} {
		rows := tables[0].Select(map[string]string{"policy": c.policy, "failure_ratio": c.failure})
		if len(rows) != 1 || math.Abs(rows[0].Values[0]-c.want) > 1e-12 {
			t.Errorf("%s at %s: %v, want %v", c.policy, c.failure, rows, c.want)
		}
	}
	if rows := tables[0].Select(map[string]string{"policy": "cap-3"}); len(rows) > 0 {
		t.Errorf("a cap has a bound of %v", rows[0].Values)
	}
}

func TestAmplificationReport(t *testing.T) {
	var b strings.Builder
	for _, text := range reportAmplification(mustRun(t, amplification(), Options{Seed: 1, Reps: 2, Set: map[string]string{
		"failure_ratio": "0.2,1", "policy": "budget-10,budget-10-float", "requests": "1500,10",
	}})) {
		if err := text.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"· requests=10", "budget 10 %, float", "1.099", "budget 10 % from p = 0.092", "0.9999999999999999"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

// Nothing is in progress where attempts take no time, which the report says.
func TestIdleBoundsAreNoted(t *testing.T) {
	for _, c := range []struct {
		policy, service string
		noted           bool
	}{{"cap-2", "0", true}, {"share-20-floor-3,none", "0", true}, {"cap-2", "0.1", false}, {"budget-10", "0", false}} {
		for _, e := range []*Experiment{amplification(), budgetInstances()} {
			p := mustPlan(t, e, Options{Set: map[string]string{"policy": c.policy, "service_s": c.service}})
			if got := strings.Contains(strings.Join(idleNotes(p), " "), "service_s"); got != c.noted {
				t.Errorf("%s, policy=%s service_s=%s: noted is %v, want %v", e.Name, c.policy, c.service, got, c.noted)
			}
		}
	}
}
