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

// systemTable is the timeline of a client, some nodes, a link to each of them,
// and the breaker of the first, 100 requests in each of 60 s; the first node fails from 20 s to 30 s
// and is called twice then, and its breaker is open from 22 s to 32 s.
func systemTable(nodes int) *table.Table {
	keys := []table.Column{{Name: "scenario"}, {Name: "variant"}, {Name: "seed"}, {Name: "kind"}, {Name: "name"}, {Name: "fault"}, {Name: "start_s"}}
	names := []string{"end_s", "requests_count", "succeeded_count", "failed_count", "calls_count", "good_count", "errors_count",
		"rejected_count", "abandoned_count", "queued_count", "in_flight_count", "attempts_count", "retries_count", "denied_count",
		"guarded_count", "refused_count", "limited_count", "timed_out_count", "openings_count", "breakers_count", "open_ratio", "half_open_ratio"}
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
			add("link", "web-"+name, "", at, map[string]float64{"end_s": at + 1, "attempts_count": calls, "retries_count": calls - 100, "denied_count": 0,
				"guarded_count": 0, "refused_count": 0, "limited_count": 0, "timed_out_count": 0})
			if i == 0 {
				add("breaker", "web-n0", "", at, map[string]float64{"end_s": at + 1, "openings_count": opening, "breakers_count": 1, "open_ratio": open, "half_open_ratio": 0})
			}
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
	want := glued("100 % of the requests succeed before the fault, 0 % while it lasts, 100 % after; breaker web-n0 opens once, within 22–23 s")
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
	if !strings.HasPrefix(f.Note, "seed 1 · ") || !strings.Contains(f.Note, "no retry, refusal or timeout: web-n1") || strings.Count(f.Note, "replication") != 1 {
		t.Errorf("note %q", f.Note)
	}
}

// The strip is open from 22 s to 32 s and closed around.
func TestTimelineStrip(t *testing.T) {
	f := systemFigure(t, systemTable(1))
	strip := f.Panels[len(f.Panels)-1]
	at := slices.IndexFunc(strip.Marks, func(m Mark) bool { _, ok := m.(Bars); return ok })
	bars := strip.Marks[at].(Bars)
	if len(bars) != 3 || bars[1].From != 22 || bars[1].To != 32 || bars[1].Style.Color != openStyle.Color || bars[0].Style.Color != closedStyle.Color {
		t.Errorf("bars %+v, want open from 22 to 32 only", bars)
	}
	if got := strip.Y.Rows; len(got) != 1 || got[0] != "web-n0\n1 opening" {
		t.Errorf("rows %q", got)
	}
}

// setRows changes values of the rows of a kind, by the second they begin at.
func setRows(tab *table.Table, kind string, change func(second float64, value func(column string) *float64)) {
	for _, r := range tab.Rows {
		if tab.Key(r, "kind") == kind {
			change(number(tab.Key(r, "start_s")), func(column string) *float64 { return &r.Values[tab.ValueIndex(column)] })
		}
	}
}

// The title says whether, and when, a system comes back, and is never a ratio
// of what happened in different seconds.
func TestTimelineFindings(t *testing.T) {
	fail := func(from, to float64) func(*table.Table) {
		return func(tab *table.Table) {
			setRows(tab, "client", func(second float64, value func(string) *float64) {
				if second >= from && second < to {
					*value("succeeded_count"), *value("failed_count") = 0, 100
				}
			})
		}
	}
	late := func(tab *table.Table) { // the calls of two seconds come in one
		setRows(tab, "node", func(second float64, value func(string) *float64) {
			switch second {
			case 50:
				*value("calls_count") = 0
			case 51:
				*value("calls_count") = 200
			}
		})
	}
	none := func(kind string) func(*table.Table) {
		return func(tab *table.Table) {
			tab.Rows = slices.DeleteFunc(tab.Rows, func(r table.Row) bool { return tab.Key(r, "kind") == kind })
		}
	}
	second := func(tab *table.Table) { // another breaker, which opens once and again
		rows := tab.Select(map[string]string{"kind": "breaker"})
		for i, r := range rows {
			keys := slices.Clone(r.Keys)
			keys[tab.KeyIndex("name")] = "other"
			values := slices.Clone(r.Values)
			if i == 21 {
				values[tab.ValueIndex("openings_count")] = 2
			}
			tab.Append(keys, values...)
		}
	}
	const before = "100 % of the requests succeed before the fault, 0 % while it lasts, "
	for _, c := range []struct {
		change []func(*table.Table)
		want   string
	}{
		{[]func(*table.Table){fail(30, 45)}, before + "50 % after, as before from 45 s on; breaker web-n0 opens once, within 22–23 s"},
		{[]func(*table.Table){fail(59, 60)}, before + "96.7 % after, not as before by the end; breaker web-n0 opens once, within 22–23 s"},
		{[]func(*table.Table){none("breaker")}, before + "100 % after; n0 gets 1.17 calls per request, up to 200/s at 20 s"},
		{[]func(*table.Table){none("breaker"), none("fault"), late}, "83.3 % of the requests succeed; n0 gets 1.17 calls per request, up to 200/s at 20 s"},
		{[]func(*table.Table){second}, before + "100 % after; 2 of 2 breakers open, from 21 s on"},
	} {
		tab := systemTable(1)
		for _, change := range c.change {
			change(tab)
		}
		if got := systemFigure(t, tab).Title; got != glued(c.want) {
			t.Errorf("title\n%q, want\n%q", got, glued(c.want))
		}
	}
}

