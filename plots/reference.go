package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// Reference marks values that somebody else published, as hollow diamonds
// large enough to show what is inside.
type Reference struct {
	Label string // names the marks in errors
	X, Y  []float64
}

// referenceStyle is the look of a published value.
var referenceStyle = Style{Color: ink, Glyph: Diamond, Size: 7.5}

func (r Reference) check() error {
	return checkColumns("reference", r.Label, column{"x", r.X, true}, column{"y", r.Y, true})
}

func (r Reference) extend(x, y *extent) { extendPoints(r.X, r.Y, x, y) }

func (r Reference) draw(f *frame, l layer) {
	if l != points {
		return
	}
	for i := range r.X {
		if at, ok := f.at(r.X[i], r.Y[i]); ok {
			f.diamond(at)
			f.claim(at, 1.36*referenceStyle.radius())
		}
	}
}

// diamond draws the hollow diamond of a published value; its inside is clear.
func (p pen) diamond(at vg.Point) {
	unit := corners[Diamond]
	pts := make([]vg.Point, len(unit))
	for i, u := range unit {
		pts[i] = at.Add(u.Scale(referenceStyle.radius()))
	}
	p.outline(stroke{color: white, width: hollowWidth + haloWidth}, pts...)
	p.outline(stroke{color: ink, width: hollowWidth}, pts...)
}

// extendPoints takes note of points, and of no half of one.
func extendPoints(xs, ys []float64, x, y *extent) {
	for i := range xs {
		if !math.IsNaN(xs[i]) && !math.IsNaN(ys[i]) {
			x.add(xs[i])
			y.add(ys[i])
		}
	}
}
