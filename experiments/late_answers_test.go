package experiments

import (
	"math"
	"strings"
	"testing"
)

// Late successes close the Hystrix of 1.4 and 1.5.18 in a full outage, and no
// exact breaker.
func TestLateSuccessClosesHystrix(t *testing.T) {
	r := mustRun(t, lateAnswers(), Options{Seed: 1, Reps: 8, Set: map[string]string{
		"scenario": slowSuccess, "slow_ratio": "0.2", "breaker": "count-window,time-window,hystrix-1.4,hystrix-1.5.18,hystrix-1.5.13,gobreaker",
	}})
	for i, c := range r.Plan.Cells {
		wrong, effect := r.Stat(i, "wrong_closings_count").Mean, r.Stat(i, "late_effect_ratio").Mean
		switch c.Text("breaker") {
		case "hystrix-1.4", "hystrix-1.5.18":
			if wrong < 0.9 || effect < 0.9 || r.Stat(i, "late_changes_count").Mean < wrong {
				t.Errorf("%s: %v wrong closings, late answers matter in %v of the runs: want about all", c, wrong, effect)
			}
		case "hystrix-1.5.13": // a late success decides if it comes while half-open
		default:
			if wrong != 0 || effect != 0 {
				t.Errorf("%s: %v wrong closings, late answers matter in %v of the runs: want none", c, wrong, effect)
			}
		}
	}
}

// Late failures count as probes where they do, and are dropped elsewhere.
func TestLateFailureReopens(t *testing.T) {
	r := mustRun(t, lateAnswers(), Options{Seed: 1, Reps: 4, Set: map[string]string{"scenario": lateFailure, "settings": "common"}})
	kinds := map[string]lateKind{}
	for i, c := range r.Plan.Cells {
		kinds[c.Text("breaker")] = lateKindOf(r, i)
		if s := r.Stat(i, "recovery_s"); s.Applies() && lateKindOf(r, i) == lateDecides && !(s.Mean > 5) {
			t.Errorf("%s: recovers after %v s though late failures open it", c, s.Mean)
		}
	}
	for name, want := range map[string]lateKind{
		"count-window": lateDropped, "time-window": lateDropped, "resilience4j-count": lateDecides, "resilience4j-time": lateDecides, "hystrix-1.5.13": lateDecides,
	} {
		if kinds[name] != want {
			t.Errorf("%s: late answers are of kind %v, want %v", name, kinds[name], want)
		}
	}
	// Calls under way are in the denominator of gobreaker, whose defaults count
	// failures in a row: it drops what is late.
	r = mustRun(t, lateAnswers(), Options{Seed: 1, Reps: 2, Set: map[string]string{"scenario": lateFailure, "settings": "defaults", "breaker": "gobreaker"}})
	if kind := lateKindOf(r, 0); kind != lateDropped || r.Stat(0, "late_answers_count").Mean < 100 {
		t.Errorf("gobreaker: kind %v with %v late answers, want many and dropped", kind, r.Stat(0, "late_answers_count").Mean)
	}
}

// With answers that come at once none is late.
func TestNoLateAnswers(t *testing.T) {
	r := mustRun(t, lateAnswers(), Options{Seed: 3, Reps: 2, Set: map[string]string{"fast_s": "0", "slow_s": "0", "timeout_s": "0"}})
	for i, c := range r.Plan.Cells {
		if s := r.Stat(i, "late_effect_ratio"); s.Applies() && s.Mean != 0 {
			t.Errorf("%s: late answers matter in %v of the runs", c, s.Mean)
		}
	}
}

func TestLateAnswersReport(t *testing.T) {
	r := mustRun(t, lateAnswers(), Options{Seed: 1, Reps: 2, Set: map[string]string{"settings": "common", "breaker": "time-window,resilience4j-time,google-sre"}})
	texts := reportLateAnswers(r)
	if len(texts) != 2 {
		t.Fatalf("%d tables, want one for each scenario", len(texts))
	}
	notes := strings.Join(texts[1].Notes, "\n")
	for _, want := range []string{"openings after the outage: resilience4j-time 1.", "dropped or decide nothing: time-window.", "Calls are refused until 9.0"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in the notes:\n%s", want, notes)
		}
	}
	tables, err := lateAnswersStates(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tables[0].Rows {
		if from, to := row.Values[0], row.Values[1]; !(from <= to) || math.IsNaN(from) {
			t.Fatalf("%v lasts from %v to %v s", row.Keys, from, to)
		}
	}
}

func TestLateAnswersRefuses(t *testing.T) {
	mustRefuse(t, lateAnswers(), map[string]string{"rate_rps": "100000", "observe_s": "10000"}, "want at most 100000000 calls")
	mustRefuse(t, lateAnswers(), map[string]string{"scenario": "late"}, "late")
	mustRefuse(t, lateAnswers(), map[string]string{"settings": "t4b"}, "t4b")
}
