package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Front draws the boundary of what the points reach, as a step line through
// those that no other point beats: the trade-off.
type Front struct {
	Label string // names the mark in errors
	X, Y  []float64
	Up    bool // a larger Y is better; X is always better when smaller
	Style Style
}

// ParetoFront returns the indices of the points that no other point beats, in
// increasing x; smaller is better in both. A point beats another if it is at
// least as good in both and better in one; of equal points the first one
// counts. Points with a NaN never count.
func ParetoFront(x, y []float64) []int {
	var order, front []int
	for i := range min(len(x), len(y)) {
		if x[i] == x[i] && y[i] == y[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b]))
	})
	for _, i := range order {
		if len(front) == 0 || y[i] < y[front[len(front)-1]] {
			front = append(front, i)
		}
	}
	return front
}

func (m Front) check() error {
	return checkColumns("front", m.Label, column{"x", m.X, true}, column{"y", m.Y, true})
}

func (m Front) extend(x, y *extent) { extendPoints(m.X, m.Y, x, y) }

// indices returns the front of the mark.
func (m Front) indices() []int {
	if !m.Up {
		return ParetoFront(m.X, m.Y)
	}
	y := make([]float64, len(m.Y))
	for i, v := range m.Y {
		y[i] = -v
	}
	return ParetoFront(m.X, y)
}

func (m Front) draw(f *frame, l layer) {
	// Beyond the front there are no points: names go there first.
	f.open = vg.Point{X: -1, Y: -1}
	if m.Up {
		f.open.Y = 1
	}
	if l != lines {
		return
	}
	var pts []vg.Point
	for _, i := range m.indices() {
		at, ok := f.at(m.X[i], m.Y[i])
		if !ok {
			continue
		}
		if n := len(pts); n > 0 {
			pts = append(pts, vg.Point{X: at.X, Y: pts[n-1].Y})
		}
		pts = append(pts, at)
	}
	if len(pts) == 0 {
		return
	}
	// Beyond its ends the front goes on along the axes, more faintly.
	s := m.Style.stroke()
	pale := stroke{color: tint(m.Style.color(), 0x66), width: s.width, dashes: []vg.Length{3 * px, 5 * px}}
	first, last := pts[0], pts[len(pts)-1]
	edge := f.area.Max.Y
	if m.Up {
		edge = f.area.Min.Y
	}
	f.line(pale, first, vg.Point{X: first.X, Y: edge})
	f.line(pale, last, vg.Point{X: f.area.Max.X, Y: last.Y})
	f.line(s, pts...)
	f.taken = append(f.taken, alongside(first, vg.Point{X: first.X, Y: edge}),
		alongside(last, vg.Point{X: f.area.Max.X, Y: last.Y}))
	for i := 1; i < len(pts); i++ {
		f.taken = append(f.taken, alongside(pts[i-1], pts[i]))
	}
}
