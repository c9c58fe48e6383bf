package experiments

import (
	"math"
	"slices"
	"testing"
)

var shortTrips = map[string]string{"hours": "0.5", "mode": "observe,breaker", "policy": "count-20-20-20,time-10s-20-20"}

func with(base map[string]string, more ...string) map[string]string {
	m := map[string]string{}
	for k, v := range base {
		m[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		m[more[i]] = more[i+1]
	}
	return m
}

// A cell depends on its own levels only: not on which other policies watch the
// same traffic, nor on the order of levels.
func TestCellsAreIndependent(t *testing.T) {
	both := mustRun(t, falseTrips(), Options{Seed: 5, Reps: 3, Set: shortTrips})
	for i, c := range both.Plan.Cells {
		alone := map[string]string{"hours": "0.5"}
		for _, f := range []string{"policy", "mode", "trace"} {
			alone[f] = c.Text(f)
		}
		one := mustRun(t, falseTrips(), Options{Seed: 5, Reps: 3, Set: alone})
		for _, m := range falseTrips().Metrics {
			a, b := both.Values(i, m.Name), one.Values(0, m.Name)
			if !slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }) {
				t.Errorf("%v: %s %v together, %v alone", c, m.Name, a, b)
			}
		}
	}
}

// Outages are noticed after exactly the closed form, in both modes.
func TestOutageDelayOfFullWindows(t *testing.T) {
	r := mustRun(t, falseTrips(), Options{Reps: 1, Set: map[string]string{"trace": "outage"}})
	want := map[string]float64{
		"count-20-20-50": 0.180, "count-20-20-20": 0.060, "count-100-100-20": 0.380,
		"time-10s-20-50": 4.980, "time-10s-20-20": 1.980, "time-60s-20-20": 11.980,
	}
	for i, c := range r.Plan.Cells {
		s := r.Stat(i, "detection_delay_s")
		if s.Mean != want[c.Text("policy")] || s.Exact != s.Mean {
			t.Errorf("%v: delay %v, closed form %v, want %v", c, s.Mean, s.Exact, want[c.Text("policy")])
		}
	}
}

// The mean number of trips of a count window agrees with the Markov chain.
func TestFalseTripsMeetTheMarkovChain(t *testing.T) {
	r := mustRun(t, falseTrips(), Options{Seed: 2, Reps: 40, Set: map[string]string{
		"hours": "2", "mode": "observe", "trace": "baseline,glitches", "policy": "count-20-20-20,count-10-10-50,count-15-5-40",
	}})
	for i, c := range r.Plan.Cells {
		s := r.Stat(i, "false_trips_count")
		if math.IsNaN(s.Exact) {
			t.Errorf("%v: no closed form", c)
			continue
		}
		if s.SD > 0 && !(math.Abs(s.Z) < 4) {
			t.Errorf("%v: mean %v, closed form %v, z %v: want |z| < 4", c, s.Mean, s.Exact, s.Z)
		}
	}
}

// A real breaker refuses good calls while it is open; a rule that observes
// refuses none, and trips at least as often.
func TestBreakerModeRefuses(t *testing.T) {
	r := mustRun(t, falseTrips(), Options{Seed: 1, Reps: 4, Set: with(shortTrips, "policy", "count-20-20-20", "trace", "glitches")})
	observe, _ := r.Lookup(map[string]string{"mode": "observe"}, "false_trips_count")
	breaker, _ := r.Lookup(map[string]string{"mode": "breaker"}, "false_trips_count")
	refused, _ := r.Lookup(map[string]string{"mode": "breaker"}, "good_refused_ratio")
	none, _ := r.Lookup(map[string]string{"mode": "observe"}, "good_refused_ratio")
	if !(breaker.Mean > 0 && breaker.Mean < observe.Mean) {
		t.Errorf("%v openings of a breaker, %v trips observed: want fewer, more than 0", breaker.Mean, observe.Mean)
	}
	// Each opening refuses 5 s at 50/s, of 90,000 calls.
	if lo := breaker.Mean * 240 / 90_000; refused.Mean < lo*0.95 {
		t.Errorf("refused %v of good calls, want at least about %v", refused.Mean, lo)
	}
	if none.Applies() {
		t.Errorf("observing has a refused ratio: %+v", none)
	}
}

func TestGlitchCountFollowsTheHours(t *testing.T) {
	for hours, want := range map[string]int64{"6": 18, "600": 1800, "0.1": 0, "1": 3} {
		p := mustPlan(t, falseTrips(), Options{Set: map[string]string{"hours": hours}})
		if got := glitchCount(p.Cells[0]); got != want {
			t.Errorf("%s h have %d glitches, want %d: 5 %% of the minutes", hours, got, want)
		}
	}
}

func TestSavedTraceIsTheOneRun(t *testing.T) {
	p := mustPlan(t, falseTrips(), Options{Seed: 1})
	trace, err := falseTripsTrace(p)
	if err != nil {
		t.Fatal(err)
	}
	segments := trace.Segments(trace.Nodes()[0])
	if got := len(segments); got < 2*15 || got > 2*18+1 {
		t.Errorf("%d segments, want about 2 per glitch", got)
	}
	if trace.End().Hours() != 6 {
		t.Errorf("trace ends at %v, want 6 h", trace.End())
	}
}
