package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// A Glyph is the shape of a point.
type Glyph uint8

// The glyphs. NoGlyph draws nothing; Tick is a short vertical bar, for events.
const (
	Disc Glyph = iota
	Box
	Triangle
	DownTriangle
	Diamond
	Cross
	Plus
	Tick
	NoGlyph
)

// corners are the outlines of the polygonal glyphs for radius 1, with about
// the same area as the disc.
var corners = map[Glyph][]vg.Point{
	Box:          {{X: -0.88, Y: -0.88}, {X: 0.88, Y: -0.88}, {X: 0.88, Y: 0.88}, {X: -0.88, Y: 0.88}},
	Triangle:     {{X: -1.17, Y: -0.75}, {X: 1.17, Y: -0.75}, {X: 0, Y: 1.28}},
	DownTriangle: {{X: -1.17, Y: 0.75}, {X: 0, Y: -1.28}, {X: 1.17, Y: 0.75}},
	Diamond:      {{X: 0, Y: -1.36}, {X: 1.36, Y: 0}, {X: 0, Y: 1.36}, {X: -1.36, Y: 0}},
}

// crossings are the strokes of the open glyphs for radius 1.
var crossings = map[Glyph][2][2]vg.Point{
	Cross: {{{X: -0.9, Y: -0.9}, {X: 0.9, Y: 0.9}}, {{X: -0.9, Y: 0.9}, {X: 0.9, Y: -0.9}}},
	Plus:  {{{X: -1.1}, {X: 1.1}}, {{Y: -1.1}, {Y: 1.1}}},
	Tick:  {{{Y: -1.7}, {Y: 1.7}}, {}},
}

// glyph draws the glyph of a style at a point, with a white rim that keeps it
// apart from what lies below.
func (p pen) glyph(s Style, at vg.Point) {
	r, col := s.radius(), s.color()
	if arms, ok := crossings[s.Glyph]; ok {
		for _, w := range []stroke{{white, hollowWidth + 2*haloWidth, nil}, {col, hollowWidth, nil}} {
			if w.color == white && s.Glyph == Tick {
				continue // ticks stand close; a rim would hide their neighbours
			}
			for _, arm := range arms {
				if arm[0] != arm[1] {
					p.line(w, at.Add(arm[0].Scale(r)), at.Add(arm[1].Scale(r)))
				}
			}
		}
		return
	}
	if s.Glyph == NoGlyph {
		return
	}
	p.shape(s.Glyph, at, r+haloWidth, white)
	p.shape(s.Glyph, at, r, col)
	if s.Hollow {
		p.shape(s.Glyph, at, r-hollowWidth*rim(s.Glyph), white)
	}
}

// rim returns how much smaller the radius of a glyph must be for a rim of
// thickness 1 along its sides.
func rim(g Glyph) vg.Length {
	switch g {
	case Triangle, DownTriangle:
		return 1.45
	case Diamond:
		return 1.04
	}
	return 1
}

// shape fills a disc or a polygonal glyph.
func (p pen) shape(g Glyph, at vg.Point, r vg.Length, c color.Color) {
	unit, ok := corners[g]
	if !ok {
		p.SetColor(c)
		p.Fill(circle(at, r))
		return
	}
	pts := make([]vg.Point, len(unit))
	for i, u := range unit {
		pts[i] = at.Add(u.Scale(r))
	}
	p.fill(c, pts...)
}

// circle returns a circle as four curves, which every format draws alike.
func circle(at vg.Point, r vg.Length) vg.Path {
	k := r * 4 * (math.Sqrt2 - 1) / 3
	d := func(x, y vg.Length) vg.Point { return vg.Point{X: at.X + x, Y: at.Y + y} }
	var path vg.Path
	path.Move(d(r, 0))
	path.CubeTo(d(r, k), d(k, r), d(0, r))
	path.CubeTo(d(-k, r), d(-r, k), d(-r, 0))
	path.CubeTo(d(-r, -k), d(-k, -r), d(0, -r))
	path.CubeTo(d(k, -r), d(r, -k), d(r, 0))
	path.Close()
	return path
}

// The resolved parts of a style.
func (s Style) color() color.RGBA {
	if s.Color == (color.RGBA{}) {
		return palette[NoRetry]
	}
	return s.Color
}

// at returns the style for a point: hollow in the strip of an axis.
func (s Style) at(values ...float64) Style {
	for _, v := range values {
		s.Hollow = s.Hollow || math.IsInf(v, 1)
	}
	return s
}

func (s Style) radius() vg.Length {
	if s.Size > 0 {
		return vg.Length(s.Size) * px
	}
	return glyphRadius
}

func (s Style) stroke() stroke {
	w := lineWidth
	if s.Width > 0 {
		w = vg.Length(s.Width) * px
	}
	out := stroke{color: s.color(), width: w}
	for _, d := range s.Dashes {
		out.dashes = append(out.dashes, vg.Length(d)*px)
	}
	return out
}
