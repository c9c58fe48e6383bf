package plots

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// In every demonstration, no text touches another one or leaves the page.
func TestTextsDoNotCollide(t *testing.T) {
	for _, name := range names() {
		r, p := record(t, demos[name]())
		sheet := vg.Rectangle{Max: vg.Point{X: p.w, Y: p.h}}
		for i, a := range r.texts {
			if !inside(a.box, sheet) {
				t.Errorf("%s: %q at %v leaves the page", name, a.text, a.box)
			}
			for _, b := range r.texts[:i] {
				if overlap(a.box, b.box) {
					t.Errorf("%s: %q and %q overlap", name, a.text, b.text)
				}
			}
		}
	}
}

func TestHeaderAndFootnote(t *testing.T) {
	f := demoDots()
	r, p := record(t, f)
	first := r.find(t, "Openings in six hours without a real outage, 50 calls/s, baseline failure rate 2 %")
	note := r.find(t, f.Note)
	for _, v := range []recorded{first, note} {
		if v.box.Min.X != pageMargin {
			t.Errorf("%q starts at %v, want %v", v.text, v.box.Min.X, pageMargin)
		}
	}
	var title []string
	for _, v := range r.texts {
		if v.size == titleSize {
			title = append(title, v.text)
		}
	}
	if len(title) != 2 || strings.Join(title, " ") != f.Title {
		t.Errorf("title %q, want %q on two lines", title, f.Title)
	}
	for _, c := range p.cells {
		if c.area.Max.Y > first.box.Min.Y || c.area.Min.Y < note.box.Max.Y {
			t.Errorf("data area %v overlaps header or footnote", c.area)
		}
	}
	for _, k := range f.Key {
		r.find(t, k.Text)
	}
}

// On shared axes only the outer panels have labels, and the data areas line up.
func TestSmallMultiples(t *testing.T) {
	r, p := record(t, demoMultiples())
	if got := r.count("time, h"); got != 2 {
		t.Errorf("%d labels of the x axis, want 2: below each column", got)
	}
	if got := r.count("failed ÷ calls"); got != 1 {
		t.Errorf("%d labels of the y axis, want 1", got)
	}
	if got := r.count("0.5"); got != 3 {
		t.Errorf("%d ticks at 0.5, want 3: beside each row", got)
	}
	if got := r.count("4"); got != 2 {
		t.Errorf("%d ticks at 4, want 2: below each column", got)
	}
	size := p.cells[0].area.Size()
	for i, c := range p.cells {
		if s := c.area.Size(); !near(s.X, size.X) || !near(s.Y, size.Y) {
			t.Errorf("panel %d is %v large, want %v", i, s, size)
		}
		if c.area.Min.X != p.cells[i%2].area.Min.X || c.area.Min.Y != p.cells[i/2*2].area.Min.Y {
			t.Errorf("panel %d does not line up", i)
		}
	}
}

// Panels that do not share an axis have ranges of their own.
func TestSharedRanges(t *testing.T) {
	panel := func(top float64) Panel {
		return Panel{Marks: []Mark{Line{X: []float64{0, top}, Y: []float64{0, top}}}}
	}
	f := &Figure{Panels: []Panel{panel(10), panel(100), panel(20)}, Columns: 2, ShareY: true}
	_, p := record(t, f)
	for i, want := range []float64{10, 100, 20} {
		if c := p.cells[i]; c.ax.hi != want || c.ay.hi != 100 {
			t.Errorf("panel %d reaches %v and %v, want %v and 100", i, c.ax.hi, c.ay.hi, want)
		}
	}
	f.ShareX = true
	_, p = record(t, f)
	for i, want := range []bool{false, true, true} {
		if c := p.cells[i]; c.showX != want || c.ax.hi != 100 {
			t.Errorf("panel %d: labels %t, range to %v; want %t, 100", i, c.showX, c.ax.hi, want)
		}
	}
}

func TestWeights(t *testing.T) {
	_, p := record(t, demoTimeline())
	a, b := p.cells[0].area.Size().Y, p.cells[1].area.Size().Y
	if !near(a, 2*b) {
		t.Errorf("heights %v and %v, want 2 to 1", a, b)
	}
	if p.h != defaultHeight*px {
		t.Errorf("page height %v, want %v", p.h, defaultHeight*px)
	}
}

// A figure of rows is as high as they need.
func TestHeightFollowsRows(t *testing.T) {
	f := demoDots()
	_, p := record(t, f)
	if got := p.cells[0].area.Size().Y / 6; got < rowHeight-px || got > rowHeight+px {
		t.Errorf("rows of %v, want %v", got, rowHeight)
	}
	f.Height = 900
	_, p = record(t, f)
	if p.h != 900*px {
		t.Errorf("height %v, want the given one", p.h)
	}
}

