package plots

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A surface is what a figure is drawn on: the part of gonum's vg.Canvas that
// the house style needs. Its origin is the lower left corner.
type surface interface {
	SetColor(color.Color)
	SetLineWidth(vg.Length)
	SetLineDash(dashes []vg.Length, offset vg.Length)
	Stroke(vg.Path)
	Fill(vg.Path)
	FillString(f font.Face, baseline vg.Point, s string)
}

// A pen draws the few shapes that figures consist of.
type pen struct{ surface }

// A stroke is the look of a line.
type stroke struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
}

// longest is the most points stroked at once. The rasterizer of the PNG sorts
// the cells of a path by insertion, so that one long path costs far more than
// its pieces.
const longest = 48

// line strokes an open line through the points.
func (p pen) line(s stroke, pts ...vg.Point) {
	if len(pts) < 2 {
		return
	}
	p.SetColor(s.color)
	p.SetLineWidth(s.width)
	var done vg.Length // keeps dashes in phase from piece to piece
	for {
		n := min(len(pts), longest)
		p.SetLineDash(s.dashes, done)
		path := make(vg.Path, 0, n)
		path.Move(pts[0])
		for _, pt := range pts[1:n] {
			path.Line(pt)
		}
		p.Stroke(path)
		if n == len(pts) {
			return
		}
		// The pieces overlap by a segment, so that no seam shows.
		if s.dashes != nil {
			done += length(pts[:n-1])
		}
		pts = pts[n-2:]
	}
}

// length returns the length of the line through the points.
func length(pts []vg.Point) vg.Length {
	var sum vg.Length
	for i := 1; i < len(pts); i++ {
		sum += hypot(pts[i].Sub(pts[i-1]))
	}
	return sum
}

// fill fills the polygon with the given corners.
func (p pen) fill(c color.Color, pts ...vg.Point) {
	if len(pts) < 3 {
		return
	}
	p.SetColor(c)
	p.Fill(closed(pts))
}

// rect fills a rectangle.
func (p pen) rect(c color.Color, r vg.Rectangle) {
	p.fill(c, r.Min, vg.Point{X: r.Max.X, Y: r.Min.Y}, r.Max, vg.Point{X: r.Min.X, Y: r.Max.Y})
}

// outline strokes the polygon with the given corners.
func (p pen) outline(s stroke, pts ...vg.Point) {
	p.SetColor(s.color)
	p.SetLineWidth(s.width)
	p.SetLineDash(s.dashes, 0)
	p.Stroke(closed(pts))
}

// paper makes the whole page white.
func (p pen) paper(pg *page) {
	p.rect(white, vg.Rectangle{Max: vg.Point{X: pg.w, Y: pg.h}})
}

func closed(pts []vg.Point) vg.Path {
	path := make(vg.Path, 0, len(pts)+1)
	path.Move(pts[0])
	for _, pt := range pts[1:] {
		path.Line(pt)
	}
	path.Close()
	return path
}

// text draws one line of text; align is left, center or right, and at is on
// the baseline.
func (p pen) text(t textStyle, at vg.Point, align float64, s string) {
	if s == "" {
		return
	}
	f := t.face()
	at.X -= vg.Length(align) * measure(f, s)
	p.SetColor(t.color)
	p.FillString(f, at, s)
}

// middle draws one line of text whose capitals are centred on the height of at.
func (p pen) middle(t textStyle, at vg.Point, align float64, s string) {
	at.Y -= t.capital() / 2
	p.text(t, at, align, s)
}

// snap moves a coordinate to the middle of its pixel, so that a hairline along
// it is sharp in the PNG.
func snap(v vg.Length) vg.Length {
	n := vg.Length(int(v / px))
	return (n + 0.5) * px
}

// clip returns the pieces of a line inside a rectangle.
func clip(r vg.Rectangle, pts []vg.Point) [][]vg.Point {
	c := draw.Canvas{Rectangle: r}
	return c.ClipLinesXY(pts)
}

// clipPolygon returns the part of a polygon inside a rectangle.
func clipPolygon(r vg.Rectangle, pts []vg.Point) []vg.Point {
	c := draw.Canvas{Rectangle: r}
	return c.ClipPolygonXY(pts)
}
