package plots

import (
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["double-retry"] = drawDoubleRetry }

// drawDoubleRetry shows attempts and latency over the failure ratio, a column
// for each mesh, a figure for each way to fail.
func drawDoubleRetry(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	first := summary.Levels("failure")[0]
	for _, g := range groups(summary, "mesh", "app_retries", "failure_ratio") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		meshes := summary.Levels("mesh")
		f := &Figure{
			Title: doubleTitle(summary, g),
			Subtitle: fmt.Sprintf("An attempt that fails does so after %s ms, because %s; the application retries whatever fails%s",
				key("service_ms"), failureText(key("failure")), strings.Replace(g.title(), " · failure = "+key("failure"), "", 1)),
			Note:    " · bands: 95 % intervals of the mean (Student t)",
			Columns: len(meshes), ShareX: true, Height: 820,
		}
		for _, m := range []struct {
			metric, label string
			rule          []Mark
		}{{"amplification_ratio", "attempts per request", []Mark{Rule{At: 1}}}, {"latency_s", "mean latency, s", nil}} {
			top := 0.0
			for _, r := range g.members {
				top = max(top, summary.Value(r, m.metric+"_mean"), orZero(summary.Value(r, m.metric+"_ci95_hi")))
			}
			for _, mesh := range meshes {
				p := Panel{
					X: Axis{Label: "failure ratio of an attempt"},
					Y: Axis{Label: m.label, Range: [2]float64{0, max(top, 1e-9) * 1.05}}, Marks: m.rule,
				}
				if m.metric == "amplification_ratio" {
					p.Title = "no mesh"
					if rows := g.rows("mesh", mesh); len(rows) > 0 {
						p.Title = summary.Label(rows[0], "mesh")
					}
				}
				for i, a := range summary.Levels("app_retries") {
					var rows []table.Row
					for _, r := range g.rows("mesh", mesh) {
						if summary.Key(r, "app_retries") == a {
							rows = append(rows, r)
						}
					}
					style := FixedRetry.Member(i - 1)
					if a == "0" {
						style = NoRetry.Member(0)
					}
					p.Marks = append(p.Marks, metricLine(summary, rows, "failure_ratio", m.metric, retriesText(a), style))
				}
				f.Panels = append(f.Panels, p)
			}
		}
		suffix := g.suffix()
		if suffix == "_failure-"+first {
			suffix = ""
		}
		drawings = append(drawings, Drawing{suffix, f})
	}
	return drawings, nil
}

// failureText says why an attempt fails.
func failureText(failure string) string {
	if failure == "connect-failure" {
		return "no connection is made"
	}
	return "the answer is a " + failure
}

// retriesText is a number of retries in words.
func retriesText(n string) string {
	switch n {
	case "0":
		return "no retry"
	case "1":
		return "1 retry"
	}
	return n + " retries"
}

// doubleTitle compares the meshes where the application retries most and most
// attempts fail.
func doubleTitle(summary *table.Table, g group) string {
	var worst table.Row
	level := func(r table.Row) float64 {
		return 1e3*number(summary.Key(r, "app_retries")) + number(summary.Key(r, "failure_ratio"))
	}
	for i, r := range g.members {
		if i == 0 || level(r) > level(worst) {
			worst = r
		}
	}
	text := ""
	for _, r := range g.members {
		if level(r) != level(worst) {
			continue
		}
		v := compact(summary.Value(r, "amplification_ratio_mean"), 2)
		name := summary.Label(r, "mesh")
		if text == "" {
			text = fmt.Sprintf("Where %s %% of the attempts fail because %s, an application with %s makes %s attempts per request with %s",
				compact(100*number(summary.Key(r, "failure_ratio")), 2), failureText(summary.Key(r, "failure")), retriesText(summary.Key(r, "app_retries")), v, name)
		} else {
			text += fmt.Sprintf(", %s with %s", v, name)
		}
	}
	return text
}
