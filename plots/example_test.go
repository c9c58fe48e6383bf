package plots_test

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"

	"github.com/stormglass/stormglass/plots"
)

// Two lines over a logarithmic axis; one of the delays never comes.
func ExampleFigure_Write() {
	rate := []float64{0.5, 1, 2, 5, 20}
	fig := plots.Figure{
		Title: "A time window never opens below its minimum of calls",
		Note:  "detection-delay · exact",
		Key:   []plots.KeyItem{{Mark: plots.KeyReference, Text: "article"}},
		Panels: []plots.Panel{{
			X: plots.Axis{Label: "request rate, 1/s", Kind: plots.Log, Ticks: rate},
			Y: plots.Axis{Label: "detection delay, s", Never: "never"},
			Marks: []plots.Mark{
				plots.Line{Label: "count window", X: rate, Y: []float64{18, 9, 4.5, 1.8, 0.45}, Points: true, Style: plots.CountWindow.Member(0)},
				plots.Line{Label: "time window", X: rate, Y: []float64{math.Inf(1), 4, 4.5, 4.8, 4.95}, Points: true, Style: plots.TimeWindow.Member(0)},
				plots.Reference{Label: "article", X: rate, Y: []float64{18, 9, 4.5, 2, 0.45}},
			},
		}},
	}
	var image bytes.Buffer
	if err := fig.Write(&image, "png"); err != nil {
		fmt.Println(err)
		return
	}
	c, err := png.DecodeConfig(&image)
	fmt.Println(c.Width, "×", c.Height, err)
	// Output: 1200 × 700 <nil>
}

// What cannot be drawn is an error that says where and why.
func ExampleFigure_Write_error() {
	fig := plots.Figure{Panels: []plots.Panel{{
		Title: "with glitches",
		Marks: []plots.Mark{plots.Line{Label: "budget", X: []float64{1, 2}, Y: []float64{math.NaN(), math.NaN()}}},
	}}}
	fmt.Println(fig.Write(os.Stdout, "png"))
	// Output: plots: panel "with glitches": line "budget": all of 2 points are undefined, want at least 1 that is not
}

// The front of a trade-off: nothing is both faster and quieter.
func ExampleParetoFront() {
	delay := []float64{0.06, 0.18, 0.38, 4.98, 1.98}
	trips := []float64{331, 30, 52, 0, 0.2}
	for _, i := range plots.ParetoFront(delay, trips) {
		fmt.Println(delay[i], trips[i])
	}
	// Output:
	// 0.06 331
	// 0.18 30
	// 1.98 0.2
	// 4.98 0
}

func ExampleNumber() {
	fmt.Println(plots.Number(1080000, 0), plots.Number(-0.5, 2), plots.Number(0.018, -1))
	// Output: 1,080,000 −0.50 0.018
}
