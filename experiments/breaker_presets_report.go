package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
)

func reportBreakerPresets(r *Result) []table.Text {
	var texts []table.Text
	for _, cells := range r.Plan.cellGroups("breaker") {
		c := r.Plan.Cells[cells[0]]
		t := table.Text{
			Caption: presetSettingsWords(c) + ": means of " + r.replications() + r.Plan.varying(c, "breaker", "settings"),
			Header: []string{"breaker", "false trips in " + c.Text("hours") + " h [95 %]", "closed form", "P(any)", "flaps", "open", "good refused",
				"notices after s", "least phase", "most", "bad calls", "reopenings", "recovers after s"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(m string) Stat { return r.Stat(i, m) }
			t.Append(r.Plan.Cells[i].Text("breaker"), meanCI(roundedStat(get("false_trips_count"), 2), 2), exact(get("false_trips_count"), 1), short(get("any_false_trip_ratio").Mean, 2),
				short(get("flaps_count").Mean, 1), percentage(get("open_ratio").Mean), percentage(get("good_refused_ratio").Mean),
				reached(roundedStat(get("detection_delay_s"), 3), 3), short(get("detection_min_s").Mean, 3), short(get("detection_max_s").Mean, 3),
				short(get("bad_calls_count").Mean, 1), short(get("reopenings_count").Mean, 1), recovers(get("recovery_s"), c))
		}
		t.DropEmpty(Blank)
		t.Notes = presetNotes(r, cells)
		texts = append(texts, t)
	}
	return texts
}

// roundedStat is what is printed, so that a table, its notes and its figure round
// alike.
func roundedStat(s Stat, decimals int) Stat {
	scale := math.Pow(10, float64(decimals))
	for _, v := range []*float64{&s.Mean, &s.Lo, &s.Hi} {
		*v = math.Round(*v*scale) / scale
	}
	return s
}

// recovers renders a recovery; one that was not observed may come later.
func recovers(s Stat, c Cell) string {
	if s.Applies() && s.N == 0 {
		return "not in " + c.Text("observe_s")
	}
	return reached(roundedStat(s, 2), 2)
}

// presetSettingsWords says which settings a table is about.
func presetSettingsWords(c Cell) string {
	common := func(failure string) string {
		return fmt.Sprintf("windows of %s s or %s calls, minimum %s, ≥ %s %%", c.Text("window_s"), c.Text("window_calls"), c.Text("minimum"), failure)
	}
	switch c.Text("settings") {
	case presetCommon:
		return "Settings as equal as they allow, " + common(c.Text("failure_pct")) + fmt.Sprintf(", open %s s, probes: %s", c.Text("open_s"), c.Text("probes"))
	case presetT4b:
		return "The trip rule alone, " + common(c.Text("t4b_failure_pct")) + ", the breaker made anew at every opening"
	}
	return "Each with its own defaults"
}

// A presetRow is a breaker of a table, with what the notes ask of it.
type presetRow struct {
	cell  int
	c     Cell
	name  string
	maker policies.BreakerMaker
	delay Stat // rounded
}

// presetNotes say in words what the rows differ in.
func presetNotes(r *Result, cells []int) []string {
	var rows []presetRow
	var without []string
	for _, i := range cells {
		c := r.Plan.Cells[i]
		m := presetMaker(c)
		if m == nil {
			without = append(without, c.Text("breaker")+" ("+c.preset().Differs+")")
			continue
		}
		rows = append(rows, presetRow{i, c, c.Text("breaker"), m, roundedStat(r.Stat(i, "detection_delay_s"), 3)})
	}
	var notes []string
	if len(without) > 0 {
		notes = append(notes, "No such settings: "+strings.Join(without, ", ")+".")
	}
	if len(rows) == 0 {
		return notes
	}
	var unlike []string
	for _, p := range notThrottles(rows) {
		if p.c.preset().Set == nil {
			unlike = append(unlike, p.name+" ("+p.c.preset().Differs+")")
		}
	}
	if len(unlike) > 0 {
		notes = append(notes, "Not to be set like the others: "+strings.Join(unlike, ", ")+".")
	}
	notes = append(notes, differNotes(rows)...)
	notes = append(notes, speedNotes(r, rows)...)
	notes = append(notes, neverNotes(rows)...)
	notes = append(notes, windowNotes(r, rows)...)
	notes = append(notes, phaseNotes(r, rows)...)
	if rows[0].c.Text("settings") != presetT4b {
		notes = append(notes, falseTripWords(r, rows)...)
		notes = append(notes, recoveryNotes(r, rows)...)
	}
	return append(notes, throttleNotes(r, rows)...)
}

// always reports whether a breaker notices every outage.
func (p presetRow) always() bool { return p.delay.N > 0 && p.delay.Censored == 0 }

// notThrottles leaves out what is never open.
func notThrottles(rows []presetRow) []presetRow {
	return slices.DeleteFunc(slices.Clone(rows), func(p presetRow) bool { return p.c.preset().Throttle })
}

// speedNotes say who notices an outage first and last, and whether calls or
// time decide: by the delay at another rate.
func speedNotes(r *Result, rows []presetRow) []string {
	rows = slices.DeleteFunc(notThrottles(rows), func(p presetRow) bool { return !p.always() })
	if len(rows) < 2 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b presetRow) int {
		switch {
		case a.delay.Mean < b.delay.Mean:
			return -1
		case a.delay.Mean > b.delay.Mean:
			return 1
		}
		return 0
	})
	fastest, slowest := rows[0], rows[len(rows)-1]
	if fastest.delay.Mean == slowest.delay.Mean {
		return nil
	}
	return []string{
		"First to notice an outage: " + namesLike(rows, fastest) + " after " + short(fastest.delay.Mean, 3) + " s" + whySpeed(r, fastest) + ".",
		"Last: " + namesLike(rows, slowest) + " after " + short(slowest.delay.Mean, 3) + " s" + whySpeed(r, slowest) + ".",
	}
}

// namesLike lists the breakers with the same delay.
func namesLike(rows []presetRow, like presetRow) string {
	var names []string
	for _, p := range rows {
		if p.delay.Mean == like.delay.Mean {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ", ")
}
