package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["breaker-presets"] = drawBreakerPresets }

// drawBreakerPresets shows the delay of each breaker by the phase of the
// outage, and beside it what it did where there was none: a figure for each
// settings.
func drawBreakerPresets(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no table of the phases")
	}
	phases := details[0]
	var drawings []Drawing
	for _, g := range groups(summary, "breaker") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		curves := phaseCurves(phases, detailsOf(phases, g, "breaker"))
		if len(curves) == 0 {
			continue // no breaker with such settings
		}
		f := &Figure{
			Title:    glued(breakerPresetsTitle(summary, g, curves)),
			Subtitle: glued(breakerPresetsSubtitle(key) + strings.ReplaceAll(g.title(), " · settings = "+key("settings"), "")),
			Note:     fmt.Sprintf(" · left: replication 0, first failing call at the phase if arrivals are fixed; right: means of %s h each, 95 %% intervals (Student t)", key("hours")),
			Columns:  2, Width: 1500,
		}
		style := map[string]Style{}
		for _, c := range curves {
			for _, name := range c.names {
				style[name] = c.line.Style
			}
		}
		left, flat := delayPanel(curves)
		if flat != "" {
			f.Note = " · not in the left panel, since they are the same at every phase: " + flat + f.Note
		}
		f.Note += rowNotes(summary, g)
		right := presetRows(summary, g, style)
		f.Panels = []Panel{left, right}
		f.Height = max(640, 300+34*len(right.Y.Rows))
		f.Key = []KeyItem{
			{KeyPoint, Neutral.Member(0), "one colour and glyph: the same delays at every phase"},
			{KeyInterval, Neutral.Member(0), "mean, 95 %"},
		}
		drawings = append(drawings, Drawing{strings.TrimPrefix(g.suffix(), "_settings-defaults"), f})
	}
	return drawings, nil
}

// delayPanel shows delays by phase. Where an exact window in time stands
// among others of about its delay, only these are shown, and flat names the
// rest if all of it is flat.
func delayPanel(curves []phaseCurve) (p Panel, flat string) {
	p = Panel{
		Title: "An outage is noticed after",
		X:     Axis{Label: "start of the outage after that of a second, ms", Ticks: []float64{0, 250, 500, 750, 1000}},
		Y:     Axis{Label: "delay, s", Kind: LogZero},
	}
	shown := curves
	if near, rest, ok := nearExact(curves); ok {
		shown, flat = near, rest
		lo, hi := delayRange(near)
		p.Y.Kind, p.Y.Range = Linear, [2]float64{lo - (hi-lo)/10, hi + (hi-lo)/10}
	} else if lo, hi := delayRange(curves); lo > 0 && hi < 20*lo {
		p.Y.Kind = Linear
	}
	for _, c := range shown {
		for _, y := range c.line.Y {
			if math.IsInf(y, 1) {
				p.Y.Never = "never"
			}
		}
		p.Marks = append(p.Marks, c.line)
	}
	return p, flat
}

// nearExact splits the curves into those with delays like the exact window in
// time and the flat rest; false if that says nothing, or leaves out what is not
// flat.
func nearExact(curves []phaseCurve) (near []phaseCurve, flat string, ok bool) {
	exact := math.NaN()
	for _, c := range curves {
		if slices.Contains(c.names, exactWindow) {
			exact = c.mean
		}
	}
	var rest []string
	for _, c := range curves {
		lo, hi := delayRange([]phaseCurve{c})
		switch {
		case lo == hi && !slices.Contains(c.names, exactWindow): // a window of calls
			rest = append(rest, fmt.Sprintf("%s (%s s)", strings.Join(c.names, ", "), thousandths(lo)))
		case c.mean > exact/2 && c.mean < 2*exact:
			near = append(near, c)
		default:
			return nil, "", false
		}
	}
	lo, hi := delayRange(near)
	return near, strings.Join(rest, ", "), len(near) > 1 && hi > lo
}

// detailsOf are the rows of a further table that belong to a group: those with
// its levels, but for the factors shown.
func detailsOf(t *table.Table, g group, shown ...string) group {
	want := map[string]string{}
	for _, c := range g.table.Keys {
		if !slices.Contains(shown, c.Name) {
			want[c.Name] = g.table.Key(g.members[0], c.Name)
		}
	}
	return group{table: t, members: t.Select(want)}
}

// breakerPresetsSubtitle says what the settings of a figure are.
func breakerPresetsSubtitle(key func(string) string) string {
	traffic := fmt.Sprintf("%s calls/s, %s %% baseline failures, glitches of %s s with %s %%; outages of %s s", key("rate_rps"), percent(key("baseline_error_ratio")),
		key("glitch_s"), percent(key("glitch_error_ratio")), key("outage_s"))
	settings := func(failure string) string {
		return fmt.Sprintf("Windows of %s s or %s calls, minimum %s, ≥ %s %%", key("window_s"), key("window_calls"), key("minimum"), failure)
	}
	switch key("settings") {
	case "common":
		return settings(key("failure_pct")) + fmt.Sprintf(", open %s s, probes: %s; ", key("open_s"), key("probes")) + traffic
	case "t4b":
		return settings(key("t4b_failure_pct")) + ", the breaker made anew at every opening; " + traffic
	}
	return "Every library with its own defaults; " + traffic
}

// A phaseCurve is the delay by phase that some breakers have in common.
type phaseCurve struct {
	names []string
	line  Line
	mean  float64 // +Inf if an outage passes unnoticed
}

