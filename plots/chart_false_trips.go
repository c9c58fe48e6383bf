package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["false-trips"] = drawFalseTrips }

// drawFalseTrips shows trips per breaker with and without glitches, one figure
// for each mode.
func drawFalseTrips(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "trace") {
		f := tripsFigure(summary, g)
		if len(f.Panels) == 0 {
			continue // outages only: nothing can trip falsely
		}
		suffix := strings.TrimPrefix(g.suffix(), "_mode-observe")
		if summary.Key(g.members[0], "mode") == "breaker" && !strings.Contains(suffix, "_mode-breaker") {
			suffix = "_mode-breaker" + suffix
		}
		drawings = append(drawings, Drawing{suffix, f})
	}
	return drawings, nil
}

var traceTitles = map[string]string{"baseline": "Baseline failures only", "glitches": "With glitches"}

func tripsFigure(summary *table.Table, g group) *Figure {
	live := summary.Key(g.members[0], "mode") == "breaker"
	key := func(name string) string { return summary.Key(g.members[0], name) }
	f := &Figure{
		Title:    tripsTitle(summary, g, live),
		Subtitle: fmt.Sprintf("%s h without a real outage, %s calls/s, %s %% baseline failures", key("hours"), key("rate_rps"), percent(key("baseline_error_ratio"))),
		Note:     fmt.Sprintf(" · %s h each · 95 %% intervals of the mean (Student t); bars: mean ± sd of one run", key("hours")),
		Columns:  2, ShareX: true, ShareY: true,
	}
	if len(g.rows("trace", "glitches")) > 0 {
		f.Subtitle += fmt.Sprintf("; glitches of %s s with %s %% failures in %s %% of the minutes",
			key("glitch_s"), percent(key("glitch_error_ratio")), percent(key("glitch_minute_ratio")))
	}
	if live {
		f.Subtitle += fmt.Sprintf("; a breaker stays open %s s, then %s probes decide", key("open_s"), key("probes"))
	} else {
		f.Subtitle += "; the window is emptied at a trip"
	}
	event, articles := "false trips", false
	if live {
		event = "openings"
	}
	families := map[Family]bool{}
	for _, trace := range []string{"baseline", "glitches"} {
		rows := g.rows("trace", trace)
		if len(rows) == 0 {
			continue
		}
		p := Panel{
			Title: traceTitles[trace],
			X:     Axis{Label: fmt.Sprintf("%s in %s h", event, key("hours")), Kind: LogZero},
			Y:     Axis{},
		}
		e := Estimates{Label: "openings", Horizontal: true}
		ref := Reference{Label: "article"}
		var anyTrip, refused, delay []string
		for i, r := range rows {
			policy := summary.Key(r, "policy")
			families[familyOf(policy)] = true
			p.Y.Rows = append(p.Y.Rows, twoLines(summary.Label(r, "policy")))
			e.Points = append(e.Points, Estimate{
				At: float64(i), Style: familyOf(policy).Member(0),
				Mean: summary.Value(r, "false_trips_count_mean"), SD: orZero(summary.Value(r, "false_trips_count_sd")),
				Lo: summary.Value(r, "false_trips_count_ci95_lo"), Hi: summary.Value(r, "false_trips_count_ci95_hi"),
			})
			if v := summary.Value(r, "false_trips_count_article"); !math.IsNaN(v) {
				ref.X, ref.Y = append(ref.X, v), append(ref.Y, float64(i))
			}
			anyTrip = append(anyTrip, Number(summary.Value(r, "any_false_trip_ratio_mean"), 2))
			refused = append(refused, percentOf(summary.Value(r, "good_refused_ratio_mean")))
			delay = append(delay, outageDelay(summary, g, policy))
		}
		p.Marks = []Mark{e}
		if len(ref.X) > 0 {
			p.Marks, articles = append(p.Marks, ref), true
		}
		p.Columns = []Column{{"P(any\n" + event[:len(event)-1] + ")", anyTrip}}
		if live {
			p.Columns = append(p.Columns, Column{"good calls\nrefused", refused})
		} else if trace == "glitches" {
			p.Columns = append(p.Columns, Column{"notices an\noutage in, s", delay})
		}
		f.Panels = append(f.Panels, p)
	}
	if len(f.Panels) == 1 {
		f.Columns = 1
	}
	if articles {
		f.Key = append(f.Key, KeyItem{KeyReference, Style{}, "article, one run"})
	}
	for _, k := range []struct {
		family Family
		name   string
	}{{CountWindow, "count window"}, {TimeWindow, "time window"}, {BucketWindow, "bucketed window"}} {
		if families[k.family] {
			f.Key = append(f.Key, KeyItem{KeyInterval, k.family.Member(0), k.name + ": mean, 95 %"})
		}
	}
	f.Key = append(f.Key, KeyItem{KeySpread, Neutral.Member(0), "mean ± sd of one run"})
	return f
}

