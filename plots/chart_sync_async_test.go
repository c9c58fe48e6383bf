package plots

import (
	"bytes"
	"math"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// A syncCell is a row of a sync-async summary; done +Inf is never.
type syncCell struct {
	way, delay, answer, outage            string
	wait, seen, load, attempts, done, all float64
}

func syncTable(cells []syncCell) *table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "way", Labels: map[string]string{"sync-3": "user waits, 3 retries"}},
		{Name: "delay_s"}, {Name: "outage_answer"}, {Name: "outage_s"}}
	var levels []string
	for _, c := range [][2]string{{"workers", "20"}, {"service_s", "0.2"}, {"rate_rps", "60"}, {"timeout_s", "2"}, {"backoff_ms", "120"}, {"cap_s", "30"}} {
		keys, levels = append(keys, table.Column{Name: c[0]}), append(levels, c[1])
	}
	values := []table.Column{{Name: "n"}, {Name: "never_done_count"}, {Name: "attempts_ratio_mean"}}
	for _, m := range []string{"wait_mean_s", "seen_success_ratio", "outage_load_ratio", "done_s"} {
		values = append(values, table.Column{Name: m + "_mean"}, table.Column{Name: m + "_ci95_lo"}, table.Column{Name: m + "_ci95_hi"})
	}
	t := table.New("sync-async_summary", keys, values)
	for _, c := range cells {
		never, done := 0.0, c.done
		if math.IsInf(done, 1) {
			never, done = 5, math.NaN()
		}
		row := []float64{5, never, c.attempts}
		for _, v := range []float64{c.wait, c.seen, c.load, done} {
			row = append(row, v, v, v)
		}
		t.Append(append([]string{"sync-async", c.way, c.delay, c.answer, c.outage}, levels...), row...)
	}
	return t
}

func TestSyncAsyncChart(t *testing.T) {
	never := math.Inf(1)
	cells := []syncCell{
		{way: "sync-0", delay: "1", answer: "at-once", outage: "30", load: 0.6, attempts: 1, done: never},
		{way: "sync-3", delay: "1", answer: "at-once", outage: "5", wait: 0.8, seen: 0.2, load: 2.2, attempts: 1.1, done: never},
		{way: "sync-3", delay: "1", answer: "at-once", outage: "30", wait: 0.84, seen: 0.027, load: 2.39, attempts: 1.6, done: never},
		{way: "async", delay: "1", answer: "at-once", outage: "30", wait: 0.005, seen: 1, load: 2.5, attempts: 1.9, done: 28},
		{way: "async", delay: "10", answer: "at-once", outage: "30", wait: 0.005, seen: 1, load: 1, attempts: 1.4, done: 31},
		{way: "sync-3", delay: "1", answer: "after-work", outage: "30", wait: 8.5, load: 2.1, attempts: 3.6, done: never},
	}
	drawings, err := Draw("sync-async", []*table.Table{syncTable(cells)}, "a note")
	if err != nil || len(drawings) != 2 || drawings[0].Suffix != "" || drawings[1].Suffix != "_outage_answer-after-work" {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	for i, want := range []string{
		"Outage of 30 s: users who wait (3 retries) wait 0.84 s, 2.7 % succeed, and the callee gets 2.4 × its capacity; a queue (delays from 10 s) answers in 0.005 s, gives it 1 × and is through with what was asked by then 31 s after it",
		"Outage of 30 s: users who wait (3 retries) wait 8.5 s, 0 % succeed, and the callee gets 2.1 × its capacity",
	} {
		f := drawings[i].Figure
		if f.Title != want {
			t.Errorf("title %q, want %q", f.Title, want)
		}
		if err := f.Write(&bytes.Buffer{}, "png"); err != nil {
			t.Error(err)
		}
	}
	last := drawings[0].Figure.Panels[3]
	if n := len(last.Marks); n != 4 {
		t.Errorf("%d lines, want one for each way and delay", n)
	}
	none, three, queue := last.Marks[0].(Line), last.Marks[1].(Line), last.Marks[2].(Line)
	if len(three.Y) != 2 || !math.IsInf(three.Y[1], 1) || three.Label != "" || queue.Label == "" {
		t.Errorf("waiting users %q are done after %v, want never and no label; queue %q", three.Label, three.Y, queue.Label)
	}
	if three.X[0] != 5 || !(none.X[0] < 30 && three.X[1] > 30) || math.Abs(none.X[0]*three.X[1]-900) > 1e-9 || queue.X[0] != 30 {
		t.Errorf("lengths %v, %v and %v, want what is never done after 30 s side by side and the others in place", none.X, three.X, queue.X)
	}
}
