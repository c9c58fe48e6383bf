package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["mesh-retries"] = drawMeshRetries }

// drawMeshRetries shows attempts and successes over the failure ratio, one line
// for each most number of attempts: who of the two makes them does not matter.
func drawMeshRetries(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "failure_ratio", "app_retries", "mesh_retries") {
		f := &Figure{
			Subtitle: "One call, whose attempts fail each for itself; retries of the application + retries of its sidecar" + g.title(),
			Note:     " · bands: 95 % intervals of the mean (Student t)",
			Columns:  2, ShareX: true,
		}
		attempts := Panel{X: Axis{Label: "failure ratio of an attempt"}, Y: Axis{Label: "attempts at the callee per request"}, Marks: []Mark{Rule{At: 1}}}
		success := Panel{X: attempts.X, Y: Axis{Label: "requests that succeed", Range: [2]float64{0, 1}}}
		refs := [2]Reference{{Label: "article"}, {Label: "article"}}
		products := layerProducts(summary, g)
		for i, n := range products {
			rows, label := layerRows(summary, g, n)
			style := layerStyle(n, i)
			for k, p := range []*Panel{&attempts, &success} {
				metric := []string{"amplification_ratio", "success_ratio"}[k]
				p.Marks = append(p.Marks, metricLine(summary, rows, "failure_ratio", metric, label, style))
			}
		}
		for _, r := range g.members {
			for k, metric := range []string{"amplification_ratio_article", "success_ratio_article"} {
				if v := summary.Value(r, metric); v == v {
					refs[k].X, refs[k].Y = append(refs[k].X, number(summary.Key(r, "failure_ratio"))), append(refs[k].Y, v)
				}
			}
		}
		if len(refs[0].X) > 0 {
			attempts.Marks, f.Key = append(attempts.Marks, refs[0]), []KeyItem{{KeyReference, Style{}, "article, one run"}}
		}
		if len(refs[1].X) > 0 {
			success.Marks = append(success.Marks, refs[1])
		}
		f.Panels = []Panel{attempts, success}
		f.Title = meshRetriesTitle(summary, g, products)
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// metricLine is the mean of a metric over a numeric factor, with its interval
// where it has one.
func metricLine(t *table.Table, rows []table.Row, x, metric, label string, style Style) Line {
	line := Line{Label: label, Points: true, Style: style}
	for _, r := range rows {
		line.X, line.Y = append(line.X, number(t.Key(r, x))), append(line.Y, t.Value(r, metric+"_mean"))
		line.Lo, line.Hi = append(line.Lo, t.Value(r, metric+"_ci95_lo")), append(line.Hi, t.Value(r, metric+"_ci95_hi"))
	}
	if !anyWidth(line.Lo, line.Hi) {
		line.Lo, line.Hi = nil, nil
	}
	return line
}

// layerProduct is the most attempts of a request in a row.
func layerProduct(t *table.Table, r table.Row) float64 {
	return (1 + number(t.Key(r, "app_retries"))) * (1 + number(t.Key(r, "mesh_retries")))
}

func layerProducts(t *table.Table, g group) []float64 {
	var products []float64
	for _, r := range g.members {
		if n := layerProduct(t, r); !slices.Contains(products, n) {
			products = append(products, n)
		}
	}
	slices.Sort(products)
	return products
}

// layerRows are the rows of one of the ways to a number of attempts, and the
// label of all ways.
func layerRows(t *table.Table, g group, n float64) (rows []table.Row, label string) {
	var ways []string
	for _, r := range g.members {
		if layerProduct(t, r) != n {
			continue
		}
		way := t.Key(r, "app_retries") + " + " + t.Key(r, "mesh_retries")
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
		if way == ways[0] {
			rows = append(rows, r)
		}
	}
	return rows, strings.Join(ways, " or ")
}

func layerStyle(n float64, i int) Style {
	if n == 1 {
		return NoRetry.Member(0)
	}
	return FixedRetry.Member(i - 1)
}

// meshRetriesTitle compares the largest number of attempts with the larger of
// the layers alone, where most attempts fail.
func meshRetriesTitle(t *table.Table, g group, products []float64) string {
	n := products[len(products)-1]
	rows, way := layerRows(t, g, n)
	worst := rows[0]
	for _, r := range rows {
		if number(t.Key(r, "failure_ratio")) > number(t.Key(worst, "failure_ratio")) {
			worst = r
		}
	}
	p := compact(100*number(t.Key(worst, "failure_ratio")), 2)
	way, _, _ = strings.Cut(way, " or ")
	app, sidecar, _ := strings.Cut(way, " + ")
	text := fmt.Sprintf("Retries multiply: %s of the application over %s of its sidecar make %s attempts per request when %s %% of them fail",
		app, sidecar, compact(t.Value(worst, "amplification_ratio_mean"), 2), p)
	if len(rows) > 1 {
		first := rows[0]
		text += fmt.Sprintf(", %s when %s %% do", compact(t.Value(first, "amplification_ratio_mean"), 2), compact(100*number(t.Key(first, "failure_ratio")), 2))
	}
	return text
}