// The last step is not so short that its rate is chance.
func TestTimelineSteps(t *testing.T) {
	tab := systemTable(1)
	rows := func(ends ...float64) []table.Row {
		var list []table.Row
		from := 0.0
		for _, to := range ends {
			values := make([]float64, len(tab.Values))
			values[tab.ValueIndex("end_s")] = to
			list = append(list, table.Row{Keys: []string{"", "", "", "", "", "", table.Format(from)}, Values: values})
			from = to
		}
		return list
	}
	for _, c := range []struct {
		ends     []float64
		together int
		want     []int // intervals in each step
	}{
		{[]float64{1, 2, 3}, 1, []int{1, 1, 1}}, {[]float64{1, 2, 2.5}, 1, []int{1, 1, 1}}, {[]float64{1, 2, 2.1}, 1, []int{1, 2}},
		{[]float64{1, 2, 3, 4, 5}, 4, []int{5}}, {[]float64{1, 2, 3, 4, 5, 6}, 4, []int{4, 2}}, {[]float64{0.1}, 1, []int{1}}, {nil, 1, nil},
	} {
		s := &systemTimeline{table: tab, together: c.together, step: 1}
		var got []int
		for _, step := range s.steps(rows(c.ends...)) {
			got = append(got, len(step))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, %d together: steps of %v, want %v", c.ends, c.together, got, c.want)
		}
	}
}

// Instants are told in the unit of the axis, to the second.
func TestTimelineClock(t *testing.T) {
	for _, c := range []struct {
		scale, at float64
		want      string
	}{{1, 65.5, "65.5"}, {60, 340, "5:40"}, {60, 3601, "60:01"}, {3600, 3940, "1:05:40"}} {
		if got := (&systemTimeline{scale: c.scale}).clock(c.at); got != c.want {
			t.Errorf("%v s in units of %v s: %q, want %q", c.at, c.scale, got, c.want)
		}
	}
}

// Long names keep both ends.
func TestCutName(t *testing.T) {
	for _, c := range []struct{ name, want string }{{"gateway", "gateway"}, {"gateway-12", "gat…-12"}, {"gateway8", "gat…ay8"}} {
		if got := cutName(c.name, 7); got != c.want {
			t.Errorf("%q in 7: %q, want %q", c.name, got, c.want)
		}
	}
}

// Marks of openings that would cover the states are left out.
func TestTimelineManyOpenings(t *testing.T) {
	for every, want := range map[float64]int{3: 20, 1: 60, 0.25: 0} { // s, of 60
		rows := 60 / every
		tab := systemTable(1)
		tab.Rows = slices.DeleteFunc(tab.Rows, func(r table.Row) bool { return tab.Key(r, "kind") == "breaker" })
		for i := range int(rows) {
			values := make([]float64, len(tab.Values))
			at := float64(i) * every
			values[tab.ValueIndex("end_s")], values[tab.ValueIndex("openings_count")] = at+every, 1
			tab.Append([]string{"a system", "", "1", "breaker", "b", "", table.Format(at)}, values...)
		}
		f := systemFigure(t, tab)
		events := f.Panels[len(f.Panels)-1].Marks[2].(Events)
		if len(events.At) != want {
			t.Errorf("an opening every %v s: %d marks, want %d", every, len(events.At), want)
		}
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
