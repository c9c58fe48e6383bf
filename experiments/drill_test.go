package experiments

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/model"
)

func TestDrillStalledChainMultiplies(t *testing.T) {
	r := mustRun(t, drill(), Options{Reps: 2, Set: map[string]string{"scene": "stalled", "gateway_retries": "0,1,2,4", "retries": "0,2,3"}})
	for i, c := range r.Plan.Cells {
		want := (1 + c.Float("gateway_retries")) * (1 + c.Float("retries"))
		if s := r.Stat(i, "calls_at_b_per_request_count"); s.Mean != want || s.Exact != want || s.SD != 0 {
			t.Errorf("%v: %v calls at B, want %v", c, s.Mean, want)
		}
	}
	if s, _ := r.Lookup(map[string]string{"gateway_retries": "2", "retries": "2"}, "calls_at_b_per_request_count"); s.Article != 9 {
		t.Errorf("article %v, want 9", s.Article)
	}
}

// One system has both rows: it falls under plain retries and stands guarded.
func TestDrillBothRows(t *testing.T) {
	r := mustRun(t, drill(), Options{Seed: 3, Reps: 4, Set: map[string]string{
		"scene": "delayed", "delay": "uniform", "late_ratio": "0.184", "capacity_rps": "580", "queue_s": "0.94", "guard": "budget-10-success,budget-10",
	}})
	for metric, want := range map[string][2]float64{
		"plain_rps": {1470, 1530}, "plain_success_ratio": {0, 0.02}, "guarded_rps": {535, 556}, "guarded_success_ratio": {0.875, 0.895},
	} {
		if s := r.Stat(0, metric); !(s.Mean >= want[0] && s.Mean <= want[1]) {
			t.Errorf("%s %v, want %v", metric, s.Mean, want)
		}
	}
	if s := r.Stat(1, "guarded_rps"); s.Exact != 550 || math.Abs(s.Mean-550) > 10 {
		t.Errorf("a budget of 10 %% of the requests: %v calls/s, closed form %v, want 550", s.Mean, s.Exact)
	}
}

// A B with room to spare falls only if something pushes it, and then its
// workers are as busy as the article's processors.
func TestDrillPausePushes(t *testing.T) {
	r := mustRun(t, drill(), Options{Seed: 1, Reps: 2, Set: map[string]string{
		"scene": "delayed", "delay": "uniform", "late_ratio": "0.187", "capacity_rps": "880", "queue_s": "1.5", "pause_s": "0,3", "guard": "budget-10-success",
	}})
	for i, want := range []float64{0.99, 0} {
		if s := r.Stat(i, "plain_success_ratio"); math.Abs(s.Mean-want) > 0.01 {
			t.Errorf("pause %s s: success %v, want %v", r.Plan.Cells[i].Text("pause_s"), s.Mean, want)
		}
		if s := r.Stat(i, "guarded_busy_ratio"); math.Abs(s.Mean-drillGuardedCPU) > 0.03 {
			t.Errorf("busy %v, want about %v", s.Mean, drillGuardedCPU)
		}
	}
}

func TestDrillDelaysHaveTheirShareAndMean(t *testing.T) {
	for _, kind := range []string{delayConstant, delayUniform, delayExponential} {
		p := mustPlan(t, drill(), Options{Set: map[string]string{"scene": "delayed", "delay": kind, "late_ratio": "0.2", "capacity_rps": "1000", "guard": "budget-10"}})
		b, err := newDrillService(p.Cells[0])
		if err != nil {
			t.Fatal(err)
		}
		const n = 100_000
		late, sum := 0, 0.0
		for i := range n {
			d := b.law.Quantile((float64(i) + 0.5) / n).Seconds()
			sum += d
			if d > 0.8 {
				late++
			}
		}
		if share := float64(late) / n; math.Abs(share-0.2) > 0.003 {
			t.Errorf("%s: %v late, want 0.2", kind, share)
		}
		if mean := sum / n; math.Abs(mean/b.mean-1) > 0.01 {
			t.Errorf("%s: mean %v s, want %v s", kind, mean, b.mean)
		}
	}
	if l := delayedLaw(delayConstant, 0.05, 2, 0); l.Kind != "" && l.Kind != model.Constant {
		t.Errorf("no delay: %+v", l)
	}
	if l := delayedLaw(delayUniform, 0.05, 2, 1); l.Validate() != nil {
		t.Errorf("all delayed: %v", l.Validate())
	}
}

