package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// A Mark is something drawn in the data area of a panel: Line, Estimates,
// Reference, Scatter, Front, Spans, Bars, Events or Rule. In any of them NaN is
// a gap, and +Inf belongs to the strip of an axis with Never, where glyphs are
// hollow.
type Mark interface {
	// check reports data that cannot be drawn.
	check() error
	// extend takes note of the values on both axes.
	extend(x, y *extent)
	// draw draws the parts of the mark that belong to a layer.
	draw(f *frame, l layer)
}

// A layer is drawn over all marks before the next one is.
type layer uint8

const (
	ground layer = iota // spans, below the grid
	back                // bands, spread bars, rules
	lines               // lines, whiskers, bars
	points              // glyphs
	texts               // labels within the data area
	layers
)

// A frame is the data area of a panel while its marks are drawn.
type frame struct {
	pen
	area   vg.Rectangle // between the axes, strips included
	ax, ay axis
	x, y   scale
	ends   []endLabel     // labels beside the right edge
	notes  []pointLabel   // labels around points
	taken  []vg.Rectangle // where no label may be
	busy   []vg.Rectangle // where one had better not be
	open   vg.Point       // the direction in which there is room for labels

	eventRoom vg.Length // between the data area and the labels of spans
}

// at returns the place of a point and whether it can be drawn: both values
// are on their axes or in their strips.
func (f *frame) at(x, y float64) (vg.Point, bool) {
	ok := f.ax.holds(x) && f.ay.holds(y)
	if !ok {
		return vg.Point{}, false
	}
	return vg.Point{X: f.x.at(x), Y: f.y.at(y)}, true
}

// holds reports whether a point with this value is drawn.
func (a axis) holds(v float64) bool {
	if math.IsInf(v, 1) {
		return a.Never != ""
	}
	return finite(v) && a.shows(v)
}

// bounded returns the coordinate of the end of an interval, cut at the ends of
// the data area.
func bounded(s scale, v float64, lo, hi vg.Length) vg.Length {
	if math.IsInf(v, 1) && !s.hasNever {
		return hi
	}
	if math.IsInf(v, -1) {
		return lo
	}
	return min(max(s.at(v), lo), hi)
}

func (f *frame) boundX(v float64) vg.Length {
	return bounded(f.x, v, f.area.Min.X, f.area.Max.X)
}

func (f *frame) boundY(v float64) vg.Length {
	return bounded(f.y, v, f.area.Min.Y, f.area.Max.Y)
}

// claim keeps labels away from a glyph.
func (f *frame) claim(at vg.Point, r vg.Length) {
	f.taken = append(f.taken, around(at, 2*r, 2*r))
}

// around returns the rectangle of a size around a point.
func around(at vg.Point, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: at.X - w/2, Y: at.Y - h/2},
		Max: vg.Point{X: at.X + w/2, Y: at.Y + h/2},
	}
}

// column is one named slice of a mark, for checks.
type column struct {
	name   string
	values []float64
	need   bool // nil is an error
}

// checkColumns reports columns of unequal length, and x, y without any point.
func checkColumns(what, label string, cols ...column) error {
	n := len(cols[0].values)
	if n == 0 {
		return fmt.Errorf("%s %q: no points, want at least 1", what, label)
	}
	for _, c := range cols[1:] {
		if len(c.values) != n && (c.need || c.values != nil) {
			return fmt.Errorf("%s %q: %s has %d values, want %d as %s has",
				what, label, c.name, len(c.values), n, cols[0].name)
		}
	}
	for i := range n {
		drawn := true
		for _, c := range cols {
			if c.need && (math.IsNaN(c.values[i]) || math.IsInf(c.values[i], -1)) {
				drawn = false
			}
		}
		if drawn {
			return nil
		}
	}
	return fmt.Errorf("%s %q: all of %d points are undefined, want at least 1 that is not", what, label, n)
}

// hypot returns the length of a vector.
func hypot(p vg.Point) vg.Length { return vg.Length(math.Hypot(float64(p.X), float64(p.Y))) }
