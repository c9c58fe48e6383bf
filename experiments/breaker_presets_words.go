package experiments

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/policies"
)

// exactRule is the rule of a breaker of no library.
func exactRule(m policies.BreakerMaker) (policies.RuleConfig, bool) {
	b, ok := m.(policies.BreakerConfig)
	return b.Rule, ok
}

// differNotes say where settings are not quite the common ones.
func differNotes(rows []presetRow) []string {
	byText := map[string][]string{}
	var texts []string
	for _, p := range rows {
		text := p.c.preset().Differs
		if text == "" || p.c.Text("settings") != presetCommon {
			continue
		}
		if byText[text] == nil {
			texts = append(texts, text)
		}
		byText[text] = append(byText[text], p.name)
	}
	for i, text := range texts {
		texts[i] = strings.Join(byText[text], ", ") + " (" + text + ")"
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{"Equal as far as they allow: " + strings.Join(texts, ", ") + "."}
}

// windowNotes hold windows in time that are cut into buckets against the exact
// one.
func windowNotes(r *Result, rows []presetRow) []string {
	at := slices.IndexFunc(rows, func(p presetRow) bool {
		rule, ok := exactRule(p.maker)
		return ok && rule.Window.Kind == policies.TimeWindow
	})
	if at < 0 || rows[0].c.Text("settings") == presetDefaults {
		return nil
	}
	whole := rows[at]
	var others []string
	more, none := false, false
	trips := func(p presetRow) string {
		s := r.Stat(p.cell, "false_trips_count")
		more = more || s.Mean > r.Stat(whole.cell, "false_trips_count").Mean
		none = none || s.Mean == 0
		return meanCI(roundedStat(s, 2), 2)
	}
	exact := trips(whole)
	for _, p := range notThrottles(rows) {
		if p.cell != whole.cell && p.inTime() {
			others = append(others, p.name+" "+trips(p))
		}
	}
	if len(others) == 0 {
		return nil
	}
	note := fmt.Sprintf("False trips in %s h of windows in time, mean [95 %%]: exact (%s) %s; in buckets: %s.", whole.c.Text("hours"), whole.name,
		exact, strings.Join(others, ", "))
	if none {
		note += fmt.Sprintf(" 0 in %s means fewer than %s on average, with 95 %% confidence.", r.replications(), roundedUp(-math.Log(0.05)/float64(r.Measured())))
	}
	if !more {
		return []string{note}
	}
	return []string{note, "A window in buckets begins and ends at their edges, so it does not hold quite the calls of the last " + whole.c.Text("window_s") + " s."}
}

// phaseNotes say whose delay depends on where in a second the outage begins.
// A call more or less is no difference.
func phaseNotes(r *Result, rows []presetRow) []string {
	var flat, depends []string
	for _, p := range notThrottles(rows) {
		least, most := r.Stat(p.cell, "detection_min_s").Mean, r.Stat(p.cell, "detection_max_s").Mean
		if !p.always() {
			continue
		}
		if most-least <= 1.5/p.c.Float("rate_rps") {
			flat = append(flat, p.name)
		} else {
			depends = append(depends, fmt.Sprintf("%s %s–%s s", p.name, short(least, 3), short(most, 3)))
		}
	}
	if len(depends) == 0 {
		return nil
	}
	note := "The delay depends on where in a second the outage begins: " + strings.Join(depends, ", ")
	if len(flat) > 0 {
		note += "; it does not, to a call, at " + strings.Join(flat, ", ")
	}
	note += "."
	if r.Plan.Reps > 1 {
		note += fmt.Sprintf(" Least and greatest of the %d phases of a run, means over the runs.", outagePhases)
	}
	return []string{note}
}

// falseTripWords say whose settings open for nothing all the time.
func falseTripWords(r *Result, rows []presetRow) []string {
	var quiet, worst []string
	most := 0.0
	refused := func(p presetRow) float64 { return r.Stat(p.cell, "good_refused_ratio").Mean }
	for _, p := range notThrottles(rows) {
		if r.Stat(p.cell, "false_trips_count").Mean == 0 {
			quiet = append(quiet, p.name)
		}
		most = max(most, refused(p))
	}
	for _, p := range notThrottles(rows) {
		if percentage(refused(p)) == percentage(most) {
			worst = append(worst, fmt.Sprintf("%s (%s openings in %s h, %s of them flaps)", p.name,
				short(r.Stat(p.cell, "false_trips_count").Mean, 2), p.c.Text("hours"), short(r.Stat(p.cell, "flaps_count").Mean, 1)))
		}
	}
	var notes []string
	if percentage(most) != percentage(0) {
		notes = append(notes, fmt.Sprintf("Most good calls refused for nothing, %s of them: %s.", percentage(most), strings.Join(worst, ", ")))
	}
	if len(quiet) > 0 {
		notes = append(notes, fmt.Sprintf("No false trip in %d × %s h: %s.", r.Measured(), rows[0].c.Text("hours"), strings.Join(quiet, ", ")))
	}
	return notes
}

// recoveryNotes say who comes back first and last, and what it takes.
func recoveryNotes(r *Result, rows []presetRow) []string {
	notes := refusesOn(r, rows)
	closes, atOnce, after := map[int][]string{}, map[int][]string{}, map[int][]string{}
	for _, p := range notThrottles(rows) {
		if !p.always() {
			continue // it has nothing to come back from, in some outage
		}
		d, ok := drillPreset(p.maker, p.c.Float("rate_rps"))
		if !ok {
			continue
		}
		closes[d.closes] = append(closes[d.closes], p.name)
		if d.closes > 0 {
			atOnce[d.atOnce] = append(atOnce[d.atOnce], p.name)
		}
		after[int(d.after)] = append(after[int(d.after)], p.name)
	}
	add := func(text string, m map[int][]string, words func(int) string) {
		var texts []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			texts = append(texts, words(k)+": "+strings.Join(m[k], ", "))
		}
		if len(texts) > 0 {
			notes = append(notes, text+strings.Join(texts, "; ")+".")
		}
	}
	add("Good calls that close it, found by trying: ", closes, func(k int) string {
		switch k {
		case 0:
			return "none, time alone"
		case mostToClose:
			return fmt.Sprintf("not even %d", mostToClose)
		}
		return fmt.Sprint(k)
	})
	add("Calls let through before one of them has ended: ", atOnce, func(k int) string {
		if k >= mostAtOnce {
			return "all"
		}
		return fmt.Sprint(k)
	})
	add("The state it reports an hour after its time open if nobody has called: ", after, func(k int) string { return policies.State(k).String() })
	return notes
}