// phaseCurves gathers the breakers by their delays, in order of appearance.
func phaseCurves(phases *table.Table, g group) []phaseCurve {
	var curves []phaseCurve
	byDelays := map[string]int{}
	for _, breaker := range phases.Levels("breaker") {
		var line Line
		same, sum := "", 0.0
		for _, r := range g.rows("breaker", breaker) {
			y := phases.Value(r, "detection_delay_s")
			if math.IsNaN(y) {
				y = math.Inf(1)
			}
			line.X, line.Y = append(line.X, number(phases.Key(r, "phase_ms"))), append(line.Y, y)
			same += fmt.Sprintf("%.6f ", y)
			sum += y
		}
		if len(line.X) == 0 {
			continue
		}
		i, ok := byDelays[same]
		if !ok {
			i = len(curves)
			byDelays[same] = i
			line.Points = true
			curves = append(curves, phaseCurve{line: line, mean: sum / float64(len(line.X))})
		}
		curves[i].names = append(curves[i].names, breaker)
	}
	for i := range curves {
		curves[i].line.Label = curves[i].name()
	}
	colour(curves)
	return curves
}

// curveFamilies are in an order in which neighbours differ well.
var curveFamilies = []Family{FixedRetry, NoRetry, Unlimited, BudgetBreaker, BucketWindow, Budget}

// colour gives the exact windows their own colours, and the other curves the
// rest in the order of their delays, so that those of one colour lie apart.
func colour(curves []phaseCurve) {
	var order []int
	for i, c := range curves {
		switch {
		case slices.Contains(c.names, exactWindow):
			curves[i].line.Style = TimeWindow.Member(0)
		case slices.Contains(c.names, "count-window"):
			curves[i].line.Style = CountWindow.Member(0)
		default:
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(curves[a].mean, curves[b].mean) })
	for k, i := range order {
		curves[i].line.Style = curveFamilies[k%len(curveFamilies)].Member(k / len(curveFamilies))
	}
	for i := range curves {
		curves[i].line.Style.Width, curves[i].line.Style.Size = 2, 4.5
	}
}

// name is that of its first breaker and how many more there are.
func (c phaseCurve) name() string {
	if n := len(c.names); n > 1 {
		return fmt.Sprintf("%s + %d more", c.names[0], n-1)
	}
	return c.names[0]
}

// delayRange is the range of all finite delays.
func delayRange(curves []phaseCurve) (lo, hi float64) {
	lo = math.Inf(1)
	for _, c := range curves {
		for _, y := range c.line.Y {
			if !math.IsInf(y, 1) {
				lo, hi = min(lo, y), max(hi, y)
			}
		}
	}
	return lo, hi
}

// presetRows is what each breaker did in the trace without an outage, and how
// it recovers from one.
func presetRows(summary *table.Table, g group, style map[string]Style) Panel {
	hours := summary.Key(g.members[0], "hours")
	p := Panel{Title: "Without an outage it opens", X: Axis{Label: "openings of a closed breaker in " + hours + " h", Kind: LogZero}}
	e := Estimates{Label: "openings", Horizontal: true}
	var notices, bad, refused, recovers []string
	for _, r := range g.members {
		name := summary.Key(r, "breaker")
		s, ok := style[name]
		if !ok {
			continue // no such settings
		}
		value := func(metric string) float64 { return summary.Value(r, metric) }
		row := indexOf(&p.Y.Rows, name)
		e.Points = append(e.Points, Estimate{
			At: row, Style: s, Mean: value("false_trips_count_mean"),
			Lo: value("false_trips_count_ci95_lo"), Hi: value("false_trips_count_ci95_hi"),
		})
		notices = append(notices, noticeText(value("detection_delay_s_mean"), value("undetected_count")))
		bad = append(bad, compact(math.Round(10*value("bad_calls_count_mean"))/10, 1))
		refused = append(refused, percentOf(value("good_refused_ratio_mean")))
		recovers = append(recovers, recoveryText(value("recovery_s_mean"), value("unrecovered_count"), summary.Key(r, "observe_s")))
	}
	p.Marks = []Mark{e}
	p.Columns = []Column{{"notices\nafter, s", notices}, {"bad calls\nuntil then", bad}}
	if summary.Key(g.members[0], "settings") != "t4b" {
		p.Columns = append(p.Columns, Column{"good calls\nrefused", refused}, Column{"recovers\nafter, s", recovers})
	}
	return p
}

func noticeText(mean, never float64) string {
	switch {
	case !math.IsNaN(mean):
		return thousandths(mean)
	case never > 0:
		return "never"
	}
	return "–"
}

// recoveryText is a recovery; one that was not observed may come later.
func recoveryText(mean, never float64, observed string) string {
	switch {
	case !math.IsNaN(mean):
		return hundredths(mean)
	case never > 0:
		return "> " + observed
	}
	return "–"
}

// thousandths and hundredths round as the tables do: half up.
func thousandths(v float64) string { return compact(math.Round(v*1000)/1000, 3) }
func hundredths(v float64) string  { return compact(math.Round(v*100)/100, 2) }

// isThrottle reports whether a row has refusals but no openings.
func isThrottle(summary *table.Table, r table.Row) bool {
	return math.IsNaN(summary.Value(r, "false_trips_count_mean")) && !math.IsNaN(summary.Value(r, "good_refused_ratio_mean"))
}

// rowNotes say what the rows of a figure cannot.
func rowNotes(summary *table.Table, g group) string {
	text, throttles := "", false
	for _, r := range g.members {
		if summary.Key(r, "breaker") == "envoy-outlier" && !math.IsNaN(summary.Value(r, "false_trips_count_mean")) {
			text += " · envoy-outlier: of one host of ten"
		}
		throttles = throttles || isThrottle(summary, r)
	}
	if throttles {
		text += " · rows without a dot: throttles, which refuse at random and never open"
	}
	return text
}
