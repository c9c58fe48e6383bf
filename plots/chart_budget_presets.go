package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["budget-presets"] = drawBudgetPresets }

// The bounds that budgets are compared with.
const (
	noBudget = "unlimited"
	noRetry  = "none"
)

// presetStyle is the look of a budget: the bounds have the colours of theirs.
func presetStyle(budget string) Style {
	switch budget {
	case noBudget:
		return Unlimited.Member(0)
	case noRetry:
		return NoRetry.Member(0)
	}
	return Budget.Member(0)
}

// drawBudgetPresets shows the retries of each budget through an outage, a panel
// each, and what they refuse under steady and bursty load.
func drawBudgetPresets(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no series")
	}
	var drawings []Drawing
	runs := groups(details[0], "load", "budget", "replication", "t_s")
	for _, g := range groups(summary, "load", "budget") {
		if f := outageBudgets(summary, details[0], g, sameGroup(runs, g)); f != nil {
			drawings = append(drawings, Drawing{g.suffix(), f})
		}
		if f := calmBudgets(summary, g); f != nil {
			drawings = append(drawings, Drawing{"_refusals" + g.suffix(), f})
		}
	}
	return drawings, nil
}

// outageBudgets is the retries per second of each budget, with those without a
// budget behind.
func outageBudgets(summary, series *table.Table, g, run group) *Figure {
	rows := g.rows("load", "outage")
	if len(rows) == 0 {
		return nil
	}
	key := func(name string) string { return summary.Key(rows[0], name) }
	start, length := number(key("outage_at_s")), number(key("outage_s"))
	line := func(budget string, style Style) Line {
		l := Line{Style: style, Step: true}
		for _, r := range run.rows("load", "outage") {
			if t := number(series.Key(r, "t_s")) - start; series.Key(r, "budget") == budget && t >= -length/6 && t <= length*1.25 {
				l.X, l.Y = append(l.X, t), append(l.Y, series.Value(r, "retries_count"))
			}
		}
		return l
	}
	f := &Figure{
		Title: glued(outageBudgetsTitle(summary, rows)),
		Subtitle: fmt.Sprintf("Retries per second, sent before, in and after %s s in which every attempt fails; %s requests/s, %s attempts at most. Above each panel: retries in the first second of the outage → per second in its second half%s",
			key("outage_s"), compact(number(key("rate_rps")), 1), key("attempts"), g.title()),
		Note: fmt.Sprintf(" · lines: replication 0; numbers: means; silent: less than %v retries per request", silentBelow), Width: 1300, Columns: 4, ShareX: true, ShareY: true,
		Key: []KeyItem{{KeySpan, Style{}, "outage"}, {KeyLine, presetStyle(""), "the budget"}},
	}
	ghost := Neutral.Member(0)
	ghost.Width = 1.2
	behind := line(noBudget, ghost)
	most := 0.0
	for _, r := range run.rows("load", "outage") {
		most = max(most, series.Value(r, "retries_count"))
	}
	if usable(behind) {
		f.Key = append(f.Key, KeyItem{KeyLine, ghost, "without a budget"})
	}
	for _, r := range rows {
		budget := summary.Key(r, "budget")
		if bound := budget == noRetry || budget == noBudget; bound && len(rows) > 2 {
			continue // one is behind every budget, the other is nothing
		}
		p := Panel{
			Title: fmt.Sprintf("%s: %s → %s/s", labelOf(summary, "budget", budget), compact(summary.Value(r, "first_second_retries_count_mean"), 0),
				compact(summary.Value(r, "late_retry_ratio_mean")*number(key("rate_rps")), 0)),
			X: Axis{Label: "since the start of the outage, s"}, Y: Axis{Label: "retries per second", Kind: LogZero, Ticks: powersTo(most)},
			Marks: []Mark{Spans{{From: 0, To: length}}},
		}
		own := line(budget, presetStyle(budget))
		own.Style.Width = 2
		if budget != noBudget && usable(behind) {
			p.Marks = append(p.Marks, behind)
		}
		if !usable(own) {
			continue
		}
		p.Marks = append(p.Marks, own)
		f.Panels = append(f.Panels, p)
	}
	if len(f.Panels) == 0 {
		return nil
	}
	f.Columns = min(f.Columns, len(f.Panels))
	f.Height = max(540, 210+235*((len(f.Panels)+f.Columns-1)/f.Columns))
	return f
}

