package experiments

import (
	"math"
	"strings"
	"testing"
)

// Immediate retries in an outage that answers at once have a closed form.
func TestBackoffNoneInAnErrorOutage(t *testing.T) {
	r := mustRun(t, backoffExperiment(), Options{Seed: 3, Reps: 20, Set: map[string]string{
		"outage": "error", "kind": "none", "attempts": "2,5", "outage_s": "10", "horizon_s": "80",
	}})
	for i, c := range r.Plan.Cells {
		for _, metric := range []string{"amplification_ratio", "success_ratio"} {
			if s := r.Stat(i, metric); !(math.Abs(s.Z) < 3.5) {
				t.Errorf("%s: %s is %v ± %v, closed form %v", c, metric, s.Mean, s.SD, s.Exact)
			}
		}
		if s := r.Stat(i, "outage_success_ratio"); s.Mean != 0 {
			t.Errorf("%s: %v of the outage's requests succeed, want none", c, s.Mean)
		}
		if s := r.Stat(i, "recovery_s"); s.Censored != 0 || s.Mean > 0.1 {
			t.Errorf("%s: recovery after %v s, %d never; want at once", c, s.Mean, s.Censored)
		}
	}
	if a := r.Stat(1, "amplification_ratio").Exact; math.Abs(a-1.5) > 1e-12 {
		t.Errorf("closed form %v, want 1 + 4 × 10/80", a)
	}
}

// A wait as long as the outage saves every request of it, at one retry each
// at most; short waits are as good as none.
func TestBackoffBase(t *testing.T) {
	r := mustRun(t, backoffExperiment(), Options{Seed: 1, Reps: 3, Set: map[string]string{
		"outage": "error", "kind": "none,fixed", "base_s": "0.001,6", "outage_s": "5",
	}})
	get := func(kind, base, metric string) float64 {
		s, ok := r.Lookup(map[string]string{"kind": kind, "base_s": base}, metric)
		if !ok {
			t.Fatalf("no cell %s %s", kind, base)
		}
		return s.Mean
	}
	if n := len(r.Plan.Cells); n != 3 {
		t.Errorf("%d cells, want 3: the base of no back-off means nothing", n)
	}
	if v := get("fixed", "6", "outage_success_ratio"); v < 0.999 {
		t.Errorf("waits of 6 s save %v of the outage's requests, want all", v)
	}
	if a := get("fixed", "6", "amplification_ratio"); a > 1+5.0/60*1.2 || a < 1+5.0/60*0.8 {
		t.Errorf("waits of 6 s: %v attempts per request, want about 1 + 5/60", a)
	}
	if a, b := get("fixed", "0.001", "amplification_ratio"), get("none", "0.001", "amplification_ratio"); math.Abs(a-b) > 0.01 {
		t.Errorf("%v attempts with waits of 1 ms, %v without; want the same", a, b)
	}
}

// With attempts for four times the load on half of the capacity a stall stays,
// unless the waits are long.
func TestBackoffAfterAStall(t *testing.T) {
	kinds := "none,exponential,full,decorrelated"
	if testing.Short() {
		kinds = "none,full"
	}
	r := mustRun(t, backoffExperiment(), Options{Seed: 1, Reps: 1, Set: map[string]string{"outage": "stall", "kind": kinds, "base_s": "0.01,10"}})
	for i, c := range r.Plan.Cells {
		s := r.Stat(i, "recovery_s")
		long := c.Text("base_s") == "10"
		if long && s.Censored > 0 || !long && s.N > 0 {
			t.Errorf("%s: %d of %d recover, want none of them with short waits and all with long ones", c, s.N, s.N+s.Censored)
		}
		if p := r.Stat(i, "peak_load_ratio").Mean; p < r.Stat(i, "peak_after_load_ratio").Mean {
			t.Errorf("%s: peak %v below that after the outage", c, p)
		}
	}
}

func TestBackoffRefuses(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"horizon_s", "30", "outage_at_s + outage_s + 20 s = 35 s, want at most horizon_s = 30 s"},
		{"cap_s", "0.001", "factor cap_s: 0.001, want at least base_s, 0.01, with kind=exponential"},
		{"kind", "linear", "linear"},
		{"rate_rps", "1000000", "want at most 1e+08"},
		{"workers", "0", "workers"},
	} {
		_, err := NewPlan(backoffExperiment(), Options{Set: map[string]string{test.factor: test.levels}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
}
