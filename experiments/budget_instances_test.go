package experiments

import (
	"context"
	"math"
	"strings"
	"testing"
)

func TestBudgetInstancesOfATotalOutage(t *testing.T) {
	r := mustRun(t, budgetInstances(), Options{Seed: 1, Reps: 1, Set: map[string]string{
		"failure_ratio": "1", "requests": "3000", "instances": "1,7,100,1000", "policy": "budget-10,budget-10-full,budget-10-full-success,retry-3",
	}})
	for _, c := range []struct {
		policy, instances string
		retries           float64
	}{
		{"budget-10", "1", 300},
		{"budget-10", "7", 294},   // of 428 or 429 requests each: 7 × 42
		{"budget-10", "100", 300}, // 30 each
		{"budget-10", "1000", 0},  // 3 each are not enough for a token
		{"budget-10-full", "1", 309},
		{"budget-10-full", "100", 1200},          // 10 + 2, the first credit is lost
		{"budget-10-full", "1000", 6000},         // the budget does not bind
		{"budget-10-full-success", "100", 1000},  // 10 each
		{"budget-10-full-success", "1000", 6000}, //
		{"retry-3", "100", 6000},
	} {
		s, ok := r.Lookup(map[string]string{"policy": c.policy, "instances": c.instances}, "amplification_ratio")
		if want := 1 + c.retries/3000; !ok || math.Abs(s.Mean-want) > 1e-12 || math.Abs(s.Exact-want) > 1e-9 {
			t.Errorf("%s in %s programs: %v, closed form %v, want %v", c.policy, c.instances, s.Mean, s.Exact, want)
		}
	}
}

func TestBudgetInstancesFollowTheClosedForm(t *testing.T) {
	r := mustRun(t, budgetInstances(), Options{Seed: 4, Reps: 30, Set: map[string]string{
		"failure_ratio": "0.2,0.6", "requests": "2000", "instances": "1,30,300,3000",
	}})
	for i, c := range r.Plan.Cells {
		for _, metric := range []string{"amplification_ratio", "success_ratio"} {
			if s := r.Stat(i, metric); math.IsNaN(s.Exact) || math.Abs(s.Z) > 4 {
				t.Errorf("%s: %s %v, closed form %v, z = %.1f", c, metric, s.Mean, s.Exact, s.Z)
			}
		}
		s := r.Stat(i, "amplification_ratio")
		if bound, ok := instancesBound(c, c.Float("instances")); !ok || s.Exact > bound+1e-9 {
			t.Errorf("%s: closed form %v above the bound %v", c, s.Exact, bound)
		}
	}
}

func TestBudgetInstancesBounds(t *testing.T) {
	r := mustRun(t, budgetInstances(), Options{Reps: 1, Set: map[string]string{"requests": "1000", "instances": "1,100", "policy": "budget-10-full,cap-3"}})
	tables, err := instancesBounds(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(tables[0].Rows), 2*boundPoints; got != want {
		t.Fatalf("%d points, want %d: two failure ratios, and none for a cap", got, want)
	}
	first, last := tables[0].Rows[0], tables[0].Rows[boundPoints-1]
	if a, b := first.Values[0], last.Values[0]; math.Abs(a-1.11) > 1e-9 || math.Abs(b-2.1) > 1e-9 {
		t.Errorf("bounds %v and %v, want 1 + 0.1 + 10 × 1 / 1000 and × 100", a, b)
	}
}

func TestBudgetInstancesRefuse(t *testing.T) {
	for factor, levels := range map[string]string{"instances": "0", "requests": "1.5", "rate_rps": "-1", "policy": "retry-1000000"} {
		if _, err := NewPlan(budgetInstances(), Options{Set: map[string]string{factor: levels}}); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s=%s: %v", factor, levels, err)
		}
	}
}
