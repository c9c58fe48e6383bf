package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// A Rule is a reference line across the panel: a threshold, a limit, one
// attempt for each request.
type Rule struct {
	At       float64 // on the y axis; on the x axis if Vertical
	Vertical bool
	Label    string // beside its right end; inside the panel if Vertical
}

func (r Rule) check() error {
	if !finite(r.At) {
		return fmt.Errorf("rule %q: at %v, want finite", r.Label, r.At)
	}
	return nil
}

func (r Rule) extend(x, y *extent) {
	if r.Vertical {
		x.bound(r.At)
	} else {
		y.bound(r.At)
	}
}

// ruleStroke is the look of reference lines.
var ruleStroke = stroke{color: ruleInk, width: 1.5 * px, dashes: []vg.Length{6 * px, 4 * px}}

// endText is the label that needs room beside the data area.
func (r Rule) endText() string {
	if r.Vertical {
		return ""
	}
	return r.Label
}

func (r Rule) draw(f *frame, l layer) {
	t := textStyle{size: noteSize, color: mutedInk}
	a, b := f.area.Min, f.area.Max
	var shown bool
	if r.Vertical {
		shown = f.ax.holds(r.At)
		a.X = f.x.at(r.At)
		b.X = a.X
	} else {
		shown = f.ay.holds(r.At)
		a.Y = f.y.at(r.At)
		b.Y = a.Y
	}
	switch {
	case !shown:
	case l == back:
		f.line(ruleStroke, a, b)
	case l == texts && r.Vertical:
		w := t.width(r.Label)
		at := vg.Point{X: b.X + labelGap/2, Y: b.Y - t.line()}
		if at.X+w > f.area.Max.X {
			at.X = b.X - labelGap/2 - w
		}
		f.text(t, at, left, r.Label)
	case l == texts && r.Label != "":
		f.ends = append(f.ends, endLabel{text: r.Label, color: ruleInk, at: b})
	}
}
