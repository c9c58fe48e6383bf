package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["amplification-layers"] = drawLayers }

// drawLayers shows the calls at the end of a chain over its length.
func drawLayers(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no bounds")
	}
	bounds := details[0]
	limits := groups(bounds, "policy", "layers", "depth")
	styles := retryStyles(summary.Levels("policy"))
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "layers", "depth") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: glued(layersTitle(summary, g)),
			Subtitle: fmt.Sprintf("%s requests through a chain whose last service %s; %s%s",
				compact(number(key("requests")), 0), lastService(key("failure_ratio")), retryingLayers(key("retry_at")), g.title()),
			Key: []KeyItem{
				{KeyPoint, Neutral.Member(0), "simulated"},
				{KeyLine, Neutral.Member(0), "bound in the long run: nᴸ, under a budget (1 + r)ᴸ for L layers"},
			},
		}
		var marks []Mark
		var printed published
		var ticks []float64
		for _, level := range summary.Levels("layers") {
			ticks = append(ticks, number(level))
		}
		for _, policy := range summary.Levels("policy") {
			label := labelOf(summary, "policy", policy)
			limit := Line{Label: label, Style: styles[policy]}
			for _, r := range sameGroup(limits, g).rows("policy", policy) {
				limit.X, limit.Y = append(limit.X, number(bounds.Key(r, "layers"))), append(limit.Y, bounds.Value(r, "amplification_ratio"))
			}
			dots := Scatter{Label: label, Style: styles[policy]}
			for _, r := range g.rows("policy", policy) {
				if summary.Key(r, "depth") != summary.Key(r, "layers") {
					continue
				}
				x := number(summary.Key(r, "layers"))
				dots.X, dots.Y = append(dots.X, x), append(dots.Y, summary.Value(r, "amplification_ratio_mean"))
				dots.YLo = append(dots.YLo, summary.Value(r, "amplification_ratio_ci95_lo"))
				dots.YHi = append(dots.YHi, summary.Value(r, "amplification_ratio_ci95_hi"))
				printed.add(x, summary.Value(r, "calls_count_article")/number(key("requests")))
			}
			if len(dots.X) == 0 {
				continue
			}
			if len(limit.X) == 0 {
				limit.X, limit.Y = dots.X, dots.Y
			}
			marks = append(marks, limit, dots)
		}
		if len(marks) == 0 {
			continue // the ends of the chains were not measured
		}
		f.Key = append(f.Key, printed.key()...)
		layers := Axis{Label: "layers that make calls", Ticks: ticks}
		if first, last := slices.Min(ticks), slices.Max(ticks); first < last {
			layers.Range = [2]float64{first, last}
		}
		f.Panels = []Panel{{
			X:     layers,
			Y:     Axis{Label: "calls at the last service per request", Kind: Log},
			Marks: append(marks, printed.marks()...),
		}}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// lastService says how the last service does.
func lastService(failure string) string {
	if number(failure) == 1 {
		return "is down"
	}
	return "fails " + percent(failure) + " % of its attempts"
}

// retryingLayers says who retries.
func retryingLayers(where string) string {
	switch where {
	case "outermost":
		return "only the client retries"
	case "innermost":
		return "only the last caller retries"
	}
	return "every layer retries, with a budget of its own"
}

// layersTitle says what the longest chain makes of a request.
func layersTitle(summary *table.Table, g group) string {
	longest := 0.0
	for _, r := range g.members {
		if summary.Key(r, "depth") == summary.Key(r, "layers") {
			longest = max(longest, number(summary.Key(r, "layers")))
		}
	}
	var phrases []string
	for _, policy := range summary.Levels("policy") {
		for _, r := range g.rows("policy", policy) {
			if number(summary.Key(r, "layers")) != longest || number(summary.Key(r, "depth")) != longest {
				continue
			}
			v := summary.Value(r, "amplification_ratio_mean")
			if math.IsNaN(v) || policy == "none" && len(summary.Levels("policy")) > 1 {
				continue
			}
			phrases = append(phrases, fmt.Sprintf("%s calls with %s", perRequest(v), labelOf(summary, "policy", policy)))
		}
	}
	if longest == 1 {
		return "One layer turns a request into " + strings.Join(phrases, ", ")
	}
	return fmt.Sprintf("%s layers turn a request into %s", compact(longest, 0), strings.Join(phrases, ", "))
}

// perRequest writes calls per request with three digits.
func perRequest(v float64) string {
	return compact(v, 3)
}
