package experiments

import (
	"context"
	"strings"
	"testing"
)

// How often probing fails is a binomial tail; flaps follow from it.
func TestHalfOpenProbes(t *testing.T) {
	r := mustRun(t, halfOpen(), Options{Seed: 1, Reps: 5, Set: map[string]string{"callee": "partial", "open_s": "1", "probes": "1,3,10"}})
	mustBeExact(t, r, 9)
	flaps := func(rule, probes string) float64 {
		s, _ := r.Lookup(map[string]string{"half_open": rule, "probes": probes}, "flaps_per_hour")
		return s.Mean
	}
	for _, rule := range halfOpenRules {
		if a, b := flaps(rule, "1"), flaps(rule, "10"); b > a/2 {
			t.Errorf("%s: %v flaps/h with 1 probe, %v with 10, want far fewer", rule, a, b)
		}
	}
}

// One probe at a time and all at once are the same breaker for one probe; a
// longer cool-down flaps less and recovers later or at once.
func TestHalfOpenCoolDown(t *testing.T) {
	r := mustRun(t, halfOpen(), Options{Seed: 3, Reps: 3, Set: map[string]string{"callee": "ramp", "open_s": "1,30", "probes": "1", "half_open": "collect-all,collect-one-at-a-time"}})
	get := func(rule, open, metric string) float64 {
		s, _ := r.Lookup(map[string]string{"half_open": rule, "open_s": open}, metric)
		return s.Mean
	}
	for _, m := range []string{"flaps_count", "success_ratio", "closed_after_s"} {
		if a, b := get(collectAll, "1", m), get(collectOne, "1", m); a != b {
			t.Errorf("%s: %v, one at a time %v, want the same with one probe", m, a, b)
		}
	}
	if a, b := get(collectAll, "1", "flaps_count"), get(collectAll, "30", "flaps_count"); b > a/2 {
		t.Errorf("%v flaps/h with 1 s, %v with 30 s, want far fewer", a, b)
	}
	if a, b := get(collectAll, "1", "refused_ratio"), get(collectAll, "30", "refused_ratio"); b < a {
		t.Errorf("%v refused with 1 s, %v with 30 s, want more", a, b)
	}
}

// The states of the detail table follow each other without a gap, and agree
// with the metrics.
func TestHalfOpenStates(t *testing.T) {
	r := mustRun(t, halfOpen(), Options{Seed: 2, Reps: 1, Set: map[string]string{"probes": "3", "open_s": "5", "half_open": "first-failure", "length_s": "300"}})
	tables, err := halfOpenStates(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	states := tables[0]
	for i, c := range r.Plan.Cells {
		at, closedEnds := 0.0, 0
		rows := states.Select(map[string]string{"callee": c.Text("callee")})
		for _, row := range rows {
			if states.Value(row, "from_s") != at {
				t.Fatalf("%s: a state from %v s, want from %v s", c, states.Value(row, "from_s"), at)
			}
			at = states.Value(row, "to_s")
			if states.Key(row, "state") == "closed" && at < 300 {
				closedEnds++
			}
		}
		if at != 300 {
			t.Errorf("%s: the last state ends at %v s, want 300 s", c, at)
		}
		if flaps := r.Stat(i, "flaps_count").Mean; int(flaps) != max(0, closedEnds-1) {
			t.Errorf("%s: %v flaps, but %d closed states that ended", c, flaps, closedEnds)
		}
	}
}

// A recovery has the same flaps in a run of any length; by the hour they are
// those of partial alone.
func TestHalfOpenFlapsOfARecovery(t *testing.T) {
	set := map[string]string{"probes": "1", "open_s": "1", "half_open": "collect-all", "length_s": "300"}
	short := mustRun(t, halfOpen(), Options{Seed: 1, Reps: 2, Set: set})
	set["length_s"] = "1200"
	long := mustRun(t, halfOpen(), Options{Seed: 1, Reps: 2, Set: set})
	ramp := map[string]string{"callee": "ramp"}
	a, _ := short.Lookup(ramp, "flaps_count")
	b, _ := long.Lookup(ramp, "flaps_count")
	if a.Mean != b.Mean || a.Mean == 0 {
		t.Errorf("%v flaps in 300 s, %v in 1200 s, want the same", a.Mean, b.Mean)
	}
	if s, _ := long.Lookup(ramp, "flaps_per_hour"); s.Applies() {
		t.Errorf("ramp: %v flaps/h, want none", s.Mean)
	}
	if notes := strings.Join(halfOpenWords(short.Plan.Cells[0]), " "); strings.Contains(notes, "Warning") {
		t.Errorf("notes %q at 30 %% above a threshold of 20 %%", notes)
	}
	p, err := NewPlan(halfOpen(), Options{Set: map[string]string{"callee": "partial", "breaker": "count-20-20-50"}})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(halfOpenWords(p.Cells[0]), " "); !strings.Contains(notes, "30 % of failures are below the threshold of the breaker, 50 %") {
		t.Errorf("notes %q, want a warning below the threshold", notes)
	}
}

func TestHalfOpenRefuses(t *testing.T) {
	mustRefuse(t, halfOpen(), map[string]string{"length_s": "100"}, "want at most length_s = 100 s")
	mustRefuse(t, halfOpen(), map[string]string{"half_open": "guess"}, "guess")
	mustRefuse(t, halfOpen(), map[string]string{"rate_rps": "100000", "length_s": "100000"}, "want at most")
}
