package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// unit is an axis from 0 to 10.
var unit = Axis{Range: [2]float64{0, 10}}

// at returns where a point of the cell is.
func at(c *cell, x, y float64) vg.Point {
	sx, sy := c.scales()
	return vg.Point{X: sx.at(x), Y: sy.at(y)}
}

// The mean is a dot, the interval a whisker through it, mean ± sd a pale bar
// below both.
func TestEstimates(t *testing.T) {
	s := Budget.Member(0)
	r, c := one(t, unit, Axis{Rows: []string{"a", "b"}},
		Estimates{Horizontal: true, Points: []Estimate{{At: 1, Mean: 5, Lo: 4, Hi: 6.5, SD: 2, Style: s, Text: "5 ± 2"}}})
	mean := at(c, 5, 1)
	dots := r.areas(tint(s.Color, 0xFF))
	if len(dots) != 1 || !near(dots[0].middle().X, mean.X) || !near(dots[0].middle().Y, mean.Y) {
		t.Fatalf("dots %v, want one at %v", dots, mean)
	}
	whiskers := r.strokes(s.Color)
	if len(whiskers) != 1 || !near(whiskers[0].box.Min.X, at(c, 4, 1).X) || !near(whiskers[0].box.Max.X, at(c, 6.5, 1).X) {
		t.Errorf("whiskers %v, want one from 4 to 6.5", whiskers)
	}
	bars := r.areas(tint(s.Color, spreadAlpha))
	if len(bars) != 1 || !near(bars[0].box.Min.X, at(c, 3, 1).X) || !near(bars[0].box.Max.X, at(c, 7, 1).X) {
		t.Errorf("bars %v, want one from 3 to 7", bars)
	}
	if text := r.find(t, "5 ± 2"); text.box.Min.X < bars[0].box.Max.X {
		t.Errorf("text at %v, want right of the bar", text.box)
	}
}

func TestEstimatesUpright(t *testing.T) {
	s := Budget.Member(0)
	r, c := one(t, unit, unit, Estimates{Dodge: 10, Points: []Estimate{{At: 2, Mean: 5, Lo: 4, Hi: 12, SD: math.NaN(), Style: s}}})
	w := r.strokes(s.Color)
	if len(w) != 1 || !near(w[0].box.Min.X, at(c, 2, 0).X+10*px) || !near(w[0].box.Min.Y, at(c, 0, 4).Y) || w[0].box.Max.Y > c.area.Max.Y {
		t.Errorf("whisker %v, want one from 4 up to the edge, 10 px right of 2", w)
	}
}

func TestEstimateWithoutInterval(t *testing.T) {
	nan := math.NaN()
	for _, e := range []Estimate{{Mean: 3}, {Mean: 3, Lo: nan, Hi: nan}, {Mean: 3, SD: nan}} {
		r, _ := one(t, unit, unit, Estimates{Points: []Estimate{e}})
		if got := r.strokes(palette[NoRetry]); len(got) != 0 {
			t.Errorf("%+v: %d whiskers, want none", e, len(got))
		}
	}
}

func TestMarkErrors(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		mark Mark
		want string
	}{
		{Estimates{Label: "e"}, `estimates "e": no points`},
		{Estimates{Label: "e", Points: []Estimate{{Mean: nan}}}, `estimates "e": all of 1 points are undefined`},
		{Estimates{Label: "e", Points: []Estimate{{Lo: 2, Hi: 1}}}, `estimates "e": interval 2 to 1, want increasing`},
		{Estimates{Label: "e", Points: []Estimate{{SD: -1}}}, `estimates "e": standard deviation -1, want finite and at least 0`},
		{Reference{Label: "r", X: []float64{1}}, `reference "r": y has 0 values, want 1 as x has`},
		{Scatter{Label: "s", X: []float64{1}, Y: []float64{1}, Names: []string{"a", "b"}}, `scatter "s": names has 2 values, want 1`},
		{Scatter{Label: "s", X: []float64{1}, Y: []float64{1}, XHi: []float64{1}}, `scatter "s": the lower bound of x has 0 values, want 1`},
		{Front{Label: "f", X: []float64{1}}, `front "f": y has 0 values`},
		{Spans{{From: 2, To: 1, Label: "o"}}, `span "o": from 2 to 1, want increasing`},
		{Spans{{From: nan, To: 1}}, `from NaN to 1`},
		{Bars{}, `bars: none`},
		{Bars{{From: 1, To: nan, Label: "b"}}, `bar "b": row 0 from 1 to NaN`},
		{Events{Label: "v", At: []float64{1}, Rows: []float64{1, 2}}, `events "v": rows has 2 values, want 1 as at has`},
		{Rule{At: inf, Label: "u"}, `rule "u": at +Inf, want finite`},
	}
	for _, tt := range tests {
		if err := tt.mark.check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%T: error %v, want %q", tt.mark, err, tt.want)
		}
	}
}

// A published value is a diamond with a clear inside.
func TestReference(t *testing.T) {
	r, c := one(t, unit, unit, Reference{X: []float64{4, math.NaN()}, Y: []float64{6, 1}})
	got := r.strokes(ink)
	if len(got) != 1 || !near(got[0].middle().X, at(c, 4, 6).X) || !near(got[0].middle().Y, at(c, 4, 6).Y) {
		t.Errorf("diamonds %v, want one at 4, 6", got)
	}
	if len(r.fills) != 0 {
		t.Errorf("%d filled shapes, want none", len(r.fills))
	}
}

// The front is what no other point beats, found the slow way.
func TestParetoFront(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 4), rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }), rapid.Just(math.NaN()))
		n := rapid.IntRange(0, 30).Draw(t, "n")
		x := rapid.SliceOfN(value, n, n).Draw(t, "x")
		y := rapid.SliceOfN(value, n, n).Draw(t, "y")
		var want []int
		for i := range n {
			beaten := math.IsNaN(x[i]) || math.IsNaN(y[i])
			for j := range n {
				equal := x[j] == x[i] && y[j] == y[i]
				if x[j] <= x[i] && y[j] <= y[i] && (!equal || j < i) {
					beaten = true
				}
			}
			if !beaten {
				want = append(want, i)
			}
		}
		got := ParetoFront(x, y)
		if !slices.IsSortedFunc(got, func(a, b int) int { return cmpFloat(x[a], x[b]) }) {
			t.Fatalf("front %v is not in increasing x", got)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("front %v, want %v", got, want)
		}
	})
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

func TestFrontUpwards(t *testing.T) {
	m := Front{X: []float64{1, 2, 3, 4}, Y: []float64{1, 5, 4, 6}, Up: true}
	if got, want := m.indices(), []int{0, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("front %v, want %v", got, want)
	}
}

// The names of a scatter are beside their points, in readable colours.
func TestScatterNames(t *testing.T) {
	r, c := one(t, unit, unit, Scatter{X: []float64{5, 8}, Y: []float64{5, 2}, Names: []string{"here", ""}, Style: TimeWindow.Member(0),
		XLo: []float64{4, math.NaN()}, XHi: []float64{6, math.NaN()}})
	v := r.find(t, "here")
	if d := hypot(v.middle().Sub(at(c, 5, 5))); d > 40*px {
		t.Errorf("name %v from its point, want beside it", d)
	}
	if got := textInk(TimeWindow.Color()); v.color.R != got.R {
		t.Errorf("name in %v, want %v", v.color, got)
	}
	if n := len(r.areas(tint(TimeWindow.Color(), 0xFF))); n != 2 {
		t.Errorf("%d points, want 2", n)
	}
}
