package plots

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["mesh-writes"] = drawMeshWrites }

// writeMetrics are what the figure shows of each setting.
var writeMetrics = []struct {
	metric, title, label string
	style                Style
}{
	{"writes_count", "At the backend", "writes done", Unlimited.Member(0)},
	{"client_200_count", "At the client", "writes that succeed", Budget.Member(0)},
}

// drawMeshWrites shows the writes done and those that the client knows of.
func drawMeshWrites(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "retry_on", "dedup") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: writesTitle(summary, g),
			Subtitle: fmt.Sprintf("%s writes through a proxy with retries=%s; attempts that are done and answered 503 all the same: %s of each write%s",
				key("requests"), key("retries"), key("failing_attempts"), g.title()),
			Columns: 2, ShareX: true, ShareY: true,
		}
		articles := false
		for _, m := range writeMetrics {
			p := Panel{Title: m.title, X: Axis{Label: m.label}}
			e, ref := Estimates{Label: m.label, Horizontal: true}, Reference{Label: "article"}
			for i, r := range g.members {
				dedup := "no deduplication"
				if summary.Key(r, "dedup") == "on" {
					dedup = "deduplication"
				}
				p.Y.Rows = append(p.Y.Rows, "retry on "+summary.Key(r, "retry_on")+"\n"+dedup)
				v := summary.Value(r, m.metric+"_mean")
				e.Points = append(e.Points, Estimate{At: float64(i), Mean: v, Style: m.style, Text: compact(v, 0)})
				if a := summary.Value(r, m.metric+"_article"); a == a {
					ref.X, ref.Y = append(ref.X, a), append(ref.Y, float64(i))
				}
			}
			p.Marks = []Mark{Rule{At: number(key("requests")), Vertical: true}, e}
			if len(ref.X) > 0 {
				p.Marks, articles = append(p.Marks, ref), true
			}
			f.Panels = append(f.Panels, p)
		}
		if articles {
			f.Key = []KeyItem{{KeyReference, Style{}, "article"}}
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// writesTitle says what the setting with the most writes does.
func writesTitle(summary *table.Table, g group) string {
	worst := g.members[0]
	for _, r := range g.members {
		if summary.Value(r, "writes_count_mean") > summary.Value(worst, "writes_count_mean") {
			worst = r
		}
	}
	writes, requests := summary.Value(worst, "writes_count_mean"), number(summary.Key(worst, "requests"))
	if writes <= requests {
		return fmt.Sprintf("No retry repeats a write: %s are done of %s", compact(writes, 0), compact(requests, 0))
	}
	return fmt.Sprintf("A proxy that retries on %s does %s writes for %s requests, and the client sees %s succeed",
		summary.Key(worst, "retry_on"), compact(writes, 0), compact(requests, 0), compact(summary.Value(worst, "client_200_count_mean"), 0))
}
