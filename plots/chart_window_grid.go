package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["window-grid"] = drawWindowGrid }

// drawWindowGrid shows detection delay against false trips, and the settings
// that no other beats in both.
func drawWindowGrid(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "window", "threshold_ratio", "min_calls") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		kinds := []struct {
			prefix, name string
			family       Family
		}{{"count-", "count window", CountWindow}, {"time-", "time window", TimeWindow}, {"buckets-", "bucketed window", BucketWindow}}
		var x, y []float64
		for _, r := range g.members {
			delay, trips := gridValues(summary, r)
			x, y = append(x, delay), append(y, trips)
		}
		best := map[int]bool{}
		for _, i := range ParetoFront(x, y) {
			best[i] = true
		}
		f := &Figure{
			Title: gridTitle(summary, g, x, y),
			Subtitle: fmt.Sprintf("Delay of an outage with %s %% failures against openings outside it, %s calls/s; %d settings%s",
				percent(key("outage_error_ratio")), key("rate_rps"), len(g.members), g.title()),
			Note: fmt.Sprintf(" · %s h each, glitches of %s s with %s %% failures in %s %% of the minutes · 95 %% intervals",
				key("hours"), key("glitch_s"), percent(key("glitch_error_ratio")), percent(key("glitch_minute_ratio"))),
			Height: 760,
		}
		var marks []Mark
		for _, k := range kinds {
			s := Scatter{Label: k.name, Style: k.family.Member(0)}
			s.Style.Size = 4.5
			for i, r := range g.members {
				if !strings.HasPrefix(summary.Key(r, "window"), k.prefix) || math.IsNaN(x[i]) {
					continue
				}
				s.X, s.Y = append(s.X, x[i]), append(s.Y, y[i])
				s.XLo, s.XHi = append(s.XLo, summary.Value(r, "detection_delay_s_ci95_lo")), append(s.XHi, summary.Value(r, "detection_delay_s_ci95_hi"))
				s.YLo, s.YHi = append(s.YLo, summary.Value(r, "false_trips_per_day_ci95_lo")), append(s.YHi, summary.Value(r, "false_trips_per_day_ci95_hi"))
				name := ""
				if best[i] {
					name = gridName(summary, r)
				}
				s.Names = append(s.Names, name)
			}
			if len(s.X) > 0 {
				marks = append(marks, s)
				f.Key = append(f.Key, KeyItem{KeyPoint, k.family.Member(0), k.name})
			}
		}
		marks = append(marks, Front{Label: "front", X: x, Y: y, Style: Style{Width: 1.5}})
		f.Key = append(f.Key, KeyItem{KeyLine, Style{Width: 1.5}, "no setting is both faster and quieter"})
		f.Panels = []Panel{{
			X:     Axis{Label: "detection delay, s", Kind: Log},
			Y:     Axis{Label: "false trips per day", Kind: LogZero},
			Marks: marks,
		}}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// gridValues are a setting's delay and trips; the delay is NaN if it missed
// the outage in any replication.
func gridValues(summary *table.Table, r table.Row) (delay, trips float64) {
	delay = summary.Value(r, "detection_delay_s_mean")
	if summary.Value(r, "undetected_count") > 0 {
		delay = math.NaN()
	}
	return delay, summary.Value(r, "false_trips_per_day_mean")
}

// gridName is a setting in short: "count 20, ≥ 50 %".
func gridName(summary *table.Table, r table.Row) string {
	window := strings.Replace(summary.Key(r, "window"), "-", " ", 1)
	return fmt.Sprintf("%s, ≥ %s %%", window, percent(summary.Key(r, "threshold_ratio")))
}

// gridTitle names the fastest setting without a false trip.
func gridTitle(summary *table.Table, g group, x, y []float64) string {
	rate := summary.Key(g.members[0], "rate_rps")
	for _, i := range ParetoFront(x, y) {
		if y[i] == 0 {
			days := summary.Value(g.members[i], "n") * number(summary.Key(g.members[i], "hours")) / 24
			return fmt.Sprintf("At %s calls/s, %s is the fastest setting without a false trip in %s days: it notices an outage in %s s",
				rate, gridName(summary, g.members[i]), compact(days, 1), compact(x[i], 2))
		}
	}
	front := ParetoFront(x, y)
	if len(front) == 0 {
		return fmt.Sprintf("At %s calls/s, no setting notices the outage every time", rate)
	}
	i := front[len(front)-1]
	return fmt.Sprintf("At %s calls/s, every setting trips for nothing; the quietest, %s, %s times a day", rate, gridName(summary, g.members[i]), compact(y[i], 1))
}
