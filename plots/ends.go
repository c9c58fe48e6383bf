package plots

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
)

// An endLabel names a line beside the right edge of the data area.
type endLabel struct {
	text  string
	color color.RGBA
	at    vg.Point // the end of the line
}

var endStyle = textStyle{size: labelSize}

// leader is the room between the data area and the labels.
const leader = 16 * px

// drawEnds writes the labels of line ends in the right margin, each as near to
// the height of its end as the others allow. A label that had to move, or whose
// line ends early, is tied to its end by a hairline.
func (f *frame) drawEnds() {
	ends := slices.Clone(f.ends)
	slices.SortStableFunc(ends, func(a, b endLabel) int { return cmp.Compare(a.at.Y, b.at.Y) })
	want := make([]float64, len(ends))
	for i, e := range ends {
		want[i] = float64(e.at.Y)
	}
	got := spread(want, float64(endStyle.line()), float64(f.area.Min.Y), float64(f.area.Max.Y))
	edge := f.area.Max.X
	for i, e := range ends {
		y := vg.Length(got[i])
		t := endStyle
		t.color = textInk(e.color)
		moved := max(y-e.at.Y, e.at.Y-y) > 3*px
		if short := edge-e.at.X > 2*edgePad; moved || short {
			f.line(stroke{color: tint(e.color, 0x99), width: hairline},
				e.at.Add(vg.Point{X: min(glyphRadius+haloWidth, max(0, edge-e.at.X))}),
				vg.Point{X: max(edge, e.at.X+glyphRadius), Y: e.at.Y}, vg.Point{X: edge + leader - 4*px, Y: y})
		}
		f.middle(t, vg.Point{X: edge + leader, Y: y}, left, e.text)
	}
}

// spread moves positions, which must be sorted, so that neighbours are at
// least gap apart and all are within [lo, hi], with the least sum of squared
// moves. If the room is too short it spreads them evenly over it.
//
// Subtracting i·gap from the i-th position turns "at least gap apart" into
// "nondecreasing": the best answer is the isotonic regression, found by pooling
// adjacent violators, and cut at the bounds (Best and Chakravarti 1990).
func spread(want []float64, gap, lo, hi float64) []float64 {
	n := len(want)
	if n > 1 && float64(n-1)*gap > hi-lo {
		gap = max(0, hi-lo) / float64(n-1)
	}
	type block struct {
		sum   float64
		count int
	}
	mean := func(b block) float64 { return b.sum / float64(b.count) }
	var blocks []block
	for i, w := range want {
		blocks = append(blocks, block{w - float64(i)*gap, 1})
		for k := len(blocks) - 1; k > 0 && mean(blocks[k-1]) > mean(blocks[k]); k-- {
			blocks[k-1].sum += blocks[k].sum
			blocks[k-1].count += blocks[k].count
			blocks = blocks[:k]
		}
	}
	out := make([]float64, 0, n)
	top := hi - float64(max(n-1, 0))*gap
	for _, b := range blocks {
		for range b.count {
			out = append(out, max(lo, min(mean(b), top))+float64(len(out))*gap)
		}
	}
	return out
}
