package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// inf is the value of what never happens.
var inf = math.Inf(1)

// paintStrips tints the strips beyond the axes where values of +Inf are drawn.
// They are set off from the data area by a gap: a strip has no scale.
func (c *cell) paintStrips(f *frame) {
	if c.Y.Never != "" {
		f.rect(neverTint, vg.Rectangle{
			Min: vg.Point{X: c.area.Min.X, Y: c.area.Max.Y - neverSize},
			Max: c.area.Max,
		})
	}
	if c.X.Never != "" {
		f.rect(neverTint, vg.Rectangle{
			Min: vg.Point{X: c.area.Max.X - neverWidth, Y: c.area.Min.Y},
			Max: c.area.Max,
		})
	}
}
