package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// cells reads the panels into a grid and joins the ranges they share.
func (f *Figure) cells() ([]*cell, error) {
	cols := max(f.Columns, 1)
	cells := make([]*cell, len(f.Panels))
	ex, ey := newExtent(), newExtent()
	for i, panel := range f.Panels {
		c := &cell{Panel: panel, row: i / cols, col: i % cols}
		c.name = fmt.Sprintf("panel %q", panel.Title)
		if panel.Title == "" {
			c.name = fmt.Sprintf("panel %d", i+1)
		}
		if !(panel.Weight >= 0 && panel.Weight <= 1000) {
			return nil, fmt.Errorf("%s: weight %v, want 0 to 1000", c.name, panel.Weight)
		}
		c.showX = !f.ShareX || i+cols >= len(f.Panels)
		c.showY = !f.ShareY || c.col == 0
		c.nameY = !f.ShareY || i == 0
		if err := c.read(); err != nil {
			return nil, err
		}
		ex.merge(c.ex)
		ey.merge(c.ey)
		cells[i] = c
	}
	for _, c := range cells {
		if f.ShareX {
			c.ex = ex
		}
		if f.ShareY {
			c.ey = ey
		}
	}
	return cells, nil
}

// A grid is the room that rows and columns of cells need beside their data
// areas: those of one column have equal margins, so that their axes line up.
type grid struct {
	left, right []vg.Length // by column
	top, bottom []vg.Length // by row
	weight      []float64   // by row
	rows        []int       // categories, by row of the grid
}

// measure finds the margins of all cells.
func (f *Figure) measure(cells []*cell) grid {
	cols := min(max(f.Columns, 1), len(cells))
	n := (len(cells) + cols - 1) / cols
	g := grid{
		left: make([]vg.Length, cols), right: make([]vg.Length, cols),
		top: make([]vg.Length, n), bottom: make([]vg.Length, n),
		weight: make([]float64, n), rows: make([]int, n),
	}
	for _, c := range cells {
		c.margins()
		g.left[c.col] = max(g.left[c.col], c.left)
		g.right[c.col] = max(g.right[c.col], c.right)
		g.top[c.row] = max(g.top[c.row], c.top)
		g.bottom[c.row] = max(g.bottom[c.row], c.bottom)
		w := c.Weight
		if w == 0 {
			w = 1
		}
		g.weight[c.row] = max(g.weight[c.row], w)
		g.rows[c.row] = max(g.rows[c.row], len(c.Y.Rows))
	}
	return g
}

func sum(v []vg.Length) (s vg.Length) {
	for _, x := range v {
		s += x
	}
	return s
}

// across and down are the room that is not data.
func (g grid) across() vg.Length {
	return sum(g.left) + sum(g.right) + vg.Length(len(g.left)-1)*panelGapX
}

func (g grid) down() vg.Length {
	return sum(g.top) + sum(g.bottom) + vg.Length(len(g.top)-1)*panelGapY
}

// autoHeight returns the height of a figure that leaves it open; around is the
// height of header and footer.
func (f *Figure) autoHeight(p *page, around vg.Length) (vg.Length, error) {
	h := vg.Length(defaultHeight) * px
	n := 0
	for _, c := range p.cells {
		if err := c.resolve(p.w/2, h/2); err != nil {
			return 0, err
		}
		n = max(n, len(c.Y.Rows))
	}
	if n == 0 {
		return h, nil
	}
	g := f.measure(p.cells)
	h = around + g.down()
	for i, rows := range g.rows {
		if rows == 0 {
			h += vg.Length(g.weight[i]) * 5 * rowHeight
		}
		h += vg.Length(rows) * rowHeight
	}
	return min(vg.Length(int(h/px+0.5)), largestSide) * px, nil
}

// arrange gives every cell its data area. How many ticks fit depends on the
// area, and the area on the width of their labels, so it settles in rounds.
func (f *Figure) arrange(p *page) error {
	width, height := p.w-2*pageMargin, p.bodyTop-p.bodyFoot
	cols := vg.Length(min(max(f.Columns, 1), len(p.cells)))
	for _, c := range p.cells {
		if err := c.resolve(0.8*width/cols, 0.8*height/cols); err != nil {
			return err
		}
	}
	for range 3 {
		g := f.measure(p.cells)
		w := (width - g.across()) / vg.Length(len(g.left))
		h := height - g.down()
		var weights float64
		for _, v := range g.weight {
			weights += v
		}
		if w < 40*px || h < 20*px*vg.Length(len(g.top)) {
			return fmt.Errorf("figure of %.0f × %.0f px leaves data areas of %.0f × %.0f px, want it larger",
				p.w/px, p.h/px, max(w, 0)/px, max(h, 0)/px/vg.Length(len(g.top)))
		}
		for _, c := range p.cells {
			c.area = g.area(c.row, c.col, pageMargin, p.bodyTop, w, h/vg.Length(weights))
			c.left, c.top = g.left[c.col], g.top[c.row]
			size := c.area.Size()
			if err := c.resolve(size.X, size.Y); err != nil {
				return err
			}
		}
	}
	return nil
}

// area returns the data area of the cell in a row and a column; w is the width
// of all, h the height for a weight of 1.
func (g grid) area(row, col int, x, y, w, h vg.Length) vg.Rectangle {
	x += sum(g.left[:col+1]) + sum(g.right[:col]) + vg.Length(col)*(panelGapX+w)
	y -= sum(g.top[:row+1]) + sum(g.bottom[:row]) + vg.Length(row)*panelGapY
	for _, v := range g.weight[:row] {
		y -= vg.Length(v) * h
	}
	return vg.Rectangle{
		Min: vg.Point{X: x, Y: y - vg.Length(g.weight[row])*h},
		Max: vg.Point{X: x + w, Y: y},
	}
}
