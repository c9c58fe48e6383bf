package plots

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
)

// A Panel is one pair of axes with what is drawn between them.
type Panel struct {
	Title string
	X, Y  Axis
	Marks []Mark // drawn in this order within each layer
	// Columns are texts beside the rows of a category axis Y.
	Columns []Column
	// Weight is the panel's share of the height beside the panels above and
	// below it; 0 counts as 1.
	Weight float64
}

// A Column is one text for each row, right of the data area under a heading.
type Column struct {
	Head  string // may have several lines
	Cells []string
}

// A cell is a panel on its way to the page.
type cell struct {
	Panel
	name         string // for errors
	row, col     int
	showX, showY bool // whether the ticks of the axis have their labels here
	nameY        bool // whether the y axis has its label here
	ex, ey       extent
	ax, ay       axis
	left, right  vg.Length // margins around the data area
	top, bottom  vg.Length
	area         vg.Rectangle
}

var (
	panelStyle  = textStyle{size: panelSize, bold: true, color: ink}
	axisStyle   = textStyle{size: labelSize, color: mutedInk}
	tickStyle   = textStyle{size: tickSize, color: mutedInk}
	rowStyle    = textStyle{size: labelSize, color: ink}
	rowSubStyle = textStyle{size: noteSize, color: mutedInk}
	headStyle   = textStyle{size: noteSize, color: mutedInk}
)

// read checks the panel and takes note of its values.
func (c *cell) read() error {
	c.ex, c.ey = newExtent(), newExtent()
	for i, m := range c.Marks {
		if m == nil {
			return fmt.Errorf("%s: mark %d is nil", c.name, i)
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		m.extend(&c.ex, &c.ey)
	}
	for _, col := range c.Columns {
		if len(col.Cells) != len(c.Y.Rows) {
			return fmt.Errorf("%s: column %q has %d cells, want %d, one for each row",
				c.name, col.Head, len(col.Cells), len(c.Y.Rows))
		}
	}
	return nil
}

// empty reports an axis that nothing gives a range.
func (a Axis) empty(e extent) bool {
	return e.lo > e.hi && e.never == 0 && a.Rows == nil && a.Ticks == nil && a.Range == [2]float64{}
}

// resolve decides both axes for a data area of about the given size.
func (c *cell) resolve(w, h vg.Length) error {
	if c.X.empty(c.ex) || c.Y.empty(c.ey) {
		return fmt.Errorf("%s: no data, want at least one value on each axis", c.name)
	}
	var err error
	room := tickRoomX
	if c.X.Kind != Linear {
		room = tickRoomLog
	}
	for n := int(w / room); ; n-- {
		if c.ax, err = c.X.resolve(c.ex, max(2, n), c.scattered()); err != nil {
			return fmt.Errorf("%s: x axis: %w", c.name, err)
		}
		if n <= 2 || c.ax.width() <= w {
			break
		}
	}
	n := max(2, int(h/tickRoomY), min(3, int(h/(28*px)))) // low panels may be denser
	if c.ay, err = c.Y.resolve(c.ey, n, true); err != nil {
		return fmt.Errorf("%s: y axis: %w", c.name, err)
	}
	return nil
}

// width returns the room that the labels of a horizontal axis need.
func (a axis) width() (w vg.Length) {
	for _, t := range a.ticks {
		w += tickStyle.width(t.label) + 2*tickGap
	}
	return w
}

// scattered reports whether the panel has marks without order along x: its x
// axis then ends at a tick and has grid lines.
func (c *cell) scattered() bool {
	for _, m := range c.Marks {
		switch m.(type) {
		case Scatter, Front, Estimates, Reference:
			return true
		}
	}
	return false
}

// margins decides the room for labels around the data area.
func (c *cell) margins() {
	c.left, c.right, c.top, c.bottom = 2*px, 12*px, 6*px, 4*px
	if c.showY {
		for _, t := range c.ay.ticks {
			w := tickStyle.width(t.label)
			if c.Y.Rows != nil {
				first, rest, _ := strings.Cut(t.label, "\n")
				w = max(rowStyle.width(first), rowSubStyle.width(rest)) + tickGap
			}
			c.left = max(c.left, w+tickGap)
		}
		if c.Y.Never != "" {
			c.left = max(c.left, tickStyle.width(c.Y.Never)+tickGap)
		}
	}
	if c.showX {
		c.bottom = 1.3*tickGap + tickStyle.line()
		if n := len(c.ax.ticks); n > 0 {
			c.left = max(c.left, tickStyle.width(c.ax.ticks[0].label)/2)
			c.right = max(c.right, tickStyle.width(c.ax.ticks[n-1].label)/2)
		}
		if c.X.Label != "" {
			c.bottom += 1.5 * axisStyle.size
		}
	}
	for _, m := range c.Marks {
		if l, ok := m.(interface{ endText() string }); ok && l.endText() != "" {
			c.right = max(c.right, leader+endStyle.width(l.endText()))
		}
	}
	if len(c.Columns) > 0 {
		c.right = 0
		for _, col := range c.Columns {
			c.right += columnGap + col.width()
		}
	}
	c.top += c.eventRoom() + c.spanRoom() + c.headRoom()
	if c.Title != "" {
		c.top += panelStyle.line()
	}
}

// eventRoom, spanRoom and headRoom are heights above the data area, upwards:
// for events, for labels of spans, for the label of y and column headings.
func (c *cell) eventRoom() vg.Length {
	for _, m := range c.Marks {
		if e, ok := m.(Events); ok && e.Rows == nil && len(e.At) > 0 {
			return eventHeight
		}
	}
	return 0
}

func (c *cell) spanRoom() vg.Length {
	for _, m := range c.Marks {
		if s, ok := m.(Spans); ok && s.labelled() {
			return headStyle.line() + 2*px
		}
	}
	return 0
}

func (c *cell) headRoom() vg.Length {
	n := 0
	if c.nameY && c.Y.Label != "" {
		n = 1
	}
	for _, col := range c.Columns {
		n = max(n, strings.Count(col.Head, "\n")+1)
	}
	if n == 0 {
		return 0
	}
	return vg.Length(n)*headStyle.line() + headGap
}

// width returns the width of a column with its heading.
func (c Column) width() vg.Length {
	w := headStyle.width(c.Head)
	for _, s := range c.Cells {
		w = max(w, tickStyle.width(s))
	}
	return w
}
