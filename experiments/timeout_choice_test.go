package experiments

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
)

func TestTimeoutChoiceMeetsItsClosedForms(t *testing.T) {
	r := mustRun(t, timeoutChoice(), Options{Seed: 5, Reps: 20, Set: map[string]string{
		"law": "lognormal,quantiles,exponential", "cv": "1,4", "timeout": "mean-2,p95,p99-plus-20", "requests": "4000", "error_ratio": "0.05",
	}})
	known := 0
	for i, c := range r.Plan.Cells {
		for _, metric := range []string{"timeout_ratio", "needless_ratio", "amplification_ratio", "residual_s", "held_s", "success_ratio"} {
			s := r.Stat(i, metric)
			if math.IsNaN(s.Exact) || s.SD > 0 && !(math.Abs(s.Z) < 4.5) {
				t.Errorf("%v: %s %v, closed form %v, z %v", c, metric, s.Mean, s.Exact, s.Z)
			}
			known++
		}
		for _, metric := range []string{"timeout_s", "stalled_held_s"} {
			if s := r.Stat(i, metric); math.Abs(s.Mean-s.Exact) > 1e-9 || s.SD > 1e-12 {
				t.Errorf("%v: %s %v, closed form %v", c, metric, s.Mean, s.Exact)
			}
		}
	}
	if known != 4*3*6 {
		t.Errorf("%d closed forms", known)
	}
}

// A longer timeout gives up less and holds more when nothing answers.
func TestTimeoutChoiceIsATradeOff(t *testing.T) {
	r := mustRun(t, timeoutChoice(), Options{Reps: 2, Set: map[string]string{"law": "lognormal", "cv": "2", "timeout": "p90,p95,p99,p99-plus-20", "requests": "5000"}})
	for i := 1; i < len(r.Plan.Cells); i++ {
		if a, b := r.Stat(i-1, "needless_ratio").Mean, r.Stat(i, "needless_ratio").Mean; !(b < a) {
			t.Errorf("%v: needless %v after %v", r.Plan.Cells[i], b, a)
		}
		if a, b := r.Stat(i-1, "stalled_held_s").Mean, r.Stat(i, "stalled_held_s").Mean; !(b > a) {
			t.Errorf("%v: held %v after %v", r.Plan.Cells[i], b, a)
		}
	}
}

func TestLatencyClosedFormsAgreeWithTheLaw(t *testing.T) {
	for _, l := range []model.Law{
		{Kind: model.Lognormal, Mean: 100 * time.Millisecond, CV: 3},
		{Kind: model.Exponential, Mean: 100 * time.Millisecond},
		{Kind: model.Quantiles, Points: []model.Point{{P: 0.5, D: 50 * time.Millisecond}, {P: 0.9, D: 120 * time.Millisecond}, {P: 1, D: time.Second}}},
	} {
		const n = 400_000
		for _, timeout := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 900 * time.Millisecond} {
			sum, late := 0.0, 0
			for i := range n {
				d := l.Quantile((float64(i) + 0.5) / n)
				sum += min(d, timeout).Seconds()
				if d > timeout {
					late++
				}
			}
			if got, want := latencyTail(l, timeout), float64(late)/n; math.Abs(got-want) > 1e-5 {
				t.Errorf("%s: P[T > %v] = %v, want %v", l.Kind, timeout, got, want)
			}
			if got, want := latencyWithin(l, timeout), sum/n; math.Abs(got/want-1) > 1e-5 {
				t.Errorf("%s: E[min(T, %v)] = %v, want %v", l.Kind, timeout, got, want)
			}
		}
	}
}

// What ends at the instant of the timeout has timed out, so an atom there
// counts.
func TestTimeoutChoiceAtTheLongestLatency(t *testing.T) {
	r := mustRun(t, timeoutChoice(), Options{Reps: 3, Set: map[string]string{"law": "quantiles", "max_s": "3", "timeout": "p99,p99.9", "requests": "2000"}})
	if s := r.Stat(1, "timeout_ratio"); math.Abs(s.Exact-0.001) > 1e-9 {
		t.Errorf("P[T ≥ the longest latency] = %v, want 0.001", s.Exact)
	}
}

func TestTimeoutRules(t *testing.T) {
	for text, want := range map[string][2]string{
		"mean-3": {"mean-3", "mean × 3"}, "mean-2.50": {"mean-2.5", "mean × 2.5"}, "p99": {"p99", "P99"},
		"p99.90": {"p99.9", "P99.9"}, "p99-plus-20": {"p99-plus-20", "P99 + 20 %"},
	} {
		r, err := parseTimeoutRule(text)
		if err != nil || r.text != want[0] || r.String() != want[1] {
			t.Errorf("%s: %q, %q, %v", text, r.text, r.String(), err)
		}
	}
	for _, text := range []string{"", "mean", "mean-0", "mean-x", "p0", "p100", "p", "p99-plus", "p99-plus-x", "p99-plus--1", "q99", "pNaN", "mean-1e99"} {
		if _, err := parseTimeoutRule(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestTimeoutChoiceRefuses(t *testing.T) {
	for _, set := range []map[string]string{
		{"law": "quantiles", "p90_s": "0.01"},
		{"rate_rps": "0.0000001"},
		{"requests": "10000000", "attempts": "11"},
		{"cv": "1000", "mean_s": "10000", "timeout": "p99.9"},
	} {
		if _, err := NewPlan(timeoutChoice(), Options{Set: set}); err == nil {
			t.Errorf("%v: no error", set)
		}
	}
}
