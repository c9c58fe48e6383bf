package experiments

import (
	"fmt"
	"math"
	"slices"
	"sort"
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
// one: those that notice an outage about as late.
func windowNotes(r *Result, rows []presetRow) []string {
	at := slices.IndexFunc(rows, func(p presetRow) bool {
		rule, ok := exactRule(p.maker)
		return ok && rule.Window.Kind == policies.TimeWindow && p.always()
	})
	if at < 0 || rows[0].c.Text("settings") == presetDefaults {
		return nil
	}
	whole := rows[at]
	var others []string
	more := false
	for _, p := range notThrottles(rows) {
		if p.cell != whole.cell && p.always() && math.Abs(p.delay.Mean-whole.delay.Mean) <= whole.delay.Mean/4 {
			s := r.Stat(p.cell, "false_trips_count")
			more = more || s.Mean > r.Stat(whole.cell, "false_trips_count").Mean
			others = append(others, p.name+" "+meanCI(s, 2))
		}
	}
	if len(others) == 0 {
		return nil
	}
	trips := meanCI(r.Stat(whole.cell, "false_trips_count"), 2)
	if trips == "0" {
		trips = fmt.Sprintf("0 (fewer than %s with 95 %% confidence)", short(-math.Log(0.05)/float64(r.Measured()), 2))
	}
	note := fmt.Sprintf("False trips in %s h of windows in time, mean [95 %%]: exact (%s) %s; in buckets: %s.", whole.c.Text("hours"), whole.name,
		trips, strings.Join(others, ", "))
	if !more {
		return []string{note}
	}
	return []string{note, "A bucket leaves all at once, so the window is up to a bucket shorter than it says, and some failures are a larger share of fewer calls."}
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
			depends = append(depends, fmt.Sprintf("%s %s–%s s", p.name, short(least, 2), short(most, 2)))
		}
	}
	if len(depends) == 0 {
		return nil
	}
	note := "The delay depends on where in a second the outage begins: " + strings.Join(depends, ", ")
	if len(flat) > 0 {
		note += "; it does not, to a call, at " + strings.Join(flat, ", ")
	}
	return []string{note + "."}
}

// falseTripWords say whose settings open for nothing all the time.
func falseTripWords(r *Result, rows []presetRow) []string {
	var quiet []string
	worst, most := presetRow{}, 0.0
	for _, p := range notThrottles(rows) {
		trips := r.Stat(p.cell, "false_trips_count")
		refused := r.Stat(p.cell, "good_refused_ratio").Mean
		if trips.Mean == 0 {
			quiet = append(quiet, p.name)
		}
		if refused > most {
			worst, most = p, refused
		}
	}
	var notes []string
	if most > 0 {
		notes = append(notes, fmt.Sprintf("Most good calls refused for nothing: %s, %s of them, in %s openings in %s h, %s of them flaps.", worst.name,
			percentage(most), short(r.Stat(worst.cell, "false_trips_count").Mean, 1), worst.c.Text("hours"), short(r.Stat(worst.cell, "flaps_count").Mean, 1)))
	}
	if len(quiet) > 0 {
		notes = append(notes, fmt.Sprintf("No false trip in %d × %s h: %s.", r.Measured(), rows[0].c.Text("hours"), strings.Join(quiet, ", ")))
	}
	return notes
}

// recoveryNotes say who comes back first and last, and what it takes.
func recoveryNotes(r *Result, rows []presetRow) []string {
	type back struct {
		row presetRow
		s   Stat
		d   presetDrill
		ok  bool
	}
	var all []back
	for _, p := range notThrottles(rows) {
		b := back{row: p, s: r.Stat(p.cell, "recovery_s")}
		if !p.always() {
			continue // it has nothing to come back from, in some outage
		}
		b.d, b.ok = drillPreset(p.maker, p.c.Float("rate_rps"))
		all = append(all, b)
	}
	if len(all) == 0 {
		return nil
	}
	var notes []string
	sorted := slices.DeleteFunc(slices.Clone(all), func(b back) bool { return b.s.N == 0 || b.s.Censored > 0 })
	slices.SortStableFunc(sorted, func(a, b back) int {
		switch {
		case a.s.Mean < b.s.Mean:
			return -1
		case a.s.Mean > b.s.Mean:
			return 1
		}
		return 0
	})
	if n := len(sorted); n > 1 {
		notes = append(notes, fmt.Sprintf("Refuses on after an outage of %s s: %s s (%s) to %s s (%s), by what is left of the time open when it ends.", all[0].row.c.Text("outage_s"),
			short(sorted[0].s.Mean, 2), sorted[0].row.name, short(sorted[n-1].s.Mean, 2), sorted[n-1].row.name))
	}
	closes, atOnce, ask, itself := map[int][]string{}, map[int][]string{}, []string(nil), []string(nil)
	for _, b := range all {
		if !b.ok {
			continue
		}
		closes[b.d.closes] = append(closes[b.d.closes], b.row.name)
		if b.d.closes > 0 {
			atOnce[b.d.atOnce] = append(atOnce[b.d.atOnce], b.row.name)
		}
		if b.d.byItself {
			itself = append(itself, b.row.name)
		} else {
			ask = append(ask, b.row.name)
		}
	}
	list := func(m map[int][]string, words func(int) string) string {
		var keys []int
		for k := range m {
			keys = append(keys, k)
		}
		sort.Ints(keys)
		var texts []string
		for _, k := range keys {
			texts = append(texts, words(k)+": "+strings.Join(m[k], ", "))
		}
		return strings.Join(texts, "; ")
	}
	if len(closes) > 0 {
		notes = append(notes, "Good calls that close it, found by trying: "+list(closes, func(k int) string {
			switch k {
			case 0:
				return "none, time alone"
			case mostToClose:
				return fmt.Sprintf("not even %d", mostToClose)
			}
			return fmt.Sprint(k)
		})+".")
	}
	if len(atOnce) > 0 {
		notes = append(notes, "Calls let through before one of them has ended: "+list(atOnce, func(k int) string {
			if k >= mostAtOnce {
				return "all"
			}
			return fmt.Sprint(k)
		})+".")
	}
	if len(ask) > 0 {
		notes = append(notes, "Open until somebody asks, however long: "+strings.Join(ask, ", ")+".")
	}
	if len(itself) > 0 {
		notes = append(notes, "Leaves the open state by itself: "+strings.Join(itself, ", ")+".")
	}
	return notes
}

// throttleNotes say when throttles begin to refuse.
func throttleNotes(r *Result, rows []presetRow) []string {
	var texts []string
	for _, p := range rows {
		if p.c.preset().Throttle {
			text := p.name + " never"
			if p.delay.N > 0 {
				text = fmt.Sprintf("%s after %s s", p.name, meanCI(p.delay, 2))
			}
			if n := p.delay.N + p.delay.Censored; p.delay.N > 0 && p.delay.Censored > 0 {
				text += fmt.Sprintf(" in %d of %d runs", p.delay.N, n)
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{"A throttle refuses a share of the calls instead of opening, in an outage the first one: " + strings.Join(texts, ", ") + "."}
}
