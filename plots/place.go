package plots

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
)

// A pointLabel names a point of the data area.
type pointLabel struct {
	text   string
	color  color.RGBA
	at     vg.Point
	radius vg.Length // of the glyph
}

var noteStyle = textStyle{size: tickSize}

// drawNotes writes the labels of points around them, in the order of the
// points, so that none touches another, a glyph or the edge. A label that fits
// nowhere near is left out.
func (f *frame) drawNotes() {
	boxes := make([]spot, len(f.notes))
	for i, n := range f.notes {
		boxes[i] = spot{at: n.at, radius: n.radius, w: noteStyle.width(n.text), h: noteStyle.size}
	}
	for i, r := range placeLabels(boxes, f.taken, f.busy, f.area, directions(f.open)) {
		if r.Max == r.Min {
			continue
		}
		n := f.notes[i]
		t := noteStyle
		t.color = textInk(n.color)
		mid := vg.Point{X: r.Min.X, Y: (r.Min.Y + r.Max.Y) / 2}
		if tie := nearest(r, n.at); hypot(tie.Sub(n.at)) > n.radius+farther {
			f.line(stroke{color: tint(n.color, 0x99), width: hairline}, n.at, tie)
		}
		f.rect(tint(white, plateAlpha), r)
		f.middle(t, mid, left, n.text)
	}
}

// farther is the distance from its glyph at which a label gets a leader.
const farther = 14 * px

// spot is a label to place: its point, its glyph and its size.
type spot struct {
	at           vg.Point
	radius, w, h vg.Length
}

// compass are the places of a label around its point, best first: the centre of
// the label is shifted by half its size and the gap in these directions.
var compass = []vg.Point{
	{X: 1}, {X: -1}, {Y: 1}, {Y: -1},
	{X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1},
	{X: 0.5, Y: 1}, {X: -0.5, Y: 1}, {X: 0.5, Y: -1}, {X: -0.5, Y: -1},
}

// directions returns the compass with those towards the open side first.
func directions(open vg.Point) []vg.Point {
	tries := slices.Clone(compass)
	slices.SortStableFunc(tries, func(a, b vg.Point) int {
		return cmp.Compare(b.Dot(open), a.Dot(open))
	})
	return tries
}

// gaps are the distances tried between glyph and label, nearest first.
var gaps = []vg.Length{5 * px, 12 * px, 22 * px, 36 * px, 54 * px, 76 * px}

// placeLabels returns a rectangle for each label, or an empty one where there
// is no room: inside bounds, apart from each other and from what is taken, and
// apart from what is busy if there is a place for that.
func placeLabels(labels []spot, taken, busy []vg.Rectangle, bounds vg.Rectangle, tries []vg.Point) []vg.Rectangle {
	taken = slices.Clone(taken)
	out := make([]vg.Rectangle, len(labels))
	for i, l := range labels {
		for _, avoid := range [][]vg.Rectangle{busy, nil} {
			if r, ok := l.search(taken, avoid, bounds, tries); ok {
				out[i] = r
				taken = append(taken, r)
				break
			}
		}
	}
	return out
}

// search returns the nearest free rectangle for a label.
func (l spot) search(taken, busy []vg.Rectangle, bounds vg.Rectangle, tries []vg.Point) (vg.Rectangle, bool) {
	for _, gap := range gaps {
		for _, d := range tries {
			r := l.rect(d, gap)
			if inside(r, bounds) && !hits(r, taken) && !hits(r, busy) {
				return r, true
			}
		}
	}
	return vg.Rectangle{}, false
}

// rect returns the rectangle of a label in a direction.
func (l spot) rect(d vg.Point, gap vg.Length) vg.Rectangle {
	if d.X != 0 && d.Y != 0 {
		gap *= 0.75 // diagonally, the corner is nearer than it looks
	}
	return around(vg.Point{
		X: l.at.X + d.X*(l.radius+gap+l.w/2),
		Y: l.at.Y + d.Y*(l.radius+gap+l.h/2),
	}, l.w, l.h)
}

// inside reports whether r lies within b.
func inside(r, b vg.Rectangle) bool {
	return r.Min.X >= b.Min.X && r.Min.Y >= b.Min.Y && r.Max.X <= b.Max.X && r.Max.Y <= b.Max.Y
}

// hits reports whether r overlaps any of the rectangles.
func hits(r vg.Rectangle, taken []vg.Rectangle) bool {
	for _, t := range taken {
		if r.Min.X < t.Max.X && t.Min.X < r.Max.X && r.Min.Y < t.Max.Y && t.Min.Y < r.Max.Y {
			return true
		}
	}
	return false
}

// nearest returns the point of r that is nearest to p.
func nearest(r vg.Rectangle, p vg.Point) vg.Point {
	return vg.Point{
		X: max(r.Min.X, min(p.X, r.Max.X)),
		Y: max(r.Min.Y, min(p.Y, r.Max.Y)),
	}
}

// alongside returns the surroundings of an upright or level line.
func alongside(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X) - 2*px, Y: min(a.Y, b.Y) - 2*px},
		Max: vg.Point{X: max(a.X, b.X) + 2*px, Y: max(a.Y, b.Y) + 2*px},
	}
}
