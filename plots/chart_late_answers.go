package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["late-answers"] = drawLateAnswers }

// A panel shows so much time before the outage and after it, s.
const lateBefore, lateAfter = 3, 20

// drawLateAnswers shows the states of all breakers over time around the
// outage, with the answers that came late: a figure for each settings, a panel
// for each scenario.
func drawLateAnswers(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no table of the states")
	}
	states := details[0]
	var drawings []Drawing
	for _, g := range groups(summary, "breaker", "scenario") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: glued(lateAnswersTitle(summary, g)),
			Subtitle: glued(fmt.Sprintf("%s calls/s that take %s s; settings: %s%s", key("rate_rps"), key("fast_s"),
				lateSettings(key), strings.ReplaceAll(g.title(), " · settings = "+key("settings"), ""))),
			Note: fmt.Sprintf(" · states: replication 0, up to %d s after the outage; numbers: means of all · – : it never opens · the title counts breakers whose states differ without late answers; "+
				"the columns count every closing and reopening, whatever its cause", lateAfter),
			Key: []KeyItem{
				{KeyPoint, square(stateStyles["closed"]), "closed"}, {KeyPoint, square(stateStyles["half-open"]), "half-open"}, {KeyPoint, square(stateStyles["open"]), "open"},
				{KeySpan, Style{}, "outage"}, {KeyPoint, lateTick, "late answer"}, {KeyPoint, lateMarks["late-success"], "success that changes the state"}, {KeyPoint, lateMarks["late-failure"], "failure that does"},
			},
			Columns: 2, Width: 1560,
		}
		rows, run := 0, detailsOf(states, g, "breaker", "scenario")
		for _, scenario := range summary.Levels("scenario") {
			p := latePanel(summary, states, g, run, scenario)
			if len(p.Marks) > 1 {
				f.Panels = append(f.Panels, p)
				rows = max(rows, len(p.Y.Rows))
			}
		}
		if len(f.Panels) == 0 {
			continue
		}
		f.Columns = min(2, len(f.Panels))
		f.Height = max(560, 300+34*rows*((len(f.Panels)+1)/2))
		drawings = append(drawings, Drawing{strings.TrimPrefix(g.suffix(), "_settings-defaults"), f})
	}
	return drawings, nil
}

// lateSettings says what the settings of a figure are.
func lateSettings(key func(string) string) string {
	if key("settings") == "defaults" {
		return "each library's own"
	}
	return fmt.Sprintf("windows of %s s or %s calls, minimum %s, ≥ %s %%, open %s s, probes: %s",
		key("window_s"), key("window_calls"), key("minimum"), key("failure_pct"), key("open_s"), key("probes"))
}

// lateMarks are the glyphs of late answers that change the state, lateTick
// that of any.
var (
	lateMarks = map[string]Style{
		"late-success": {Glyph: DownTriangle, Size: 4.5},
		"late-failure": {Glyph: Cross, Size: 4},
	}
	lateTick = Style{Color: ruleInk, Glyph: Tick, Size: 2.5, Width: 1}
)

// latePanel is one scenario: the outage, a bar for each state, the late
// answers, and how often they decided wrongly.
func latePanel(summary, states *table.Table, g, run group, scenario string) Panel {
	length := number(summary.Key(g.members[0], "outage_s"))
	metric, head := "wrong_closings_count_mean", "closings in\nthe outage"
	if scenario == "late-failure" {
		length = number(summary.Key(g.members[0], "hang_s"))
		metric, head = "late_reopenings_count_mean", "reopenings\nafter it"
	}
	p := Panel{
		Title: capital(labelOf(summary, "scenario", scenario)),
		X:     Axis{Label: "after the start of the outage, s", Range: [2]float64{-lateBefore, length + lateAfter}},
	}
	var bars Bars
	marks := map[string]*Scatter{"late-success": {Label: "late successes", Style: lateMarks["late-success"]}, "late-failure": {Label: "late failures", Style: lateMarks["late-failure"]}}
	ticks := Events{Label: "late answers", Style: lateTick}
	var counts, recovers []string
	for _, r := range g.rows("scenario", scenario) {
		name := summary.Key(r, "breaker")
		var own []table.Row
		for _, s := range run.rows("scenario", scenario) {
			if states.Key(s, "breaker") == name {
				own = append(own, s)
			}
		}
		if len(own) == 0 {
			continue // no such settings
		}
		row := indexOf(&p.Y.Rows, name)
		for _, s := range own {
			from, to := max(states.Value(s, "from_s"), p.X.Range[0]), min(states.Value(s, "to_s"), p.X.Range[1])
			if m, ok := marks[states.Key(s, "what")]; ok {
				ticks.At, ticks.Rows = append(ticks.At, states.Value(s, "from_s")), append(ticks.Rows, row+0.4)
				if states.Value(s, "changes_count") > 0 {
					m.X, m.Y = append(m.X, states.Value(s, "from_s")), append(m.Y, row-0.4)
				}
			} else if from < to {
				bars = append(bars, Bar{Row: row, From: from, To: to, Style: stateStyles[states.Key(s, "what")]})
			}
		}
		counts = append(counts, compact(summary.Value(r, metric), 2))
		back := recoveryText(summary.Value(r, "recovery_s_mean"), summary.Value(r, "unrecovered_count"), summary.Key(r, "observe_s"))
		if summary.Value(r, "unnoticed_ratio_mean") == 1 {
			back = "–"
		}
		recovers = append(recovers, back)
	}
	if len(bars) == 0 {
		return p
	}
	p.Marks = []Mark{Spans{{From: 0, To: length}}, bars, ticks}
	for _, what := range []string{"late-success", "late-failure"} {
		if m := marks[what]; len(m.X) > 0 {
			p.Marks = append(p.Marks, *m)
		}
	}
	p.Columns = []Column{{head, counts}, {"recovers\nafter, s", recovers}}
	return p
}

// lateAnswersTitle counts the breakers that a late answer misleads.
func lateAnswersTitle(summary *table.Table, g group) string {
	var texts []string
	for _, s := range []struct{ scenario, metric, text string }{
		{"slow-success", "wrong_closings_count_mean", "close in the middle of an outage"},
		{"late-failure", "late_reopenings_count_mean", "open again after it"},
	} {
		all, misled, most := 0, 0, 0.0
		var worst phaseCurve
		for _, r := range g.rows("scenario", s.scenario) {
			v := summary.Value(r, s.metric)
			if math.IsNaN(v) {
				continue
			}
			all++
			if v > 0 && summary.Value(r, "late_effect_ratio_mean") > 0 {
				misled++
				switch v = math.Round(v*100) / 100; {
				case v > most:
					most, worst.names = v, []string{summary.Key(r, "breaker")}
				case v == most:
					worst.names = append(worst.names, summary.Key(r, "breaker"))
				}
			}
		}
		if all == 0 {
			continue
		}
		text := fmt.Sprintf("%d of %d %s", misled, all, s.text)
		if most > 0 {
			text += fmt.Sprintf(" (most: %s, %s per outage)", worst.name(), compact(most, 2))
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return "Answers to calls that a breaker let through in another state"
	}
	return "Breakers that late answers mislead: " + strings.Join(texts, "; ")
}
