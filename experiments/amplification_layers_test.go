package experiments

import (
	"math"
	"strings"
	"testing"
)

func TestLayersMultiply(t *testing.T) {
	r := mustRun(t, amplificationLayers(), Options{Seed: 9, Reps: 1, Set: map[string]string{
		"layers": "3", "policy": "none,retry-3,budget-10,budget-10-float",
	}})
	for policy, want := range map[string][3]float64{
		"none": {200, 200, 200}, "retry-3": {600, 1800, 5400}, "budget-10": {220, 242, 266}, "budget-10-float": {219, 240, 263},
	} {
		for i, depth := range []string{"1", "2", "3"} {
			s, ok := r.Lookup(map[string]string{"policy": policy, "depth": depth}, "calls_count")
			if !ok || s.Mean != want[i] {
				t.Errorf("%s, depth %s: %v calls, want %v", policy, depth, s.Mean, want[i])
			}
			if policy != "budget-10-float" && s.Exact != want[i] {
				t.Errorf("%s, depth %s: closed form %v, want %v", policy, depth, s.Exact, want[i])
			}
		}
	}
	misses, rows := articleMisses(r)
	if len(misses) > 0 || rows != 2 {
		t.Errorf("%d rows, want 2; out of range: %s", rows, strings.Join(misses, "; "))
	}
}

// At any failure ratio the closed form holds where there is one, and the bound
// everywhere.
func TestLayersFollowTheClosedForm(t *testing.T) {
	r := mustRun(t, amplificationLayers(), Options{Seed: 5, Reps: 20, Set: map[string]string{
		"layers": "1,2,4", "policy": "none,retry-2,budget-30,budget-30-full", "retry_at": "all,outermost,innermost", "failure_ratio": "0,0.4,1",
	}})
	known := 0
	for i, c := range r.Plan.Cells {
		for _, metric := range []string{"calls_count", "success_ratio"} {
			s := r.Stat(i, metric)
			if math.IsNaN(s.Exact) {
				continue
			}
			known++
			if math.Abs(s.Z) > 4 || s.SD == 0 && math.Abs(s.Mean-s.Exact) > 1e-6 {
				t.Errorf("%s: %s %v, closed form %v, z = %.1f", c, metric, s.Mean, s.Exact, s.Z)
			}
		}
		bound, ok := layersBound(c)
		s := r.Stat(i, "amplification_ratio")
		held := math.Pow(1+10.0/200, c.Float("depth")) // full buckets
		if slack := 4*s.SD/math.Sqrt(20) + 1e-9; !ok || s.Mean > bound*held+slack {
			t.Errorf("%s: %v calls per request, bound %v", c, s.Mean, bound)
		}
	}
	if known < len(r.Plan.Cells) {
		t.Errorf("%d closed forms for %d cells", known, len(r.Plan.Cells))
	}
}

func TestLayersRefuse(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{map[string]string{"layers": "8", "policy": "retry-20", "depth": "8"}, "8 layers and retry-20 make up to 5.12e+12 calls"},
		{map[string]string{"layers": "1", "depth": "2"}, "no valid combination"},
		{map[string]string{"layers": "9"}, "1 to 8"},
		{map[string]string{"retry_at": "everywhere"}, "known: all, outermost, innermost"},
	} {
		_, err := NewPlan(amplificationLayers(), Options{Set: c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.set, err, c.want)
		}
	}
}
