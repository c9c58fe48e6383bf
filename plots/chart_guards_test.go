package plots

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

func pipelineTables() []*table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "budget"}, {Name: "guard"}, {Name: "wait_s"}, {Name: "outage_at_s"}, {Name: "outage_s"},
		{Name: "error_ratio"}, {Name: "ratio"}, {Name: "grace"}, {Name: "reset_at"}, {Name: "cap"}, {Name: "window_s"}, {Name: "attempts"},
		{Name: "rate_rps"}, {Name: "horizon_s"}}
	summary := table.New("guards_summary", keys, []table.Column{{Name: "burst_retries_count_mean"}, {Name: "reset_retries_count_mean"}})
	series := table.New("guards_series", append(keys[:len(keys):len(keys)], table.Column{Name: "replication"}, table.Column{Name: "t_s"}),
		[]table.Column{{Name: "retries_count"}, {Name: "calls_rps"}})
	for _, budget := range []string{"counter", "bucket", "window"} {
		for _, guard := range []string{"budget-only", "budget-first", "budget-last"} {
			for _, start := range []string{"0", "18"} {
				k := []string{"guards", budget, guard, "0", start, "42", "1", "0.1", "100", "10000", "10", "10", "3", "500", "60"}
				burst := map[string]float64{"counter": 951, "bucket": 59, "window": 500}[budget]
				if start == "0" {
					burst /= 10
				}
				summary.Append(k, burst, 202)
				for _, end := range []string{"0.1", "0.2", "0.3"} {
					series.Append(append(k[:len(k):len(k)], "0", end), 100*number(end), 1500-1000*number(end))
				}
			}
		}
	}
	return []*table.Table{summary, series}
}

func TestGuardsChart(t *testing.T) {
	drawings, err := Draw("guards", pipelineTables(), "a note")
	if err != nil || len(drawings) != 1 {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	f := drawings[0].Figure
	want := "Outage from 18 s: in its worst second the counter grants 951 retries, the bucket 59, the sliding window 500; after each reset, the next 100 requests get 202 from the counter"
	if f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if len(f.Panels) != 6 || f.Columns != 2 {
		t.Fatalf("%d panels in %d columns, want three rows of two", len(f.Panels), f.Columns)
	}
	for i, p := range f.Panels {
		lines := 3
		if i >= 4 {
			lines = 6 // in both orders
		}
		if len(p.Marks) != 1+lines {
			t.Fatalf("panel %d: %d marks, want the outage and %d lines", i, len(p.Marks), lines)
		}
		if span := p.Marks[0].(Spans)[0]; i%2 == 1 && (span.From != 18 || span.To != 60) || i%2 == 0 && span.To != 42 {
			t.Errorf("panel %d: outage %+v", i, span)
		}
	}
	// A count starts from 0 at the start; a rate holds from the start of its interval.
	if l := f.Panels[0].Marks[1].(Line); l.Step || l.X[0] != 0 || l.Y[0] != 0 || len(l.X) != 4 || l.Y[3] != 30 {
		t.Errorf("retries %+v", l)
	}
	if l := f.Panels[2].Marks[1].(Line); !l.Step || l.X[0] != 0 || l.Y[0] != 1400 || len(l.X) != 3 {
		t.Errorf("calls %+v", l)
	}
	if a, b := f.Panels[4].Marks[1].(Line).Style, f.Panels[4].Marks[2].(Line).Style; a.Color != b.Color || len(a.Dashes) == len(b.Dashes) {
		t.Errorf("orders drawn as %+v and %+v", a, b)
	}
	if err := f.Write(&bytes.Buffer{}, "svg"); err != nil {
		t.Error(err)
	}
}

func TestGuardsChartOfLess(t *testing.T) {
	tables := pipelineTables()
	if _, err := Draw("guards", tables[:1], ""); err == nil || !strings.Contains(err.Error(), "no series") {
		t.Errorf("without a series: %v", err)
	}
	only := func(t *table.Table) {
		var rows []table.Row
		for _, r := range t.Rows {
			if t.Key(r, "guard") == "budget-last" {
				rows = append(rows, r)
			}
		}
		t.Rows = rows
	}
	only(tables[0])
	only(tables[1])
	drawings, err := Draw("guards", tables, "")
	if err != nil || len(drawings) != 1 {
		t.Fatal(len(drawings), err)
	}
	if f := drawings[0].Figure; len(f.Panels) != 2 || f.Title != "What the guards before a retry let through" {
		t.Errorf("%d panels, title %q", len(f.Panels), f.Title)
	}
}
