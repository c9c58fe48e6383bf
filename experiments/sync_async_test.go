package experiments

import (
	"math"
	"strings"
	"testing"
)

// In an outage that answers at once loads, successes and failures have closed
// forms.
func TestSyncAsyncClosedForms(t *testing.T) {
	r := mustRun(t, syncAsync(), Options{Seed: 4, Reps: 10, Set: map[string]string{"outage_answer": "at-once", "outage_s": "5,30"}})
	known := 0
	for i, c := range r.Plan.Cells {
		for _, m := range r.Plan.Experiment.Metrics {
			s := r.Stat(i, m.Name)
			if math.IsNaN(s.Exact) {
				continue
			}
			known++
			if s.SD == 0 && s.Mean != s.Exact || s.SD > 0 && !(math.Abs(s.Z) < 4) {
				t.Errorf("%s: %s is %v ± %v, closed form %v", c, m.Name, s.Mean, s.SD, s.Exact)
			}
		}
	}
	if known < 30 {
		t.Errorf("%d closed forms, want at least 30", known)
	}
}

// The queue answers fast, loses nothing and repeats nothing; users who wait are
// helped by retries only if these outlast the outage.
func TestSyncAsyncOutages(t *testing.T) {
	r := mustRun(t, syncAsync(), Options{Seed: 1, Reps: 3, Set: map[string]string{"outage_s": "0.5,30", "delay_s": "1"}})
	for i, c := range r.Plan.Cells {
		get := func(m string) float64 { return r.Stat(i, m).Mean }
		done := r.Stat(i, "done_s")
		long := c.Text("outage_s") == "30"
		switch c.Text("way") {
		case asyncWay:
			if get("undone_count") != 0 || get("duplicate_count") != 0 || done.Censored > 0 || get("seen_success_ratio") != 1 {
				t.Errorf("%s: undone %v, twice %v, done in %d of 3", c, get("undone_count"), get("duplicate_count"), done.N)
			}
			if c.Text("outage_answer") == answerAfterWork && get("outage_load_ratio") > 1.05 {
				t.Errorf("%s: load %v, want at most what as many consumers make", c, get("outage_load_ratio"))
			}
		case "sync-3":
			if all := get("seen_success_ratio"); long && all > 0.1 || !long && all < 0.95 {
				t.Errorf("%s: %v told of success", c, all)
			}
			if long != (done.N == 0) {
				t.Errorf("%s: done in %d of 3", c, done.N)
			}
		case "sync-0":
			if get("attempts_ratio") != 1 || get("seen_success_ratio") > 0.01 {
				t.Errorf("%s: %v attempts, %v told of success", c, get("attempts_ratio"), get("seen_success_ratio"))
			}
		}
	}
	for _, text := range r.Plan.Experiment.Report(r) {
		if len(text.Rows) != 4 || len(text.Notes) < 2 {
			t.Errorf("%s: %d rows, notes %q", text.Caption, len(text.Rows), text.Notes)
		}
	}
}

// A queue with hardly any capacity to spare is through with the outage, and not
// with those who came after it: the report tells one from the other.
func TestSyncAsyncUndoneAfterTheOutage(t *testing.T) {
	r := mustRun(t, syncAsync(), Options{Seed: 1, Reps: 2, Set: map[string]string{
		"way": "async", "delay_s": "1", "outage_s": "30", "rest_s": "60", "outage_answer": "at-once", "rate_rps": "99"}})
	done, undone := r.Stat(0, "done_s"), r.Stat(0, "undone_count").Mean
	if done.N != 2 || undone == 0 {
		t.Fatalf("done in %d of 2, %v undone; want the outage done and others not", done.N, undone)
	}
	notes := strings.Join(r.Plan.Experiment.Report(r)[0].Notes, "\n")
	for _, want := range []string{"all came after it; they wait in the queue", "a load of 99 %"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in the notes:\n%s", want, notes)
		}
	}
}

// Without an outage worth the name both ways come to the same.
func TestSyncAsyncOddSettings(t *testing.T) {
	for _, set := range []map[string]string{
		{"outage_s": "0.001"},
		{"outage_at_s": "0", "outage_s": "1", "rest_s": "0.001"},
		{"rate_rps": "0.01", "outage_s": "1"},
		{"rate_rps": "200", "outage_s": "5", "rest_s": "20"},
		{"way": "async,sync-7", "outage_s": "5", "cap_s": "10", "delay_s": "10"},
		{"timeout_s": "0.001", "outage_s": "5", "rest_s": "20"},
	} {
		r := mustRun(t, syncAsync(), Options{Seed: 1, Reps: 2, Set: set})
		for i, c := range r.Plan.Cells {
			if v := r.Stat(i, "undone_count").Mean; !(v >= 0) {
				t.Errorf("%v: %s: %v undone", set, c, v)
			}
		}
		r.Plan.Experiment.Report(r)
	}
}

func TestSyncAsyncRefuses(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"way", "sync", "want async or sync-N"},
		{"way", "sync-51", "0 to 50"},
		{"cap_s", "0.5", "cap"},
		{"rate_rps", "1000000", "want at most 1e+08"},
		{"outage_s", "0", "outage_s"},
	} {
		_, err := NewPlan(syncAsync(), Options{Set: map[string]string{test.factor: test.levels}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
}
