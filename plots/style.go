package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// This file is the house style: every colour, size and gap of every figure is
// decided here and nowhere else. Lengths are pixels of the PNG (96 to the
// inch); svg and pdf have the same proportions.

// px is one pixel of the PNG.
const px = vg.Length(72.0 / 96)

// A Family is a kind of policy. It has one colour in all figures; members of a
// family differ by dash, glyph and label.
type Family uint8

// The families. All colours but two are Okabe and Ito's (2008), which stay
// apart under the common colour-vision deficiencies. BucketWindow has a dark
// maroon, because their remaining colour, yellow, is too faint on white; of all
// colours it is among the farthest from the other seven as people with normal
// vision and with either red-green deficiency see them. Neutral is for data
// that belongs to no policy.
const (
	NoRetry       Family = iota // black
	FixedRetry                  // orange
	Unlimited                   // vermillion
	Budget                      // blue
	CountWindow                 // bluish green
	TimeWindow                  // reddish purple
	BudgetBreaker               // sky blue: a budget and a breaker together
	BucketWindow                // maroon
	Neutral                     // grey

	families = int(Neutral) + 1
)

var palette = [families]color.RGBA{
	NoRetry:       rgb(0x000000),
	FixedRetry:    rgb(0xE69F00),
	Unlimited:     rgb(0xD55E00),
	Budget:        rgb(0x0072B2),
	CountWindow:   rgb(0x009E73),
	TimeWindow:    rgb(0xCC79A7),
	BudgetBreaker: rgb(0x56B4E9),
	BucketWindow:  rgb(0x661100),
	Neutral:       rgb(0x6B6B6B),
}

// Color returns the colour of the family; an unknown family is Neutral.
func (f Family) Color() color.RGBA {
	if int(f) >= families {
		f = Neutral
	}
	return palette[f]
}

// A Style says how one series looks. The zero value is a black solid line of
// normal width with discs.
type Style struct {
	Color  color.RGBA // zero: black
	Dashes []float64  // on and off, px; nil: solid
	Width  float64    // of the line, px; 0: 2.5
	Glyph  Glyph      // zero: Disc
	Hollow bool       // outline only, white inside
	Size   float64    // radius of the glyph, px; 0: 5.5
}

// The dashes and glyphs of the members of a family, in order. Diamonds are
// left out: they mark published values.
var (
	memberDashes = [][]float64{nil, {10, 5}, {2.5, 4}, {12, 4, 2.5, 4}, {20, 6}, {6, 3, 2, 3, 2, 3}}
	memberGlyphs = []Glyph{Disc, Box, Triangle, DownTriangle, Cross, Plus}
)

// Member returns the style of the i-th member of the family, i from 0: the
// family's colour with a dash and a glyph of its own. After six members the
// dashes repeat; draw small multiples before that.
func (f Family) Member(i int) Style {
	n := len(memberDashes)
	i = (i%n + n) % n
	return Style{Color: f.Color(), Dashes: memberDashes[i], Glyph: memberGlyphs[i]}
}

// Hollowed returns the style with hollow glyphs.
func (s Style) Hollowed() Style {
	s.Hollow = true
	return s
}

// Inks and surfaces.
var (
	white      = rgb(0xFFFFFF)
	ink        = rgb(0x1A1A1A) // titles, row names
	mutedInk   = rgb(0x5C5C5C) // subtitles, ticks, footnotes
	axisInk    = rgb(0x8A8A8A) // base lines, tick marks
	gridInk    = rgb(0xE4E4E4)
	outageGrey = rgb(0xE3E3E6) // spans
	neverTint  = rgb(0xF4F2EE) // the strip of values beyond the axis
	ruleInk    = rgb(0x6B6B6B) // reference lines
)

const (
	bandAlpha   = 0x3A // confidence band: a tint of its line
	spreadAlpha = 0x4D // mean ± standard deviation
	dropAlpha   = 0x66 // the line below an event mark
	plateAlpha  = 0xB4 // white behind a name among the data
)

// Sizes of text.
const (
	titleSize    = 27 * px
	subtitleSize = 18 * px
	panelSize    = 17 * px // panel titles, bold
	labelSize    = 16 * px // axis labels, direct labels, row names
	tickSize     = 15 * px
	noteSize     = 14 * px
	leading      = 1.28 // line height over font size
)

// Margins and gaps.
const (
	pageMargin  = 30 * px
	headerGap   = 9 * px  // between title, subtitle and key
	bodyGap     = 20 * px // below the header, above the footnote
	panelGapX   = 30 * px // between small multiples
	panelGapY   = 22 * px
	tickGap     = 9 * px  // from a tick label to the data area
	tickRoomX   = 95 * px // from tick to tick, at least
	tickRoomLog = 62 * px // the same, on a logarithmic axis
	tickRoomY   = 56 * px // the same, upwards
	labelGap    = 12 * px
	headGap     = 13 * px // from a heading down to the data area
	columnGap   = 26 * px // between columns of text beside the rows
	edgePad     = 14 * px // from the end of a logarithmic axis to the edge
	neverSize   = 38 * px // the strip of values beyond a vertical axis
	neverWidth  = 76 * px // the same, beyond a horizontal axis
	zeroSize    = 30 * px // from 0 to the break of an axis with a zero
	rowHeight   = 50 * px // of a category, when the figure chooses its height
	gridWidth   = 1 * px
	axisWidth   = 1 * px
	hairline    = 1 * px // leaders, drops
	lineWidth   = 2.5 * px
	whisker     = 2.5 * px
	spreadSize  = 13 * px // thickness of a mean ± sd bar
	glyphRadius = 5.5 * px
	haloWidth   = 1.5 * px // white rim around glyphs
	hollowWidth = 2 * px
)

// Sizes of a figure in px, when it does not say.
const (
	defaultWidth  = 1200
	defaultHeight = 700
)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xFF}
}

// tint returns the colour at a given opacity.
func tint(c color.RGBA, alpha uint8) color.NRGBA {
	return color.NRGBA{R: c.R, G: c.G, B: c.B, A: alpha}
}

// textInk returns the colour, darkened until small text in it reads well on
// white: a contrast of 4.5 to 1 (WCAG 2.1, section 1.4.3).
func textInk(c color.RGBA) color.RGBA {
	for contrast(c) < 4.5 {
		c.R -= c.R / 16
		c.G -= c.G / 16
		c.B -= c.B / 16
	}
	return c
}
