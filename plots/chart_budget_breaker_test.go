package plots

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stormglass/stormglass/table"
)

func guardTable() *table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "retry", Labels: map[string]string{"retry-3": "unlimited 3", "budget-10": "budget 10 %", "none": "no retry"}},
		{Name: "breaker"}, {Name: "retry_at"}, {Name: "retry_refused"}, {Name: "error_ratio"}, {Name: "rule", Labels: map[string]string{"count-20-20-50": "count 20, min 20, ≥ 50 %"}},
		{Name: "open_s"}, {Name: "rate_rps"}, {Name: "horizon_s"}}
	values := []table.Column{{Name: "c_bound_ratio_mean"}}
	for _, m := range []string{"c_amplification_ratio", "success_ratio"} {
		values = append(values, table.Column{Name: m + "_mean"}, table.Column{Name: m + "_ci95_lo"}, table.Column{Name: m + "_ci95_hi"})
	}
	t := table.New("budget-breaker_summary", keys, values)
	for _, r := range []struct {
		retry, breaker, at, refused string
		load, bound                 float64
	}{
		{"none", "none", "outermost", "no", 1, 1},
		{"retry-3", "none", "outermost", "no", 3, 3}, {"retry-3", "none", "all", "no", 27, 27},
		{"retry-3", "inside", "all", "no", 0.043, 27}, {"retry-3", "inside", "all", "yes", 0.044, 27}, {"retry-3", "outside", "all", "no", 0.13, 27},
		{"budget-10", "none", "all", "no", 1.331, 1.331}, {"budget-10", "inside", "all", "no", 0, 1.331},
	} {
		for _, p := range []string{"1", "0.5"} {
			t.Append([]string{"budget-breaker", r.retry, r.breaker, r.at, r.refused, p, "count-20-20-50", "5", "50", "60"},
				r.bound, r.load, r.load, r.load, 1-number(p), 1-number(p), 1-number(p))
		}
	}
	return t
}

func TestBudgetBreakerChart(t *testing.T) {
	drawings, err := Draw("budget-breaker", []*table.Table{guardTable()}, "a note")
	if err != nil || len(drawings) != 1 {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	f := drawings[0].Figure
	if want := "When C fails 100 % of its calls, a request makes up to 27 attempts at it unbounded, 1.33 with budgets, 0.04 with breakers inside the retry, 0.13 outside; at 50 %, requests succeed up to 50 % unbounded, 50 % with budgets, 50 % with breakers inside the retry, 50 % outside"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	want := []string{"no retry", "unlimited 3 at the client", "unlimited 3 at each layer", "budget 10 % at each layer"}
	if len(f.Panels) != 4 || !slices.Equal(f.Panels[0].Y.Rows, want) {
		t.Fatalf("%d panels, rows %q", len(f.Panels), f.Panels[0].Y.Rows)
	}
	bound := f.Panels[0].Marks[0].(Estimates).Points
	if len(bound) != 4 || bound[2].Mean != 27 || bound[3].Mean != 1.331 {
		t.Errorf("bounds %+v", bound)
	}
	// All panels of a row have one range, and a load of 0 is not drawn on it.
	if a, b := f.Panels[0].X.Range, f.Panels[1].X.Range; a != b || !(a[0] > 0 && a[0] < 0.043 && a[1] > 27) {
		t.Errorf("ranges %v and %v", a, b)
	}
	if err := f.Write(&bytes.Buffer{}, "svg"); err != nil {
		t.Error(err)
	}
}
