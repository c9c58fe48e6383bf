package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// drawBand fills the area between the bounds of a line. A point without both
// bounds interrupts it.
func (l Line) drawBand(f *frame) {
	if l.Lo == nil {
		return
	}
	var lower, upper []vg.Point
	flush := func() {
		if len(lower) > 1 {
			lower, upper = thin(lower), thin(upper)
			slices.Reverse(lower)
			poly := clipPolygon(f.area, append(upper, lower...))
			f.fill(tint(l.Style.color(), bandAlpha), poly...)
		}
		lower, upper = nil, nil
	}
	for i := range l.X {
		lo, hi := l.Lo[i], l.Hi[i]
		if !finite(l.X[i]) || lo != lo || hi != hi {
			flush()
			continue
		}
		x := f.x.at(l.X[i])
		lower = extendRun(lower, vg.Point{X: x, Y: f.boundY(lo)}, l.Step)
		upper = extendRun(upper, vg.Point{X: x, Y: f.boundY(hi)}, l.Step)
	}
	flush()
}

// extendRun appends a point, with the corner of a step before it.
func extendRun(run []vg.Point, at vg.Point, step bool) []vg.Point {
	if n := len(run); step && n > 0 {
		run = append(run, vg.Point{X: at.X, Y: run[n-1].Y})
	}
	return append(run, at)
}
