package plots

import (
	"image/color"
	"io"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A document is a surface on a PDF page. Gonum's PDF canvas would do, but for
// its fonts, which lack signs such as ≥ and −, and for the date it writes.
type document struct {
	*fpdf.Fpdf
	h     float64 // height of the page; PDF counts it downwards here
	width vg.Length
}

const pdfFont = "LiberationSans"

// pdfDate is the date in every PDF: the same figure gives the same bytes.
var pdfDate = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func newDocument(p *page, title string) *document {
	d := &document{
		Fpdf: fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: p.w.Points(), Ht: p.h.Points()}}),
		h:    p.h.Points(),
	}
	d.SetCreationDate(pdfDate)
	d.SetModificationDate(pdfDate)
	d.SetCatalogSort(true)
	d.SetTitle(title, true)
	d.SetMargins(0, 0, 0)
	d.SetAutoPageBreak(false, 0)
	d.AddUTF8FontFromBytes(pdfFont, "", liberationsansregular.TTF)
	d.AddUTF8FontFromBytes(pdfFont, "B", liberationsansbold.TTF)
	d.AddPage()
	d.SetLineJoinStyle("round")
	return d
}

// SetColor sets the colour of lines, areas and text.
func (d *document) SetColor(c color.Color) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	r, g, b := int(n.R), int(n.G), int(n.B)
	d.SetDrawColor(r, g, b)
	d.SetFillColor(r, g, b)
	d.SetTextColor(r, g, b)
	d.SetAlpha(float64(n.A)/255, "Normal")
}

// SetLineWidth sets the width of lines.
func (d *document) SetLineWidth(w vg.Length) {
	d.width = w
	d.Fpdf.SetLineWidth(w.Points())
}

// SetLineDash sets the dashes of lines; none makes them solid.
func (d *document) SetLineDash(dashes []vg.Length, offset vg.Length) {
	pattern := make([]float64, len(dashes))
	for i, v := range dashes {
		pattern[i] = v.Points()
	}
	d.SetDashPattern(pattern, offset.Points())
}

// Stroke draws the line of a path.
func (d *document) Stroke(path vg.Path) {
	if d.width > 0 {
		d.trace(path)
		d.DrawPath("D")
	}
}

// Fill fills the inside of a path.
func (d *document) Fill(path vg.Path) {
	d.trace(path)
	d.DrawPath("F")
}

// trace follows a path of lines and cubic curves, which is all that a pen uses.
func (d *document) trace(path vg.Path) {
	for _, c := range path {
		x, y := d.point(c.Pos)
		switch {
		case c.Type == vg.MoveComp:
			d.MoveTo(x, y)
		case c.Type == vg.LineComp:
			d.LineTo(x, y)
		case c.Type == vg.CurveComp && len(c.Control) == 2:
			ax, ay := d.point(c.Control[0])
			bx, by := d.point(c.Control[1])
			d.CurveBezierCubicTo(ax, ay, bx, by, x, y)
		case c.Type == vg.CloseComp:
			d.ClosePath()
		}
	}
}

func (d *document) point(p vg.Point) (x, y float64) {
	return p.X.Points(), d.h - p.Y.Points()
}

// FillString draws text with its baseline starting at a point.
func (d *document) FillString(f font.Face, at vg.Point, s string) {
	style := ""
	if f.Font.Weight == stdfont.WeightBold {
		style = "B"
	}
	d.SetFont(pdfFont, style, f.Font.Size.Points())
	x, y := d.point(at)
	d.Text(x, y, s)
}

// writePDF draws the page as a PDF with the fonts in it.
func writePDF(w io.Writer, p *page) error {
	d := newDocument(p, p.title)
	pen{d}.paper(p)
	p.paint(d)
	return d.Output(w)
}
