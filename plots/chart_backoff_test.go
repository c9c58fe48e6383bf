package plots

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// A backoffRow is a row of a back-off summary; recovery +Inf is never.
type backoffRow struct {
	kind, base                string
	good, peak, p99, recovery float64
}

func backoffTable(rows []backoffRow) *table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "outage"}, {Name: "kind", Labels: map[string]string{"full": "full jitter"}}, {Name: "base_s"}, {Name: "jitter_ratio"}}
	levels := []string{"0.5"}
	for _, c := range [][2]string{{"workers", "20"}, {"service_s", "0.1"}, {"outage_s", "5"}, {"rate_rps", "80"}, {"timeout_s", "1"}, {"attempts", "4"}, {"cap_s", "30"}} {
		keys = append(keys, table.Column{Name: c[0]})
		levels = append(levels, c[1])
	}
	values := []table.Column{{Name: "n"}, {Name: "unrecovered_count"}, {Name: "peak_load_ratio_mean"}}
	for _, m := range []string{"amplification_ratio", "latency_p99_s", "recovery_s", "peak_after_load_ratio", "outage_success_ratio"} {
		values = append(values, table.Column{Name: m + "_mean"}, table.Column{Name: m + "_ci95_lo"}, table.Column{Name: m + "_ci95_hi"})
	}
	t := table.New("backoff_summary", keys, values)
	for _, r := range rows {
		never, recovery := 0.0, r.recovery
		if math.IsInf(recovery, 1) {
			never, recovery = 5, math.NaN()
		}
		row := []float64{5, never, r.peak}
		for _, v := range []float64{1.2, r.p99, recovery, r.peak, r.good} {
			row = append(row, v, v-0.01, v+0.01)
		}
		t.Append(append([]string{"backoff", "stall", r.kind, r.base}, levels...), row...)
	}
	return t
}

func TestBackoffChart(t *testing.T) {
	never := math.Inf(1)
	for _, test := range []struct {
		rows  []backoffRow
		title string
		panel string // the second
	}{
		{[]backoffRow{{"none", "0.1", 0, 3, 1, never}, {"full", "0.1", 0, 3, 2, never}, {"full", "10", 1, 1, 20, 0}, {"decorrelated", "0.1", 0, 3, 3, never}, {"decorrelated", "3", 1, 1, 12, 0}},
			"After an outage of 5 s the node comes back, of the bases tried, with decorrelated at 3 s; full jitter at 10 s; never without back-off", "Recovery"},
		{[]backoffRow{{"none", "0.1", 0, 3, 1, never}, {"full", "0.1", 0, 3, 2, never}},
			"No back-off tried brings the node back: it moves attempts, and a request that fails still makes all of its own", "Recovery"},
		{[]backoffRow{{"none", "0.1", 0, 2.84, 0.5, 0}, {"full", "0.1", 0.07, 2.3, 0.6, 0}, {"full", "10", 1, 1.07, 13, 0}, {"fixed", "10", 1, 1.3, 10, 0}},
			"Without back-off, 0 % of the outage's requests succeed and the load peaks at 2.8 × capacity; with full jitter from 10 s, 100 % and 1.1 ×, for a 99th percentile of 13 s",
			"Latency, 99th percentile"},
	} {
		drawings, err := Draw("backoff", []*table.Table{backoffTable(test.rows)}, "a note")
		if err != nil || len(drawings) != 1 {
			t.Fatalf("%d drawings, error %v", len(drawings), err)
		}
		f := drawings[0].Figure
		if f.Title != test.title {
			t.Errorf("title %q, want %q", f.Title, test.title)
		}
		if len(f.Panels) != 4 || !strings.HasPrefix(f.Panels[1].Title, test.panel) || (len(f.Key) == 2) != (test.panel == "Recovery") {
			t.Errorf("panel %q, key %v, want panel %q", f.Panels[1].Title, f.Key, test.panel)
		}
		// No back-off has no base, and is drawn across all of them.
		none := f.Panels[0].Marks[0].(Line)
		if none.X[0] != 0.1 || none.X[1] < none.X[0] || none.Y[0] != none.Y[1] {
			t.Errorf("no back-off at %v, %v", none.X, none.Y)
		}
		if err := f.Write(&bytes.Buffer{}, "png"); err != nil {
			t.Error(err)
		}
	}
}

// The title never says more than the grid shows.
func TestBackoffBases(t *testing.T) {
	for _, test := range []struct {
		tried, back []float64
		want        string
	}{
		{[]float64{1, 3, 10}, []float64{3, 10}, "full jitter from 3 s"},
		{[]float64{1, 3, 10}, []float64{10}, "full jitter at 10 s"},
		{[]float64{1, 3, 10}, []float64{1, 10}, "full jitter at 1 s, 10 s"},
		{[]float64{1, 3}, []float64{1, 3}, "full jitter at any"},
	} {
		if got := backoffBases([]backoffKind{{"full jitter", test.tried, test.back}, {name: "fixed", tried: test.tried}}); got != test.want {
			t.Errorf("of %v, %v: %q, want %q", test.tried, test.back, got, test.want)
		}
	}
}
