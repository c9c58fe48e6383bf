package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// A Line is a series: a line, its confidence band if it has one, and its name
// beside its end. A gap in Y or X interrupts it. Where Y is +Inf, a hollow
// glyph stands in the strip of the axis, tied by dots to its neighbours.
type Line struct {
	Label  string    // direct label; "" for none
	X, Y   []float64 // of equal length
	Lo, Hi []float64 // band; both nil for none
	Style  Style
	Points bool // a glyph at every point
	Step   bool // Y[i] holds from X[i] up to X[i+1]
}

func (l Line) check() error {
	both := l.Lo != nil || l.Hi != nil
	return checkColumns("line", l.Label, column{"x", l.X, true}, column{"y", l.Y, true},
		column{"the lower bound", l.Lo, both && l.Lo == nil}, column{"the upper bound", l.Hi, both && l.Hi == nil})
}

func (l Line) extend(x, y *extent) {
	for i := range l.X {
		if math.IsNaN(l.X[i]) || math.IsNaN(l.Y[i]) {
			continue
		}
		x.add(l.X[i])
		y.add(l.Y[i])
	}
	y.bound(l.Lo...)
	y.bound(l.Hi...)
}

func (l Line) draw(f *frame, la layer) {
	switch la {
	case back:
		l.drawBand(f)
	case lines:
		s := l.Style.stroke()
		for _, run := range l.runs(f) {
			for _, piece := range clip(f.area, thin(run)) {
				f.line(s, piece...)
			}
		}
		l.drawTies(f)
	case points:
		l.drawPoints(f)
		l.drawEnd(f)
	}
}

// runs returns the stretches of finite points, in coordinates.
func (l Line) runs(f *frame) [][]vg.Point {
	var out [][]vg.Point
	var run []vg.Point
	for i := range l.X {
		if !finite(l.X[i]) || !finite(l.Y[i]) {
			if run != nil {
				out, run = append(out, run), nil
			}
			continue
		}
		at := vg.Point{X: f.x.at(l.X[i]), Y: f.y.at(l.Y[i])}
		if n := len(run); l.Step && n > 0 && run[n-1].Y != at.Y {
			run = join(run, vg.Point{X: at.X, Y: run[n-1].Y})
		}
		run = join(run, at)
	}
	if run != nil {
		out = append(out, run)
	}
	return out
}

// join appends a point; of a level stretch only the ends are kept.
func join(run []vg.Point, at vg.Point) []vg.Point {
	if n := len(run); n > 1 && run[n-2].Y == at.Y && run[n-1].Y == at.Y {
		run = run[:n-1]
	}
	return append(run, at)
}

// drawTies draws dots from each value in the strip to its finite neighbours.
func (l Line) drawTies(f *frame) {
	s := stroke{color: l.Style.color(), width: l.Style.stroke().width * 0.8, dashes: []vg.Length{2 * px, 5 * px}}
	for i := 1; i < len(l.X); i++ {
		if math.IsInf(l.Y[i-1], 1) == math.IsInf(l.Y[i], 1) {
			continue
		}
		a, ok := f.at(l.X[i-1], l.Y[i-1])
		b, ok2 := f.at(l.X[i], l.Y[i])
		if ok && ok2 {
			f.line(s, a, b)
		}
	}
}

func (l Line) drawPoints(f *frame) {
	for i := range l.X {
		at, ok := f.at(l.X[i], l.Y[i])
		if ok && (l.Points || l.alone(i) || math.IsInf(l.Y[i], 1)) {
			f.glyph(l.Style.at(l.X[i], l.Y[i]), at)
			f.claim(at, l.Style.radius())
		}
	}
}

// alone reports whether point i has no neighbour, so that no line shows it.
func (l Line) alone(i int) bool {
	gap := func(j int) bool {
		return j < 0 || j >= len(l.X) || !finite(l.X[j]) || !finite(l.Y[j])
	}
	return gap(i-1) && gap(i+1)
}

// drawEnd asks for the label at the last point that is drawn.
func (l Line) drawEnd(f *frame) {
	if l.Label == "" {
		return
	}
	for i := len(l.X) - 1; i >= 0; i-- {
		if at, ok := f.at(l.X[i], l.Y[i]); ok {
			f.ends = append(f.ends, endLabel{text: l.Label, color: l.Style.color(), at: at})
			return
		}
	}
}

// endText is the label that needs room beside the data area.
func (l Line) endText() string { return l.Label }

// thin drops points that the PNG could not show: of a stretch within one
// column of pixels it keeps the first, the lowest, the highest and the last.
func thin(pts []vg.Point) []vg.Point {
	if len(pts) < 400 {
		return pts
	}
	out := make([]vg.Point, 0, 400)
	for i := 0; i < len(pts); {
		col := math.Floor(float64(pts[i].X / px))
		lo, hi, j := i, i, i+1
		for ; j < len(pts) && math.Floor(float64(pts[j].X/px)) == col; j++ {
			if pts[j].Y < pts[lo].Y {
				lo = j
			}
			if pts[j].Y > pts[hi].Y {
				hi = j
			}
		}
		last := -1
		for _, k := range []int{i, min(lo, hi), max(lo, hi), j - 1} {
			if k > last {
				out = append(out, pts[k])
				last = k
			}
		}
		i = j
	}
	return out
}
