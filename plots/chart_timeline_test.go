package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/stormglass/stormglass/table"
)

// systemTable is the timeline of a client, some nodes, and a link to each of
// them, 100 requests in each of 60 s; the first node fails from 20 s to 30 s
// and is called twice then, and its breaker is open from 22 s to 32 s.
func systemTable(nodes int) *table.Table {
	keys := []table.Column{{Name: "scenario"}, {Name: "variant"}, {Name: "seed"}, {Name: "kind"}, {Name: "name"}, {Name: "fault"}, {Name: "start_s"}}
	names := []string{"end_s", "requests_count", "succeeded_count", "failed_count", "calls_count", "good_count", "errors_count",
		"rejected_count", "abandoned_count", "queued_count", "in_flight_count", "attempts_count", "retries_count", "denied_count",
		"refused_count", "openings_count", "breakers_count", "open_ratio", "half_open_ratio"}
	var values []table.Column
	for _, n := range names {
		values = append(values, table.Column{Name: n})
	}
	t := table.New("timeline", keys, values)
	add := func(kind, name, fault string, start float64, v map[string]float64) {
		row := make([]float64, len(names))
		for i, n := range names {
			row[i] = math.NaN()
			if x, ok := v[n]; ok {
				row[i] = x
			}
		}
		t.Append([]string{"a system", "", "1", kind, name, fault, table.Format(start)}, row...)
	}
	add("fault", "n0", "error 100 %", 20, map[string]float64{"end_s": 30})
	for s := range 60 {
		at, bad, open := float64(s), 0.0, 0.0
		if s >= 20 && s < 30 {
			bad = 1
		}
		if s >= 22 && s < 32 {
			open = 1
		}
		add("client", "web", "", at, map[string]float64{"end_s": at + 1, "requests_count": 100, "succeeded_count": 100 * (1 - bad), "failed_count": 100 * bad})
		for i := range nodes {
			calls, opening := 100.0, 0.0
			if i == 0 {
				calls += 100 * bad
			}
			if i == 0 && s == 22 {
				opening = 1
			}
			name := fmt.Sprintf("n%d", i)
			add("node", name, "", at, map[string]float64{"end_s": at + 1, "calls_count": calls, "good_count": 100 * (1 - bad), "errors_count": calls * bad,
				"rejected_count": 0, "abandoned_count": 0, "queued_count": bad, "in_flight_count": 2 + bad})
			breakers := map[bool]float64{true: 1}[i == 0]
			add("link", "web-"+name, "", at, map[string]float64{"end_s": at + 1, "attempts_count": calls, "retries_count": calls - 100, "denied_count": 0,
				"refused_count": 0, "openings_count": opening, "breakers_count": breakers, "open_ratio": open, "half_open_ratio": 0})
		}
	}
	return t
}

func systemFigure(t *testing.T, tab *table.Table) *Figure {
	t.Helper()
	drawings, err := Draw("timeline", []*table.Table{tab}, "seed 1")
	if err != nil {
		t.Fatal(err)
	}
	if len(drawings) != 1 {
		t.Fatalf("%d drawings, want 1", len(drawings))
	}
	return drawings[0].Figure
}

// The title is what the table says, and panels follow each other.
func TestTimelineFinding(t *testing.T) {
	f := systemFigure(t, systemTable(2))
	want := glued("100 % of the requests succeed before the fault, 0 % while it lasts, 100 % after; n0 gets up to 2 calls per request, at 20 s")
	if f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	var titles []string
	for _, p := range f.Panels {
		titles = append(titles, p.Title)
	}
	if got := strings.Join(titles, ", "); got != "client web: requests/s, node n0: calls/s, node n0: calls at the node, "+
		"node n1: calls/s, node n1: calls at the node, link web-n0: calls/s, breakers" {
		t.Errorf("panels %s", got)
	}
	if !strings.HasPrefix(f.Note, "seed 1 · ") || !strings.Contains(f.Note, "no breaker, retry or refusal: web-n1") {
		t.Errorf("note %q", f.Note)
	}
}

