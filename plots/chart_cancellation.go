package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["cancellation"] = drawCancellation }

// drawCancellation shows the goodput over the load, a panel for each timeout
// and number of attempts.
func drawCancellation(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	timeouts, attempts := summary.Levels("timeout_s"), summary.Levels("attempts")
	for _, g := range groups(summary, "cancel", "timeout_s", "attempts", "rate_rps") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		workers, service := number(key("workers")), number(key("service_s"))
		limit := key("workers") + " workers"
		if workers == 0 {
			limit = "workers without limit"
		}
		f := &Figure{
			Title: cancellationTitle(summary, g),
			Subtitle: fmt.Sprintf("%s that need %s s for a call on average (%s); clients try again at once%s",
				limit, key("service_s"), key("service_law"), g.title()),
			Note:    " · bands: 95 % intervals of the mean (Student t)",
			Columns: len(attempts), ShareX: true, ShareY: true, Height: 400 + 300*len(timeouts),
		}
		for _, t := range timeouts {
			for _, n := range attempts {
				p := Panel{
					Title: "timeout " + t + " s, " + attemptsText(n),
					X:     Axis{Label: "requests per second"},
					Y:     Axis{Label: "requests answered in time, per second"},
				}
				if workers > 0 {
					p.Marks = append(p.Marks, Rule{At: workers / service})
				}
				for _, cancel := range summary.Levels("cancel") {
					var rows []table.Row
					for _, r := range g.rows("cancel", cancel) {
						if summary.Key(r, "timeout_s") == t && summary.Key(r, "attempts") == n {
							rows = append(rows, r)
						}
					}
					label := "works on"
					if cancel == "on" {
						label = "stops"
					}
					p.Marks = append(p.Marks, metricLine(summary, rows, "rate_rps", "goodput_rps", label, cancelStyles[cancel]))
				}
				f.Panels = append(f.Panels, p)
			}
		}
		if workers > 0 {
			f.Key = append(f.Key, KeyItem{KeyLine, Style{Color: ruleInk, Dashes: []float64{6, 4}, Width: 1.5}, "capacity: workers ÷ service time"})
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// attemptsText is a number of attempts in words.
func attemptsText(n string) string {
	if n == "1" {
		return "no retry"
	}
	return n + " attempts"
}

// cancellationTitle names the load at which cancelling gains most, if intervals
// tell that it does.
func cancellationTitle(summary *table.Table, g group) string {
	type setting struct{ timeout, attempts, rate string }
	goodput, end := map[setting]map[string]float64{}, map[setting]map[string]float64{}
	var order []setting
	for _, r := range g.members {
		s := setting{summary.Key(r, "timeout_s"), summary.Key(r, "attempts"), summary.Key(r, "rate_rps")}
		if goodput[s] == nil {
			goodput[s], end[s] = map[string]float64{}, map[string]float64{}
			order = append(order, s)
		}
		cancel := summary.Key(r, "cancel")
		goodput[s][cancel] = summary.Value(r, "goodput_rps_mean")
		end[s][cancel] = summary.Value(r, "goodput_rps_ci95_hi")
		if cancel == "on" {
			end[s][cancel] = summary.Value(r, "goodput_rps_ci95_lo")
		}
	}
	best, gain, compared := order[0], math.Inf(-1), false
	for _, s := range order {
		off, ok := goodput[s]["off"]
		on, ok2 := goodput[s]["on"]
		if !ok || !ok2 {
			continue
		}
		compared = true
		if on-off > gain && !(end[s]["on"] <= end[s]["off"]) {
			best, gain = s, on-off
		}
	}
	if compared && math.IsInf(gain, -1) {
		return "At none of these loads do more requests get their answer in time from a service that stops for callers who have gone: the intervals overlap"
	}
	if !compared {
		for level, v := range goodput[best] {
			return fmt.Sprintf("With cancel %s, %s of %s requests per second are answered in time", level, compact(v, 1), best.rate)
		}
	}
	return fmt.Sprintf("At %s requests/s (timeout %s s, %s), a service that works on for callers who have gone answers %s/s in time, one that stops %s/s",
		best.rate, best.timeout, attemptsText(best.attempts), compact(goodput[best]["off"], 1), compact(goodput[best]["on"], 1))
}
