package plots

import (
	"math"
	"math/rand/v2"
)

// demoTimeline stacks two panels on one time axis: a step line and a rate.
func demoTimeline() *Figure {
	step := func(at float64, busy float64) Line {
		var x, y []float64
		for i := range 131 {
			s := float64(i) / 10
			x = append(x, s)
			switch {
			case s < 1:
				y = append(y, 4)
			case s < at:
				y = append(y, 20)
			default:
				y = append(y, busy)
			}
		}
		return Line{X: x, Y: y, Step: true}
	}
	a, b, c := step(99, 20), step(3, 0), step(2, 0)
	a.Label, a.Style = "A failure rate only", NoRetry.Member(0)
	b.Label, b.Style = "B with slow-call rate", CountWindow.Member(0)
	c.Label, c.Style = "C in flight counts", TimeWindow.Member(1)
	ratio := Line{Label: "slow-call rate", Style: Neutral.Member(0), X: []float64{0, 2, 3, 3.2, 4, 13}, Y: []float64{0, 0, 0.2, 1, 1, 1}, Step: true}
	slow := Spans{{From: 1, To: 13, Label: "every call takes 2 s and succeeds"}}
	return &Figure{
		Title:    "A failure-rate breaker never sees slow calls: 20 threads stay stuck for 12 s; the slow-call rule frees them after 2 s",
		Subtitle: "20 closed-loop threads on one server",
		Note:     "slow-calls · seed 1 · slow threshold 1 s, slow-call rate ≥ 50 % · one run",
		Key:      []KeyItem{{KeySpan, Style{}, "slow server"}, {KeyEvent, CountWindow.Member(0), "B opens"}, {KeyEvent, TimeWindow.Member(0), "C opens"}},
		ShareX:   true,
		Panels: []Panel{{
			X: Axis{Label: "time, s"}, Y: Axis{Label: "threads waiting"}, Weight: 2,
			Marks: []Mark{slow, a, b, c,
				Events{Label: "openings", At: []float64{3.01}, Drop: true, Style: Style{Color: CountWindow.Color()}},
				Events{Label: "openings", At: []float64{2}, Drop: true, Style: Style{Color: TimeWindow.Color()}}},
		}, {
			X: Axis{Label: "time, s"}, Y: Axis{Label: "slow calls ÷ calls", Range: [2]float64{0, 1}, Ticks: []float64{0, 0.5, 1}},
			Marks: []Mark{Spans{{From: 1, To: 13}}, ratio, Rule{At: 0.5, Label: "threshold"}},
		}},
	}
}

// demoMultiples shows one trace in several panels on shared axes.
func demoMultiples() *Figure {
	r := rand.New(rand.NewPCG(3, 4))
	var panels []Panel
	for _, name := range []string{"petInfo", "paymentService", "petSearch", "listAdoptions", "trafficGenerator", "statusUpdater"} {
		var x, y, opens []float64
		spans := Spans{}
		for i := range 360 {
			x = append(x, float64(i)/60)
			y = append(y, max(0, 0.02+0.02*r.NormFloat64()))
		}
		for range 3 + r.IntN(3) {
			at, length := r.IntN(340), 6+r.IntN(10)
			spans = append(spans, Span{From: float64(at) / 60, To: float64(at+length) / 60})
			for i := at; i < min(at+length, 360); i++ {
				y[i] = 0.3 + 0.5*r.Float64()
			}
			if r.Float64() < 0.8 {
				opens = append(opens, float64(at+1+r.IntN(3))/60)
			}
		}
		y[100], y[101], y[102] = math.NaN(), math.NaN(), math.NaN()
		panels = append(panels, Panel{
			Title: name,
			X:     Axis{Label: "time, h", Range: [2]float64{0, 6}, Ticks: []float64{0, 1, 2, 3, 4, 5, 6}},
			Y:     Axis{Label: "failed ÷ calls", Range: [2]float64{0, 1}, Ticks: []float64{0, 0.5, 1}},
			Marks: []Mark{spans, Line{X: x, Y: y, Style: Style{Color: Neutral.Color(), Width: 1.5}},
				Events{Label: "openings", At: opens, Drop: true, Style: Style{Color: CountWindow.Color()}}},
		})
	}
	return &Figure{
		Title:    "The breaker notices 21 of 26 incidents, none of them before its third minute",
		Subtitle: "Six hours of a recorded incident, by service",
		Note:     "false-trips · trace petshop-high · breaker: count 20, at least 20 calls, failure rate ≥ 50 % · gaps are minutes without data",
		Key:      []KeyItem{{KeySpan, Style{}, "injected incident"}, {KeyEvent, CountWindow.Member(0), "breaker opens"}},
		Columns:  2, ShareX: true, ShareY: true,
		Panels: panels,
	}
}

// demoStates shows states and events in rows.
func demoStates() *Figure {
	rows := []string{"count 20, ≥ 50 %", "count 20, ≥ 20 %", "time 10 s, ≥ 50 %"}
	var bars Bars
	for i, opens := range [][]float64{{62, 118}, {21, 60.5, 71, 117, 140}, {64}} {
		s := []Style{CountWindow.Member(0), CountWindow.Member(0), TimeWindow.Member(0)}[i]
		for _, at := range opens {
			bars = append(bars, Bar{Row: float64(i), From: at, To: at + 8, Label: "open", Style: s})
			bars = append(bars, Bar{Row: float64(i), From: at + 8, To: at + 10, Style: s, Pale: true})
		}
	}
	glitches := Events{Label: "glitches", At: []float64{20, 70, 139, 150}, Style: Neutral.Member(0)}
	return &Figure{
		Title:   "Three breakers watch the same three minutes",
		Note:    "demonstration",
		Key:     []KeyItem{{KeySpan, Style{}, "real outage"}, {KeyEvent, Neutral.Member(0), "glitch"}},
		Columns: 1,
		Panels: []Panel{{
			X: Axis{Label: "time, s", Range: [2]float64{0, 180}}, Y: Axis{Label: "breaker", Rows: rows},
			Marks: []Mark{Spans{{From: 60, To: 80, Label: "outage"}, {From: 115, To: 125, Label: "outage"}}, bars, glitches,
				Events{Label: "probes", At: []float64{90, 100, 110}, Rows: []float64{2, 2, 2}, Style: Style{Color: TimeWindow.Color()}}},
		}},
	}
}