func TestDrillSearchRefinesAndMeasuresAgain(t *testing.T) {
	e := drill()
	r := mustRun(t, e, Options{Seed: 1, Reps: 2, Set: map[string]string{
		"delay": "uniform", "late_ratio": "0.17", "capacity_rps": "580", "queue_s": "0.9", "guard": "budget-10-success", "warmup_s": "5", "measure_s": "10",
	}})
	tables, err := e.Detail(context.Background(), r)
	if err != nil || len(tables) != 2 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	search := tables[0]
	grid := search.Rows[0]
	again := search.Rows[len(search.Rows)-1]
	if search.Key(grid, "step") != "grid" || search.Key(again, "step") != "again" || len(search.Rows) != 2+drillLateTries+drillQueueTries {
		t.Errorf("%d rows from %q to %q", len(search.Rows), search.Key(grid, "step"), search.Key(again, "step"))
	}
	if e := search.Value(again, "guarded_success_ratio_error_ratio"); math.Abs(e) > 0.03 {
		t.Errorf("error of the guarded success: %v", e)
	}
	text := ""
	for _, x := range e.Report(r) {
		text += x.Caption + strings.Join(x.Notes, " ")
	}
	if !strings.Contains(text, "measured again with another seed") {
		t.Error("the report lacks the refined setting")
	}
}

func TestDrillRefuses(t *testing.T) {
	for _, set := range []map[string]string{
		{"scene": "stalled", "stalled_s": "0.5"},
		{"scene": "delayed", "timeout_s": "0.04"},
		{"scene": "delayed", "delay": "uniform", "late_ratio": "0.9"},
		{"scene": "delayed", "delay": "constant", "delay_s": "0.1"},
		{"scene": "delayed", "capacity_rps": "0.001"},
		{"scene": "delayed", "measure_s": "100000", "rate_rps": "1000000"},
	} {
		if _, err := NewPlan(drill(), Options{Set: set}); err == nil {
			t.Errorf("%v: no error", set)
		}
	}
}

func TestDrillBusyNoteAdvisesOnlyWhatIsNew(t *testing.T) {
	for _, test := range []struct {
		capacity, pause string
		busy            float64
		want            bool
	}{{"580", "0", 0.94, true}, {"580", "3", 0.94, false}, {"880", "0", 0.62, false}} {
		p := mustPlan(t, drill(), Options{Set: map[string]string{"scene": "delayed", "delay": "uniform", "late_ratio": "0.184", "capacity_rps": test.capacity, "pause_s": test.pause, "queue_s": "1.5"}})
		if note := busyNote(p.Cells[0], test.busy); strings.Contains(note, "-set capacity_rps=880 -set pause_s=3") != test.want {
			t.Errorf("capacity %s, pause %s: %q", test.capacity, test.pause, note)
		}
	}
}

// A figure that comes out to a point may still lie outside the interval.
func TestDrillNamesWhatLiesOutside(t *testing.T) {
	r := mustRun(t, drill(), Options{Seed: 3, Reps: 3, Set: map[string]string{
		"scene": "delayed", "delay": "uniform", "late_ratio": "0.184", "capacity_rps": "580", "queue_s": "0.94", "guard": "budget-10", "measure_s": "20",
	}})
	outside := strings.Join(drillOutside(r, 0), " ")
	for _, target := range drillTargets {
		s := r.Stat(0, target.metric)
		if out := s.Lo > target.article || s.Hi < target.article; out != strings.Contains(outside, target.words) {
			t.Errorf("%s: [%v, %v], named %q", target.words, s.Lo, s.Hi, outside)
		}
	}
}
