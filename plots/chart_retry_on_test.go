package plots

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// retryOnTable has two shares of 400s, without a limit and with one.
func retryOnTable() *table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "policy", Labels: map[string]string{"any": "any error", "5xx": "5xx only", "none": "no retry"}},
		{Name: "budget_ratio"}, {Name: "permanent_ratio"}, {Name: "limit_rps"}, {Name: "transient"}, {Name: "transient_ratio"}, {Name: "rate_rps"}}
	var values []table.Column
	for _, row := range retryOnRows {
		for _, part := range []string{"_mean", "_ci95_lo", "_ci95_hi", "_exact"} {
			values = append(values, table.Column{Name: row.metric + part})
		}
	}
	t := table.New("retry-on_summary", keys, values)
	for _, r := range []struct {
		policy, budget, share, limit string
		load, good, wasted           float64
	}{
		{"none", "0", "0", "0", 1, 0.9, 0}, {"none", "0", "0.4", "0", 1, 0.9, 0},
		{"none", "0", "0", "110", 1, 0.9, 0}, {"none", "0", "0.4", "110", 1, 0.9, 0},
		{"any", "0", "0", "0", 1.1, 0.999, 0.01}, {"any", "0", "0.4", "0", 1.9, 0.999, 0.4},
		{"any", "0", "0", "110", 1.2, 0.99, 0.04}, {"any", "0", "0.4", "110", 2.35, 0.81, 0.48},
		{"5xx", "0", "0", "0", 1.1, 0.999, 0.01}, {"5xx", "0", "0.4", "0", 1.06, 0.999, 0.01},
		{"5xx", "0", "0", "110", 1.1, 0.99, 0.01}, {"5xx", "0", "0.4", "110", 1.06, 0.96, 0.01},
		{"any", "0.1", "0", "0", 1.1, 0.99, 0.01},
	} {
		var v []float64
		for _, x := range []float64{r.load, r.good, r.wasted} {
			v = append(v, x, x, x, x)
		}
		t.Append([]string{"retry-on", r.policy, r.budget, r.share, r.limit, "503", "0.1", "100"}, v...)
	}
	return t
}

func TestRetryOnChart(t *testing.T) {
	drawings, err := Draw("retry-on", []*table.Table{retryOnTable()}, "a note")
	if err != nil || len(drawings) != 2 {
		t.Fatalf("%d drawings, error %v, want one for each budget", len(drawings), err)
	}
	f := drawings[0].Figure
	want := "With 40 % of the requests answered 400 and a limit of 110 attempts/s, retrying any error makes 2.35 attempts per request and 81 % of the rest succeed; retrying only 5xx, 1.06 and 96 %"
	if got := strings.ReplaceAll(f.Title, "\u00a0", " "); got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if len(f.Panels) != 6 || f.Panels[0].Title != "No limit" || f.Panels[1].Title != "Limit of 110 attempts/s" || f.Panels[2].Title != "" {
		t.Fatalf("%d panels", len(f.Panels))
	}
	for i, p := range f.Panels {
		if len(p.Marks) != 4 { // three policies and their closed forms
			t.Fatalf("panel %d: %d marks", i, len(p.Marks))
		}
		any := p.Marks[1].(Line)
		if len(any.X) != 2 || any.X[1] != 0.4 || (any.Label == "any error") != (i%2 == 1) {
			t.Errorf("panel %d: line %+v", i, any)
		}
		if exact := p.Marks[3].(Scatter); len(exact.X) != 6 {
			t.Errorf("panel %d: %d closed forms", i, len(exact.X))
		}
	}
	if got := f.Panels[2].Y.Range; got != [2]float64{0.8, 1} {
		t.Errorf("range of success %v", got)
	}
	// A budget of which only one policy was run has nothing to compare.
	if got := drawings[1].Figure.Title; got != "What it costs to retry errors that a retry cannot mend" {
		t.Errorf("title %q", got)
	}
	for _, d := range drawings {
		if err := d.Figure.Write(&bytes.Buffer{}, "svg"); err != nil {
			t.Errorf("%s: %v", d.Suffix, err)
		}
	}
}

// One share of 400s has no lines: the policies stand below each other.
func TestRetryOnChartOfOneShare(t *testing.T) {
	all := retryOnTable()
	one := table.New(all.Name, all.Keys, all.Values)
	for _, r := range all.Rows {
		if all.Key(r, "permanent_ratio") == "0.4" {
			one.Append(r.Keys, r.Values...)
		}
	}
	drawings, err := Draw("retry-on", []*table.Table{one}, "")
	if err != nil || len(drawings) != 1 {
		t.Fatal(len(drawings), err)
	}
	f := drawings[0].Figure
	if len(f.Panels) != 6 || f.Columns != 3 || len(f.Panels[5].Y.Rows) != 3 || f.Panels[5].Title != "Limit of 110 attempts/s" {
		t.Fatalf("%d panels in %d columns", len(f.Panels), f.Columns)
	}
	if subtitle := strings.ReplaceAll(f.Subtitle, "\u00a0", " "); !strings.Contains(subtitle, "40 % of the requests are answered 400") || !strings.Contains(subtitle, "429") {
		t.Errorf("subtitle %q", subtitle)
	}
	if err := f.Write(&bytes.Buffer{}, "svg"); err != nil {
		t.Error(err)
	}
}