// powersTo are the ticks of a small panel: zero, and powers of ten of which the
// highest is the last that is not above what is shown.
func powersTo(most float64) []float64 {
	if !(most >= 1) {
		return nil
	}
	const room = 4
	last := int(math.Log10(most) + 1e-9)
	var ticks []float64
	for exp, step := last, last/room+1; exp >= 0; exp -= step {
		ticks = append(ticks, pow10(1, float64(exp)))
	}
	slices.Reverse(ticks)
	return append([]float64{0}, ticks...)
}

// silentBelow is the number of retries per request below which a budget counts
// as silent.
const silentBelow = 0.01

// outageBudgetsTitle says which budgets fall silent and what the others send.
func outageBudgetsTitle(summary *table.Table, rows []table.Row) string {
	var silent []string
	least, most, all := -1, -1, 0
	late := func(i int) float64 { return summary.Value(rows[i], "late_retry_ratio_mean") }
	name := func(i int) string { return labelOf(summary, "budget", summary.Key(rows[i], "budget")) }
	for i, r := range rows {
		if b := summary.Key(r, "budget"); b == noBudget || b == noRetry || math.IsNaN(late(i)) {
			continue
		}
		all++
		if late(i) < silentBelow {
			silent = append(silent, name(i))
			continue
		}
		if least < 0 || late(i) < late(least) {
			least = i
		}
		if most < 0 || late(i) > late(most) {
			most = i
		}
	}
	retries := func(i int) string { return fmt.Sprintf("%s (%s)", compact(late(i), 2), name(i)) }
	switch {
	case all == 0:
		return "Retries through an outage"
	case least < 0:
		return fmt.Sprintf("All %d budgets are silent in the second half of an outage", all)
	}
	text := fmt.Sprintf("%d of %d budgets still retry in the second half of an outage: ", all-len(silent), all)
	if least == most {
		text += retries(least)
	} else {
		text += "from " + retries(least) + " to " + retries(most)
	}
	text += " retries per request"
	if len(silent) > 0 && len(silent) <= 4 {
		text += "; silent: " + strings.Join(silent, ", ")
	}
	return text
}

