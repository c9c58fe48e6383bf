package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["retry-on"] = drawRetryOn }

// retryOnStyles tell the policies apart.
var retryOnStyles = []struct {
	policy string
	style  Style
}{
	{"none", NoRetry.Member(0)},
	{"any", Unlimited.Member(0)},
	{"any-but-429", FixedRetry.Member(1)},
	{"5xx", CountWindow.Member(2)},
	{"retry-governance", Budget.Member(3)},
	{"spring-cloud-drill", TimeWindow.Member(4)},
}

// exactPlus marks a closed form beside a line.
var exactPlus = Style{Color: Neutral.Color(), Glyph: Plus, Size: 6}

// retryOnRows are the metrics of the figure.
var retryOnRows = []struct{ metric, axis string }{
	{"amplification_ratio", "attempts per request"},
	{"good_success_ratio", "success of the other requests"},
	{"wasted_ratio", "share of attempts wasted"},
}

// drawRetryOn shows load, success and waste against the share of requests
// that no retry can mend, without a limit and with one.
func drawRetryOn(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "permanent_ratio", "limit_rps") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		var limits []string // that the group has
		for _, limit := range summary.Levels("limit_rps") {
			if len(g.rows("limit_rps", limit)) > 0 {
				limits = append(limits, limit)
			}
		}
		var shares []string // that the group has
		for _, v := range summary.Levels("permanent_ratio") {
			if len(g.rows("permanent_ratio", v)) > 0 {
				shares = append(shares, v)
			}
		}
		budget := "no budget but those of the published policies"
		if number(key("budget_ratio")) > 0 {
			budget = "a budget of " + percent(key("budget_ratio")) + " %"
		}
		f := &Figure{
			Title: glued(retryOnTitle(summary, g)),
			Subtitle: glued(fmt.Sprintf("%s requests/s, %s; %s %% of the attempts end in %s%s%s",
				key("rate_rps"), budget, percent(key("transient_ratio")), key("transient"), retryOnOthers(limits, shares), g.title())),
			Note:    " · means, 95 % intervals as bands",
			Columns: len(limits), ShareX: true, Height: 960,
			Key: []KeyItem{{KeyPoint, exactPlus, "closed form, in the long run"}},
		}
		if len(shares) == 1 { // no lines to draw
			f.Panels, f.ShareX, f.ShareY = retryOnOne(summary, g, limits), false, true
			f.Columns, f.Height, f.Note = len(retryOnRows), 300*len(limits)+120, " · means, 95 % intervals as whiskers"
			if len(f.Panels) > 0 {
				drawings = append(drawings, Drawing{g.suffix(), f})
			}
			continue
		}
		for _, row := range retryOnRows {
			var panels []Panel
			for i, limit := range limits {
				p := Panel{X: Axis{Label: "share of requests answered 400"}, Y: Axis{Label: row.axis}}
				if row.metric == "good_success_ratio" {
					p.Y.Range = [2]float64{retryOnFloor(summary, g), 1}
				}
				exact := Scatter{Style: exactPlus}
				if row.metric == retryOnRows[0].metric {
					p.Title = retryOnLimit(limit)
				}
				for _, s := range retryOnStyles {
					line := Line{Style: s.style, Points: true}
					for _, r := range g.rows("policy", s.policy) {
						if v := summary.Value(r, row.metric+"_mean"); summary.Key(r, "limit_rps") == limit && !math.IsNaN(v) {
							line.X, line.Y = append(line.X, number(summary.Key(r, "permanent_ratio"))), append(line.Y, v)
							line.Lo = append(line.Lo, summary.Value(r, row.metric+"_ci95_lo"))
							line.Hi = append(line.Hi, summary.Value(r, row.metric+"_ci95_hi"))
							if x := summary.Value(r, row.metric+"_exact"); !math.IsNaN(x) {
								exact.X, exact.Y = append(exact.X, number(summary.Key(r, "permanent_ratio"))), append(exact.Y, x)
							}
						}
					}
					if len(line.X) == 0 {
						continue
					}
					if i == len(limits)-1 {
						line.Label = labelOf(summary, "policy", s.policy)
					}
					p.Marks = append(p.Marks, line)
				}
				if len(exact.X) > 0 {
					p.Marks = append(p.Marks, exact)
				}
				if len(p.Marks) > 0 {
					panels = append(panels, p)
				}
			}
			if len(panels) == len(limits) { // else nothing of it was measured somewhere
				f.Panels = append(f.Panels, panels...)
			}
		}
		if len(f.Panels) > 0 {
			drawings = append(drawings, Drawing{g.suffix(), f})
		}
	}
	return drawings, nil
}

