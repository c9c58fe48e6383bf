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
				"notices after s", "least", "most", "bad calls", "reopenings", "recovers after s"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(m string) Stat { return r.Stat(i, m) }
			t.Append(r.Plan.Cells[i].Text("breaker"), meanCI(get("false_trips_count"), 2), exact(get("false_trips_count"), 1), short(get("any_false_trip_ratio").Mean, 2),
				short(get("flaps_count").Mean, 1), percentage(get("open_ratio").Mean), percentage(get("good_refused_ratio").Mean),
				reached(get("detection_delay_s"), 3), short(get("detection_min_s").Mean, 3), short(get("detection_max_s").Mean, 3),
				short(get("bad_calls_count").Mean, 1), short(get("reopenings_count").Mean, 1), reached(get("recovery_s"), 2))
		}
		t.DropEmpty(Blank)
		t.Notes = presetNotes(r, cells)
		texts = append(texts, t)
	}
	return texts
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
	delay Stat
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
		rows = append(rows, presetRow{i, c, c.Text("breaker"), m, r.Stat(i, "detection_delay_s")})
	}
	var notes []string
	if len(without) > 0 {
		notes = append(notes, "No such settings: "+strings.Join(without, ", ")+".")
	}
	if len(rows) == 0 {
		return notes
	}
	notes = append(notes, differNotes(rows)...)
	notes = append(notes, speedNotes(rows)...)
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
func speedNotes(rows []presetRow) []string {
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
		"First to notice an outage: " + namesLike(rows, fastest) + " after " + short(fastest.delay.Mean, 3) + " s" + whySpeed(fastest) + ".",
		"Last: " + namesLike(rows, slowest) + " after " + short(slowest.delay.Mean, 3) + " s" + whySpeed(slowest) + ".",
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

// fasterBy is how many times as many calls the notes try.
const fasterBy = 4

// whySpeed compares a delay with that at another rate: a number of calls is
// reached sooner if there are more of them, a share of a window in time is not.
func whySpeed(p presetRow) string {
	rate := p.c.Float("rate_rps")
	one, ok := trialOutage(p.c, p.maker, rate)
	more, ok2 := trialOutage(p.c, p.maker, fasterBy*rate)
	if !ok || !ok2 || math.IsInf(one.delay, 1) || math.IsInf(more.delay, 1) {
		return ""
	}
	there := fmt.Sprintf("%s at %s/s (%s s)", short(more.bad, 0), formatNumber(fasterBy*rate), short(more.delay, 3))
	switch {
	case one.bad == more.bad && one.bad == 1:
		return ": 1 bad call is enough, at any rate"
	case one.bad == more.bad:
		return fmt.Sprintf(": %s bad calls are enough, at any rate (%s s at %s/s)", short(one.bad, 0), short(more.delay, 3), formatNumber(fasterBy*rate))
	case more.delay > one.delay/2:
		return fmt.Sprintf(": bad calls must fill their share of a window in time, %s at %s/s and %s", short(one.bad, 0), formatNumber(rate), there)
	}
	return fmt.Sprintf(": bad calls made until then: %s at %s/s, %s", short(one.bad, 0), formatNumber(rate), there)
}

// neverNotes say which breakers let an outage pass, and from which rate on
// they would not.
func neverNotes(rows []presetRow) []string {
	byText := map[string][]string{}
	var texts []string
	for _, p := range notThrottles(rows) {
		if p.always() {
			continue
		}
		text := whyNever(p)
		if byText[text] == nil {
			texts = append(texts, text)
		}
		byText[text] = append(byText[text], p.name+opensFrom(p))
	}
	var notes []string
	for _, text := range texts {
		notes = append(notes, text+": "+strings.Join(byText[text], ", ")+".")
	}
	if len(notes) > 0 {
		notes = append(notes, "In brackets the rate, of those that double, from which on it does open: below, too few calls arrive in its window.")
	}
	return notes
}

// whyNever says that a breaker lets outages pass, and why as far as it is plain.
func whyNever(p presetRow) string {
	rate := p.c.Float("rate_rps")
	text := "Never opens"
	if p.delay.N > 0 {
		text = "Does not open every time"
	}
	text += fmt.Sprintf(" in outages of %s s at %s/s", p.c.Text("outage_s"), formatNumber(rate))
	if calls := rate * p.c.Float("window_s"); p.c.Text("settings") != presetDefaults && calls < p.c.Float("minimum") {
		text += fmt.Sprintf(", as in a window of %s s there are %s calls, fewer than the minimum of %s", p.c.Text("window_s"), short(calls, 1), p.c.Text("minimum"))
	}
	return text
}

// opensFrom is the lowest rate, of those that double, at which a breaker opens:
// below it too few calls arrive in its window. If there is none the outage is
// too short, or it does not look at failures.
func opensFrom(p presetRow) string {
	rate := p.c.Float("rate_rps")
	for {
		o, ok := trialOutage(p.c, p.maker, 2*rate)
		if !ok {
			if differs := p.c.preset().Differs; differs != "" {
				return fmt.Sprintf(" (nor at %s/s; %s)", formatNumber(rate), differs)
			}
			return fmt.Sprintf(" (nor at %s/s)", formatNumber(rate))
		}
		rate *= 2
		if !math.IsInf(o.delay, 1) {
			return fmt.Sprintf(" (at %s/s after %s s)", formatNumber(rate), short(o.delay, 2))
		}
	}
}
