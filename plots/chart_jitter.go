package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["jitter"] = drawJitter }

// drawJitter shows the arrivals at the node over time, one panel for each
// back-off on a common scale, so that a square wave looks like one.
func drawJitter(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no series")
	}
	series := details[0]
	runs := groups(series, "backoff", "replication", "t_s")
	var drawings []Drawing
	for _, g := range groups(summary, "backoff") {
		run := sameGroup(runs, g)
		key := func(name string) string { return summary.Key(g.members[0], name) }
		capacity := number(key("workers")) / number(key("service_s")) / 100
		hit := "at time 0"
		if key("spread_s") != "0" {
			hit = "over " + key("spread_s") + " s"
		}
		f := &Figure{
			Title: jitterTitle(summary, g),
			Subtitle: fmt.Sprintf("The first attempts of %s callers fail %s; up to %s attempts at a node for %s calls in 10 ms, beside %s of others%s",
				key("callers"), hit, key("attempts"), compact(capacity, 2), compact(number(key("rate_rps"))/100, 2), g.title()),
			Note:   " · lines: replication 0, gaps where nothing arrives; peak ÷ mean and autocorrelation: means of all",
			Height: 200 + 165*len(g.members), ShareX: true, ShareY: true,
		}
		for _, r := range g.members {
			backoff := summary.Key(r, "backoff")
			kind, _, _ := strings.Cut(backoff, "-")
			if kind == "exponential" {
				kind = "plus-minus"
			}
			line := Line{Step: true, Style: Style{Color: backoffStyle(kind).Color, Width: 2}}
			for _, row := range run.rows("backoff", backoff) {
				line.X, line.Y = append(line.X, number(series.Key(row, "t_s"))), append(line.Y, above(series.Value(row, "arrivals_count")))
			}
			if !usable(line) {
				continue
			}
			p := Panel{
				Title: fmt.Sprintf("%s: peak %s × mean, autocorrelation at the base %s; below capacity after %s s; %s %% of the callers succeed", summary.Label(r, "backoff"),
					compact(summary.Value(r, "peak_to_mean_ratio_mean"), 1), compact(summary.Value(r, "echo_ratio_mean"), 2), compact(summary.Value(r, "overload_s_mean"), 2), compact(100*summary.Value(r, "callers_success_ratio_mean"), 0)),
				X: Axis{Label: "time after the fault, s"}, Y: Axis{Kind: Log, Label: "arrivals in 10 ms"}, Marks: []Mark{Rule{At: capacity}, line},
			}
			f.Panels = append(f.Panels, p)
		}
		if len(f.Panels) == 0 {
			continue
		}
		f.Key = []KeyItem{{KeyRule, Style{}, "capacity"}}
		f.Height = min(f.Height, largestSide)
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// above is a value that a logarithmic axis can show, or a gap.
func above(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

// jitterTitle compares the back-off with the highest peak with the one with
// the lowest.
func jitterTitle(summary *table.Table, g group) string {
	peak := func(r table.Row) float64 { return summary.Value(r, "peak_count_mean") }
	worst, best := g.members[0], g.members[0]
	for _, r := range g.members {
		if peak(r) > peak(worst) {
			worst = r
		}
		if peak(r) < peak(best) {
			best = r
		}
	}
	name := func(r table.Row) string { return summary.Label(r, "backoff") }
	text := fmt.Sprintf("%s: %s arrivals in 10 ms", capital(name(worst)), compact(peak(worst), 0))
	if v := summary.Value(worst, "echo_ratio_mean"); v > 0.75 && !math.IsInf(v, 0) {
		text += fmt.Sprintf(", again and again (autocorrelation %s)", compact(v, 2))
	}
	if name(worst) != name(best) {
		text += fmt.Sprintf("; %s: %s", name(best), compact(peak(best), 0))
	}
	return text
}
