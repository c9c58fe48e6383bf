package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// A Tile is one place of a grid of categories. Its area is divided, from the
// bottom up, among the shares of what happened there: a tile of one colour says
// that nothing else did.
type Tile struct {
	X, Y   float64   // category on each axis
	Shares []float64 // at least 0; they are scaled to add up to 1
	Text   string    // in the middle, where it fits
}

// Tiles fill a grid of two category axes, a phase diagram.
type Tiles struct {
	Styles []Style // of the shares, in order
	Tiles  []Tile
}

// mixed reports whether a tile has more than one share.
func (t Tile) mixed() bool {
	n := 0
	for _, v := range t.Shares {
		if v > 0 {
			n++
		}
	}
	return n > 1
}

// platedAlpha is the white behind a text across several colours.
const platedAlpha = 0xD8

// tileGap is the white between two tiles.
const tileGap = 3 * px

func (m Tiles) check() error {
	if len(m.Tiles) == 0 {
		return fmt.Errorf("tiles: none, want at least 1")
	}
	for _, t := range m.Tiles {
		if len(t.Shares) != len(m.Styles) {
			return fmt.Errorf("tile at %v, %v: %d shares, want %d, one for each style", t.X, t.Y, len(t.Shares), len(m.Styles))
		}
		for _, v := range t.Shares {
			if !(v >= 0) || math.IsInf(v, 1) {
				return fmt.Errorf("tile at %v, %v: share %v, want finite and at least 0", t.X, t.Y, v)
			}
		}
		if !finite(t.X) || !finite(t.Y) {
			return fmt.Errorf("tile at %v, %v, want finite places", t.X, t.Y)
		}
	}
	return nil
}

func (m Tiles) extend(x, y *extent) {
	for _, t := range m.Tiles {
		x.add(t.X)
		y.add(t.Y)
	}
}

func (m Tiles) draw(f *frame, l layer) {
	w, h := (f.x.unit()-tileGap)/2, (f.y.unit()-tileGap)/2
	for _, t := range m.Tiles {
		at, ok := f.at(t.X, t.Y)
		if !ok {
			continue
		}
		switch l {
		case back:
			m.fill(f, t, vg.Rectangle{Min: vg.Point{X: at.X - w, Y: at.Y - h}, Max: vg.Point{X: at.X + w, Y: at.Y + h}})
		case texts:
			s := textStyle{size: noteSize, color: ink}
			if s.width(t.Text)+4*px <= 2*w && s.line() <= 2*h {
				if t.mixed() { // the text would lie across colours, or a line
					w, h := s.width(t.Text)/2+3*px, s.line()/2
					f.rect(tint(white, platedAlpha), vg.Rectangle{Min: vg.Point{X: at.X - w, Y: at.Y - h}, Max: vg.Point{X: at.X + w, Y: at.Y + h}})
				}
				f.middle(s, at, center, t.Text)
			}
		}
	}
}

// fill divides a tile among its shares.
func (m Tiles) fill(f *frame, t Tile, r vg.Rectangle) {
	total := 0.0
	for _, v := range t.Shares {
		total += v
	}
	if total == 0 {
		return
	}
	y, done := r.Min.Y, 0.0
	for i, v := range t.Shares {
		if v == 0 {
			continue
		}
		done += v
		top := r.Min.Y + vg.Length(done/total)*(r.Max.Y-r.Min.Y)
		f.rect(m.Styles[i].color(), vg.Rectangle{Min: vg.Point{X: r.Min.X, Y: y}, Max: vg.Point{X: r.Max.X, Y: top}})
		y = top
	}
}
