package experiments

import (
	"context"
	"math"
	"testing"

	"github.com/stormglass/stormglass/policies"
)

// Equal waits make a square wave: all callers in one bin, again at every
// interval; jitter and growth spread them.
func TestJitterSquareWave(t *testing.T) {
	r := mustRun(t, jitterExperiment(), Options{Seed: 1, Reps: 8, Set: map[string]string{"spread_s": "0"}})
	mustBeExact(t, r, 2)
	fixed := r.Find(map[string]string{"backoff": "fixed-100ms"})
	for i, c := range r.Plan.Cells {
		peak, echo := r.Stat(i, "peak_count").Mean, r.Stat(i, "echo_ratio").Mean
		if i == fixed {
			if peak < 500 || echo < 0.8 {
				t.Errorf("%s: peak %v, echo %v, want all 500 callers again and again", c, peak, echo)
			}
			continue
		}
		if peak > 120 || echo > 0.5 || r.Stat(i, "callers_success_ratio").Mean < 0.99 {
			t.Errorf("%s: peak %v, echo %v, success %v", c, peak, echo, r.Stat(i, "callers_success_ratio").Mean)
		}
	}
	tables, err := jitterSeries(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	high := 0
	for _, row := range tables[0].Select(map[string]string{"backoff": "fixed-100ms"}) {
		if tables[0].Value(row, "arrivals_count") > 200 {
			high++
		}
	}
	if high != 9 {
		t.Errorf("%d bins with more than 200 arrivals, want the 9 retries of 10 attempts", high)
	}
}

// Failures that were spread remain so: nobody waits for the others.
func TestJitterKeepsSpreadFailuresSpread(t *testing.T) {
	r := mustRun(t, jitterExperiment(), Options{Seed: 2, Reps: 4, Set: map[string]string{"spread_s": "1", "backoff": "fixed-100ms"}})
	if s := r.Stat(0, "peak_count"); s.Mean > 80 {
		t.Errorf("peak %v, want far less than the 500 callers", s.Mean)
	}
}

// A node without limits in reach serves every retry: each caller makes one.
func TestJitterWithoutPressure(t *testing.T) {
	r := mustRun(t, jitterExperiment(), Options{Seed: 3, Reps: 2, Set: map[string]string{"queue": "100000", "workers": "1000", "rate_rps": "0", "attempts": "2"}})
	for i, c := range r.Plan.Cells {
		if s := r.Stat(i, "attempts_ratio"); s.Mean != 1 {
			t.Errorf("%s: %v attempts at the node for each caller, want 1", c, s.Mean)
		}
		if s := r.Stat(i, "callers_success_ratio"); s.Mean != 1 {
			t.Errorf("%s: success %v", c, s.Mean)
		}
		if s := r.Stat(i, "others_success_ratio"); s.Applies() {
			t.Errorf("%s: others succeed to %v, but there are none", c, s.Mean)
		}
	}
}

func TestAutocorrelation(t *testing.T) {
	wave := make([]float64, 100)
	for i := range wave {
		if i%10 == 0 {
			wave[i] = 50
		}
	}
	if v := autocorrelation(wave, 10); math.Abs(v-0.9) > 1e-2 {
		t.Errorf("at the period %v, want 1 less the end, 0.9", v)
	}
	if v := autocorrelation(wave, 5); v > 0 {
		t.Errorf("at half the period %v, want below 0", v)
	}
	for _, v := range []float64{autocorrelation(wave, 100), autocorrelation(wave, -1), autocorrelation([]float64{1, 1, 1}, 1), autocorrelation(nil, 0)} {
		if !math.IsNaN(v) {
			t.Errorf("%v, want NaN", v)
		}
	}
}

func TestOverloadEnd(t *testing.T) {
	x := make([]float64, 30)
	x[12] = 101 // 100 calls of capacity in any stretch of 10 bins
	if v := overloadEnd(x, 1000); v != 0.22 {
		t.Errorf("%v s, want until the burst has left the stretch: 0.22 s", v)
	}
	x[12] = 100
	if v := overloadEnd(x, 1000); v != 0 {
		t.Errorf("%v s, want 0 at capacity", v)
	}
}

func TestWaitSpec(t *testing.T) {
	for text, want := range map[string]string{
		"fixed-100ms": "fixed-100ms", "fixed-0.1s": "fixed-100ms", "exponential-120ms-30": "exponential-120ms-30", "full-1.5s": "full-1.5s", "equal-120ms": "equal-120ms", "fixed-100ms-0": "fixed-100ms",
	} {
		w, err := parseWait(text)
		if err != nil || w.name() != want {
			t.Errorf("%s: %s, error %v, want %s", text, w.name(), err, want)
		}
	}
	w, err := parseWait("exponential-120ms-30")
	if err != nil || w.String() != "exponential from 120 ms ± 30 %" || w.kind != policies.ExponentialBackoff || w.jitter != 0.3 {
		t.Errorf("%v, error %v", w, err)
	}
	for text, part := range map[string]string{
		"none": "none", "fixed": "1 fields", "full-1s-10": "3 fields", "fixed-1": "missing unit", "fixed-2h": "base 2h0m0s", "plus-minus": "plus", "fixed-1s-101": "101",
	} {
		mustRefuse(t, jitterExperiment(), map[string]string{"backoff": text}, part)
	}
	mustRefuse(t, jitterExperiment(), map[string]string{"cap_s": "0.05"}, "cap_s = 0.05 s, want at least the base of back-off fixed-100ms, 0.1 s")
	mustRefuse(t, jitterExperiment(), map[string]string{"window_s": "20"}, "want at most horizon_s")
	mustRefuse(t, jitterExperiment(), map[string]string{"callers": "1000000", "attempts": "50"}, "want at most")
}
