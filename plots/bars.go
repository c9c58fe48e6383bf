package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// A Bar fills [From, To) of the x axis in one row.
type Bar struct {
	Row      float64
	From, To float64
	Label    string // inside the bar, where it fits
	Style    Style
	Pale     bool // a tint of the colour
}

// Bars show states over time: one row for each object, one bar for each
// stretch in a state.
type Bars []Bar

func (m Bars) check() error {
	if len(m) == 0 {
		return fmt.Errorf("bars: none, want at least 1")
	}
	for _, b := range m {
		if !finite(b.Row) || !finite(b.From) || math.IsNaN(b.To) || b.From > b.To {
			return fmt.Errorf("bar %q: row %v from %v to %v, want increasing", b.Label, b.Row, b.From, b.To)
		}
	}
	return nil
}

func (m Bars) extend(x, y *extent) {
	for _, b := range m {
		y.add(b.Row)
		x.bound(b.From, b.To)
	}
}

func (m Bars) draw(f *frame, l layer) {
	half := f.y.unit() * 0.28
	t := textStyle{size: noteSize}
	for _, b := range m {
		from, to, ok := f.stretch(b.From, b.To)
		if !ok || !f.ay.holds(b.Row) {
			continue
		}
		y := f.y.at(b.Row)
		switch l {
		case lines:
			c := tint(b.Style.color(), 0xFF)
			if b.Pale {
				c.A = spreadAlpha
			}
			f.rect(c, vg.Rectangle{Min: vg.Point{X: from, Y: y - half}, Max: vg.Point{X: max(to, from+px), Y: y + half}})
		case texts:
			t.color = white
			if b.Pale || contrast(b.Style.color()) < 4.5 {
				t.color = ink
			}
			if t.width(b.Label)+labelGap <= to-from {
				f.middle(t, vg.Point{X: (from + to) / 2, Y: y}, center, b.Label)
			}
		}
	}
}
