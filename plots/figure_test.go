package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The same figure gives the same bytes.
func TestSameFigureSameBytes(t *testing.T) {
	for _, name := range names() {
		for _, format := range Formats() {
			if !bytes.Equal(bytesOf(t, demos[name](), format), bytesOf(t, demos[name](), format)) {
				t.Errorf("%s.%s: built again, other bytes", name, format)
			}
		}
	}
}

// One figure may be written by several goroutines.
func TestConcurrentWrites(t *testing.T) {
	shared := demoDots()
	want := bytesOf(t, shared, "svg")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			format := Formats()[i%3]
			if got := bytesOf(t, shared, format); format == "svg" && !bytes.Equal(got, want) {
				t.Errorf("%s: written at the same time, other bytes", format)
			}
		})
	}
	wg.Wait()
}

func bytesOf(t *testing.T, f *Figure, format string) []byte {
	var b bytes.Buffer
	if err := f.Write(&b, format); err != nil {
		t.Error(err)
	}
	return b.Bytes()
}

func simple() *Figure {
	return &Figure{
		Title:  "A <finding> & more",
		Note:   "demonstration · seed 1",
		Panels: []Panel{{Marks: []Mark{Line{Label: "a", X: []float64{0, 1}, Y: []float64{0, 1}}}}},
	}
}

func TestPNG(t *testing.T) {
	f := simple()
	img, err := png.Decode(bytes.NewReader(bytesOf(t, f, "png")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := img.Bounds(), image.Rect(0, 0, 1200, 700); got != want {
		t.Errorf("bounds %v, want %v", got, want)
	}
	p, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	r := newRaster(p)
	p.paint(r)
	got := image.NewRGBA(img.Bounds())
	draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
	if !bytes.Equal(got.Pix, r.img.Pix) {
		t.Error("the pixels are not those that were drawn, or not opaque")
	}
	if r.img.RGBAAt(3, 3) != white {
		t.Errorf("the corner is %v, want white", r.img.RGBAAt(3, 3))
	}
}

func TestSVG(t *testing.T) {
	data := bytesOf(t, simple(), "svg")
	var texts []string
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
			texts = append(texts, string(c))
		}
	}
	for _, want := range []string{"A <finding> & more", "demonstration · seed 1", "a"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
	for _, want := range []string{`width="1200" height="700" viewBox="0 0 1200 700"`, `textLength=`, `fill="#FFFFFF"`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
}

func TestPDF(t *testing.T) {
	data := bytesOf(t, simple(), "pdf")
	if !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("starts with %q", data[:8])
	}
	for _, want := range []string{"/CreationDate (D:20000101000000", "/ModDate (D:20000101000000", "/MediaBox [0 0 900.00 525.00]"} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
}

func TestSize(t *testing.T) {
	f := simple()
	f.Width, f.Height = 640, 400
	c, err := png.DecodeConfig(bytes.NewReader(bytesOf(t, f, "png")))
	if err != nil || c.Width != 640 || c.Height != 400 {
		t.Errorf("%d × %d px, %v; want 640 × 400", c.Width, c.Height, err)
	}
}

func TestErrors(t *testing.T) {
	line := func(l Line) *Figure {
		return &Figure{Panels: []Panel{{Title: "p", Marks: []Mark{l}}}}
	}
	nan := math.NaN()
	tests := []struct {
		name   string
		figure *Figure
		format string
		want   string
	}{
		{"format", simple(), "gif", `plots: format "gif", want png, svg, pdf`},
		{"no panels", &Figure{}, "png", "plots: no panels, want at least 1"},
		{"nothing drawn", &Figure{Panels: []Panel{{}}}, "png", "plots: panel 1: no data, want at least one value on each axis"},
		{"only a span", &Figure{Panels: []Panel{{Marks: []Mark{Spans{{From: 1, To: 2}}}}}}, "png", "panel 1: no data"},
		{"empty line", line(Line{Label: "a"}), "png", `plots: panel "p": line "a": no points, want at least 1`},
		{"undefined", line(Line{Label: "a", X: []float64{1, 2}, Y: []float64{nan, nan}}), "png",
			`panel "p": line "a": all of 2 points are undefined`},
		{"never together", line(Line{Label: "a", X: []float64{1, nan}, Y: []float64{nan, 1}}), "png", "all of 2 points are undefined"},
		{"length", line(Line{Label: "a", X: []float64{1, 2, 3}, Y: []float64{1, 2}}), "png",
			`line "a": y has 2 values, want 3 as x has`},
		{"band length", line(Line{Label: "a", X: []float64{1, 2}, Y: []float64{1, 2}, Lo: []float64{1}, Hi: []float64{1, 2}}), "png",
			`the lower bound has 1 values, want 2`},
		{"half a band", line(Line{Label: "a", X: []float64{1, 2}, Y: []float64{1, 2}, Hi: []float64{1, 2}}), "png",
			`the lower bound has 0 values, want 2`},
		{"infinite", line(Line{Label: "a", X: []float64{1, 2}, Y: []float64{1, inf}}), "svg",
			`plots: panel "p": y axis: value +Inf, want finite ones or an axis with Never`},
		{"nil mark", &Figure{Panels: []Panel{{Marks: []Mark{nil}}}}, "png", "panel 1: mark 0 is nil"},
		{"column", &Figure{Panels: []Panel{{Y: Axis{Rows: []string{"a"}}, Columns: []Column{{Head: "P"}}}}}, "png",
			`column "P" has 0 cells, want 1, one for each row`},
		{"weight", &Figure{Panels: []Panel{{Weight: -1}}}, "png", "weight -1, want 0 to 1000"},
		{"columns", &Figure{Columns: -1, Panels: []Panel{{}}}, "png", "columns -1, want at least 0"},
		{"width", &Figure{Width: 20, Panels: []Panel{{}}}, "png", "width 20 px, want 0 or 200 to 10000"},
		{"height", &Figure{Height: -1, Panels: []Panel{{}}}, "png", "height -1 px, want"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		err := tt.figure.Write(&b, tt.format)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes written beside the error", tt.name, b.Len())
		}
	}
}

func TestTooSmallForItsLabels(t *testing.T) {
	f := simple()
	f.Panels[0].Marks = []Mark{Line{Label: strings.Repeat("long ", 60), X: []float64{0, 1}, Y: []float64{0, 1}}}
	if err := f.Write(io.Discard, "png"); err == nil || !strings.Contains(err.Error(), "want it larger") {
		t.Errorf("error %v, want a figure that is too small", err)
	}
}

// A failing writer is reported with the format.
func TestWriterFails(t *testing.T) {
	full := errors.New("disk full")
	for _, format := range Formats() {
		err := simple().Write(failing{full}, format)
		if !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "plots: write "+format+": ") {
			t.Errorf("%s: error %v, want %v", format, err, full)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
