package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["storm"] = drawStorm }

// drawStorm shows the growth of the load by the second, one panel for each
// failure and capacity.
func drawStorm(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no series")
	}
	series := details[0]
	const quiet = 1.5 // growth of the load up to which panels of one failure look alike
	var drawings []Drawing
	runs := groups(series, "failure", "topology", "capacity_ratio", "replication", "t_s")
	for _, g := range groups(summary, "failure", "topology", "capacity_ratio") {
		run := sameGroup(runs, g)
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: glued(stormTitle(summary, g)),
			Subtitle: fmt.Sprintf("%s requests/s; attempts time out after %s s and are repeated at once; calls at the node by the second ÷ its load before%s",
				key("rate_rps"), key("timeout_s"), g.title()),
			Note: " · lines: replication 0", Columns: 2, ShareX: true, ShareY: true,
			Key: []KeyItem{{KeyRule, Style{}, "growth by " + key("claim_ratio")}},
		}
		keyed := map[string]bool{}
		for _, failure := range summary.Levels("failure") {
			calm := -1 // the panel of this failure that shows all calm ones
			for _, capacity := range summary.Levels("capacity_ratio") {
				p := Panel{X: Axis{Label: "time after the fault began, s"}, Y: Axis{Label: "load ÷ load before", Kind: Log}, Marks: []Mark{Rule{At: number(key("claim_ratio"))}}}
				p.Title = capital(labelOf(summary, "failure", failure))
				if failure == "random" || failure == "stall" {
					p.Title += ", capacity " + capacity + " × load"
				}
				lines, most := 0, 0.0
				for k, topology := range summary.Levels("topology") {
					line := Line{Step: true, Style: stormStyle(k)}
					if strings.Contains(topology, "*") {
						line.Style.Dashes = memberDashes[1] // often on top of the same without copies
					}
					for _, r := range run.rows("topology", topology) {
						if series.Key(r, "failure") != failure || series.Key(r, "capacity_ratio") != capacity {
							continue
						}
						v := series.Value(r, "growth_ratio")
						most = max(most, v)
						line.X, line.Y = append(line.X, number(series.Key(r, "t_s"))), append(line.Y, above(v))
					}
					if !usable(line) {
						continue
					}
					lines++
					p.Marks = append(p.Marks, line)
					if !keyed[topology] {
						keyed[topology] = true
						f.Key = append(f.Key, KeyItem{KeyLine, line.Style, labelOf(summary, "topology", topology)})
					}
				}
				switch {
				case lines == 0:
				case most < quiet && calm >= 0:
					f.Panels[calm].Title += ", or " + capacity + " ×"
				default:
					if most < quiet {
						calm = len(f.Panels)
					}
					f.Panels = append(f.Panels, p)
				}
			}
		}
		if len(f.Panels) == 0 {
			continue
		}
		if len(f.Panels) == 1 {
			f.Columns = 1
		}
		f.Height = min(largestSide, 330+230*((len(f.Panels)+1)/2))
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// stormStyle tells topologies apart.
func stormStyle(k int) Style {
	families := []Family{NoRetry, FixedRetry, Budget, Unlimited, TimeWindow, CountWindow, BucketWindow, BudgetBreaker}
	return families[k%len(families)].Member(k / len(families))
}

// stormTitle says by how much the load grows in each failure at most, as a
// mean of the second half of the time and of all runs.
func stormTitle(summary *table.Table, g group) string {
	text := ""
	for _, failure := range summary.Levels("failure") {
		var most table.Row
		best := math.Inf(-1)
		for _, r := range g.rows("failure", failure) {
			if v := summary.Value(r, "mean_growth_ratio_mean"); v > best {
				most, best = r, v
			}
		}
		if math.IsInf(best, -1) {
			continue
		}
		decimals := 1
		if best < 1.1 {
			decimals = 3
		}
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s: up to %s×", map[string]string{
			"error": "all calls fail at once", "hang": "none is answered", "random": percent(summary.Key(most, "failure_ratio")) + " % fail at random",
			"stall": "all stand still for " + summary.Key(most, "stall_s") + " s",
		}[failure], compact(best, decimals))
	}
	return "Mean growth of the load where " + text
}
