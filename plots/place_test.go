package plots

import (
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// Labels touch neither each other nor what is taken nor the edge.
func TestPlaceLabels(t *testing.T) {
	bounds := vg.Rectangle{Max: vg.Point{X: 600, Y: 400}}
	rapid.Check(t, func(t *rapid.T) {
		var spots []spot
		var taken []vg.Rectangle
		for range rapid.IntRange(0, 25).Draw(t, "n") {
			at := vg.Point{
				X: vg.Length(rapid.Float64Range(0, 600).Draw(t, "x")),
				Y: vg.Length(rapid.Float64Range(0, 400).Draw(t, "y")),
			}
			spots = append(spots, spot{at: at, radius: 4, w: vg.Length(rapid.Float64Range(5, 120).Draw(t, "w")), h: 11})
			taken = append(taken, around(at, 8, 8))
		}
		open := vg.Point{X: vg.Length(rapid.IntRange(-1, 1).Draw(t, "dx")), Y: vg.Length(rapid.IntRange(-1, 1).Draw(t, "dy"))}
		got := placeLabels(spots, taken, nil, bounds, directions(open))
		for i, r := range got {
			if r == (vg.Rectangle{}) {
				continue
			}
			if !inside(r, bounds) {
				t.Fatalf("label %d at %v, outside", i, r)
			}
			for j, o := range append(got[:i:i], taken...) {
				if overlap(r, o) {
					t.Fatalf("label %d at %v overlaps %d at %v", i, r, j, o)
				}
			}
		}
	})
}

// A label with nothing around it is right of its point; with a neighbour there
// it goes left; in a corner it finds the room that is left.
func TestPlaceLabelsPrefersNear(t *testing.T) {
	bounds := vg.Rectangle{Max: vg.Point{X: 600, Y: 400}}
	l := spot{at: vg.Point{X: 300, Y: 200}, radius: 4, w: 50, h: 10}
	tests := []struct {
		name  string
		at    vg.Point
		taken []vg.Rectangle
		open  vg.Point
		dx    vg.Length // sign of the shift
		dy    vg.Length
	}{
		{"free", l.at, nil, vg.Point{}, 1, 0},
		{"right taken", l.at, []vg.Rectangle{around(vg.Point{X: 340, Y: 200}, 40, 4)}, vg.Point{}, -1, 0},
		{"right edge", vg.Point{X: 590, Y: 200}, nil, vg.Point{}, -1, 0},
		{"open to the lower left", l.at, nil, vg.Point{X: -1, Y: -1}, -1, -1},
	}
	for _, tt := range tests {
		l.at = tt.at
		r := placeLabels([]spot{l}, tt.taken, nil, bounds, directions(tt.open))[0]
		mid := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
		if d := mid.Sub(tt.at); d.X*tt.dx < 0 || d.Y*tt.dy < 0 || tt.dx == 0 && d.X != 0 || tt.dy == 0 && d.Y != 0 {
			t.Errorf("%s: label shifted by %v, want direction %v, %v", tt.name, d, tt.dx, tt.dy)
		}
	}
}

// A label without any room is left out rather than drawn over others.
func TestPlaceLabelsGivesUp(t *testing.T) {
	bounds := vg.Rectangle{Max: vg.Point{X: 40, Y: 20}}
	l := spot{at: vg.Point{X: 20, Y: 10}, radius: 4, w: 60, h: 10}
	if r := placeLabels([]spot{l}, nil, nil, bounds, directions(vg.Point{}))[0]; r != (vg.Rectangle{}) {
		t.Errorf("label at %v, want none", r)
	}
}

// A label avoids whiskers if it can, and takes a place on one if it must.
func TestPlaceLabelsAvoidsBusy(t *testing.T) {
	bounds := vg.Rectangle{Max: vg.Point{X: 600, Y: 400}}
	l := spot{at: vg.Point{X: 300, Y: 200}, radius: 4, w: 50, h: 10}
	busy := []vg.Rectangle{alongside(vg.Point{X: 200, Y: 200}, vg.Point{X: 400, Y: 200})}
	if r := placeLabels([]spot{l}, nil, busy, bounds, directions(vg.Point{}))[0]; r.Max == r.Min || overlap(r, busy[0]) {
		t.Errorf("label at %v, want beside the whisker %v", r, busy[0])
	}
	busy = []vg.Rectangle{bounds}
	if r := placeLabels([]spot{l}, nil, busy, bounds, directions(vg.Point{}))[0]; r.Max == r.Min {
		t.Error("no label, want one on the whiskers")
	}
}