// calmBudgets shows what is lost to budgets while the callee is mostly well.
func calmBudgets(summary *table.Table, g group) *Figure {
	steady, bursty := g.rows("load", "steady"), g.rows("load", "bursty")
	budgets := summary.Levels("budget")
	f := &Figure{Columns: 3, ShareY: true, Width: 1300, Note: " · 95 % intervals of the mean (Student t)"}
	add := func(rows []table.Row, title, axis string, kind Kind, value func(r table.Row, part string) float64) {
		p := Panel{Title: title, X: Axis{Label: axis, Kind: kind}}
		e := Estimates{Horizontal: true}
		for _, budget := range budgets {
			p.Y.Rows = append(p.Y.Rows, labelOf(summary, "budget", budget))
		}
		for _, r := range rows {
			budget := summary.Key(r, "budget")
			a, b := value(r, "_ci95_lo"), value(r, "_ci95_hi")
			if mean := value(r, "_mean"); !math.IsNaN(mean) {
				style := presetStyle(budget)
				style.Glyph = Tick // hides no short interval
				e.Points = append(e.Points, Estimate{At: float64(slices.Index(budgets, budget)), Style: style, Mean: max(0, mean), Lo: max(0, min(a, b)), Hi: max(0, a, b)})
			}
		}
		if len(e.Points) > 0 {
			p.Marks = []Mark{e}
			f.Panels = append(f.Panels, p)
		}
	}
	count := func(r table.Row, part string) float64 { return summary.Value(r, "first_second_retries_count"+part) }
	lost := func(metric string, scale float64) func(r table.Row, part string) float64 {
		return func(r table.Row, part string) float64 { return lostShare(scale, summary.Value(r, metric+part)) }
	}
	add(steady, "Steady: requests that fail", "of 10,000", LogZero, lost("success_ratio", 1e4))
	add(bursty, "Bursts: requests that fail", "% of those made in a burst", Linear, lost("trouble_success_ratio", 100))
	add(bursty, "Bursts: retries in the first second", "retries", LogZero, count)
	if len(f.Panels) == 0 {
		return nil
	}
	key := func(name string) string { return summary.Key(g.members[0], name) }
	f.Columns = len(f.Panels)
	f.Title = glued(calmBudgetsTitle(summary, steady, bursty))
	f.Subtitle = fmt.Sprintf("Steady: %s %% of the attempts fail, %s requests/s, %s attempts at most. Bursts: %s times as many requests for %s s every %s s, of whose attempts %s %% fail%s",
		percent(key("error_ratio")), compact(number(key("rate_rps")), 1), key("attempts"), key("burst_factor"), key("burst_s"), key("every_s"), percent(key("burst_error_ratio")), g.title())
	return f
}

// lostShare is the share that did not succeed, scaled and rounded to what can
// be told from nothing.
func lostShare(scale, success float64) float64 {
	return math.Round(1e6*scale*(1-success)) / 1e6
}

// refusesFrom is the percentage of the retries from which a budget counts as
// refusing.
const refusesFrom = 0.1

// calmBudgetsTitle says how many budgets refuse under steady errors, and the
// range of what is lost in bursts.
func calmBudgetsTitle(summary *table.Table, steady, bursty []table.Row) string {
	// extremes finds the budgets with the least and the most of something.
	extremes := func(rows []table.Row, value func(table.Row) float64) (least, most table.Row, all []table.Row) {
		for _, r := range rows {
			if b, v := summary.Key(r, "budget"), value(r); b != noBudget && b != noRetry && !math.IsNaN(v) {
				if all = append(all, r); len(all) == 1 || v < value(least) {
					least = r
				}
				if len(all) == 1 || v > value(most) {
					most = r
				}
			}
		}
		return least, most, all
	}
	name := func(r table.Row) string { return labelOf(summary, "budget", summary.Key(r, "budget")) }
	var text []string
	denied := func(r table.Row) float64 { return math.Round(1e4*summary.Value(r, "denied_ratio_mean")) / 100 } // as in the table
	if _, most, all := extremes(steady, denied); len(all) > 0 {
		refuse, first := 0, []string{}
		for _, r := range all {
			if denied(r) >= refusesFrom {
				refuse++
			}
			if denied(r) == denied(most) {
				first = append(first, name(r))
			}
		}
		switch {
		case refuse == 0:
			text = append(text, fmt.Sprintf("under steady errors no budget refuses %v %% of the retries", refusesFrom))
		default:
			text = append(text, fmt.Sprintf("under steady errors %d of %d budgets refuse %v %% of the retries or more, %s most, %s %%", refuse, len(all), refusesFrom, strings.Join(first, " and "), compact(denied(most), 1)))
		}
	}
	lost := func(r table.Row) float64 { return 100 * (1 - summary.Value(r, "trouble_success_ratio_mean")) }
	if least, most, all := extremes(bursty, lost); len(all) > 0 {
		text = append(text, fmt.Sprintf("in bursts from %s %% (%s) to %s %% (%s) of the requests fail", compact(lost(least), 0), name(least), compact(lost(most), 0), name(most)))
	}
	if len(text) == 0 {
		return "What fails without a budget and without retries"
	}
	return capital(strings.Join(text, "; "))
}
