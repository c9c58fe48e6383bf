package experiments

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func reportSyncAsync(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("way", "delay_s", "cap_s") {
		c := p.Cells[cells[0]]
		fails := "at once"
		if c.Text("outage_answer") == answerAfterWork {
			fails = "after its work"
		}
		t := table.Text{
			Caption: fmt.Sprintf("A callee that fails %s for %s s: means of %s%s", fails, c.Text("outage_s"), r.replications(),
				p.varying(c, "way", "outage_answer", "outage_s", "delay_s", "cap_s")),
			Header: []string{"way", "user waits s", "closed form", "p50 s", "p99 s", "told success", "closed form", "callee's load in the outage", "closed form",
				"attempts/request", "success after", "undone at the end", "closed form", "twice", "outage's done after s"},
			Left: 1,
		}
		for _, i := range cells {
			wait, seen, load := r.Stat(i, "wait_mean_s"), r.Stat(i, "seen_success_ratio"), r.Stat(i, "outage_load_ratio")
			t.Append(wayWords(p, p.Cells[i]),
				short(wait.Mean, 3), exact(wait, 3), short(r.Stat(i, "wait_p50_s").Mean, 3), short(r.Stat(i, "wait_p99_s").Mean, 3),
				short(seen.Mean, 3), exact(seen, 3), short(load.Mean, 2), exact(load, 2), short(r.Stat(i, "attempts_ratio").Mean, 2),
				short(r.Stat(i, "after_success_ratio").Mean, 3), short(r.Stat(i, "undone_count").Mean, 1), exact(r.Stat(i, "undone_count"), 1), short(r.Stat(i, "duplicate_count").Mean, 1),
				reached(r.Stat(i, "done_s"), 1))
		}
		t.Notes = append(syncAsyncNotes(r, cells), undoneNotes(r, cells)...)
		if len(texts) == 0 {
			t.Notes = append([]string{"Undone at the end: of the requests of all users. Outage's done: those made before the end of the outage, after it; never if a user was told of a failure."}, t.Notes...)
		}
		texts = append(texts, t)
	}
	return texts
}

// wayWords is the way of a cell, with the delays of a queue.
func wayWords(p *Plan, c Cell) string {
	text := p.column("way").Label(c.Text("way"))
	if c.Text("way") == asyncWay {
		text += " from " + c.Text("delay_s") + " s"
		if len(p.level("cap_s")) > 1 {
			text += " to " + c.Text("cap_s") + " s"
		}
	}
	return text
}

// syncAsyncNotes compares the way with most retries with the queue of the longest delays.
func syncAsyncNotes(r *Result, cells []int) []string {
	most, async := -1, -1
	for _, i := range cells {
		n := syncRetries(r.Plan.Cells[i].Text("way"))
		if n < 0 {
			async = i
		} else if most < 0 || n > syncRetries(r.Plan.Cells[most].Text("way")) {
			most = i
		}
	}
	if most < 0 || async < 0 {
		return nil
	}
	n := syncRetries(r.Plan.Cells[most].Text("way"))
	get := func(i int, metric string) float64 { return r.Stat(i, metric).Mean }
	notes := []string{fmt.Sprintf("With %s the user waits %s s on average for a success of %s %%, and the callee gets %s × its capacity; with the queue and delays from %s s it is %s s and %s ×.",
		retriesWords(n), short(get(most, "wait_mean_s"), 2), short(100*get(most, "seen_success_ratio"), 1), short(get(most, "outage_load_ratio"), 2),
		r.Plan.Cells[async].Text("delay_s"), short(get(async, "wait_mean_s"), 3), short(get(async, "outage_load_ratio"), 2))}
	if s := r.Stat(async, "done_s"); s.N > 0 {
		text := fmt.Sprintf("It has done all that was asked before the end of the outage %s s after it", short(s.Mean, 1))
		switch undone := get(most, "undone_count"); {
		case undone > 0:
			text += fmt.Sprintf("; the user who waits is left with %s requests that are undone at the end", short(undone, 1))
		case !math.IsNaN(get(most, "done_s")):
			text += fmt.Sprintf(", waiting users %s s after it", short(get(most, "done_s"), 1))
		}
		notes = append(notes, text+".")
	}
	if after := get(most, "after_success_ratio"); after < 0.9 {
		notes = append(notes, fmt.Sprintf("Retries keep the callee down when the outage is over: %s %% of the users who come later succeed.", short(100*after, 1)))
	}
	return notes
}

// undoneNotes names the ways that are through with the outage, yet not with
// those who came after it.
func undoneNotes(r *Result, cells []int) []string {
	var notes []string
	for _, i := range cells {
		c := r.Plan.Cells[i]
		undone, done := r.Stat(i, "undone_count").Mean, r.Stat(i, "done_s")
		if done.N == 0 || done.Censored > 0 || !(undone > 0) {
			continue
		}
		why := "their users were told of a failure, or still wait"
		if c.Text("way") == asyncWay {
			why = "they wait in the queue"
			if load := c.Float("rate_rps") / c.capacity(); load > 0.9 {
				why += fmt.Sprintf(", for a load of %s %% leaves little to catch up with", formatNumber(math.Round(100*load)))
			}
		}
		notes = append(notes, fmt.Sprintf("%s: the %s requests that are undone at the end, %s s after the outage, all came after it; %s.",
			wayWords(r.Plan, c), short(undone, 1), c.Text("rest_s"), why))
	}
	return notes
}

// retriesWords is a number of retries in words.
func retriesWords(n int) string {
	if n == 1 {
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}
