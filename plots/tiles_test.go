package plots

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// A tile is divided from the bottom up in proportion to its shares.
func TestTilesShares(t *testing.T) {
	f := &Figure{Panels: []Panel{{
		X: Axis{Rows: []string{"a", "b"}}, Y: Axis{Rows: []string{"1", "2"}},
		Marks: []Mark{Tiles{
			Styles: []Style{Budget.Member(0), Unlimited.Member(0)},
			Tiles: []Tile{
				{X: 0, Y: 0, Shares: []float64{3, 1}},
				{X: 1, Y: 0, Shares: []float64{0, 2}},
				{X: 0, Y: 1, Shares: []float64{0, 0}}, // nothing known: nothing drawn
				{X: 1, Y: 1, Shares: []float64{1, 0}, Text: "7"},
			},
		}},
	}}}
	p, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	var r recorder
	p.paint(&r)
	type area struct{ blue, red vg.Length }
	var got area
	blue, red := tint(Budget.Color(), 0xFF), tint(Unlimited.Color(), 0xFF)
	for _, fill := range r.fills {
		size := (fill.box.Max.X - fill.box.Min.X) * (fill.box.Max.Y - fill.box.Min.Y)
		switch fill.color {
		case blue:
			got.blue += size
		case red:
			got.red += size
		}
	}
	if ratio := float64(got.blue / got.red); math.Abs(ratio-1.75/1.25) > 1e-6 {
		t.Errorf("areas of %v and %v, a ratio of %v, want 1.75 : 1.25", got.blue, got.red, ratio)
	}
	found := false
	for _, text := range r.texts {
		found = found || text.text == "7"
	}
	if !found {
		t.Error("the tile's text is not drawn")
	}
}

func TestTilesCheck(t *testing.T) {
	styles := []Style{{}, {}}
	for _, test := range []struct {
		tiles Tiles
		want  string
	}{
		{Tiles{Styles: styles}, "tiles: none, want at least 1"},
		{Tiles{styles, []Tile{{Shares: []float64{1}}}}, "tile at 0, 0: 1 shares, want 2, one for each style"},
		{Tiles{styles, []Tile{{X: 2, Shares: []float64{1, -1}}}}, "tile at 2, 0: share -1, want finite and at least 0"},
		{Tiles{styles, []Tile{{Shares: []float64{1, math.NaN()}}}}, "tile at 0, 0: share NaN, want finite and at least 0"},
		{Tiles{styles, []Tile{{X: math.Inf(1), Shares: []float64{1, 0}}}}, "tile at +Inf, 0, want finite places"},
		{Tiles{styles, []Tile{{Shares: []float64{1, 0}}}}, ""},
	} {
		got := ""
		if err := test.tiles.check(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("error %q, want %q", got, test.want)
		}
	}
}
