package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	switch summary.Key(r, "retry_at") {
	case "all":
		return text + " at each layer"
	case "innermost":
		return text + " next to C"
	default:
		return text + " at the client"
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

// guardTitle sets the load on C, at the highest share of failures, beside the
// success at the highest share at which anything can succeed: what spares C may
// cost the requests.
func guardTitle(summary *table.Table, g group) string {
	worst, partial := "", ""
	for _, p := range summary.Levels("error_ratio") {
		if worst == "" || number(p) > number(worst) {
			worst = p
		}
		if number(p) < 1 && (partial == "" || number(p) > number(partial)) {
			partial = p
		}
	}
	load := guardList(summary, g, worst, "c_amplification_ratio")
	if load == "" {
		return "Budgets and breakers in a chain of three hops"
	}
	text := fmt.Sprintf("When C fails %s %% of its calls, a request makes up to %s", percent(worst), load)
	if partial == "" {
		return text
	}
	return text + fmt.Sprintf("; at %s %%, requests succeed up to %s", percent(partial), guardList(summary, g, partial, "success_ratio"))
}

// guardList names the highest value of a metric for each way to bound retries,
// over the layers that may retry.
func guardList(summary *table.Table, g group, errorRatio, metric string) string {
	var parts []string
	for _, c := range []struct {
		kinds   []string // first words of the policy
		breaker []string
		text    string
	}{
		{[]string{"retry"}, []string{"none"}, "unbounded"},
		{[]string{"budget", "share", "counter"}, []string{"none"}, "with budgets"},
		{[]string{"cap"}, []string{"none"}, "with caps"},
		{[]string{"retry", "budget", "share", "counter", "cap"}, []string{"inside"}, "with breakers inside the retry"},
		{[]string{"retry", "budget", "share", "counter", "cap"}, []string{"outside"}, "outside"},
	} {
		most := math.NaN()
		for _, r := range g.rows("error_ratio", errorRatio) {
			kind, _, _ := strings.Cut(summary.Key(r, "retry"), "-")
			if !slices.Contains(c.kinds, kind) || !slices.Contains(c.breaker, summary.Key(r, "breaker")) {
				continue
			}
			if v := summary.Value(r, metric+"_mean"); !(v <= most) {
				most = v
			}
		}
		if math.IsNaN(most) {
			continue
		}
		value := compact(most, 2)
		if metric == "success_ratio" {
			value = compact(100*most, 0) + " %"
		} else if len(parts) == 0 {
			value += " attempts at it"
		}
		text := c.text
		if text == "outside" && !strings.HasSuffix(strings.Join(parts, ""), "inside the retry") {
			text = "with breakers outside the retry"
		}
		parts = append(parts, value+" "+text)
	}
	return strings.Join(parts, ", ")
}
