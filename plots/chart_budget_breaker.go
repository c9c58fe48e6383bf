package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["budget-breaker"] = drawBudgetBreaker }

// guardStyles tell where the breakers stand.
var guardStyles = []struct {
	breaker, refused, text string
	style                  Style
}{
	{"none", "no", "no breaker", NoRetry.Member(0)},
	{"inside", "no", "breaker inside the retry", BudgetBreaker.Member(1)},
	{"inside", "yes", "the same, refusals retried", FixedRetry.Member(2)},
	{"outside", "no", "breaker outside the retry", TimeWindow.Member(3)},
}

// boundStyle marks a closed form.
var boundStyle = Style{Color: Neutral.Color(), Glyph: Tick, Size: 8}

// drawBudgetBreaker shows, for each policy and layer that retries, the load on
// the last node and the requests that succeed.
func drawBudgetBreaker(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "retry", "breaker", "retry_at", "retry_refused", "error_ratio") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		rows := guardRows(summary, g)
		f := &Figure{
			Title: guardTitle(summary, g),
			Subtitle: fmt.Sprintf("client → A → B → C, %s requests/s for %s s; a breaker on every hop: %s, open for %s s%s",
				key("rate_rps"), key("horizon_s"), shortName(summary.Label(g.members[0], "rule")), key("open_s"), g.title()),
			Note:    " · means, 95 % intervals as whiskers",
			Columns: len(summary.Levels("error_ratio")), ShareY: true,
		}
		for _, s := range guardStyles {
			f.Key = append(f.Key, KeyItem{KeyPoint, s.style, s.text})
		}
		f.Key = append(f.Key, KeyItem{KeyPoint, boundStyle, "bound without breakers"})
		for _, metric := range []struct {
			name string
			axis Axis
		}{
			{"c_amplification_ratio", Axis{Label: "attempts at C per request", Kind: Log, Range: guardRange(summary, g)}},
			{"success_ratio", Axis{Label: "share of requests that succeed", Range: [2]float64{0, 1}}},
		} {
			for _, p := range summary.Levels("error_ratio") {
				panel := Panel{X: metric.axis, Y: Axis{Rows: rows}}
				if metric.name == "c_amplification_ratio" {
					panel.Title = "C fails " + percent(p) + " % of its calls"
				}
				panel.Marks = guardMarks(summary, g, rows, p, metric.name)
				f.Panels = append(f.Panels, panel)
			}
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// guardRange holds all attempts at C of the group and their bounds.
func guardRange(summary *table.Table, g group) [2]float64 {
	lo, hi := 1.0, 1.0
	for _, r := range g.members {
		if v := summary.Value(r, "c_amplification_ratio_mean"); v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
		if v := summary.Value(r, "c_bound_ratio_mean"); v > 0 {
			hi = max(hi, v)
		}
	}
	return [2]float64{lo / 1.3, hi * 1.3}
}

// guardRow names a policy and who retries.
func guardRow(summary *table.Table, r table.Row) string {
	text := summary.Label(r, "retry")
	if summary.Key(r, "retry") == "none" {
		return text
	}
	switch at := summary.Key(r, "retry_at"); at {
	case "each":
		return text + " at each layer"
	case "nearest":
		return text + " next to C"
	default:
		return text + " at the " + at
	}
}

func guardRows(summary *table.Table, g group) []string {
	var rows []string
	for _, r := range g.members {
		if name := guardRow(summary, r); !slices.Contains(rows, name) {
			rows = append(rows, name)
		}
	}
	return rows
}

// guardMarks are the estimates of a metric at one share of failures, and its
// bounds.
func guardMarks(summary *table.Table, g group, rows []string, errorRatio, metric string) []Mark {
	var marks []Mark
	bound := Estimates{Label: "bound", Horizontal: true}
	for i, s := range guardStyles {
		e := Estimates{Label: s.text, Horizontal: true, Dodge: 12 - 8*float64(i)}
		for _, r := range g.rows("error_ratio", errorRatio) {
			if summary.Key(r, "breaker") != s.breaker || summary.Key(r, "retry_refused") != s.refused {
				continue
			}
			row := float64(slices.Index(rows, guardRow(summary, r)))
			v := summary.Value(r, metric+"_mean")
			if math.IsNaN(v) || v == 0 && metric == "c_amplification_ratio" {
				continue // nothing got through, and the axis has no 0
			}
			e.Points = append(e.Points, Estimate{
				At: row, Mean: v, Style: s.style,
				Lo: summary.Value(r, metric+"_ci95_lo"), Hi: summary.Value(r, metric+"_ci95_hi"),
			})
			if i == 0 && metric == "c_amplification_ratio" {
				bound.Points = append(bound.Points, Estimate{At: row, Mean: summary.Value(r, "c_bound_ratio_mean"), Style: boundStyle})
			}
		}
		if len(e.Points) > 0 {
			marks = append(marks, e)
		}
	}
	if len(bound.Points) > 0 {
		marks = append([]Mark{bound}, marks...)
	}
	return marks
}

// guardTitle compares, at the highest share of failures, the load of retries at
// each layer without guard, with a budget, and with a breaker.
func guardTitle(summary *table.Table, g group) string {
	worst := ""
	for _, p := range summary.Levels("error_ratio") {
		if worst == "" || number(p) > number(worst) {
			worst = p
		}
	}
	// The most and the least attempts at C that retries lead to, by guard.
	load := func(budget, breaker bool) float64 {
		most := math.NaN()
		for _, r := range g.rows("error_ratio", worst) {
			kind := summary.Key(r, "retry")
			if kind == "none" || (kind[:min(5, len(kind))] != "retry") != budget || (summary.Key(r, "breaker") != "none") != breaker {
				continue
			}
			if v := summary.Value(r, "c_amplification_ratio_mean"); !(v <= most) {
				most = v
			}
		}
		return most
	}
	text := fmt.Sprintf("A node that fails %s %% of its calls sees up to", percent(worst))
	parts := ""
	for _, c := range []struct {
		budget, breaker bool
		text            string
	}{{false, false, "with unlimited retries"}, {true, false, "with budgets"}, {false, true, "with breakers"}, {true, true, "with both"}} {
		if v := load(c.budget, c.breaker); !math.IsNaN(v) {
			if parts != "" {
				parts += ","
			}
			parts += " " + compact(v, 2)
			if parts == " "+compact(v, 2) {
				parts += " attempts per request"
			}
			parts += " " + c.text
		}
	}
	if parts == "" {
		return "Budgets and breakers in a chain of three hops"
	}
	return text + parts
}
