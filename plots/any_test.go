package plots

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A maker draws random figures: tame ones, most of which can be drawn, and wild
// ones, most of which cannot.
type maker struct {
	*rapid.T
	tame   bool
	number *rapid.Generator[float64]
}

func newMaker(t *rapid.T) maker {
	m := maker{T: t, tame: rapid.IntRange(0, 3).Draw(t, "tame") > 0}
	weights := []float64{1, 0.5, 3, 2, 1, 0.1, 2.5, 1.5, 0.7, 3, 1, 2, math.NaN(), inf}
	m.number = rapid.SampledFrom(weights)
	if !m.tame {
		m.number = rapid.OneOf(
			rapid.Float64Range(-10, 1000),
			rapid.SampledFrom([]float64{0, 1, 2, math.NaN(), inf, -inf, 1e300, -1e300, 5e-324, 1e-9, 1e99}),
		)
	}
	return m
}

func (m maker) int(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(m.T, name) }
func (m maker) bool(name string) bool           { return rapid.Bool().Draw(m.T, name) }
func (m maker) one(name string) float64         { return m.number.Draw(m.T, name) }

// pair is an interval, in order if the figure is tame.
func (m maker) pair(name string) (a, b float64) {
	a, b = m.one(name), m.one(name)
	if m.tame && a > b {
		return b, a
	}
	return a, b
}

func (m maker) numbers(name string, n int) []float64 {
	if !m.tame && m.int(name+" missing", 0, 9) == 0 {
		n = m.int(name+" length", 0, n)
	}
	return rapid.SliceOfN(m.number, n, n).Draw(m.T, name)
}

func (m maker) axis(name string) Axis {
	a := Axis{Label: name, Kind: Kind(m.int(name+" kind", 0, 2))}
	switch m.int(name+" form", 0, 5) {
	case 0:
		a.Rows = []string{"a", "b\nwith more", "c", "d"}
	case 1:
		a.Range[0], a.Range[1] = m.pair(name + " range")
	case 2:
		a.Ticks = m.numbers(name+" ticks", 3)
	}
	if (a.Rows == nil || !m.tame) && m.int(name+" never", 0, 4) > 0 {
		a.Never = "never"
	}
	return a
}

func (m maker) mark() Mark {
	n := m.int("n", 1, 6)
	x, y, a, b := m.numbers("x", n), m.numbers("y", n), m.numbers("a", n), m.numbers("b", n)
	style := Family(m.int("family", 0, 10)).Member(m.int("member", -2, 8))
	flag := m.bool("flag")
	from, to := m.pair("span")
	switch m.int("mark", 0, 8) {
	case 0:
		return Line{Label: "a line", X: x, Y: y, Lo: a, Hi: b, Points: flag, Step: flag, Style: style}
	case 1:
		e := Estimates{Horizontal: flag}
		for i := range min(len(x), len(y), len(a), len(b)) {
			p := Estimate{At: x[i], Mean: y[i], Lo: a[i], Hi: b[i], SD: math.Abs(a[i]), Text: "text", Style: style}
			if m.tame {
				p.Lo, p.Hi, p.SD = min(a[i], b[i]), max(a[i], b[i]), min(p.SD, 5)
			}
			e.Points = append(e.Points, p)
		}
		return e
	case 2:
		return Reference{X: x, Y: y}
	case 3:
		return Scatter{X: x, Y: y, XLo: a, XHi: b, YLo: a, YHi: b, Names: []string{"p", "q", "r", "s", "t", "u"}[:n], Style: style}
	case 4:
		return Front{X: x, Y: y, Up: flag, Style: style}
	case 5:
		return Spans{{From: from, To: to, Label: "span"}}
	case 6:
		return Bars{{Row: m.one("row"), From: from, To: to, Label: "bar", Style: style}}
	case 7:
		return Events{At: x, Drop: flag, Style: style}
	}
	return Rule{At: from, Vertical: flag, Label: "rule"}
}

func (m maker) figure() *Figure {
	f := &Figure{Title: "t", Note: "n", ShareX: m.bool("share x"), ShareY: m.bool("share y"), Columns: m.int("columns", 0, 3)}
	for range m.int("panels", 1, 2) {
		f.Panels = append(f.Panels, Panel{X: m.axis("x"), Y: m.axis("y"), Marks: []Mark{m.mark(), m.mark()}})
	}
	return f
}

// Whatever the numbers are, a figure is drawn or an error says why not; nothing
// undefined gets into the file.
func TestAnyData(t *testing.T) {
	drawn, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		if err := newMaker(t).figure().Write(&b, "svg"); err != nil {
			refused++
			if b.Len() > 0 {
				t.Fatalf("%d bytes beside the error %v", b.Len(), err)
			}
			return
		}
		drawn++
		for _, bad := range []string{"NaN", "Inf"} {
			if bytes.Contains(b.Bytes(), []byte(bad)) {
				t.Fatalf("%s in the drawing", bad)
			}
		}
	})
	t.Logf("%d drawn, %d refused", drawn, refused)
	if drawn == 0 || refused == 0 {
		t.Errorf("%d figures drawn and %d refused, want some of both", drawn, refused)
	}
}

// The image and the document take the same figures as the drawing.
func TestAnyDataInOtherFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	rapid.Check(t, func(t *rapid.T) {
		f := newMaker(t).figure()
		f.Width, f.Height = 300, 300
		var want string
		for i, format := range Formats() {
			err := f.Write(&bytes.Buffer{}, format)
			got := "drawn"
			if err != nil {
				got = err.Error()
			}
			if i > 0 && got != want {
				t.Fatalf("%s: %s, but %s: %s", format, got, Formats()[0], want)
			}
			want = got
		}
	})
}
