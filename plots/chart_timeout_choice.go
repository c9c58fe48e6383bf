package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["timeout-choice"] = drawTimeoutChoice }

// drawTimeoutChoice shows the two prices of a timeout against each other, a
// panel for each latency law: threads held when nothing answers, and attempts
// given up needlessly.
func drawTimeoutChoice(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "law", "cv", "timeout") {
		f := &Figure{
			Title: timeoutChoiceTitle(g),
			Subtitle: fmt.Sprintf("%s attempts at most, %s of the calls fail for good%s",
				summary.Key(g.members[0], "attempts"), share(number(summary.Key(g.members[0], "error_ratio")), 1), g.title()),
			Note:    " · closed forms in the table",
			Columns: 2, ShareX: true, ShareY: true,
			Key: []KeyItem{
				{KeyPoint, timeoutStyle("mean"), "a multiple of the mean"},
				{KeyPoint, timeoutStyle("p"), "a percentile, with a margin or without"},
			},
		}
		for _, law := range lawPanels(g) {
			p := Panel{
				Title: law.title,
				X:     Axis{Label: "thread-seconds held by a request when nothing answers", Kind: Log},
				Y:     Axis{Label: "needless: given up ÷ requests", Kind: Log},
			}
			for _, kind := range []string{"mean", "p"} {
				s := Scatter{Label: kind, Style: timeoutStyle(kind)}
				for _, r := range law.rows {
					if !strings.HasPrefix(summary.Key(r, "timeout"), kind) {
						continue
					}
					x, y := summary.Value(r, "stalled_held_s_mean"), summary.Value(r, "needless_ratio_mean")
					if !(x > 0 && y > 0) {
						continue // no place on a logarithmic axis
					}
					s.X, s.Y = append(s.X, x), append(s.Y, y)
					s.YLo = append(s.YLo, summary.Value(r, "needless_ratio_ci95_lo"))
					s.YHi = append(s.YHi, summary.Value(r, "needless_ratio_ci95_hi"))
					s.Names = append(s.Names, labelOf(summary, "timeout", summary.Key(r, "timeout")))
				}
				if len(s.X) > 0 {
					p.Marks = append(p.Marks, s)
				}
			}
			if len(p.Marks) > 0 {
				f.Panels = append(f.Panels, p)
			}
		}
		if len(f.Panels) == 0 {
			continue
		}
		f.Columns = min(2, len(f.Panels))
		f.Height = 240 + 340*((len(f.Panels)+1)/2)
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// timeoutStyle is that of a kind of rule.
func timeoutStyle(kind string) Style {
	if kind == "mean" {
		return FixedRetry.Member(0)
	}
	return Budget.Member(1)
}

// A lawPanel is the rows of one latency law.
type lawPanel struct {
	title string
	rows  []table.Row
}

func lawPanels(g group) []lawPanel {
	var panels []lawPanel
	index := map[string]int{}
	for _, r := range g.members {
		title := g.table.Key(r, "law")
		switch title {
		case "lognormal":
			title += ", CV " + g.table.Key(r, "cv")
		case "quantiles":
			title = "by quantiles"
		}
		i, seen := index[title]
		if !seen {
			i = len(panels)
			index[title] = i
			panels = append(panels, lawPanel{title: title})
		}
		panels[i].rows = append(panels[i].rows, r)
	}
	return panels
}

// timeoutChoiceTitle compares the article's two rules over the laws.
func timeoutChoiceTitle(g group) string {
	type pair struct{ mean, tail table.Row }
	leastGain, mostGain := math.Inf(1), 0.0
	leastCost, mostCost := math.Inf(1), 0.0
	for _, law := range lawPanels(g) {
		var p pair
		for _, r := range law.rows {
			switch rule := g.table.Key(r, "timeout"); {
			case rule == "mean-3":
				p.mean = r
			case strings.HasPrefix(rule, "p99-plus-"):
				p.tail = r
			}
		}
		if p.mean.Keys == nil || p.tail.Keys == nil {
			continue
		}
		gain := g.table.Value(p.mean, "needless_ratio_mean") / g.table.Value(p.tail, "needless_ratio_mean")
		cost := g.table.Value(p.tail, "stalled_held_s_mean") / g.table.Value(p.mean, "stalled_held_s_mean")
		if math.IsNaN(gain) || math.IsInf(gain, 0) || math.IsNaN(cost) || math.IsInf(cost, 0) {
			continue
		}
		leastGain, mostGain = min(leastGain, gain), max(mostGain, gain)
		leastCost, mostCost = min(leastCost, cost), max(mostCost, cost)
	}
	if mostGain == 0 {
		return "A longer timeout gives up less needlessly and holds threads longer when nothing answers"
	}
	return fmt.Sprintf("Against three times the mean, P99 and a margin make needless retries %s times rarer, and hold %s times the threads when nothing answers",
		fromTo(leastGain, mostGain), fromTo(leastCost, mostCost))
}

// fromTo is "2 to 3", or one number if both are the same.
func fromTo(lo, hi float64) string {
	a, b := compact(lo, 1), compact(hi, 1)
	if a == b {
		return a
	}
	return a + " to " + b
}
