package plots

import (
	"image/color"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A recorder is a surface that remembers what was drawn.
type recorder struct {
	texts  []recorded
	lines  []recorded
	fills  []recorded
	color  color.NRGBA
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
}

// recorded is one thing drawn: its outline and its look.
type recorded struct {
	text   string
	box    vg.Rectangle
	size   vg.Length
	color  color.NRGBA
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	path   vg.Path
}

func (r *recorder) SetColor(c color.Color) {
	r.color = color.NRGBAModel.Convert(c).(color.NRGBA)
}
func (r *recorder) SetLineWidth(w vg.Length)               { r.width = w }
func (r *recorder) SetLineDash(d []vg.Length, o vg.Length) { r.dashes, r.offset = d, o }
func (r *recorder) Stroke(p vg.Path)                       { r.lines = append(r.lines, r.shape(p)) }
func (r *recorder) Fill(p vg.Path)                         { r.fills = append(r.fills, r.shape(p)) }
func (r *recorder) FillString(f font.Face, at vg.Point, s string) {
	r.texts = append(r.texts, recorded{
		text: s, color: r.color, size: f.Font.Size,
		box: vg.Rectangle{Min: at, Max: vg.Point{X: at.X + measure(f, s), Y: at.Y + capHeight*f.Font.Size}},
	})
}

func (r *recorder) shape(p vg.Path) recorded {
	out := recorded{color: r.color, width: r.width, dashes: r.dashes, offset: r.offset, path: p}
	for i, c := range p {
		if c.Type == vg.CloseComp {
			continue
		}
		if i == 0 {
			out.box = vg.Rectangle{Min: c.Pos, Max: c.Pos}
		}
		out.box.Min = vg.Point{X: min(out.box.Min.X, c.Pos.X), Y: min(out.box.Min.Y, c.Pos.Y)}
		out.box.Max = vg.Point{X: max(out.box.Max.X, c.Pos.X), Y: max(out.box.Max.Y, c.Pos.Y)}
	}
	return out
}

// record lays out and draws a figure.
func record(t testing.TB, f *Figure) (*recorder, *page) {
	t.Helper()
	p, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	p.paint(r)
	return r, p
}

// one draws a panel with the marks on plain axes of the given ranges.
func one(t testing.TB, x, y Axis, marks ...Mark) (*recorder, *cell) {
	t.Helper()
	r, p := record(t, &Figure{Panels: []Panel{{X: x, Y: y, Marks: marks}}})
	return r, p.cells[0]
}

// find returns the only text that reads s.
func (r *recorder) find(t testing.TB, s string) recorded {
	t.Helper()
	var found []recorded
	for _, v := range r.texts {
		if v.text == s {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d texts read %q, want 1", len(found), s)
	}
	return found[0]
}

// count returns how many texts read s.
func (r *recorder) count(s string) (n int) {
	for _, v := range r.texts {
		if v.text == s {
			n++
		}
	}
	return n
}

// strokes returns the lines of one colour.
func (r *recorder) strokes(c color.RGBA) (out []recorded) {
	for _, l := range r.lines {
		if l.color == (color.NRGBA{R: c.R, G: c.G, B: c.B, A: 0xFF}) {
			out = append(out, l)
		}
	}
	return out
}

// areas returns the filled shapes of one colour and opacity.
func (r *recorder) areas(c color.NRGBA) (out []recorded) {
	for _, f := range r.fills {
		if f.color == c {
			out = append(out, f)
		}
	}
	return out
}

// overlap reports whether two boxes share more than a hair.
func overlap(a, b vg.Rectangle) bool {
	const hair = 0.01
	return a.Min.X < b.Max.X-hair && b.Min.X < a.Max.X-hair && a.Min.Y < b.Max.Y-hair && b.Min.Y < a.Max.Y-hair
}

// middle returns the centre of a box.
func (v recorded) middle() vg.Point {
	return vg.Point{X: (v.box.Min.X + v.box.Max.X) / 2, Y: (v.box.Min.Y + v.box.Max.Y) / 2}
}

// near reports whether two lengths agree to a hundredth of a pixel.
func near(a, b vg.Length) bool { return max(a-b, b-a) < px/100 }