// Rows are listed from the top with their names, and cells beside them.
func TestRows(t *testing.T) {
	r, _ := one(t, Axis{}, Axis{Rows: []string{"first", "second\nwith a note"}},
		Estimates{Horizontal: true, Points: []Estimate{{At: 0, Mean: 1}, {At: 1, Mean: 2}}})
	a, b, note := r.find(t, "first"), r.find(t, "second"), r.find(t, "with a note")
	if a.middle().Y <= b.middle().Y || b.middle().Y <= note.middle().Y {
		t.Errorf("first at %v, second at %v, its note at %v: want downwards", a.middle(), b.middle(), note.middle())
	}
	if a.box.Min.X != pageMargin {
		t.Errorf("names start at %v, want %v", a.box.Min.X, pageMargin)
	}
}

// Columns stand at the height of their rows, aligned to the right.
func TestColumns(t *testing.T) {
	r, _ := record(t, demoDots())
	short, long := r.find(t, "0.06"), r.find(t, "11.98")
	if !near(short.box.Max.X, long.box.Max.X) {
		t.Errorf("cells end at %v and %v, want aligned", short.box.Max.X, long.box.Max.X)
	}
	if p := r.find(t, "0.20"); !near(p.middle().Y, r.find(t, "1.98").middle().Y) {
		t.Errorf("cells of one row at different heights")
	}
	if head := r.find(t, "in, s"); head.box.Min.Y < r.find(t, "0.18").box.Max.Y {
		t.Errorf("heading at %v is not above its cells", head.box)
	}
}

// Where labels below an axis would touch, every second one is left out.
func TestCrowdedTicks(t *testing.T) {
	var ticks []float64
	for i := range 80 {
		ticks = append(ticks, float64(1000+i))
	}
	r, _ := one(t, Axis{Ticks: ticks, Range: [2]float64{1000, 1080}}, Axis{}, Line{X: []float64{1000, 1079}, Y: []float64{0, 1}})
	for i, a := range r.texts {
		for _, b := range r.texts[:i] {
			if overlap(a.box, b.box) {
				t.Errorf("%q and %q overlap", a.text, b.text)
			}
		}
	}
	r.find(t, "1,000")
}

// Low rows have names that fit them, and ticks of events that stay inside.
func TestLowRows(t *testing.T) {
	var rows []string
	var at []float64
	for i := range 30 {
		rows = append(rows, "row "+string(rune('A'+i)))
		at = append(at, float64(i))
	}
	f := &Figure{Height: 500, Panels: []Panel{{Y: Axis{Rows: rows}, Marks: []Mark{
		Events{At: at, Rows: at, Style: Budget.Member(0)},
	}}}}
	r, p := record(t, f)
	_, y := p.cells[0].scales()
	names := 0
	for i, a := range r.texts {
		for _, b := range r.texts[:i] {
			if overlap(a.box, b.box) {
				t.Errorf("%q and %q overlap", a.text, b.text)
			}
		}
		if strings.HasPrefix(a.text, "row ") {
			names++
		}
	}
	if names != len(rows) {
		t.Errorf("%d names, want %d", names, len(rows))
	}
	for _, l := range r.strokes(Budget.Color()) {
		if h := l.box.Size().Y; h > y.unit() {
			t.Errorf("tick of height %v in a row of %v", h, y.unit())
		}
	}
}

// A key that is too long for one line goes on below.
func TestKeyWraps(t *testing.T) {
	f := simple()
	for i := range 9 {
		f.Key = append(f.Key, KeyItem{Mark: KeyMark(i), Style: Budget.Member(i), Text: "an explanation of some length, number " + string(rune('0'+i))})
	}
	r, p := record(t, f)
	if len(p.keys) < 2 {
		t.Fatalf("%d rows of keys, want several", len(p.keys))
	}
	for _, k := range f.Key {
		v := r.find(t, k.Text)
		if v.box.Max.X > p.w-pageMargin || v.box.Min.Y < p.cells[0].area.Max.Y {
			t.Errorf("%q at %v, want inside the header", k.Text, v.box)
		}
	}
}

// Labels below an axis that chooses its ticks have room between them.
func TestOwnTicksAreNotCrowded(t *testing.T) {
	for _, top := range []float64{7, 1234567, 3e7} {
		for _, kind := range []Kind{Linear, Log} {
			f := &Figure{Width: 420, Height: 300, Panels: []Panel{{
				X:     Axis{Kind: kind},
				Marks: []Mark{Line{X: []float64{1, top}, Y: []float64{0, 1}}},
			}}}
			r, p := record(t, f)
			for _, k := range p.cells[0].ax.ticks {
				if r.count(k.label) == 0 {
					t.Errorf("kind %d to %v: no room for %q", kind, top, k.label)
				}
			}
		}
	}
}