// outageDelay renders a policy's delay in the trace with an outage.
func outageDelay(summary *table.Table, g group, policy string) string {
	for _, r := range g.rows("policy", policy) {
		if summary.Key(r, "trace") != "outage" {
			continue
		}
		if v := summary.Value(r, "detection_delay_s_mean"); !math.IsNaN(v) {
			return compact(v, 3)
		}
		return "never"
	}
	return "–"
}

// tripsTitle states which breakers stay quiet, and the price of the fastest of
// them; or how many good calls the loudest breaker refuses.
func tripsTitle(summary *table.Table, g group, live bool) string {
	hours := summary.Key(g.members[0], "hours")
	loudest, refused := "", 0.0
	worst := map[string]float64{} // by policy: the largest P(any)
	var order []string
	for _, r := range g.members {
		p := summary.Key(r, "policy")
		v := summary.Value(r, "any_false_trip_ratio_mean")
		if math.IsNaN(v) {
			continue
		}
		if _, seen := worst[p]; !seen {
			order = append(order, p)
		}
		worst[p] = max(worst[p], v)
		if x := summary.Value(r, "good_refused_ratio_mean"); x > refused {
			loudest, refused = shortName(summary.Label(r, "policy")), x
		}
	}
	if live && refused > 0 {
		return fmt.Sprintf("A breaker that opens for nothing is an outage of its own: %s refuses %s %% of the good calls", loudest, compact(100*refused, 1))
	}
	quiet, best, delay := 0, "", math.Inf(1)
	for _, p := range order {
		if worst[p] > 0 {
			continue
		}
		quiet++
		for _, r := range g.rows("policy", p) {
			if v := summary.Value(r, "detection_delay_s_mean"); v < delay {
				best, delay = shortName(summary.Label(r, "policy")), v
			}
		}
	}
	n := summary.Value(g.members[0], "n")
	text := fmt.Sprintf("In %s × %s h, %d of %d breakers made no false trip", compact(n, 0), hours, quiet, len(order))
	if best != "" {
		text += fmt.Sprintf("; the fastest of them, %s, needs %s s to notice an outage", best, compact(delay, 3))
	}
	return text
}

// shortName leaves the minimum out of "count 20, min 20, ≥ 50 %".
func shortName(label string) string {
	parts := strings.Split(label, ", ")
	if len(parts) > 2 {
		parts = append(parts[:1], parts[2:]...)
	}
	return strings.Join(parts, ", ")
}

// twoLines breaks a policy's label behind its window.
func twoLines(label string) string { return strings.Replace(label, ", ", "\n", 1) }

// percentOf renders a share, a dash if there is none.
func percentOf(ratio float64) string {
	if math.IsNaN(ratio) {
		return "–"
	}
	return compact(100*ratio, 2) + " %"
}

func percent(ratio string) string { return compact(100*number(ratio), 2) }

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
