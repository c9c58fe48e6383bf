package experiments

import (
	"fmt"
	"math"
	"strings"
)

// A lateKind is what late answers do to a breaker, as its runs show.
type lateKind uint8

const (
	lateNone    lateKind = iota // there are none
	lateDropped                 // nothing differs without them
	lateCounted                 // they add to what decides later
	lateDecides                 // one of them changes the state
)

// lateKindOf reads it off a cell.
func lateKindOf(r *Result, cell int) lateKind {
	switch {
	case r.Stat(cell, "late_answers_count").Mean == 0:
		return lateNone
	case r.Stat(cell, "late_effect_ratio").Mean == 0:
		return lateDropped
	case r.Stat(cell, "late_changes_count").Mean == 0:
		return lateCounted
	}
	return lateDecides
}

// lateNotes say in words what late answers do to the breakers of a table.
func lateNotes(r *Result, cells []int) []string {
	c := r.Plan.Cells[cells[0]]
	hangs := c.Text("scenario") == lateFailure
	metric, decides := "wrong_closings_count", "A late success changes the state, closings while every call sent fails, per outage"
	if hangs {
		metric, decides = "late_reopenings_count", "A late failure changes the state: it counts as a probe, or enters the window of the new closed state; openings after the outage"
	}
	names := map[lateKind][]string{}
	back := map[lateKind][2]float64{}
	for _, i := range cells {
		wrong := r.Stat(i, metric)
		if !wrong.Applies() {
			continue
		}
		kind := lateKindOf(r, i)
		name := r.Plan.Cells[i].Text("breaker")
		if kind >= lateCounted {
			name += " " + short(wrong.Mean, 2)
		}
		names[kind] = append(names[kind], name)
		span, seen := back[kind]
		if s := r.Stat(i, "recovery_s"); s.N > 0 && s.Censored == 0 {
			if !seen {
				span = [2]float64{math.Inf(1), 0}
			}
			back[kind] = [2]float64{min(span[0], s.Mean), max(span[1], s.Mean)}
		}
	}
	var notes []string
	add := func(kind lateKind, text string) {
		if len(names[kind]) > 0 {
			notes = append(notes, text+": "+strings.Join(names[kind], ", ")+".")
		}
	}
	add(lateDecides, decides)
	add(lateCounted, "Late answers count and take part in later decisions; "+strings.ReplaceAll(strings.TrimSuffix(metric, "_count"), "_", " "))
	add(lateDropped, "Late answers come and nothing differs without them, so they are dropped or decide nothing")
	add(lateNone, "No answer comes late, since the state does not change while calls are under way")
	dropped, ok := back[lateDropped]
	for _, kind := range []lateKind{lateDecides, lateCounted} {
		if other, ok2 := back[kind]; ok && ok2 && c.Text("settings") == presetCommon {
			verb := "decide"
			if kind == lateCounted {
				verb = "count"
			}
			notes = append(notes, fmt.Sprintf("Calls are refused until %s s after the outage where late answers %s, until %s s where they do not.", span(other), verb, span(dropped)))
		}
	}
	if hangs && c.Float("timeout_s") <= c.Float("open_s") && c.Text("settings") == presetCommon {
		notes = append(notes, fmt.Sprintf("Calls that hang have failed by the time an open breaker probes: timeout_s %s is not above open_s %s.", c.Text("timeout_s"), c.Text("open_s")))
	}
	return append(notes, "Late: the state has changed between the call and its answer, which counts from the start of the outage on. Matters: the states over time differ from those of the same run without late answers.")
}

// span is a range, or its one value.
func span(v [2]float64) string {
	if short(v[0], 2) == short(v[1], 2) {
		return short(v[0], 2)
	}
	return short(v[0], 2) + " to " + short(v[1], 2)
}
