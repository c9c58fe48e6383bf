package plots

import (
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["mesh-timeouts"] = drawMeshTimeouts }

// cancelStyles tell a callee that works on from one that stops.
var cancelStyles = map[string]Style{"off": Unlimited.Member(0), "on": Budget.Member(1)}

// cancelName is a level of cancel in words.
func cancelName(level string) string {
	if level == "on" {
		return "backend stops when its caller has gone"
	}
	return "backend works on"
}

// drawMeshTimeouts shows the calls in service and the work done for nobody.
func drawMeshTimeouts(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "setting", "cancel") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: timeoutsTitle(summary, g),
			Subtitle: fmt.Sprintf("%s clients in a closed loop, %s requests; the backend takes %s s%s",
				key("clients"), key("requests"), key("service_s"), g.title()),
			Columns: 2, ShareY: true,
		}
		most := Panel{Title: "Load", X: Axis{Label: "most calls in service at a time"}}
		work := Panel{Title: "Waste", X: Axis{Label: "work for callers who had gone, s"}}
		ref := Reference{Label: "article"}
		for _, cancel := range summary.Levels("cancel") {
			a, b := Estimates{Label: cancel, Horizontal: true}, Estimates{Label: cancel, Horizontal: true}
			for _, r := range g.rows("cancel", cancel) {
				row := strings.Replace(summary.Label(r, "setting"), ", ", "\n", 1)
				row = strings.Replace(row, "; ", "\n", 1)
				at := indexOf(&most.Y.Rows, row)
				for _, e := range []struct {
					to     *Estimates
					metric string
				}{{&a, "max_in_service_count"}, {&b, "abandoned_s"}} {
					e.to.Points = append(e.to.Points, Estimate{
						At: at, Style: cancelStyles[cancel], Mean: summary.Value(r, e.metric+"_mean"),
						Lo: summary.Value(r, e.metric+"_ci95_lo"), Hi: summary.Value(r, e.metric+"_ci95_hi"),
						Text: compact(summary.Value(r, e.metric+"_mean"), 1),
					})
				}
				if v := summary.Value(r, "max_in_service_count_article"); v == v {
					ref.X, ref.Y = append(ref.X, v), append(ref.Y, at)
				}
			}
			if len(a.Points) > 0 {
				most.Marks, work.Marks = append(most.Marks, a), append(work.Marks, b)
				f.Key = append(f.Key, KeyItem{KeyPoint, cancelStyles[cancel], cancelName(cancel)})
			}
		}
		if len(ref.X) > 0 {
			most.Marks = append(most.Marks, ref)
			f.Key = append(f.Key, KeyItem{KeyReference, Style{}, "article"})
		}
		most.Marks = append([]Mark{Rule{At: number(key("clients")), Vertical: true}}, most.Marks...)
		f.Key = append(f.Key, KeyItem{KeyLine, Style{Color: ruleInk, Dashes: []float64{6, 4}, Width: 1.5}, "clients"})
		work.Y.Rows = most.Y.Rows
		f.Panels = []Panel{most, work}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// indexOf returns the place of a row, which it adds if it is new.
func indexOf(rows *[]string, row string) float64 {
	for i, r := range *rows {
		if r == row {
			return float64(i)
		}
	}
	*rows = append(*rows, row)
	return float64(len(*rows) - 1)
}

// timeoutsTitle compares the work done for nobody with and without cancel.
func timeoutsTitle(summary *table.Table, g group) string {
	work, most := map[string]float64{}, map[string]float64{}
	for _, r := range g.members {
		level := summary.Key(r, "cancel")
		work[level] += summary.Value(r, "abandoned_s_mean")
		most[level] = max(most[level], summary.Value(r, "max_in_service_count_mean"))
	}
	clients := summary.Key(g.members[0], "clients")
	off, hasOff := work["off"]
	on, hasOn := work["on"]
	switch {
	case hasOff && hasOn && off > 0:
		return fmt.Sprintf("A timeout does not stop the work: %s clients keep up to %s calls in service; cancelling saves %s %% of the work",
			clients, compact(most["off"], 0), compact(100*(1-on/off), 0))
	case hasOff && off == 0:
		return fmt.Sprintf("No caller leaves before its answer: %s clients keep up to %s calls in service, and none of the work is in vain",
			clients, compact(most["off"], 0))
	case hasOff:
		return fmt.Sprintf("A timeout does not stop the work: %s clients keep up to %s calls in service", clients, compact(most["off"], 0))
	}
	return fmt.Sprintf("A backend that stops with its callers serves at most %s calls of %s clients at a time", compact(most["on"], 0), clients)
}