// refusesOn says how long breakers and throttles refuse good calls after an
// outage: all that noticed it, or refuse without having done so.
func refusesOn(r *Result, rows []presetRow) []string {
	names := map[float64][]string{}
	var on []string
	for _, p := range rows {
		s := roundedStat(r.Stat(p.cell, "recovery_s"), 2)
		switch {
		case s.Censored > 0:
			on = append(on, p.name)
		case s.N > 0 && (p.always() || s.Mean > 0):
			names[s.Mean] = append(names[s.Mean], p.name)
		}
	}
	var notes []string
	c := rows[0].c
	if all := slices.Sorted(maps.Keys(names)); len(all) > 1 {
		first, last := all[0], all[len(all)-1]
		notes = append(notes, fmt.Sprintf("Refuses on after an outage of %s s: %s s (%s) to %s s (%s).", c.Text("outage_s"),
			short(first, 2), strings.Join(names[first], ", "), short(last, 2), strings.Join(names[last], ", ")))
	}
	if len(on) > 0 {
		notes = append(notes, fmt.Sprintf("Still refuses when the %s s observed after it end, in some runs or all: %s.", c.Text("observe_s"), strings.Join(on, ", ")))
	}
	return notes
}

// throttleNotes say when throttles begin to refuse.
func throttleNotes(r *Result, rows []presetRow) []string {
	var texts []string
	for _, p := range rows {
		if !p.c.preset().Throttle {
			continue
		}
		text := p.name
		back := roundedStat(r.Stat(p.cell, "recovery_s"), 2)
		switch n := p.delay.N + p.delay.Censored; {
		case p.delay.N == n:
			text += " after " + meanCI(p.delay, 3) + " s"
		case p.delay.N > 0:
			text += fmt.Sprintf(" after %s s in %d of %d runs", meanCI(p.delay, 3), p.delay.N, n)
		case r.Stat(p.cell, "detection_min_s").N > 0:
			text += " not in every one"
		case back.N > 0 && back.Mean > 0:
			text += " not before its end, but then good calls, the last " + meanCI(back, 2) + " s after it"
		case back.N == 0 && back.Applies():
			text += " not before its end, but then good calls for as long as they are observed"
		default:
			text += " never"
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{"A throttle refuses a share of the calls instead of opening, in an outage the first one: " + strings.Join(texts, ", ") + "."}
}
