package plots

import (
	"math"
	"testing"
)

func TestLayersChart(t *testing.T) {
	nan := math.NaN()
	const values = "amplification_ratio_mean amplification_ratio_ci95_lo amplification_ratio_ci95_hi calls_count_article"
	row := func(policy, layers, depth string, a, article float64) []any {
		return []any{policy, layers, depth, "all", "200", "1", a, nan, nan, article}
	}
	const keys = "policy layers depth retry_at requests failure_ratio"
	summary := retryTable(keys, values,
		row("none", "1", "1", 1, nan), row("none", "3", "1", 1, nan), row("none", "3", "3", 1, nan),
		row("budget-10", "1", "1", 1.1, nan), row("budget-10", "3", "1", 1.1, nan), row("budget-10", "3", "3", 1.33, 263),
		row("retry-3", "1", "1", 3, nan), row("retry-3", "3", "1", 3, nan), row("retry-3", "3", "3", 27, 5400))
	bounds := retryTable(keys, "amplification_ratio",
		[]any{"retry-3", "1", "1", "all", "200", "1", 3.0}, []any{"retry-3", "3", "3", "all", "200", "1", 27.0})
	f := drawOne(t, "amplification-layers", summary, bounds)
	wantTitle(t, f, "3 layers turn a request into 1.33 calls with budget 10 %, 27 calls with unlimited 3")
	for _, m := range f.Panels[0].Marks {
		switch m := m.(type) {
		case Scatter:
			if len(m.X) != 2 || m.X[0] != 1 || m.X[1] != 3 {
				t.Errorf("%s at %v, want the ends of the chains", m.Label, m.X)
			}
		case Reference:
			if len(m.Y) != 2 || m.Y[0] != 1.315 || m.Y[1] != 27 {
				t.Errorf("article %v, want calls per request", m.Y)
			}
		}
	}
}

func TestLayersChartWithoutEnds(t *testing.T) {
	summary := retryTable("policy layers depth retry_at requests failure_ratio", "amplification_ratio_mean",
		[]any{"none", "3", "1", "all", "200", "1", 1.0})
	drawings, err := Draw("amplification-layers", tablesOf(summary, retryTable("policy layers depth retry_at requests failure_ratio", "amplification_ratio")), "")
	if err != nil || len(drawings) != 0 {
		t.Errorf("%d drawings, %v; want none, since no end was measured", len(drawings), err)
	}
}
