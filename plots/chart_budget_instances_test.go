package plots

import (
	"math"
	"testing"

	"github.com/stormglass/stormglass/table"
)

func tablesOf(tables ...*table.Table) []*table.Table { return tables }

func TestInstancesChart(t *testing.T) {
	const keys, values = "policy failure_ratio instances requests rate_rps", "amplification_ratio_mean amplification_ratio_ci95_lo amplification_ratio_ci95_hi"
	nan := math.NaN()
	row := func(policy, failure, instances string, a float64) []any {
		return []any{policy, failure, instances, "30000", "1000", a, nan, nan}
	}
	summary := retryTable(keys, values,
		row("budget-10", "1", "1", 1.1), row("budget-10", "1", "10000", 1), row("budget-10", "0.2", "1", 1.1), row("budget-10", "0.2", "10000", 1),
		row("budget-10-full", "1", "1", 1.1003), row("budget-10-full", "1", "10000", 3), row("budget-10-full", "0.2", "1", 1.1), row("budget-10-full", "0.2", "10000", 1.24))
	bounds := retryTable(keys, "amplification_ratio",
		[]any{"budget-10", "1", "1", "30000", "1000", 1.1}, []any{"budget-10", "1", "10000", "30000", "1000", 1.1})
	f := drawOne(t, "budget-instances", summary, bounds)
	wantTitle(t, f, "In a total outage one program makes 1.10 attempts of a request, 10,000 programs 3.00 (budget 10 %, full)")
	if len(f.Panels) != 2 || f.Panels[0].Title != "100 % of the attempts fail" {
		t.Errorf("%d panels, the first %q", len(f.Panels), f.Panels[0].Title)
	}

	one := retryTable(keys, values, row("budget-10", "0.5", "100", 1.1))
	f = drawOne(t, "budget-instances", one, retryTable(keys, "amplification_ratio"))
	wantTitle(t, f, "With 50 % failures 100 programs make 1.10 attempts of a request (budget 10 %)")
}
