package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["fan-out"] = drawFanOut }

// fanOutStyles tell the layers that retry apart; copies change the dashes.
var fanOutStyles = map[string]Family{"every": Unlimited, "nearest-user": Budget, "nearest-callee": FixedRetry}

// drawFanOut shows calls at the end and successes by the number of layers,
// for each share of calls that fail.
func drawFanOut(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "retrying", "layers", "fan_out", "failure_ratio") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		levels := summary.Levels("failure_ratio")
		f := &Figure{
			Title: fanOutTitle(summary, g),
			Subtitle: fmt.Sprintf("Chain of layers that make up to %s attempts each, at once; the last call may be made in copies, all of which must succeed%s",
				key("attempts"), g.title()),
			Note:    fmt.Sprintf(" · %s requests each", key("requests")),
			Columns: min(len(levels), 3), ShareX: true,
		}
		articles := false
		for _, m := range []struct {
			metric, label string
			kind          Kind
		}{{"amplification_ratio", "calls at the end per request", Log}, {"success_ratio", "share of requests that succeed", Linear}} {
			for _, failure := range levels {
				p := Panel{Title: percent(failure) + " % of the calls fail", X: layerAxis(summary), Y: Axis{Label: m.label, Kind: m.kind}}
				if m.kind == Linear {
					p.Y.Range = [2]float64{0, 1}
				}
				ref := Reference{Label: "article"}
				for _, who := range summary.Levels("retrying") {
					for i, copies := range summary.Levels("fan_out") {
						line := Line{Points: true, Style: fanOutStyles[who].Member(i)}
						for _, r := range g.rows("retrying", who) {
							if summary.Key(r, "fan_out") != copies || summary.Key(r, "failure_ratio") != failure {
								continue
							}
							x := number(summary.Key(r, "layers"))
							line.X, line.Y = append(line.X, x), append(line.Y, summary.Value(r, m.metric+"_mean"))
							line.Lo, line.Hi = append(line.Lo, summary.Value(r, m.metric+"_ci95_lo")), append(line.Hi, summary.Value(r, m.metric+"_ci95_hi"))
							if v := summary.Value(r, m.metric+"_article"); !math.IsNaN(v) && !math.IsInf(v, 0) {
								ref.X, ref.Y = append(ref.X, x), append(ref.Y, v)
							}
						}
						if n := len(line.Y); n > 0 && usable(line) {
							if m.kind == Log {
								line.Label = compact(line.Y[n-1], 2)
							}
							p.Marks = append(p.Marks, line)
							if failure == levels[0] && m.kind == Log {
								text := labelOf(summary, "retrying", who)
								if copies != "1" {
									text += ", " + copies + " copies"
								}
								f.Key = append(f.Key, KeyItem{KeyLine, line.Style, text})
							}
						}
					}
				}
				if len(ref.X) > 0 {
					p.Marks, articles = append(p.Marks, ref), true
				}
				if len(p.Marks) > 0 {
					f.Panels = append(f.Panels, p)
				}
			}
		}
		if articles {
			f.Key = append(f.Key, KeyItem{KeyReference, Style{}, "article"})
		}
		if n := len(f.Panels); n > 0 {
			f.Height = min(largestSide, 220+240*((n+f.Columns-1)/f.Columns))
			drawings = append(drawings, Drawing{g.suffix(), f})
		}
	}
	return drawings, nil
}

// layerAxis labels the numbers of layers.
func layerAxis(summary *table.Table) Axis {
	a := Axis{Label: "layers", Range: [2]float64{math.Inf(1), math.Inf(-1)}}
	for _, l := range summary.Levels("layers") {
		n := number(l)
		a.Ticks = append(a.Ticks, n)
		a.Range = [2]float64{min(a.Range[0], n-0.3), max(a.Range[1], n+0.3)}
	}
	return a
}

// fanOutTitle compares every layer with the one nearest the user, where most
// calls come together.
func fanOutTitle(summary *table.Table, g group) string {
	most := g.members[0]
	calls := func(r table.Row) float64 { return summary.Value(r, "amplification_ratio_mean") }
	for _, r := range g.members {
		if calls(r) > calls(most) {
			most = r
		}
	}
	key := func(name string) string { return summary.Key(most, name) }
	text := fmt.Sprintf("%s layers of %s attempts", key("layers"), key("attempts"))
	if key("layers") == "1" {
		text = fmt.Sprintf("One layer of %s attempts", key("attempts"))
	}
	if key("fan_out") != "1" {
		text += " and " + key("fan_out") + " copies"
	}
	text += fmt.Sprintf(" make %s calls of one request", compact(calls(most), 2))
	for _, r := range g.rows("retrying", "nearest-user") {
		if key("retrying") == "nearest-user" || summary.Key(r, "layers") != key("layers") || summary.Key(r, "fan_out") != key("fan_out") || summary.Key(r, "failure_ratio") != key("failure_ratio") {
			continue
		}
		text += fmt.Sprintf("; retries in the layer nearest the user alone %s", compact(calls(r), 2))
	}
	return text
}