// retryOnOne are panels for one share of requests answered 400: a row for each
// limit, with the policies below each other.
func retryOnOne(summary *table.Table, g group, limits []string) (panels []Panel) {
	for _, limit := range limits {
		for _, row := range retryOnRows {
			p := Panel{X: Axis{Label: row.axis}, Title: retryOnLimit(limit)}
			e, exact := Estimates{Label: row.axis, Horizontal: true}, Scatter{Style: exactPlus}
			for _, s := range retryOnStyles {
				for _, r := range g.rows("policy", s.policy) {
					if summary.Key(r, "limit_rps") != limit {
						continue
					}
					v := func(column string) float64 { return summary.Value(r, row.metric+column) }
					at := float64(len(p.Y.Rows))
					p.Y.Rows = append(p.Y.Rows, labelOf(summary, "policy", s.policy))
					if math.IsNaN(v("_mean")) {
						continue
					}
					e.Points = append(e.Points, Estimate{At: at, Mean: v("_mean"), Lo: max(0, v("_ci95_lo")), Hi: v("_ci95_hi"), Style: s.style, Text: compact(v("_mean"), 3)})
					if x := v("_exact"); !math.IsNaN(x) {
						exact.X, exact.Y = append(exact.X, x), append(exact.Y, at)
					}
				}
			}
			if len(e.Points) == 0 {
				continue
			}
			p.Marks = []Mark{e}
			if len(exact.X) > 0 {
				p.Marks = append(p.Marks, exact)
			}
			panels = append(panels, p)
		}
	}
	if len(panels) != len(limits)*len(retryOnRows) { // nothing of it was measured somewhere
		return nil
	}
	return panels
}

// retryOnLimit says in words what the limit is.
func retryOnLimit(limit string) string {
	if number(limit) > 0 {
		return "Limit of " + limit + " attempts/s"
	}
	return "No limit"
}

// retryOnOthers says which errors there are besides those that may pass.
func retryOnOthers(limits, shares []string) string {
	some := func(levels []string) bool {
		return slices.ContainsFunc(levels, func(l string) bool { return number(l) > 0 })
	}
	text := ""
	if some(shares) {
		text = "; a share of the requests is answered 400 at every attempt"
		if len(shares) == 1 {
			text = "; " + percent(shares[0]) + " % of the requests are answered 400 at every attempt"
		}
	}
	if some(limits) {
		text += "; attempts above the limit are answered 429"
	}
	return text
}

// retryOnFloor is a tenth at or below all success shares of a group.
func retryOnFloor(summary *table.Table, g group) float64 {
	low := 0.9
	for _, r := range g.members {
		if v := summary.Value(r, "good_success_ratio_ci95_lo"); v < low {
			low = v
		}
		if v := summary.Value(r, "good_success_ratio_mean"); v < low {
			low = v
		}
	}
	return math.Floor(10*low) / 10
}

// retryOnTitle compares retries of any error and of 5xx where they differ most
// in the requests that they cost.
func retryOnTitle(summary *table.Table, g group) string {
	type pair struct{ any, some table.Row }
	var worst pair
	most := math.Inf(-1)
	value := func(r table.Row, metric string) float64 { return summary.Value(r, metric+"_mean") }
	for _, a := range g.rows("policy", "any") {
		for _, b := range g.rows("policy", "5xx") {
			if summary.Key(a, "permanent_ratio") != summary.Key(b, "permanent_ratio") || summary.Key(a, "limit_rps") != summary.Key(b, "limit_rps") {
				continue
			}
			if d := value(b, "good_success_ratio") - value(a, "good_success_ratio"); d > most+1e-9 {
				most, worst = d, pair{a, b}
			}
		}
	}
	if math.IsInf(most, -1) {
		return "What it costs to retry errors that a retry cannot mend"
	}
	if number(summary.Key(worst.any, "permanent_ratio")) == 0 && number(summary.Key(worst.any, "limit_rps")) == 0 && !(most > 0.0005) {
		return "Where every error may pass, it does not matter which of them are retried"
	}
	limit := ""
	if l := summary.Key(worst.any, "limit_rps"); number(l) > 0 {
		limit = " and a limit of " + l + " attempts/s"
	}
	return fmt.Sprintf("With %s %% of the requests answered 400%s, retrying any error makes %s attempts per request and %s %% of the rest succeed; retrying only 5xx, %s and %s %%",
		percent(summary.Key(worst.any, "permanent_ratio")), limit,
		compact(value(worst.any, "amplification_ratio"), 2), compact(100*value(worst.any, "good_success_ratio"), 1),
		compact(value(worst.some, "amplification_ratio"), 2), compact(100*value(worst.some, "good_success_ratio"), 1))
}
