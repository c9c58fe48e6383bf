package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// An Estimate is a mean and what is known of its uncertainty.
type Estimate struct {
	At     float64 // where it stands: its row, or its place on the other axis
	Mean   float64 // NaN: not drawn
	Lo, Hi float64 // interval of the mean; both 0 or both NaN: none
	SD     float64 // standard deviation over replications; 0 or NaN: none
	Style  Style
	Text   string // written beside it, on a horizontal plot
}

// interval reports whether there is an interval to draw.
func (e Estimate) interval() bool {
	return e.Lo == e.Lo && e.Hi == e.Hi && (e.Lo != 0 || e.Hi != 0)
}

// Estimates are means as dots with whiskers for their intervals over a paler
// bar for mean ± standard deviation.
type Estimates struct {
	Label      string // names the marks in errors
	Points     []Estimate
	Horizontal bool    // means along x, places along y: a dot plot over Rows
	Dodge      float64 // shift across the bars, px, up or right: for several estimates at one place
}

func (m Estimates) check() error {
	at, mean := make([]float64, len(m.Points)), make([]float64, len(m.Points))
	for i, e := range m.Points {
		at[i], mean[i] = e.At, e.Mean
		switch {
		case e.interval() && e.Lo > e.Hi:
			return fmt.Errorf("estimates %q: interval %v to %v, want increasing", m.Label, e.Lo, e.Hi)
		case e.SD < 0 || math.IsInf(e.SD, 1):
			return fmt.Errorf("estimates %q: standard deviation %v, want finite and at least 0", m.Label, e.SD)
		}
	}
	return checkColumns("estimates", m.Label, column{"at", at, true}, column{"mean", mean, true})
}

func (m Estimates) extend(x, y *extent) {
	if m.Horizontal {
		x, y = y, x
	}
	for _, e := range m.Points {
		if math.IsNaN(e.At) || math.IsNaN(e.Mean) {
			continue
		}
		x.add(e.At)
		y.add(e.Mean)
		if e.interval() {
			y.bound(e.Lo, e.Hi)
		}
		y.bound(e.Mean-e.SD, e.Mean+e.SD)
	}
}

func (m Estimates) draw(f *frame, l layer) {
	for _, e := range m.Points {
		at, ok := f.at(e.At, e.Mean)
		if m.Horizontal {
			at, ok = f.at(e.Mean, e.At)
		}
		if !ok {
			continue
		}
		if m.Horizontal {
			at.Y += vg.Length(m.Dodge) * px
		} else {
			at.X += vg.Length(m.Dodge) * px
		}
		m.drawOne(f, l, e, at)
	}
}

// drawOne draws the part of one estimate in a layer.
func (m Estimates) drawOne(f *frame, l layer, e Estimate, at vg.Point) {
	c := e.Style.color()
	switch {
	case l == back && e.SD > 0 && finite(e.Mean):
		a, b := m.ends(f, at, e.Mean-e.SD, e.Mean+e.SD)
		half := spreadSize / 2
		if m.Horizontal {
			f.rect(tint(c, spreadAlpha), vg.Rectangle{Min: vg.Point{X: a.X, Y: a.Y - half}, Max: vg.Point{X: b.X, Y: b.Y + half}})
		} else {
			f.rect(tint(c, spreadAlpha), vg.Rectangle{Min: vg.Point{X: a.X - half, Y: a.Y}, Max: vg.Point{X: b.X + half, Y: b.Y}})
		}
	case l == lines && e.interval():
		a, b := m.ends(f, at, e.Lo, e.Hi)
		f.line(stroke{color: c, width: whisker}, a, b)
	case l == points:
		f.glyph(e.Style.at(e.Mean), at)
		f.claim(at, e.Style.radius())
	case l == texts && m.Horizontal && e.Text != "":
		m.drawText(f, e, at)
	}
}

// ends returns the two ends of an interval through at.
func (m Estimates) ends(f *frame, at vg.Point, lo, hi float64) (a, b vg.Point) {
	if m.Horizontal {
		return vg.Point{X: f.boundX(lo), Y: at.Y}, vg.Point{X: f.boundX(hi), Y: at.Y}
	}
	return vg.Point{X: at.X, Y: f.boundY(lo)}, vg.Point{X: at.X, Y: f.boundY(hi)}
}

// drawText writes the text of an estimate right of its bars and of other glyphs
// there, or left of its bars where there is no room.
func (m Estimates) drawText(f *frame, e Estimate, at vg.Point) {
	t := textStyle{size: tickSize, color: mutedInk}
	w := t.width(e.Text)
	lo, hi := e.Mean, e.Mean
	if e.SD > 0 {
		lo, hi = lo-e.SD, hi+e.SD
	}
	if e.interval() {
		lo, hi = math.Min(lo, e.Lo), math.Max(hi, e.Hi)
	}
	a, b := m.ends(f, at, lo, hi)
	r := around(at, 0, t.size)
	r.Min.X = max(b.X, at.X+e.Style.radius()) + labelGap
	r.Max.X = r.Min.X + w
	for _, t := range f.taken {
		t.Max.X += labelGap / 2
		if hits(r, []vg.Rectangle{t}) {
			r.Min.X, r.Max.X = t.Max.X, t.Max.X+w
		}
	}
	end := f.area.Max.X
	if f.x.hasNever {
		end -= neverWidth
	}
	if r.Max.X > end {
		r.Max.X = min(a.X, at.X-e.Style.radius()) - labelGap
		r.Min.X = r.Max.X - w
	}
	f.middle(t, vg.Point{X: r.Min.X, Y: at.Y}, left, e.Text)
	f.taken = append(f.taken, r)
}
