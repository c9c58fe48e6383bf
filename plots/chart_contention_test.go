package plots

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// A contentionRow is a row of a contention summary: means, with intervals of
// the given half width.
type contentionRow struct {
	clients, backoff   string
	calls, completion  float64
	callsCI, completCI float64
}

func contentionTables(rows []contentionRow, published bool) []*table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "clients"}, {Name: "backoff"}, {Name: "base_s"}, {Name: "cap_s"},
		{Name: "first_exponent"}, {Name: "network_mean_s"}, {Name: "network_sd_s"}}
	summary := table.New("contention_summary", keys, []table.Column{
		{Name: "calls_count_mean"}, {Name: "calls_count_ci95_lo"}, {Name: "calls_count_ci95_hi"},
		{Name: "completion_s_mean"}, {Name: "completion_s_ci95_lo"}, {Name: "completion_s_ci95_hi"}})
	other := table.New("contention_published", keys, []table.Column{{Name: "calls_count"}, {Name: "completion_s"}})
	for _, r := range rows {
		cell := []string{"contention", r.clients, r.backoff, "0.005", "2", "1", "0.01", "0.002"}
		summary.Append(cell, r.calls, r.calls-r.callsCI, r.calls+r.callsCI, r.completion, r.completion-r.completCI, r.completion+r.completCI)
		other.Append(cell, math.Round(r.calls), math.Round(10*r.completion)/10)
	}
	if !published {
		return []*table.Table{summary}
	}
	return []*table.Table{summary, other}
}

var contentionRows = []contentionRow{
	{"10", "none", 50, 0.38, 1, 0.01}, {"10", "exponential", 51, 3.5, 1, 0.1}, {"10", "full", 39, 0.47, 1, 0.01},
	{"100", "none", 2421, 2, 5, 0.01}, {"100", "exponential", 1853, 63.5, 5, 1}, {"100", "full", 797, 4.9, 2, 0.1},
}

func TestContentionChart(t *testing.T) {
	drawings, err := Draw("contention", contentionTables(contentionRows, true), "a note")
	if err != nil || len(drawings) != 1 || drawings[0].Suffix != "" {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	f := drawings[0].Figure
	if want := "Full jitter needs the fewest calls to let 100 clients update one row: 797, in 4.9 s; no back-off is done soonest, in 2 s, with 2,421 calls; exponential back-off takes 63.5 s"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if len(f.Panels) != 2 || f.Panels[0].Y.Kind != Linear || f.Panels[1].Y.Kind != Log {
		t.Fatalf("%d panels", len(f.Panels))
	}
	for i, want := range []struct {
		x, y []float64 // of the line of full jitter
		ref  float64   // published, the last of the marks
	}{
		{[]float64{10, 100}, []float64{3.9, 7.97}, 7.97},
		{[]float64{10, 100}, []float64{0.47, 4.9}, 4.9},
	} {
		marks := f.Panels[i].Marks
		if len(marks) != 4 {
			t.Fatalf("panel %d: %d marks, want 3 lines and the published values", i, len(marks))
		}
		line, ref := marks[2].(Line), marks[3].(Reference)
		for k := range want.x {
			if line.X[k] != want.x[k] || math.Abs(line.Y[k]-want.y[k]) > 1e-12 {
				t.Errorf("panel %d: point %d at %v, %v, want %v, %v", i, k, line.X[k], line.Y[k], want.x[k], want.y[k])
			}
		}
		if n := len(ref.X); n != 6 || ref.X[n-1] != 100 || ref.Y[n-1] != want.ref {
			t.Errorf("panel %d: published %v, %v", i, ref.X, ref.Y)
		}
	}
	if len(f.Key) != 1 {
		t.Errorf("key %v, want the published values explained", f.Key)
	}
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"conditional writes per client", "time until the last is done, s", "exponential", "a note"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("no %q in the drawing", text)
		}
	}
}

func TestContentionChartWithoutPublishedValues(t *testing.T) {
	drawings, err := Draw("contention", contentionTables(contentionRows, false), "")
	if err != nil || len(drawings) != 1 {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	f := drawings[0].Figure
	if len(f.Key) != 0 || len(f.Panels[0].Marks) != 3 {
		t.Errorf("key %v, %d marks, want none for published values", f.Key, len(f.Panels[0].Marks))
	}
}

// Every kind of back-off has a look of its own.
func TestContentionStyles(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range []string{"none", "fixed", "exponential", "equal", "full", "decorrelated"} {
		s, ok := backoffStyles[kind]
		look := string([]byte{s.Color.R, s.Color.G, s.Color.B, byte(s.Glyph), byte(len(s.Dashes))})
		if !ok || seen[look] {
			t.Errorf("%s looks like another kind, or like nothing", kind)
		}
		seen[look] = true
	}
}

func TestContentionTitle(t *testing.T) {
	for _, test := range []struct {
		rows []contentionRow
		want string
	}{
		{[]contentionRow{{"7", "full", 20, 1.25, 1, 0}},
			"7 clients with full jitter need 20 calls and 1.25 s to update one row"},
		{[]contentionRow{{"1", "none", 1, 0.04, 0, 0}, {"1", "full", 1, 0.04, 0, 0}},
			"The kind of back-off makes no difference to the calls of 1 clients that update one row"},
		{[]contentionRow{{"9", "none", 40, 0.5, 1, 0}, {"9", "equal", 31, 0.8, 1, 0}, {"9", "full", 30, 0.7, 1, 0}},
			"Equal jitter and full jitter need the fewest calls to let 9 clients update one row: 31 and 30, in 0.8 s and 0.7 s; no back-off is done soonest, in 0.5 s, with 40 calls"},
		{[]contentionRow{{"9", "none", 40, 2.5, 1, 0}, {"9", "fixed", 30, 0.8, 1, 0}},
			"Fixed back-off needs the fewest calls to let 9 clients update one row: 30, in 0.8 s, the least of all; no back-off takes 40 calls and 2.5 s"},
		// One replication has no interval.
		{[]contentionRow{{"9", "none", 40, 0.5, math.NaN(), 0}, {"9", "full", 39, 0.7, math.NaN(), 0}},
			"Full jitter needs the fewest calls to let 9 clients update one row: 39, in 0.7 s; no back-off is done soonest, in 0.5 s, with 40 calls"},
	} {
		summary := contentionTables(test.rows, false)[0]
		if got := contentionTitle(summary, groups(summary, "clients", "backoff")[0]); got != test.want {
			t.Errorf("title %q, want %q", got, test.want)
		}
	}
}
