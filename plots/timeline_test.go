package plots

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// Spans are grey over the whole height, at least a pixel wide, cut at the edge.
func TestSpans(t *testing.T) {
	r, c := one(t, unit, unit, Spans{{From: 2, To: 4, Label: "outage"}, {From: 5, To: 5}, {From: 9, To: 99}, {From: 20, To: 30}},
		Line{X: []float64{0, 10}, Y: []float64{0, 10}})
	got := r.areas(tint(outageGrey, 0xFF))
	if len(got) != 3 {
		t.Fatalf("%d spans, want 3: one is outside", len(got))
	}
	for i, want := range [][2]vg.Length{{at(c, 2, 0).X, at(c, 4, 0).X}, {at(c, 5, 0).X, at(c, 5, 0).X + px}, {at(c, 9, 0).X, c.area.Max.X}} {
		b := got[i].box
		if !near(b.Min.X, want[0]) || !near(b.Max.X, want[1]) || b.Min.Y != c.area.Min.Y || b.Max.Y != c.area.Max.Y {
			t.Errorf("span %d is %v, want x from %v to %v and the whole height", i, b, want[0], want[1])
		}
	}
	if v := r.find(t, "outage"); v.box.Min.Y <= c.area.Max.Y || math.Abs(float64(v.middle().X-got[0].middle().X)) > 1 {
		t.Errorf("label at %v, want above the middle of the span", v.box)
	}
}

// A label that would touch the one before it is left out.
func TestSpanLabelsDoNotTouch(t *testing.T) {
	r, _ := one(t, unit, unit, Spans{{2, 2.1, "first outage"}, {2.2, 2.3, "second outage"}, {8, 9, "third outage"}},
		Line{X: []float64{0, 10}, Y: []float64{0, 10}})
	if r.count("first outage") != 1 || r.count("second outage") != 0 || r.count("third outage") != 1 {
		t.Errorf("labels of spans 1 and 3 wanted, got %v", r.texts)
	}
}

// Events without rows are triangles on the top edge, with a line down.
func TestEventsOnTheEdge(t *testing.T) {
	s := Style{Color: CountWindow.Color()}
	r, c := one(t, unit, unit, Events{At: []float64{3, 7, 40}, Drop: true, Style: s}, Line{X: []float64{0, 10}, Y: []float64{0, 10}})
	got := r.areas(tint(s.Color, 0xFF))
	if len(got) != 2 {
		t.Fatalf("%d triangles, want 2: one is outside", len(got))
	}
	if b := got[0].box; !near(got[0].middle().X, at(c, 3, 0).X) || b.Max.Y <= c.area.Max.Y || b.Max.Y > c.area.Max.Y+eventHeight {
		t.Errorf("triangle at %v, want above the edge at 3", b)
	}
	drops := 0
	for _, l := range r.lines {
		if l.color == tint(s.Color, dropAlpha) && near(l.box.Max.Y-l.box.Min.Y, c.area.Size().Y) {
			drops++
		}
	}
	if drops != 2 {
		t.Errorf("%d lines down, want 2", drops)
	}
}

// Events in rows are ticks at their heights; none at all is no error.
func TestEventsInRows(t *testing.T) {
	s := Style{Color: TimeWindow.Color()}
	r, c := one(t, unit, Axis{Rows: []string{"a", "b"}}, Events{At: []float64{3}, Rows: []float64{1}, Style: s}, Events{})
	got := r.strokes(s.Color)
	if len(got) != 1 || !near(got[0].middle().Y, at(c, 0, 1).Y) || got[0].box.Max.X != got[0].box.Min.X {
		t.Errorf("ticks %v, want an upright one in row 1", got)
	}
}

// Bars fill their stretches in their rows; a label that does not fit is left out.
func TestBars(t *testing.T) {
	s := Budget.Member(0)
	r, c := one(t, unit, Axis{Rows: []string{"a", "b"}},
		Bars{{Row: 0, From: 2, To: 6, Label: "open", Style: s}, {Row: 1, From: 7, To: 7.1, Label: "too long for it", Style: s, Pale: true}})
	full, pale := r.areas(tint(s.Color, 0xFF)), r.areas(tint(s.Color, spreadAlpha))
	if len(full) != 1 || len(pale) != 1 {
		t.Fatalf("%d full and %d pale bars, want one each", len(full), len(pale))
	}
	if b := full[0]; !near(b.box.Min.X, at(c, 2, 0).X) || !near(b.box.Max.X, at(c, 6, 0).X) || !near(b.middle().Y, at(c, 0, 0).Y) {
		t.Errorf("bar %v, want 2 to 6 in row 0", b.box)
	}
	if r.count("open") != 1 || r.count("too long for it") != 0 {
		t.Errorf("labels %v, want only the one that fits", r.texts)
	}
}

// A rule is dashed across the panel; its label is beside its end.
func TestRules(t *testing.T) {
	r, c := one(t, unit, Axis{}, Line{X: []float64{0, 10}, Y: []float64{0, 3}},
		Rule{At: 4, Label: "limit"}, Rule{At: 5, Vertical: true, Label: "start"})
	got := r.strokes(ruleInk)
	if len(got) != 2 {
		t.Fatalf("%d rules, want 2", len(got))
	}
	if b := got[0].box; b.Min.X != c.area.Min.X || b.Max.X != c.area.Max.X || !near(b.Min.Y, at(c, 0, 4).Y) || len(got[0].dashes) == 0 {
		t.Errorf("rule %v, want dashed across at 4", b)
	}
	if v := r.find(t, "limit"); v.box.Min.X < c.area.Max.X || !near(v.middle().Y, at(c, 0, 4).Y) {
		t.Errorf("label at %v, want beside the end", v.box)
	}
	if v := r.find(t, "start"); !inside(v.box, c.area) {
		t.Errorf("label at %v, want inside the panel", v.box)
	}
	if c.ay.hi < 4 {
		t.Errorf("the axis ends at %v, below the rule at 4", c.ay.hi)
	}
}

// A rule at the right edge has its label left of it.
func TestRuleNearTheEdge(t *testing.T) {
	r, c := one(t, unit, unit, Line{X: []float64{0, 10}, Y: []float64{0, 3}}, Rule{At: 10, Vertical: true, Label: "the end"})
	if v := r.find(t, "the end"); v.box.Max.X > c.area.Max.X {
		t.Errorf("label at %v reaches beyond %v", v.box, c.area.Max.X)
	}
}

// The break of an axis with a zero is marked, and 0 is labelled.
func TestZeroRow(t *testing.T) {
	r, c := one(t, Axis{Kind: LogZero, Ticks: []float64{0, 1, 10, 100}}, Axis{Rows: []string{"a"}},
		Estimates{Horizontal: true, Points: []Estimate{{Mean: 0}}})
	zero := r.find(t, "0")
	if !near(zero.middle().X, at(c, 0, 0).X) || zero.box.Max.X > r.find(t, "1").box.Min.X {
		t.Errorf("0 at %v, want left of 1", zero.box)
	}
	slanted := 0
	for _, l := range r.strokes(axisInk) {
		if l.box.Size().X > 0 && l.box.Size().Y > 0 {
			slanted++
		}
	}
	if slanted != 2 {
		t.Errorf("%d strokes across the axis, want 2", slanted)
	}
}