// The strip is open from 22 s to 32 s and closed around.
func TestTimelineStrip(t *testing.T) {
	f := systemFigure(t, systemTable(1))
	strip := f.Panels[len(f.Panels)-1]
	at := slices.IndexFunc(strip.Marks, func(m Mark) bool { _, ok := m.(Bars); return ok })
	bars := strip.Marks[at].(Bars)
	if len(bars) != 3 || bars[1].From != 22 || bars[1].To != 32 || bars[1].Style.Color != openStyle.Color || bars[1].Pale || !bars[0].Pale {
		t.Errorf("bars %+v, want open from 22 to 32 only", bars)
	}
	if got := strip.Y.Rows; len(got) != 1 || got[0] != "web-n0\n1 opening" {
		t.Errorf("rows %q", got)
	}
}

// Faults that overlap are one span with both names.
func TestTimelineSpans(t *testing.T) {
	s := &systemTimeline{scale: 1, faults: []timelineFault{{"b", "slow 3×", 5, 9}, {"a", "crash", 1, 6}, {"a", "stall", 20, 30}}}
	got := s.spans("")
	want := Spans{{1, 9, "a: crash + b: slow 3×"}, {20, 30, "a: stall"}}
	if !slices.Equal(got, want) {
		t.Errorf("spans %v, want %v", got, want)
	}
	if got := s.spans("b"); !slices.Equal(got, Spans{{5, 9, "slow 3×"}}) {
		t.Errorf("spans of b %v", got)
	}
}

// No text touches another or leaves the page, and what is left out is named.
func TestTimelineTexts(t *testing.T) {
	for _, nodes := range []int{1, 6, 8, 11} {
		f := systemFigure(t, systemTable(nodes))
		r, p := record(t, f)
		sheet := vg.Rectangle{Max: vg.Point{X: p.w, Y: p.h}}
		for i, a := range r.texts {
			if !inside(a.box, sheet) {
				t.Errorf("%d nodes: %q at %v leaves the page", nodes, a.text, a.box)
			}
			for _, b := range r.texts[:i] {
				if overlap(a.box, b.box) {
					t.Errorf("%d nodes: %q and %q overlap", nodes, a.text, b.text)
				}
			}
		}
		if got, want := strings.Contains(f.Note, "left out: 3 nodes (n8, n9, n10)"), nodes > maxTimelineNodes; got != want {
			t.Errorf("%d nodes: note %q", nodes, f.Note)
		}
	}
}

// Long runs are drawn in longer steps, which keep the means.
func TestTimelineJoined(t *testing.T) {
	tab := systemTable(1)
	for _, r := range tab.Rows { // one request in a second
		if tab.Key(r, "kind") == "client" {
			for i := 1; i < 4; i++ {
				r.Values[i] /= 100
			}
		}
	}
	f := systemFigure(t, tab)
	if line := f.Panels[0].Marks[1].(Line); len(line.X) != 61 || line.Y[0] != 1 {
		t.Errorf("%d points from %v, want 61 from 1: there are no fewer than 60 steps", len(line.X), line.Y[0])
	}
	s := &systemTimeline{table: tab, clients: []timelineEntity{{rows: make([]table.Row, 1900)}}}
	for i := range s.clients[0].rows {
		s.clients[0].rows[i] = table.Row{Values: []float64{0, 1}}
	}
	if got := s.joined(); got != 5 {
		t.Errorf("1,900 intervals: %d together, want 5 for 380 steps of 5 requests", got)
	}
}

func TestTimelineNothing(t *testing.T) {
	tab := systemTable(1)
	tab.Rows = tab.Rows[:1] // the fault
	if _, err := Draw("timeline", []*table.Table{tab}, ""); err == nil {
		t.Error("a table without intervals is no error")
	}
}
