package plots

import (
	"gonum.org/v1/plot/vg"
)

// Events mark instants, such as the openings of a breaker: in their rows, or,
// without Rows, along the top edge of the panel.
type Events struct {
	Label string    // names the marks in errors
	At    []float64 // on the x axis; none at all is fine
	Rows  []float64 // on the y axis, one for each; nil: the top edge
	Drop  bool      // from the top edge, a thin line down through the panel
	Style Style     // DownTriangle on the top edge and Tick in a row, if Glyph is zero
}

func (e Events) check() error {
	if len(e.At) == 0 {
		return nil
	}
	return checkColumns("events", e.Label, column{"at", e.At, true}, column{"rows", e.Rows, e.Rows != nil})
}

func (e Events) extend(x, y *extent) {
	x.bound(e.At...)
	y.add(e.Rows...)
}

func (e Events) draw(f *frame, l layer) {
	s := e.Style
	if s.Glyph == Disc {
		s.Glyph = DownTriangle
		if e.Rows != nil {
			s.Glyph = Tick
		}
	}
	for i, v := range e.At {
		if !f.ax.holds(v) {
			continue
		}
		at := vg.Point{X: f.x.at(v), Y: f.area.Max.Y + eventHeight/2}
		if e.Rows != nil {
			if !f.ay.holds(e.Rows[i]) {
				continue
			}
			at.Y = f.y.at(e.Rows[i])
			s.Size = min(float64(e.Style.radius()/px), float64(f.y.unit()/px)*0.24) // ticks end within their row
		}
		switch {
		case l == lines && e.Drop && e.Rows == nil:
			drop := stroke{color: tint(s.color(), dropAlpha), width: 1.5 * px}
			f.line(drop, vg.Point{X: at.X, Y: f.area.Max.Y}, vg.Point{X: at.X, Y: f.area.Min.Y})
		case l == points:
			f.glyph(s, at)
			if e.Rows != nil {
				f.claim(at, s.radius())
			}
		}
	}
}

// eventHeight is the room of event marks above the data area.
const eventHeight = 18 * px
