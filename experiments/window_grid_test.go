package experiments

import (
	"context"
	"testing"
)

func TestFrontKeepsWhatNothingBeats(t *testing.T) {
	point := func(cell int, delay, trips float64) gridPoint {
		return gridPoint{cell, Stat{N: 1, Mean: delay}, Stat{N: 1, Mean: trips}}
	}
	missed := point(9, 0.1, 0)
	missed.delay.Censored = 1
	got := front([]gridPoint{point(0, 5, 0), point(1, 1, 10), point(2, 2, 10), point(3, 2, 3), point(4, 9, 0), point(5, 0.5, 99), missed})
	var cells []int
	for _, p := range got {
		cells = append(cells, p.cell)
	}
	want := []int{5, 1, 3, 0}
	if len(cells) != len(want) {
		t.Fatalf("front %v, want %v", cells, want)
	}
	for i := range want {
		if cells[i] != want[i] {
			t.Fatalf("front %v, want %v", cells, want)
		}
	}
}

func TestGridTradesDelayForQuiet(t *testing.T) {
	r := mustRun(t, windowGrid(), Options{Seed: 1, Reps: 2, Set: map[string]string{
		"hours": "0.5", "window": "count-20,count-100,time-10s,buckets-10s", "threshold_ratio": "0.2,0.5", "min_calls": "20"}})
	for i, c := range r.Plan.Cells {
		if d := r.Stat(i, "detection_delay_s"); d.Censored > 0 || d.Mean <= 0 {
			t.Errorf("%v: delay %+v, want an outage of every call noticed", c, d)
		}
	}
	fast, _ := r.Lookup(map[string]string{"window": "count-20", "threshold_ratio": "0.2"}, "detection_delay_s")
	slow, _ := r.Lookup(map[string]string{"window": "time-10s", "threshold_ratio": "0.5"}, "detection_delay_s")
	loud, _ := r.Lookup(map[string]string{"window": "count-20", "threshold_ratio": "0.2"}, "false_trips_per_day")
	still, _ := r.Lookup(map[string]string{"window": "time-10s", "threshold_ratio": "0.5"}, "false_trips_per_day")
	if !(fast.Mean < slow.Mean && loud.Mean > still.Mean) {
		t.Errorf("count 20 ≥ 20 %%: %v s, %v/day; time 10 s ≥ 50 %%: %v s, %v/day: want fast and loud against slow and quiet",
			fast.Mean, loud.Mean, slow.Mean, still.Mean)
	}
	tables, err := gridFront(context.Background(), r)
	if err != nil || len(tables[0].Rows) < 2 {
		t.Errorf("front %v, %v, want several settings", tables, err)
	}
}

func TestGridRefusesWindowsLongerThanTheWarmUp(t *testing.T) {
	_, err := NewPlan(windowGrid(), Options{Set: map[string]string{"window": "time-300s"}})
	if err == nil || !contains(err.Error(), "warmup_s") {
		t.Errorf("error %v, want one that names warmup_s", err)
	}
}
