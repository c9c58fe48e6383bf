package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["half-open"] = drawHalfOpen }

// A halfOpenPanel is one metric of a callee.
type halfOpenPanel struct {
	callee, metric, title, axis, never string
	kind                               Kind
}

var halfOpenPanels = []halfOpenPanel{
	{"partial", "flaps_per_hour", "Callee fails a share of the calls: flaps", "openings from closed per hour", "", LogZero},
	{"partial", "callee_failed_ratio", "What the breaker lets through to fail", "share of all calls", "", Linear},
	{"ramp", "flaps_count", "Callee recovers slowly: flaps", "openings from closed in the recovery, after the first", "", LogZero},
	{"ramp", "recovery_s", "Recovery", "after the capacity is there, s", "never", Linear},
}

// coolStyle is the colour of a cool-down; the dashes tell the rules apart.
func coolStyle(k, rule int) Style {
	families := []Family{Unlimited, FixedRetry, Budget, CountWindow, TimeWindow, BucketWindow}
	return families[k%len(families)].Member(rule)
}

// drawHalfOpen shows flaps and their price against the number of probes, a
// line for each cool-down and rule.
func drawHalfOpen(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "callee", "half_open", "probes", "open_s") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title:    halfOpenTitle(summary, g),
			Subtitle: fmt.Sprintf("A breaker (%s) before a callee with %s calls/s; means of runs of %s s%s", summary.Label(g.members[0], "breaker"), key("rate_rps"), key("length_s"), g.title()),
			Note:     " · 95 % intervals as bands", Columns: 2, ShareX: true,
		}
		rules, cools := summary.Levels("half_open"), summary.Levels("open_s")
		for k, cool := range cools {
			f.Key = append(f.Key, KeyItem{KeyLine, coolStyle(k, 0), "cool-down " + cool + " s"})
		}
		if len(rules) > 1 {
			for k, rule := range rules {
				s := Neutral.Member(k)
				f.Key = append(f.Key, KeyItem{KeyLine, s, plainText(rule)})
			}
		}
		for _, m := range halfOpenPanels {
			p := Panel{Title: m.title, X: Axis{Label: "probes", Kind: Log, Ticks: probeTicks(summary)}, Y: Axis{Label: m.axis, Kind: m.kind}}
			for k, cool := range cools {
				for rule, name := range rules {
					never := false
					line := Line{Style: coolStyle(k, rule), Points: true}
					line.Style.Size = 4
					for _, r := range g.rows("callee", m.callee) {
						if summary.Key(r, "half_open") != name || summary.Key(r, "open_s") != cool {
							continue
						}
						y, lo, hi := summary.Value(r, m.metric+"_mean"), summary.Value(r, m.metric+"_ci95_lo"), summary.Value(r, m.metric+"_ci95_hi")
						if m.never != "" && summary.Value(r, "unrecovered_count") >= summary.Value(r, "n")/2 {
							y, lo, hi, never = math.Inf(1), math.NaN(), math.NaN(), true
						}
						line.X, line.Y = append(line.X, number(summary.Key(r, "probes"))), append(line.Y, y)
						if rule == 0 {
							line.Lo, line.Hi = append(line.Lo, lo), append(line.Hi, hi)
						}
					}
					if usable(line) {
						p.Marks = append(p.Marks, line)
					}
					if never {
						p.Y.Never = m.never
					}
				}
			}
			if len(p.Marks) > 0 {
				f.Panels = append(f.Panels, p)
			}
		}
		if len(f.Panels) == 0 {
			continue
		}
		f.Height = 250 + 250*((len(f.Panels)+1)/2)
		drawings = append(drawings, Drawing{g.suffix(), f})
		if len(details) > 0 {
			drawings = append(drawings, halfOpenStates(summary, details[0], g)...)
		}
	}
	return drawings, nil
}

// stateStyles are the states of a breaker.
var stateStyles = map[string]Style{"closed": Budget.Member(0), "half-open": FixedRetry.Member(0), "open": Unlimited.Member(0)}

// mostStateRows is how many breakers a figure of states shows.
const mostStateRows = 16

