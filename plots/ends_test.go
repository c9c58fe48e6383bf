package plots

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Positions keep their order, their distance and the bounds if there is room,
// and stay where they want to be if nothing is in the way.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Float64Range(-50, 550), 0, 12).Draw(t, "want")
		slices.Sort(want)
		gap := rapid.Float64Range(1, 60).Draw(t, "gap")
		got := spread(want, gap, 0, 500)
		if len(got) != len(want) {
			t.Fatalf("%d positions, want %d", len(got), len(want))
		}
		room := gap
		if n := float64(len(want) - 1); n*gap > 500 {
			room = 500 / n
		}
		free := true
		for i, y := range got {
			if y < -1e-9 || y > 500+1e-9 {
				t.Fatalf("position %v outside 0 to 500", y)
			}
			if i > 0 && y-got[i-1] < room-1e-9 {
				t.Fatalf("positions %v and %v, want %v apart", got[i-1], y, room)
			}
			free = free && want[i] >= 0 && want[i] <= 500 && (i == 0 || want[i]-want[i-1] >= gap)
		}
		for i := range got {
			if free && math.Abs(got[i]-want[i]) > 1e-9 {
				t.Fatalf("position %v moved to %v without need", want[i], got[i])
			}
		}
	})
}

// The pushed labels are centred on where they want to be: the least squares.
func TestSpreadIsCentred(t *testing.T) {
	got := spread([]float64{100, 100, 100}, 20, 0, 500)
	if want := []float64{80, 100, 120}; !slices.Equal(got, want) {
		t.Errorf("spread to %v, want %v", got, want)
	}
	got = spread([]float64{5, 5, 300}, 20, 0, 500)
	if want := []float64{0, 20, 300}; !slices.Equal(got, want) {
		t.Errorf("spread to %v, want %v", got, want)
	}
}

// Labels of lines that end together are apart, beside the data area, in the
// order of the ends, and tied to them by hairlines in their colours.
func TestLabelsAtLineEnds(t *testing.T) {
	line := func(name string, f Family, y float64) Line {
		return Line{Label: name, X: []float64{0, 10}, Y: []float64{5, y}, Style: f.Member(0)}
	}
	r, c := one(t, Axis{}, Axis{}, line("top", Budget, 9), line("upper", TimeWindow, 5.1),
		line("lower", CountWindow, 5), line("bottom", FixedRetry, 1))
	names := []string{"bottom", "lower", "upper", "top"}
	for i, name := range names {
		v := r.find(t, name)
		if v.box.Min.X < c.area.Max.X || v.box.Max.X > 1200*px-pageMargin+px {
			t.Errorf("%s from %v to %v, want between the data area %v and the margin", name, v.box.Min.X, v.box.Max.X, c.area.Max.X)
		}
		if i > 0 && v.middle().Y-r.find(t, names[i-1]).middle().Y < endStyle.line()-px {
			t.Errorf("%s is nearer than a line to %s", name, names[i-1])
		}
	}
	hairlines := 0
	for _, l := range r.lines {
		if l.width == hairline && l.color.A == 0x99 {
			hairlines++
		}
	}
	if hairlines != 2 {
		t.Errorf("%d leaders, want 2: for the two labels that moved", hairlines)
	}
}

// A line that ends early has its label at the edge all the same.
func TestLabelOfALineThatEndsEarly(t *testing.T) {
	r, c := one(t, Axis{Range: [2]float64{0, 10}}, Axis{}, Line{Label: "short", X: []float64{0, 4, 6}, Y: []float64{1, 2, math.NaN()}})
	if got := r.find(t, "short"); !near(got.box.Min.X, c.area.Max.X+leader) {
		t.Errorf("label at %v, want %v", got.box.Min.X, c.area.Max.X+leader)
	}
}
