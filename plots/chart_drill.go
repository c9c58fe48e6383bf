package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["drill"] = drawDrill }

// drillRows are the two rows of the drill.
var drillRows = []struct {
	prefix, label string
	style         Style
}{
	{"plain", "plain retries", Unlimited.Member(0)},
	{"guarded", "budget + jitter", Budget.Member(0)},
}

// drawDrill shows both rows of the drill over the capacity of the callee, at
// the setting that was found; without one, the calls of the stalled chain.
func drawDrill(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	var line, search *table.Table
	for _, t := range details {
		switch t.Name {
		case "drill_capacity":
			line = t
		case "drill_search":
			search = t
		}
	}
	if line == nil || search == nil || len(line.Rows) == 0 {
		return drawStalled(summary), nil
	}
	first := line.Rows[0]
	key := func(name string) string { return line.Key(first, name) }
	rps := Panel{
		Title: "load",
		X:     Axis{Label: "capacity of B, calls per second"},
		Y:     Axis{Label: "calls per second at B"},
	}
	good := Panel{
		Title: "success",
		X:     Axis{Label: "capacity of B, calls per second"},
		Y:     Axis{Label: "share of requests that succeed", Range: [2]float64{0, 1.02}},
	}
	lo, hi := math.Inf(1), 0.0
	for _, r := range line.Rows {
		x := number(line.Key(r, "capacity_rps"))
		lo, hi = min(lo, x), max(hi, x)
	}
	rps.X.Range, good.X.Range = [2]float64{lo, hi}, [2]float64{lo, hi}
	for _, row := range drillRows {
		rps.Marks = append(rps.Marks,
			Rule{At: line.Value(first, row.prefix+"_rps_article")},
			metricLine(line, line.Rows, "capacity_rps", row.prefix+"_rps", row.label, row.style))
		good.Marks = append(good.Marks,
			Rule{At: line.Value(first, row.prefix+"_success_ratio_article")},
			metricLine(line, line.Rows, "capacity_rps", row.prefix+"_success_ratio", row.label, row.style))
	}
	best := drillBest(search)
	rps.Marks = append(rps.Marks, Rule{At: number(search.Key(best, "capacity_rps")), Vertical: true, Label: "nearest"})
	good.Marks = append(good.Marks, Rule{At: number(search.Key(best, "capacity_rps")), Vertical: true})
	return []Drawing{{"", &Figure{
		Title: drillTitle(search, best),
		Subtitle: fmt.Sprintf("%s requests/s, timeout %s s, %s of the calls too late by themselves (delay %s, %s s), a queue of %s s; guard: %s",
			key("rate_rps"), key("timeout_s"), share(number(key("late_ratio")), 1), key("delay"), key("delay_s"), compact(number(key("queue_s")), 2),
			glued(labelOf(line, "guard", key("guard")))),
		Note:    drillNote(line),
		Columns: 2, Height: 620,
		Key:    []KeyItem{{KeyRule, Style{}, "article's figures, which it gives as an illustration"}},
		Panels: []Panel{rps, good},
	}}}, nil
}

// drillNote says what the bands are, of how many runs.
func drillNote(line *table.Table) string {
	text := " · bands: 95 % intervals of the mean (Student t)"
	if slices.ContainsFunc(line.Values, func(c table.Column) bool { return c.Name == "n" }) {
		text += fmt.Sprintf(" of %s runs", compact(line.Value(line.Rows[0], "n"), 0))
	}
	return text + "; near the edge plain retries stand in some runs and fall in others"
}

// drillBest is the setting with the least distance among those measured again.
func drillBest(search *table.Table) table.Row {
	best, least := search.Rows[0], math.Inf(1)
	for _, r := range search.Rows {
		if d := search.Value(r, "distance_ratio"); search.Key(r, "step") == "again" && d < least {
			best, least = r, d
		}
	}
	return best
}

func drillTitle(search *table.Table, r table.Row) string {
	v := func(name string) float64 { return search.Value(r, name+"_mean") }
	return fmt.Sprintf("One system: plain retries bring B %s calls/s and %s success, the guard %s calls/s and %s",
		compact(v("plain_rps"), 0), share(v("plain_success_ratio"), 2), compact(v("guarded_rps"), 0), share(v("guarded_success_ratio"), 1))
}

// share is a ratio in percent.
func share(v float64, decimals int) string { return Number(100*v, decimals) + "\u00a0%" }

// drawStalled shows the calls of the stalled chain over the gateway's retries.
func drawStalled(summary *table.Table) []Drawing {
	p := Panel{
		X: Axis{Label: "retries of the gateway"},
		Y: Axis{Label: "calls at B for each request"},
	}
	var ref published
	most := 0.0
	levels := summary.Levels("gateway_retries")
	for _, level := range levels {
		p.X.Ticks = append(p.X.Ticks, number(level))
	}
	if len(levels) == 1 { // at the right edge, beside its labels
		p.X.Range = [2]float64{number(levels[0]) - 1, number(levels[0])}
	}
	for i, retries := range summary.Levels("retries") {
		rows := summary.Select(map[string]string{"scene": "stalled", "retries": retries})
		if len(rows) == 0 {
			continue
		}
		p.Marks = append(p.Marks, metricLine(summary, rows, "gateway_retries", "calls_at_b_per_request_count", "A retries "+retries, Unlimited.Member(i)))
		for _, r := range rows {
			most = max(most, summary.Value(r, "calls_at_b_per_request_count_mean"))
			ref.add(number(summary.Key(r, "gateway_retries")), summary.Value(r, "calls_at_b_per_request_count_article"))
		}
	}
	if len(p.Marks) == 0 {
		return nil
	}
	p.Marks = append(p.Marks, ref.marks()...)
	return []Drawing{{"", &Figure{
		Title:    fmt.Sprintf("Retries of gateway and A multiply: %s calls at a stalled B for each request", compact(most, 0)),
		Subtitle: "gateway → A → B, where B is slower than A waits",
		Key:      ref.key(),
		Panels:   []Panel{p},
	}}}
}
