package experiments

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// A lateKind is what late answers do to a breaker, as its runs show.
type lateKind uint8

const (
	lateNone      lateKind = iota // there are none
	lateUnnoticed                 // for it never opens
	lateDropped                   // nothing differs without them
	lateCounted                   // they add to what decides later
	lateDecides                   // one of them changes the state
)

// lateKindOf reads it off a cell.
func lateKindOf(r *Result, cell int) lateKind {
	switch {
	case r.Stat(cell, "unnoticed_ratio").Mean == 1:
		return lateUnnoticed
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
	metric, decides, counted := "wrong_closings_count", "A late success changes the state; closings while every call sent fails, per outage", "closings in the outage"
	if hangs {
		metric, decides, counted = "late_reopenings_count", "A late failure changes the state: it counts as a probe, or enters the window of the new closed state; reopenings after the outage", "reopenings after the outage"
	}
	names := map[lateKind][]string{}
	back := map[lateKind][2]float64{}
	var opensLate []string
	for _, i := range cells {
		wrong := r.Stat(i, metric)
		if !wrong.Applies() {
			continue
		}
		kind := lateKindOf(r, i)
		name := r.Plan.Cells[i].Text("breaker")
		if s := r.Stat(i, "opens_late_ratio"); s.Mean > 0 {
			opensLate = append(opensLate, name)
		}
		if kind >= lateCounted {
			name += " " + short(wrong.Mean, 2)
		}
		if kind == lateUnnoticed {
			name += opensWith(r, i)
		}
		names[kind] = append(names[kind], name)
		span, seen := back[kind]
		if s := r.Stat(i, "recovery_s"); s.N > 0 && s.Censored == 0 && r.Stat(i, "unnoticed_ratio").Mean == 0 {
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
	add(lateUnnoticed, "Never opened: the outage passed unnoticed")
	add(lateDecides, decides)
	add(lateCounted, "Late answers count and take part in later decisions; "+counted)
	add(lateDropped, "Late answers come and nothing differs without them, so they are dropped or decide nothing")
	add(lateNone, "Opens, but no call that was under way at a change of state has ended since")
	if len(opensLate) > 0 {
		notes = append(notes, "Opens only when the outage is over, in some runs or all: "+strings.Join(opensLate, ", ")+".")
	}
	dropped, ok := back[lateDropped]
	for _, kind := range []lateKind{lateDecides, lateCounted} {
		other, ok2 := back[kind]
		if apart := other[0] > dropped[1] || other[1] < dropped[0]; ok && ok2 && apart && c.Text("settings") == presetCommon {
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

// longerWindows is how many times as long a window the notes try, at most
// maxTrialCalls calls.
const (
	longerWindows = 4
	maxTrialCalls = 1e6
)

// opensWith tries whether a breaker that lets an outage pass would open in
// replication 0 if its window in time were longer: then what it counts has left
// the window too soon. It says nothing if that makes no difference.
func opensWith(r *Result, cell int) string {
	job, c := r.Plan.Job(cell, 0), r.Plan.Cells[cell]
	if c.Text("settings") != presetCommon || lateOutage(c, 1).end.Seconds()*c.Float("rate_rps") > maxTrialCalls {
		return ""
	}
	longer := common(c, "failure_pct")
	for n := 2; n <= longerWindows; n++ {
		longer.Window = time.Duration(n) * seconds(c.Float("window_s"))
		m := c.preset().Set(longer)
		if m.Validate() != nil {
			return ""
		}
		run, err := newLateRunOf(m, job, c, false)
		if err != nil || run.run(context.Background()) != nil {
			return ""
		}
		if run.opened {
			return fmt.Sprintf(" (with a window of %s s it opens)", short(longer.Window.Seconds(), 3))
		}
	}
	return ""
}

// span is a range, or its one value.
func span(v [2]float64) string {
	if short(v[0], 2) == short(v[1], 2) {
		return short(v[0], 2)
	}
	return short(v[0], 2) + " to " + short(v[1], 2)
}
