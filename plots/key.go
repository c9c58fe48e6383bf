package plots

import "gonum.org/v1/plot/vg"

// A KeyMark is the sample that a KeyItem shows.
type KeyMark uint8

// The samples.
const (
	KeyPoint     KeyMark = iota // the glyph of the style
	KeyReference                // the hollow diamond of a published value
	KeyInterval                 // a dot with whiskers
	KeySpread                   // mean ± standard deviation
	KeyLine                     // a line, dashed as the style is
	KeyBand                     // a line in its confidence band
	KeySpan                     // the grey of an outage
	KeyEvent                    // a triangle
	KeyRule                     // the dashes of a reference line
)

// A KeyItem explains one kind of mark. Keys are for what direct labels cannot
// say: what a diamond is, what whiskers are.
type KeyItem struct {
	Mark  KeyMark
	Style Style
	Text  string
}

var keyStyle = textStyle{size: tickSize, color: mutedInk}

// sampleWidth is the room of a sample.
func (k KeyItem) sampleWidth() vg.Length {
	switch k.Mark {
	case KeyPoint, KeyReference, KeyEvent:
		return 18 * px
	}
	return 36 * px
}

func (k KeyItem) width() vg.Length { return k.sampleWidth() + 7*px + keyStyle.width(k.Text) }

// draw draws the item from its left end at the height of its middle.
func (k KeyItem) draw(p pen, at vg.Point) {
	w := k.sampleWidth()
	mid := at.Add(vg.Point{X: w / 2})
	end := at.Add(vg.Point{X: w})
	c := k.Style.color()
	box := func(half vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: at.Sub(vg.Point{Y: half}), Max: end.Add(vg.Point{Y: half})}
	}
	switch k.Mark {
	case KeyPoint:
		p.glyph(k.Style, mid)
	case KeyReference:
		p.diamond(mid)
	case KeyInterval:
		p.line(stroke{color: c, width: whisker}, at, end)
		p.glyph(k.Style, mid)
	case KeySpread:
		p.rect(tint(c, spreadAlpha), box(spreadSize/2))
	case KeyLine:
		p.line(k.Style.stroke(), at, end)
	case KeyBand:
		p.rect(tint(c, bandAlpha), box(8*px))
		p.line(k.Style.stroke(), at, end)
	case KeySpan:
		p.rect(outageGrey, box(8*px))
	case KeyEvent:
		s := k.Style
		if s.Glyph == Disc {
			s.Glyph = DownTriangle
		}
		p.glyph(s, mid)
	case KeyRule:
		p.line(ruleStroke, at, end)
	}
	p.middle(keyStyle, end.Add(vg.Point{X: 7 * px}), left, k.Text)
}

// keyRows breaks the items into rows no wider than w.
func keyRows(items []KeyItem, w vg.Length) [][]KeyItem {
	var rows [][]KeyItem
	var used vg.Length
	for _, k := range items {
		need := k.width()
		if len(rows) == 0 || used+need > w {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		used += need + columnGap
	}
	return rows
}
