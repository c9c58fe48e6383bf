package experiments

import (
	"context"
	"fmt"
	"math"
	"testing"
)

func mustRun(t *testing.T, e *Experiment, o Options) *Result {
	t.Helper()
	r, err := mustPlan(t, e, o).Run(context.Background(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Both columns of the article's first table: exact integer time, and float64
// time as the article adds it up, printed with its two decimals.
func TestDetectionDelayReproducesTheArticle(t *testing.T) {
	type cell struct {
		policy, rate   string
		exact          float64 // s; +Inf is never
		exactBad       float64
		article        string
		articleBadCall float64
	}
	never := math.Inf(1)
	cells := []cell{
		{"count-20-10-50", "0.5", 18, 10, "18.00", 10},
		{"count-20-10-50", "1", 9, 10, "9.00", 10},
		{"count-20-10-50", "2", 4.5, 10, "4.50", 10},
		{"count-20-10-50", "5", 1.8, 10, "2.00", 10},
		{"count-20-10-50", "20", 0.45, 10, "0.45", 10},
		{"count-20-10-50", "100", 0.09, 10, "0.09", 10},
		{"count-20-10-50", "500", 0.018, 10, "0.02", 10},
		{"time-10s-10-50", "0.5", never, 1500, "never", 1500},
		{"time-10s-10-50", "1", 4, 5, "4.00", 5},
		{"time-10s-10-50", "2", 4.5, 10, "4.50", 10},
		{"time-10s-10-50", "5", 4.8, 25, "5.20", 26},
		{"time-10s-10-50", "20", 4.95, 100, "4.95", 100},
		{"time-10s-10-50", "100", 4.99, 500, "4.99", 500},
		{"time-10s-10-50", "500", 4.998, 2500, "5.00", 2501},
	}
	r := mustRun(t, detectionDelay(), Options{Set: map[string]string{"arrivals": "fixed,fixed-float"}})
	for _, c := range cells {
		for _, arrivals := range []string{"fixed", "fixed-float"} {
			want := map[string]string{"policy": c.policy, "rate_rps": c.rate, "arrivals": arrivals}
			delay := r.Values(r.Find(want), "detection_delay_s")[0]
			bad := r.Values(r.Find(want), "bad_calls_count")[0]
			if arrivals == "fixed" {
				s, _ := r.Lookup(want, "detection_delay_s")
				if delay != c.exact || bad != c.exactBad || s.Exact != c.exact {
					t.Errorf("%v: delay %v, bad calls %v, closed form %v, want %v and %v", want, delay, bad, s.Exact, c.exact, c.exactBad)
				}
				continue
			}
			if got := fixed(delay, 2); got != c.article || bad != c.articleBadCall {
				t.Errorf("%v: delay %s, bad calls %v, want the article's %s and %v", want, got, bad, c.article, c.articleBadCall)
			}
		}
	}
}

// The closed form holds at rates and thresholds that no article has.
func TestDetectionDelayMeetsTheClosedForm(t *testing.T) {
	r := mustRun(t, detectionDelay(), Options{Set: map[string]string{
		"policy":   "count-7-3-33,count-100-100-7,time-3s-5-40,time-1500ms-1-100,time-60s-100-20",
		"rate_rps": "0.3,0.5,1.7,3,7,33,250", "healthy_s": "20.5,61.3", "outage_s": "10.2,400",
	}})
	for i, c := range r.Plan.Cells {
		for _, m := range []string{"detection_delay_s", "bad_calls_count"} {
			got, want := r.Values(i, m)[0], r.Stat(i, m).Exact
			if math.IsNaN(want) || math.Abs(got-want) > 1e-9 && got != want {
				t.Errorf("%v: %s %v, closed form %v", c, m, got, want)
			}
		}
	}
}

func TestPoissonDetectionIsRandomButRepeatable(t *testing.T) {
	o := Options{Seed: 3, Reps: 20, Set: map[string]string{"arrivals": "poisson", "rate_rps": "20", "outage_s": "60"}}
	a, b := mustRun(t, detectionDelay(), o), mustRun(t, detectionDelay(), o)
	if fmt.Sprint(a.values) != fmt.Sprint(b.values) {
		t.Error("two runs differ")
	}
	s := a.Stat(0, "detection_delay_s")
	if s.SD == 0 || s.Lo > 0.475 || s.Hi < 0.475-0.1 {
		t.Errorf("count window at 20/s: %+v, want random delays near 10 gaps of 50 ms", s)
	}
}
