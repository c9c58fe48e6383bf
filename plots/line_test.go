package plots

import (
	"bytes"
	"io"
	"math"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// A gap interrupts the line; a point between two gaps is still seen.
func TestGaps(t *testing.T) {
	nan := math.NaN()
	s := Budget.Member(0)
	r, c := one(t, unit, unit, Line{Style: s,
		X: []float64{0, 1, 2, 3, 4, 5, 6, 7},
		Y: []float64{1, 2, nan, 5, nan, nan, 3, 4}})
	got := r.strokes(s.Color)
	if len(got) != 2 || !near(got[0].box.Max.X, at(c, 1, 0).X) || !near(got[1].box.Min.X, at(c, 6, 0).X) {
		t.Errorf("lines %v, want one to 1 and one from 6", got)
	}
	if dots := r.areas(tint(s.Color, 0xFF)); len(dots) != 1 || !near(dots[0].middle().X, at(c, 3, 0).X) {
		t.Errorf("dots %v, want one at 3", dots)
	}
}

// In a step line each value holds until the next one.
func TestSteps(t *testing.T) {
	s := Budget.Member(0)
	r, c := one(t, unit, unit, Line{X: []float64{1, 4, 6, 7, 9}, Y: []float64{2, 8, 8, 8, 3}, Step: true, Style: s})
	want := []vg.Point{at(c, 1, 2), at(c, 4, 2), at(c, 4, 8), at(c, 9, 8), at(c, 9, 3)}
	got := r.strokes(s.Color)
	if len(got) != 1 || len(got[0].path) != len(want) {
		t.Fatalf("lines %v, want one through %v", got, want)
	}
	for i, p := range got[0].path {
		if !near(p.Pos.X, want[i].X) || !near(p.Pos.Y, want[i].Y) {
			t.Errorf("corner %d at %v, want %v", i, p.Pos, want[i])
		}
	}
}

// A long line is stroked in pieces that overlap by a segment, its dashes in
// phase all along.
func TestPiecesOfALongLine(t *testing.T) {
	l := Line{Style: Budget.Member(1)}
	for i := range 120 {
		l.X, l.Y = append(l.X, float64(i)), append(l.Y, float64(i%2))
	}
	r, c := one(t, Axis{}, unit, l)
	got := r.strokes(l.Style.Color)
	if len(got) != 3 {
		t.Fatalf("%d pieces, want 3", len(got))
	}
	segment := hypot(at(c, 1, 1).Sub(at(c, 0, 0)))
	segments := 0
	for i, piece := range got {
		if i > 0 {
			segments--
		}
		if want := vg.Length(segments) * segment; !near(piece.offset, want) {
			t.Errorf("piece %d starts its dashes at %v, want %v", i, piece.offset, want)
		}
		segments += len(piece.path) - 1
	}
	if segments != 119 {
		t.Errorf("%d segments, want 119", segments)
	}
}

// A line leaves the data area only through its end.
func TestLineIsCutAtTheRange(t *testing.T) {
	s := Budget.Member(0)
	r, c := one(t, unit, unit, Line{X: []float64{-5, 5, 15}, Y: []float64{-5, 5, 25}, Style: s})
	for _, l := range r.strokes(s.Color) {
		if !inside(l.box, vg.Rectangle{Min: c.area.Min.Sub(vg.Point{X: px, Y: px}), Max: c.area.Max.Add(vg.Point{X: px, Y: px})}) {
			t.Errorf("line %v leaves the data area %v", l.box, c.area)
		}
	}
}

// What never happens is a hollow glyph in the strip, tied by dots to its
// neighbour, and the line does not go there.
func TestNever(t *testing.T) {
	s := TimeWindow.Member(0)
	r, c := one(t, unit, Axis{Never: "never"}, Line{X: []float64{1, 2, 3}, Y: []float64{inf, 4, 5}, Style: s})
	label := r.find(t, "never")
	strip := at(c, 1, inf)
	if !near(label.middle().Y, strip.Y) || label.box.Max.X > c.area.Min.X {
		t.Errorf("label at %v, want beside the strip at %v", label.box, strip.Y)
	}
	if tick := r.find(t, "5"); tick.box.Max.Y >= c.area.Max.Y-neverSize {
		t.Errorf("the last tick at %v is in the strip", tick.box)
	}
	glyphs := r.areas(tint(s.Color, 0xFF))
	if len(glyphs) != 1 || !near(glyphs[0].middle().X, strip.X) || !near(glyphs[0].middle().Y, strip.Y) {
		t.Fatalf("glyphs %v, want one at %v", glyphs, strip)
	}
	hollow := false
	for _, f := range r.areas(tint(white, 0xFF)) {
		hollow = hollow || inside(f.box, glyphs[0].box)
	}
	if !hollow {
		t.Error("the glyph is not hollow")
	}
	tied := false
	for _, l := range r.strokes(s.Color) {
		if l.box.Max.Y > c.area.Max.Y-neverSize {
			tied = tied || len(l.dashes) > 0
			if len(l.dashes) == 0 {
				t.Errorf("a solid line goes into the strip: %v", l.box)
			}
		}
	}
	if !tied {
		t.Error("no dots tie the glyph to the line")
	}
}

// The band lies between its bounds, below the line, cut at the edges, and is
// interrupted where a bound is missing.
func TestBand(t *testing.T) {
	s := Budget.Member(0)
	nan := math.NaN()
	r, c := one(t, unit, unit, Line{Style: s,
		X: []float64{0, 2, 4, 6, 8}, Y: []float64{5, 5, 5, 5, 5},
		Lo: []float64{4, 3, nan, 4, -9}, Hi: []float64{6, 7, 6, inf, 6}})
	got := r.areas(tint(s.Color, bandAlpha))
	if len(got) != 2 {
		t.Fatalf("%d bands, want 2", len(got))
	}
	if b := got[0].box; !near(b.Min.Y, at(c, 0, 3).Y) || !near(b.Max.Y, at(c, 0, 7).Y) || !near(b.Max.X, at(c, 2, 0).X) {
		t.Errorf("band %v, want from 3 to 7 up to 2", b)
	}
	if b := got[1].box; !near(b.Min.Y, c.area.Min.Y) || !near(b.Max.Y, c.area.Max.Y) {
		t.Errorf("band %v, want cut at the edges of %v", b, c.area)
	}
}

// Thinning keeps the ends, the lowest and the highest of every pixel column.
func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		seed := rapid.IntRange(1, 1000).Draw(t, "seed")
		pts := make([]vg.Point, n)
		for i := range pts {
			pts[i] = vg.Point{X: vg.Length(i) * 0.1 * px, Y: vg.Length(i * seed % 997)}
		}
		got := thin(pts)
		if len(got) > max(400, n/10*4+8) {
			t.Fatalf("%d points of %d are left", len(got), n)
		}
		if got[0] != pts[0] || got[len(got)-1] != pts[n-1] {
			t.Fatal("the ends moved")
		}
		type bounds struct{ lo, hi vg.Length }
		columns := func(pts []vg.Point) map[int]bounds {
			m := map[int]bounds{}
			for _, p := range pts {
				col := int(p.X / px)
				b, ok := m[col]
				if !ok {
					b = bounds{p.Y, p.Y}
				}
				m[col] = bounds{min(b.lo, p.Y), max(b.hi, p.Y)}
			}
			return m
		}
		want := columns(pts)
		for col, b := range columns(got) {
			if b != want[col] {
				t.Fatalf("column %d spans %v, want %v", col, b, want[col])
			}
		}
	})
}

// Six hours of a noisy series at ten points a second are no burden.
func TestLongLine(t *testing.T) {
	const n = 216_000
	l := Line{X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		l.X[i], l.Y[i] = float64(i)/10, float64(i*7919%1009)
	}
	f := &Figure{Panels: []Panel{{Marks: []Mark{l}}}}
	start := time.Now()
	if err := f.Write(io.Discard, "png"); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil || b.Len() > 500_000 {
		t.Errorf("svg of %d bytes, %v; want at most 500,000", b.Len(), err)
	}
}
