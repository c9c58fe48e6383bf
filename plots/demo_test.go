package plots

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// go test ./plots -run TestDemos -demo DIR leaves the demonstrations in DIR.
var demoDir = flag.String("demo", "", "directory to write the demonstration figures to")

// demos are figures with made-up but plausible numbers, one for each kind of
// chart that the experiments need.
var demos = map[string]func() *Figure{
	"dots":      demoDots,
	"lines":     demoLines,
	"timeline":  demoTimeline,
	"tradeoff":  demoTradeoff,
	"multiples": demoMultiples,
	"bands":     demoBands,
	"states":    demoStates,
	"never":     demoNever,
}

func TestDemos(t *testing.T) {
	dir := *demoDir
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, figure := range demos {
		for _, format := range Formats() {
			path := filepath.Join(dir, name+"."+format)
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := figure().Write(out, format); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if err := out.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// names returns the names of the demonstrations in order.
func names() []string {
	var out []string
	for name := range demos {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// demoDots is a horizontal dot plot: two panels share the rows.
func demoDots() *Figure {
	styles := []Style{
		CountWindow.Member(0), CountWindow.Member(0), CountWindow.Member(0),
		TimeWindow.Member(0), TimeWindow.Member(0), TimeWindow.Member(0),
	}
	estimates := func(mean, sd []float64) Estimates {
		e := Estimates{Label: "false trips", Horizontal: true}
		for i, m := range mean {
			half := 2.045 * sd[i] / math.Sqrt(30)
			e.Points = append(e.Points, Estimate{
				At: float64(i), Mean: m, SD: sd[i], Lo: m - half, Hi: m + half, Style: styles[i],
			})
		}
		return e
	}
	rows := []string{
		"count 20\n≥ 50 %, at least 20 calls", "count 20\n≥ 20 %, at least 20 calls", "count 100\n≥ 20 %, at least 100 calls",
		"time 10 s\n≥ 50 %, at least 20 calls", "time 10 s\n≥ 20 %, at least 20 calls", "time 60 s\n≥ 20 %, at least 20 calls",
	}
	at := []float64{0, 1, 2, 3, 4, 5}
	x := Axis{Label: "false trips in 6 h", Kind: LogZero, Ticks: []float64{0, 1, 3, 10, 30, 100, 300}}
	return &Figure{
		Title:    "Only the twitchy count window trips on an ordinary day; with glitches, one seed hides that a 10 s window trips in one run of five",
		Subtitle: "Openings in six hours without a real outage, 50 calls/s, baseline failure rate 2 %",
		Note:     "false-trips · seed 1 · 30 replications · 6 h · windows warmed up · 95 % intervals (Student t)",
		Key: []KeyItem{
			{KeyReference, Style{}, "article, one seed"},
			{KeyInterval, CountWindow.Member(0), "count window: mean, 95 % interval"},
			{KeyInterval, TimeWindow.Member(0), "time window"},
			{KeySpread, Neutral.Member(0), "mean ± sd"},
		},
		Columns: 2, ShareX: true, ShareY: true,
		Panels: []Panel{{
			Title: "Baseline only",
			X:     x, Y: Axis{Label: "breaker", Rows: rows},
			Marks: []Mark{
				estimates([]float64{0, 109.9, 0, 0, 0, 0}, []float64{0, 10.1, 0, 0, 0, 0}),
				Reference{Label: "article", X: []float64{0, 104, 0, 0, 0, 0}, Y: at},
			},
		}, {
			Title: "With 18 glitches of 5 s",
			X:     x, Y: Axis{Label: "breaker", Rows: rows},
			Marks: []Mark{
				estimates([]float64{29.9, 331.7, 51.7, 0, 0.24, 0}, []float64{5.1, 10.8, 1.3, 0, 0.5, 0}),
				Reference{Label: "article", X: []float64{43, 328, 50, 0, 0, 0}, Y: at},
			},
			Columns: []Column{
				{"P(any\ntrip)", []string{"1.00", "1.00", "1.00", "0", "0.20", "0"}},
				{"detects outage\nin, s", []string{"0.18", "0.06", "0.38", "4.98", "1.98", "11.98"}},
			},
		}},
	}
}

// demoLines is a line chart over a logarithmic axis, with values that never
// come and values of an article.
func demoLines() *Figure {
	rate := []float64{0.5, 1, 2, 5, 20, 100, 500}
	never := math.Inf(1)
	return &Figure{
		Title:    "A count window detects faster the more traffic it sees; a time window never opens below its minimum of calls",
		Subtitle: "Delay from the start of a total outage to the breaker's opening, failure rate ≥ 50 %, at least 10 calls",
		Note:     "detection-delay · fixed arrivals · count window of 20 calls, time window of 10 s · exact, no randomness",
		Key:      []KeyItem{{KeyReference, Style{}, "article"}, {KeyPoint, TimeWindow.Member(0).Hollowed(), "never opens"}},
		Panels: []Panel{{
			X: Axis{Label: "request rate, 1/s", Kind: Log, Ticks: []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500}},
			Y: Axis{Label: "detection delay, s", Never: "never"},
			Marks: []Mark{
				Line{Label: "count window, 20 calls", X: rate, Y: []float64{18, 9, 4.5, 1.8, 0.45, 0.09, 0.018}, Points: true, Style: CountWindow.Member(0)},
				Line{Label: "time window, 10 s", X: rate, Y: []float64{never, 4, 4.5, 4.8, 4.95, 4.99, 4.998}, Points: true, Style: TimeWindow.Member(0)},
				Reference{Label: "article", X: rate, Y: []float64{18, 9, 4.5, 2, 0.45, 0.09, 0.02}},
				Reference{Label: "article", X: rate, Y: []float64{never, 4, 4.5, 5.2, 4.95, 4.99, 5}},
			},
		}},
	}
}

// demoTradeoff is a scatter of two costs with the front of the best.
func demoTradeoff() *Figure {
	r := rand.New(rand.NewPCG(1, 2))
	var all [3]Scatter
	families := []Family{CountWindow, TimeWindow, BucketWindow}
	var fx, fy []float64
	for k := range all {
		all[k] = Scatter{Label: "grid", Style: families[k].Member(0)}
		all[k].Style.Size = 4.5
		for range 30 {
			delay := 0.06 * math.Pow(200, r.Float64())
			trips := math.Floor(400 * math.Exp(-2.2*delay) * r.ExpFloat64() * (1 + 0.3*float64(k)))
			all[k].X, all[k].Y = append(all[k].X, delay), append(all[k].Y, trips)
			all[k].YLo, all[k].YHi = append(all[k].YLo, trips*0.8), append(all[k].YHi, trips*1.2)
			all[k].Names = append(all[k].Names, "")
			fx, fy = append(fx, delay), append(fy, trips)
		}
	}
	names := []string{"count 10, ≥ 50 %", "count 20, ≥ 20 %", "count 50, ≥ 30 %", "time 5 s, ≥ 20 %", "time 10 s, ≥ 20 %", "count 100, ≥ 20 %", "buckets 10 s, ≥ 30 %", "time 20 s, ≥ 50 %"}
	for n, i := range ParetoFront(fx, fy) {
		all[i/30].Names[i%30] = names[n%len(names)]
	}
	return &Figure{
		Title:    "At 50 calls/s, a count window of 100 is the last choice that detects within half a second without tripping daily",
		Subtitle: "Detection delay of a total outage against false trips, 90 settings",
		Note:     "window-grid · seed 1 · 30 replications · 6 h · 95 % intervals",
		Key: []KeyItem{
			{KeyPoint, CountWindow.Member(0), "count window"}, {KeyPoint, TimeWindow.Member(0), "time window"},
			{KeyPoint, BucketWindow.Member(0), "bucketed window"}, {KeyLine, Style{Width: 1.5}, "best trade-offs"},
		},
		Panels: []Panel{{
			X:     Axis{Label: "detection delay, s", Kind: Log, Ticks: []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}},
			Y:     Axis{Label: "false trips per day", Kind: LogZero},
			Marks: []Mark{all[0], all[1], all[2], Front{Label: "front", X: fx, Y: fy, Style: Style{Width: 1.5}}},
		}},
	}
}

// demoBands shows many bands whose labels must be pushed apart.
func demoBands() *Figure {
	x := []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	line := func(label string, s Style, y func(p float64) float64) Line {
		l := Line{Label: label, X: x, Style: s}
		for _, p := range x {
			v := y(p)
			l.Y, l.Lo, l.Hi = append(l.Y, v), append(l.Lo, v*0.96), append(l.Hi, v*1.04)
		}
		return l
	}
	budget := func(r float64) func(float64) float64 {
		return func(p float64) float64 { return min(1+r, 1+p+p*p) }
	}
	return &Figure{
		Title: "Unlimited retries triple the load just when the server fails; a budget of 10 % caps it at 1.1",
		Note:  "amplification · seed 1 · 30 replications · 1,500 requests each · 95 % intervals",
		Panels: []Panel{{
			X: Axis{Label: "failure probability"},
			Y: Axis{Label: "amplification factor, attempts ÷ requests"},
			Marks: []Mark{
				Rule{At: 1, Label: "one attempt for each request"},
				line("unlimited, 3 attempts", Unlimited.Member(0), func(p float64) float64 { return 1 + p + p*p }),
				line("fixed, 2 attempts", FixedRetry.Member(0), func(p float64) float64 { return 1 + p }),
				line("budget 50 %", Budget.Member(2), budget(0.5)),
				line("budget 20 %", Budget.Member(1), budget(0.2)),
				line("budget 10 %", Budget.Member(0), budget(0.1)),
				line("budget 10 % + breaker", BudgetBreaker.Member(0), func(p float64) float64 { return min(1.1, 1+p) - 0.4*max(0, p-0.5) }),
				line("no retry", NoRetry.Member(0), func(p float64) float64 { return 1 }),
			},
		}},
	}
}

// demoNever is a dot plot of delays, some of which are infinite.
func demoNever() *Figure {
	never := math.Inf(1)
	e := Estimates{Label: "delay", Horizontal: true}
	for i, d := range []float64{1.8, 4.98, 11.98, never} {
		s := []Style{CountWindow.Member(0), TimeWindow.Member(0), TimeWindow.Member(1), BucketWindow.Member(0)}[i]
		e.Points = append(e.Points, Estimate{At: float64(i), Mean: d, SD: d / 8, Lo: d * 0.9, Hi: d * 1.1, Style: s, Text: Number(d, 2) + " s"})
	}
	e.Points[3].SD, e.Points[3].Lo, e.Points[3].Hi, e.Points[3].Text = 0, 0, 0, ""
	return &Figure{
		Title: "A bucketed window of 5 calls never opens",
		Key:   []KeyItem{{KeyReference, Style{}, "article"}, {KeyRule, Style{}, "limit"}},
		Panels: []Panel{{
			X: Axis{Label: "detection delay, s", Never: "never"},
			Y: Axis{Label: "breaker", Rows: []string{"count 20", "time 10 s", "time 60 s", "buckets 10 s"}},
			Marks: []Mark{e, Reference{Label: "article", X: []float64{2, 4.98, 4.98, never}, Y: []float64{0, 1, 2, 3}},
				Rule{At: 8, Vertical: true, Label: "timeout of the caller"}},
		}},
	}
}
