package plots

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// measure returns the width of a line of text. Pairs are kerned, except of two
// digits and around spaces: numbers below each other must line up, but
// Liberation Sans draws 11 together, and words must stay apart.
func measure(f font.Face, s string) vg.Length {
	var buf sfnt.Buffer
	em := fixed.Int26_6(f.Face.UnitsPerEm())
	var width fixed.Int26_6 // in font units
	var prev sfnt.GlyphIndex
	var last rune
	for i, r := range s {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 && kerned(last, r) {
			if k, err := f.Face.Kern(&buf, prev, glyph, em, 0); err == nil {
				width += k
			}
		}
		if a, err := f.Face.GlyphAdvance(&buf, glyph, em, 0); err == nil {
			width += a
		}
		prev, last = glyph, r
	}
	return f.Font.Size * vg.Length(width) / vg.Length(em)
}

// kerned reports whether two neighbours may be moved closer.
func kerned(a, b rune) bool {
	return a != ' ' && b != ' ' && !(digit(a) && digit(b))
}

func digit(r rune) bool { return '0' <= r && r <= '9' }
