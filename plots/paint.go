package plots

import (
	"strings"

	"gonum.org/v1/plot/vg"
)

// paint draws a cell whose data area has been decided.
func (c *cell) paint(p pen) {
	f := &frame{pen: p, area: c.area, ax: c.ax, ay: c.ay, eventRoom: c.eventRoom()}
	f.x, f.y = c.scales()
	c.paintStrips(f)
	for l := range layers {
		if l == back {
			c.paintGrid(f)
			c.paintX(f)
			c.paintY(f)
		}
		for _, m := range c.Marks {
			m.draw(f, l)
		}
	}
	f.drawNotes()
	f.drawEnds()
	c.paintHeads(f)
}

// scales lays both axes out along the data area.
func (c *cell) scales() (x, y scale) {
	x = c.ax.place(c.area.Min.X, c.area.Max.X, neverWidth)
	y = c.ay.place(c.area.Min.Y, c.area.Max.Y, neverSize)
	if c.Y.Rows != nil { // the first row is on top
		y.from, y.to = c.area.Max.Y, c.area.Min.Y
	}
	return x, y
}

// paintGrid draws the light lines behind the data.
func (c *cell) paintGrid(f *frame) {
	grid := stroke{color: gridInk, width: gridWidth}
	for _, t := range c.ay.ticks {
		y := snap(f.y.at(t.value))
		f.line(grid, vg.Point{X: c.area.Min.X, Y: y}, vg.Point{X: c.area.Max.X, Y: y})
	}
	if c.scattered() && c.X.Rows == nil {
		for _, t := range c.ax.ticks {
			x := snap(f.x.at(t.value))
			f.line(grid, vg.Point{X: x, Y: c.area.Min.Y}, vg.Point{X: x, Y: c.area.Max.Y})
		}
	}
	if c.ay.Kind == Linear && c.Y.Rows == nil && c.ay.lo < 0 && c.ay.hi > 0 {
		y := snap(f.y.at(0))
		f.line(stroke{color: axisInk, width: axisWidth}, vg.Point{X: c.area.Min.X, Y: y}, vg.Point{X: c.area.Max.X, Y: y})
	}
}

// paintX draws the lower axis: its line, its ticks and, where they are shown,
// its labels.
func (c *cell) paintX(f *frame) {
	base := stroke{color: axisInk, width: axisWidth}
	y := snap(c.area.Min.Y)
	f.line(base, vg.Point{X: c.area.Min.X, Y: y}, vg.Point{X: c.area.Max.X, Y: y})
	if c.X.Kind == LogZero && c.X.Rows == nil {
		mid := (f.x.zero + f.x.from) / 2
		f.breakMark(vg.Point{X: mid, Y: y}, vg.Point{X: 3 * px, Y: 6 * px}, vg.Point{X: 3 * px})
	}
	ticks := c.ax.ticks
	if c.X.Never != "" {
		ticks = append(ticks[:len(ticks):len(ticks)], tick{inf, c.X.Never})
	}
	free := -pageMargin
	for _, t := range ticks {
		x := f.x.at(t.value)
		if c.X.Rows == nil {
			f.line(base, vg.Point{X: snap(x), Y: y}, vg.Point{X: snap(x), Y: y - 5*px})
		}
		w := tickStyle.width(t.label)
		if !c.showX || x-w/2 < free {
			continue
		}
		free = x + w/2 + 6*px
		f.text(tickStyle, vg.Point{X: x, Y: c.area.Min.Y - 1.8*tickGap - tickStyle.capital()}, center, t.label)
	}
	if c.showX && c.X.Label != "" {
		at := vg.Point{X: (c.area.Min.X + c.area.Max.X) / 2, Y: c.area.Min.Y - c.bottom + 4*px}
		f.text(axisStyle, at, center, c.X.Label)
	}
}

// paintY draws the labels of the left axis.
func (c *cell) paintY(f *frame) {
	if c.Y.Kind == LogZero && c.Y.Rows == nil {
		mid := (f.y.zero + f.y.from) / 2
		f.breakMark(vg.Point{X: c.area.Min.X, Y: mid}, vg.Point{X: 6 * px, Y: 3 * px}, vg.Point{Y: 3 * px})
	}
	if !c.showY {
		return
	}
	ticks := c.ay.ticks
	if c.Y.Never != "" {
		ticks = append(ticks[:len(ticks):len(ticks)], tick{inf, c.Y.Never})
	}
	for _, t := range ticks {
		at := vg.Point{X: c.area.Min.X - tickGap, Y: f.y.at(t.value)}
		if c.Y.Rows == nil {
			f.middle(tickStyle, at, right, t.label)
			continue
		}
		at.X = c.area.Min.X - c.left
		first, rest, two := strings.Cut(t.label, "\n")
		name, sub := rowStyle, rowSubStyle
		room := f.y.unit() // low rows have small names
		if two {
			room *= 0.5
			sub.size = min(sub.size, 0.9*room)
			f.middle(sub, at.Sub(vg.Point{Y: min(0.58*sub.line(), 0.5*room)}), left, rest)
			at.Y += min(0.48*name.line(), 0.5*room)
		}
		name.size = min(name.size, 0.9*room)
		f.middle(name, at, left, first)
	}
}

// breakMark draws two short strokes across an axis where it leaves values out.
func (f *frame) breakMark(at, half, apart vg.Point) {
	for _, d := range []vg.Length{-1, 1} {
		mid := at.Add(apart.Scale(d))
		f.line(stroke{color: white, width: 4 * px}, mid.Sub(half), mid.Add(half))
	}
	for _, d := range []vg.Length{-1, 1} {
		mid := at.Add(apart.Scale(d))
		f.line(stroke{color: axisInk, width: 1.5 * px}, mid.Sub(half), mid.Add(half))
	}
}

// paintHeads writes what is above the data area and the columns beside it.
func (c *cell) paintHeads(f *frame) {
	y := c.area.Max.Y + c.eventRoom() + c.spanRoom() + headGap
	if c.nameY {
		f.text(headStyle, vg.Point{X: c.area.Min.X - c.left, Y: y + headStyle.size*0.2}, left, c.Y.Label)
	}
	x := c.area.Max.X
	for _, col := range c.Columns {
		x += columnGap + col.width()
		lines := strings.Split(col.Head, "\n")
		for i, s := range lines {
			at := vg.Point{X: x, Y: y + headStyle.size*0.2 + vg.Length(len(lines)-1-i)*headStyle.line()}
			f.text(headStyle, at, right, s)
		}
		for i, s := range col.Cells {
			f.middle(textStyle{size: tickSize, color: ink}, vg.Point{X: x, Y: f.y.at(float64(i))}, right, s)
		}
	}
	if c.Title != "" {
		f.text(panelStyle, vg.Point{X: c.area.Min.X - c.left, Y: c.area.Max.Y + c.top - panelStyle.size}, left, c.Title)
	}
}
