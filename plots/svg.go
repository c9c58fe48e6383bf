package plots

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strconv"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A drawing is a surface that writes SVG. Text stays text, and each line says
// how long it is: where Liberation Sans is not installed, a substitute is set
// to the same width and nothing overlaps. (Gonum's SVG canvas leaves that to
// chance, or embeds a megabyte of fonts.)
type drawing struct {
	bytes.Buffer
	h      vg.Length // height of the page; SVG counts downwards
	color  color.NRGBA
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
}

// svgFonts are Liberation Sans and others of the same or similar widths.
const svgFonts = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif"

// SetColor sets the colour of lines, areas and text.
func (d *drawing) SetColor(c color.Color) {
	d.color = color.NRGBAModel.Convert(c).(color.NRGBA)
}

// SetLineWidth sets the width of lines.
func (d *drawing) SetLineWidth(w vg.Length) { d.width = w }

// SetLineDash sets the dashes of lines; none makes them solid.
func (d *drawing) SetLineDash(dashes []vg.Length, offset vg.Length) {
	d.dashes, d.offset = dashes, offset
}

// paint writes the attributes of a colour, for fill or stroke.
func (d *drawing) paint(what string) {
	fmt.Fprintf(d, ` %s="#%02X%02X%02X"`, what, d.color.R, d.color.G, d.color.B)
	if d.color.A != 0xFF {
		fmt.Fprintf(d, ` %s-opacity="%.3f"`, what, float64(d.color.A)/255)
	}
}

// Stroke draws the line of a path.
func (d *drawing) Stroke(path vg.Path) {
	d.WriteString(`<path fill="none"`)
	d.paint("stroke")
	fmt.Fprintf(d, ` stroke-width="%s"`, pixels(d.width))
	for i, v := range d.dashes {
		if i == 0 {
			fmt.Fprintf(d, ` stroke-dashoffset="%s" stroke-dasharray="`, pixels(d.offset))
		} else {
			d.WriteByte(' ')
		}
		d.WriteString(pixels(v))
	}
	if len(d.dashes) > 0 {
		d.WriteByte('"')
	}
	d.trace(path)
}

// Fill fills the inside of a path.
func (d *drawing) Fill(path vg.Path) {
	d.WriteString(`<path`)
	d.paint("fill")
	d.trace(path)
}

// trace writes a path of lines and cubic curves, which is all that a pen uses,
// and ends its element.
func (d *drawing) trace(path vg.Path) {
	d.WriteString(` d="`)
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			d.WriteByte('M')
		case vg.LineComp:
			d.WriteByte('L')
		case vg.CurveComp:
			d.WriteByte('C')
			for _, p := range c.Control {
				d.point(p)
				d.WriteByte(' ')
			}
		case vg.CloseComp:
			d.WriteByte('Z')
			continue
		}
		d.point(c.Pos)
	}
	d.WriteString("\"/>\n")
}

func (d *drawing) point(p vg.Point) {
	d.WriteString(pixels(p.X))
	d.WriteByte(' ')
	d.WriteString(pixels(d.h - p.Y))
}

// FillString draws text with its baseline starting at a point.
func (d *drawing) FillString(f font.Face, at vg.Point, s string) {
	fmt.Fprintf(d, `<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" font-size="%s"`,
		pixels(at.X), pixels(d.h-at.Y), pixels(measure(f, s)), pixels(f.Font.Size))
	if f.Font.Weight == stdfont.WeightBold {
		d.WriteString(` font-weight="bold"`)
	}
	d.paint("fill")
	d.WriteByte('>')
	xml.EscapeText(d, []byte(s)) // never fails on a buffer
	d.WriteString("</text>\n")
}

// pixels writes a length in pixels, to a hundredth.
func pixels(v vg.Length) string {
	b := strconv.AppendFloat(nil, float64(v/px), 'f', 2, 64)
	b = bytes.TrimSuffix(bytes.TrimRight(b, "0"), []byte("."))
	if string(b) == "-0" {
		return "0"
	}
	return string(b)
}

// writeSVG draws the page as an SVG.
func writeSVG(w io.Writer, p *page) error {
	d := &drawing{h: p.h}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" `+
		`font-family="%[3]s" stroke-linejoin="round" role="img">`+"\n<title>", pixels(p.w), pixels(p.h), svgFonts)
	xml.EscapeText(d, []byte(p.title))
	d.WriteString("</title>\n")
	pen{d}.paper(p)
	p.paint(d)
	d.WriteString("</svg>\n")
	_, err := d.WriteTo(w)
	return err
}
