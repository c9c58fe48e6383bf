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
func drawWindowGrid(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no front")
	}
	front := details[0]
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
		best := gridBest(front, g)
		if len(best) == 0 {
			continue // no setting notices the outage: there is nothing to choose from
		}
		f := &Figure{
			Title: gridTitle(summary, g, best, x, y),
			Subtitle: fmt.Sprintf("Delay of an outage with %s %% failures against openings outside it, %s calls/s; %d settings%s",
				percent(key("outage_error_ratio")), key("rate_rps"), len(g.members), g.title()),
			Note: fmt.Sprintf(" · %s h each, %s %% baseline failures, glitches of %s s with %s %% failures in %s %% of the minutes · 95 %% intervals",
				key("hours"), percent(key("baseline_error_ratio")), key("glitch_s"), percent(key("glitch_error_ratio")), percent(key("glitch_minute_ratio"))),
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

// gridBest are the group's rows that stand in the table of the front.
func gridBest(front *table.Table, g group) map[int]bool {
	key := func(r table.Row) string { return strings.Join(r.Keys, "\x00") }
	listed := map[string]bool{}
	for _, r := range front.Rows {
		listed[key(r)] = true
	}
	best := map[int]bool{}
	for i, r := range g.members {
		if listed[key(r)] {
			best[i] = true
		}
	}
	return best
}

// gridName is a setting in short: "count 20, ≥ 50 %, min 10".
func gridName(summary *table.Table, r table.Row) string {
	window := strings.Replace(summary.Key(r, "window"), "-", " ", 1)
	return fmt.Sprintf("%s, ≥ %s %%, min %s", window, percent(summary.Key(r, "threshold_ratio")), summary.Key(r, "min_calls"))
}

// gridTitle names the quietest setting on the front, which is the fastest one
// as quiet.
func gridTitle(summary *table.Table, g group, best map[int]bool, x, y []float64) string {
	rate := summary.Key(g.members[0], "rate_rps")
	quietest := -1
	for i := range g.members {
		if best[i] && (quietest < 0 || y[i] < y[quietest]) {
			quietest = i
		}
	}
	r := g.members[quietest]
	if y[quietest] > 0 {
		return fmt.Sprintf("At %s calls/s, every setting trips for nothing; the quietest, %s, %s times a day",
			rate, gridName(summary, r), compact(y[quietest], 1))
	}
	hours := summary.Value(r, "n") * number(summary.Key(r, "hours"))
	return fmt.Sprintf("At %s calls/s, %s is the fastest setting without a false trip in %s h: it notices an outage in %s s",
		rate, gridName(summary, r), compact(hours, 1), compact(x[quietest], 3))
}