// halfOpenStates shows the states of the breakers over time, in the first way
// to decide about probes; none if there are too many breakers.
func halfOpenStates(summary, states *table.Table, g group) []Drawing {
	rule := summary.Levels("half_open")[0]
	run := sameGroup(groups(states, "callee", "half_open", "probes", "open_s", "replication", "state"), g)
	key := func(name string) string { return summary.Key(g.members[0], name) }
	f := &Figure{
		Title: "States of the breaker over time: " + plainText(rule),
		Subtitle: fmt.Sprintf("States of a breaker (%s, %s) over time, by the number of probes and the cool-down; the begin of runs of %s s; %s calls/s%s",
			summary.Label(g.members[0], "breaker"), plainText(rule), key("length_s"), key("rate_rps"), g.title()),
		Note: " · replication 0",
		Key:  []KeyItem{{KeyPoint, square(stateStyles["closed"]), "closed"}, {KeyPoint, square(stateStyles["half-open"]), "half-open"}, {KeyPoint, square(stateStyles["open"]), "open"}},
	}
	closed, longest := map[string]int{}, "" // how often a breaker closed, by its row
	for _, callee := range summary.Levels("callee") {
		until := stateStretch(summary, g, callee)
		p := Panel{Title: capital("a callee that " + labelOf(summary, "callee", callee)), X: Axis{Label: "time, s", Range: [2]float64{0, until}}}
		var bars Bars
		for _, r := range run.rows("callee", callee) {
			if states.Key(r, "half_open") != rule {
				continue
			}
			unit := " probes"
			if states.Key(r, "probes") == "1" {
				unit = " probe"
			}
			name := states.Key(r, "probes") + unit + ", " + states.Key(r, "open_s") + " s"
			row := indexOf(&p.Y.Rows, name)
			if states.Key(r, "state") == "closed" && states.Value(r, "from_s") > 0 {
				name += " before a callee that " + labelOf(summary, "callee", callee)
				if closed[name]++; longest == "" || closed[name] > closed[longest] {
					longest = name
				}
			}
			if states.Value(r, "from_s") >= until {
				continue
			}
			bars = append(bars, Bar{Row: row, From: states.Value(r, "from_s"), To: min(until, states.Value(r, "to_s")), Style: stateStyles[states.Key(r, "state")]})
		}
		if len(p.Y.Rows) > mostStateRows {
			return nil
		}
		if len(bars) > 0 {
			p.Marks = []Mark{bars}
			f.Panels = append(f.Panels, p)
		}
	}
	if len(f.Panels) == 0 {
		return nil
	}
	f.Title = "No breaker closes again"
	if longest != "" {
		f.Title = fmt.Sprintf("%s: the breaker closes %d times in %s s", longest, closed[longest], key("length_s"))
	}
	return []Drawing{{g.suffix() + "_states", f}}
}

// stateStretch is how much of a run a figure of states shows, s: the recovery,
// or the begin. A whole run of cool-downs of 1 s would be a smear.
func stateStretch(summary *table.Table, g group, callee string) float64 {
	key := func(name string) float64 { return number(summary.Key(g.members[0], name)) }
	if callee == "ramp" {
		return min(key("length_s"), 60+key("outage_s")+key("ramp_s"))
	}
	return min(key("length_s"), 100)
}

// probeTicks labels the numbers of probes.
func probeTicks(summary *table.Table) []float64 {
	var ticks []float64
	for _, l := range summary.Levels("probes") {
		ticks = append(ticks, number(l))
	}
	return ticks
}

// halfOpenTitle compares the fewest with the most probes, at the shortest
// cool-down that is shown first, and what the longest cool-down does.
func halfOpenTitle(summary *table.Table, g group) string {
	text := ""
	for _, callee := range summary.Levels("callee") {
		rows := g.rows("callee", callee)
		if len(rows) == 0 {
			continue
		}
		metric, unit := "flaps_per_hour_mean", "flaps/h"
		if callee == "ramp" {
			metric, unit = "flaps_count_mean", "flaps"
		}
		flaps := func(r table.Row) float64 { return summary.Value(r, metric) }
		worst, best := rows[0], rows[0]
		for _, r := range rows {
			if flaps(r) > flaps(worst) {
				worst = r
			}
			if flaps(r) < flaps(best) {
				best = r
			}
		}
		setting := func(r table.Row) string {
			unit := " probes"
			if summary.Key(r, "probes") == "1" {
				unit = " probe"
			}
			text := summary.Key(r, "probes") + unit + " and " + summary.Key(r, "open_s") + " s"
			if flaps(r) == flaps(best) && len(summary.Levels("half_open")) > 1 {
				text += " (" + plainText(summary.Key(r, "half_open")) + ")"
			}
			return text
		}
		if text != "" {
			text += "; "
		}
		name := "a callee that fails in part"
		if callee == "ramp" {
			name = "one that recovers slowly"
		}
		text += fmt.Sprintf("%s: %s %s with %s", name, compact(flaps(worst), 0), unit, setting(worst))
		if flaps(worst) > flaps(best) {
			text += fmt.Sprintf(", %s with %s", compact(flaps(best), 0), setting(best))
		}
	}
	return capital(text)
}
