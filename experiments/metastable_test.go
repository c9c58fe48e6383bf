package experiments

import (
	"fmt"
	"math"
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
	reps := 10
	if testing.Short() {
		reps = 2
	}
	r := mustRun(t, metastable(), Options{Seed: 1, Reps: reps, Set: published(map[string]string{
		"policy": "budget-request,budget-success", "rate_rps": "250,265,280", "ratio": "0.1,0.2",
	})})
	for i, c := range r.Plan.Cells {
		policy, demand := c.Text("policy"), c.Float("rate_rps")*(1+c.Float("ratio"))
		lo, hi := reps, reps
		switch {
		case policy == "budget-request" && demand > 299.5:
			lo, hi = 0, 0
		case policy == "budget-request" && demand > 290, demand > 335: // 9 of 10 are known
			lo = reps - max(1, reps/5)
		}
		if n := recoveries(r, i); n < lo || n > hi {
			t.Errorf("%s at %v/s × %v = %.1f: %d of %d recover, want %d to %d", policy, c.Text("rate_rps"), 1+c.Float("ratio"), demand, n, reps, lo, hi)
		} else {
			t.Logf("%s at %.1f: %d of %d", policy, demand, n, reps)
		}
	}
}

func TestMetastableKnownLoads(t *testing.T) {
	reps := 10
	if testing.Short() {
		reps = 2
	}
	check := func(policy string, loads map[string][2]int) {
		t.Helper()
		for load, want := range loads {
			r := mustRun(t, metastable(), Options{Seed: 1, Reps: reps, Set: published(map[string]string{"policy": policy, "rate_rps": load})})
			n := recoveries(r, 0)
			t.Logf("%s at %s/s: %d of %d", policy, load, n, reps)
			if n < want[0]*reps/10 || n > want[1] {
				t.Errorf("%s at %s/s: %d of %d recover, want %d to %d of 10", policy, load, n, reps, want[0], want[1])
			}
		}
	}
	check("none", map[string][2]int{"280": {10, 10}})
	check("unlimited", map[string][2]int{"120": {10, 10}, "140": {8, 10}, "145": {0, 0}, "160": {0, 0}, "200": {0, 0}})
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

var _ = fmt.Sprint
var _ = math.NaN
var _ = strings.Contains
