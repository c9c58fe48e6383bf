package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// A Span is a stretch of the x axis: [From, To).
type Span struct {
	From, To float64
	Label    string // above the data area, left out where it would touch its neighbour
}

// Spans shade stretches of the x axis in grey over the whole height: outages.
type Spans []Span

func (s Spans) check() error {
	for _, v := range s {
		if !finite(v.From) || math.IsNaN(v.To) || v.From > v.To {
			return fmt.Errorf("span %q: from %v to %v, want increasing", v.Label, v.From, v.To)
		}
	}
	return nil
}

// extend does not widen the axis: a span may reach beyond the data.
func (s Spans) extend(x, y *extent) {}

func (s Spans) draw(f *frame, l layer) {
	switch l {
	case ground:
		for _, v := range s {
			a, b, ok := f.stretch(v.From, v.To)
			if ok {
				// At least one pixel, or a short outage of a long run is lost.
				f.rect(outageGrey, vg.Rectangle{
					Min: vg.Point{X: a, Y: f.area.Min.Y},
					Max: vg.Point{X: max(b, a+px), Y: f.area.Max.Y},
				})
			}
		}
	case texts:
		s.drawLabels(f)
	}
}

// drawLabels writes the labels above the data area from left to right.
func (s Spans) drawLabels(f *frame) {
	t := textStyle{size: noteSize, color: mutedInk}
	free := f.area.Min.X - pageMargin
	for _, v := range s {
		a, b, ok := f.stretch(v.From, v.To)
		if !ok || v.Label == "" {
			continue
		}
		w := t.width(v.Label)
		x := max(f.area.Min.X, min((a+b-w)/2, f.area.Max.X-w))
		if x < free {
			continue
		}
		f.text(t, vg.Point{X: x, Y: f.area.Max.Y + f.eventRoom + 6*px}, left, v.Label)
		free = x + w + labelGap
	}
}

// stretch returns the visible part of an interval of the x axis.
func (f *frame) stretch(from, to float64) (a, b vg.Length, ok bool) {
	a, b = f.boundX(from), f.boundX(to)
	return a, b, b > f.area.Min.X && a < f.area.Max.X && (a < b || from == to)
}

// labelled reports whether a span has a label, which needs room.
func (s Spans) labelled() bool {
	for _, v := range s {
		if v.Label != "" {
			return true
		}
	}
	return false
}
