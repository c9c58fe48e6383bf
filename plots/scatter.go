package plots

import (
	"gonum.org/v1/plot/vg"
)

// Scatter is a set of points, with intervals and names where they have them.
type Scatter struct {
	Label    string // names the marks in errors
	X, Y     []float64
	XLo, XHi []float64 // intervals of X; both nil for none, NaN for a point without
	YLo, YHi []float64 // intervals of Y
	Names    []string  // written beside the points, "" for none; nil for none at all
	Style    Style
}

func (s Scatter) check() error {
	// A bound that is given needs its partner.
	pair := func(a, b []float64) bool { return a == nil && b != nil }
	if s.Names != nil && len(s.Names) != len(s.X) {
		return checkColumns("scatter", s.Label, column{"x", s.X, true}, column{"names", make([]float64, len(s.Names)), true})
	}
	return checkColumns("scatter", s.Label, column{"x", s.X, true}, column{"y", s.Y, true},
		column{"the lower bound of x", s.XLo, pair(s.XLo, s.XHi)}, column{"the upper bound of x", s.XHi, pair(s.XHi, s.XLo)},
		column{"the lower bound of y", s.YLo, pair(s.YLo, s.YHi)}, column{"the upper bound of y", s.YHi, pair(s.YHi, s.YLo)})
}

func (s Scatter) extend(x, y *extent) {
	extendPoints(s.X, s.Y, x, y)
	x.bound(s.XLo...)
	x.bound(s.XHi...)
	y.bound(s.YLo...)
	y.bound(s.YHi...)
}

func (s Scatter) draw(f *frame, l layer) {
	bar := stroke{color: tint(s.Style.color(), 0x80), width: 1.5 * px}
	whisker := func(a, b vg.Point) {
		f.line(bar, a, b)
		f.busy = append(f.busy, alongside(a, b))
	}
	for i := range s.X {
		at, ok := f.at(s.X[i], s.Y[i])
		if !ok {
			continue
		}
		switch l {
		case lines:
			if s.XLo != nil && s.XLo[i] <= s.XHi[i] {
				whisker(vg.Point{X: f.boundX(s.XLo[i]), Y: at.Y}, vg.Point{X: f.boundX(s.XHi[i]), Y: at.Y})
			}
			if s.YLo != nil && s.YLo[i] <= s.YHi[i] {
				whisker(vg.Point{X: at.X, Y: f.boundY(s.YLo[i])}, vg.Point{X: at.X, Y: f.boundY(s.YHi[i])})
			}
		case points:
			f.glyph(s.Style.at(s.X[i], s.Y[i]), at)
			f.claim(at, s.Style.radius())
			if s.Names != nil && s.Names[i] != "" {
				f.notes = append(f.notes, pointLabel{text: s.Names[i], color: s.Style.color(), at: at, radius: s.Style.radius()})
			}
		}
	}
}
