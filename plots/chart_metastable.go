package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["metastable"] = drawMetastable }

// phaseStyles are what became of the runs: recovered, stuck, collapsed before.
var phaseStyles = []Style{
	{Color: BudgetBreaker.Color(), Glyph: Box, Size: 8},
	{Color: Unlimited.Color(), Glyph: Box, Size: 8},
	{Color: Neutral.Color(), Glyph: Box, Size: 8},
}

// drawMetastable shows a phase diagram for each policy: load across, length of
// the trigger upwards.
func drawMetastable(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no table of the hysteresis")
	}
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "rate_rps", "trigger_s") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		capacity := number(key("workers")) / number(key("service_s"))
		loads, triggers := sortedLevels(summary, "rate_rps"), sortedLevels(summary, "trigger_s")
		slices.Reverse(triggers) // the longest on top
		f := &Figure{
			Title: metastableTitle(details[0], g),
			Subtitle: fmt.Sprintf("Share of runs by offered load and length of a total stall; %s workers × %s s = %s/s, timeout %s s, at most %s attempts without back-off%s",
				key("workers"), key("service_s"), compact(capacity, 1), key("timeout_s"), key("attempts"), g.title()),
			Note: fmt.Sprintf(" · stall from %s s, judged in the last %s of %s s · number: mean recovery time, s; 3/5: so many runs well at the end · stall – : none",
				key("trigger_at_s"), key("judge_s"), key("horizon_s")),
			Key: []KeyItem{
				{KeyPoint, phaseStyles[0], "well at the end"}, {KeyPoint, phaseStyles[1], "down at the end"},
				{KeyPoint, phaseStyles[2], "down before " + key("trigger_at_s") + " s already"},
			},
			Columns: 4, ShareX: true, ShareY: true, Width: 1440, Height: 760,
		}
		limits := false
		for _, policy := range summary.Levels("policy") {
			rows := g.rows("policy", policy)
			if len(rows) == 0 {
				continue
			}
			tiles := Tiles{Styles: phaseStyles}
			for _, r := range rows {
				tiles.Tiles = append(tiles.Tiles, phaseTile(summary, r, loads, triggers))
			}
			p := Panel{
				Title: withRetries(summary.Label(rows[0], "policy"), key("attempts")),
				X:     Axis{Label: "offered load, requests/s", Rows: loads},
				Y:     Axis{Label: "stall, s", Rows: stallNames(triggers)},
				Marks: []Mark{tiles},
			}
			if x, ok := between(loads, stuckAbove(details[0], g, policy)); ok {
				limits = true
				edge := float64(len(triggers)) - 0.51
				p.Marks = append(p.Marks, Line{X: []float64{x, x}, Y: []float64{-0.49, edge}, Style: phaseLimit})
			}
			f.Panels = append(f.Panels, p)
		}
		f.Columns = min(f.Columns, len(f.Panels))
		if limits {
			f.Key = append(f.Key, KeyItem{KeyLine, phaseLimit, "capacity ÷ attempts per request when all fail"})
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

var phaseLimit = Style{Dashes: []float64{7, 4}, Width: 2.5, Glyph: NoGlyph}

// sortedLevels are the levels of a numeric key, in order.
func sortedLevels(t *table.Table, name string) []string {
	levels := slices.Clone(t.Levels(name))
	slices.SortStableFunc(levels, func(a, b string) int {
		switch x, y := number(a), number(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return levels
}

// phaseTile is the tile of one row of the summary.
func phaseTile(summary *table.Table, r table.Row, loads, triggers []string) Tile {
	share := func(name string) float64 {
		if v := summary.Value(r, name+"_mean"); v > 0 {
			return v
		}
		return 0 // also where nothing was measured
	}
	t := Tile{
		X:      float64(slices.Index(loads, summary.Key(r, "rate_rps"))),
		Y:      float64(slices.Index(triggers, summary.Key(r, "trigger_s"))),
		Shares: []float64{share("recovered_ratio"), share("stuck_ratio"), share("collapsed_before_ratio")},
	}
	back, n := summary.Value(r, "recovery_s_mean"), summary.Value(r, "n")
	switch {
	case t.Shares[0] == 1 && back < 0.5:
		t.Text = "<1"
	case t.Shares[0] == 1 && !math.IsNaN(back):
		t.Text = compact(back, 0)
	case slices.Max(t.Shares) < 1:
		t.Text = compact(t.Shares[0]*n, 0) + "/" + compact(n, 0)
	}
	return t
}

// stallNames are lengths of a stall as rows; a stall of 0 s is none.
func stallNames(triggers []string) []string {
	names := slices.Clone(triggers)
	for i, t := range names {
		if number(t) == 0 {
			names[i] = "–"
		}
	}
	return names
}

// withRetries says how many the retries of a policy are: "1 retry, no budget".
func withRetries(policy, attempts string) string {
	rest, ok := strings.CutPrefix(policy, "retries")
	switch n := number(attempts) - 1; {
	case !ok:
		return policy
	case n == 1:
		return "1 retry" + rest
	default:
		return compact(n, 0) + " retries" + rest
	}
}

// stuckAbove is the closed form of a policy's limit; NaN if there is none.
func stuckAbove(limits *table.Table, g group, policy string) float64 {
	rows := hysteresisRows(limits, g, policy)
	if len(rows) == 0 {
		return math.NaN()
	}
	return limits.Value(rows[0], "stuck_above_rps")
}

// hysteresisRows are the rows of a policy in the table of the hysteresis that
// belong to the group.
func hysteresisRows(limits *table.Table, g group, policy string) []table.Row {
	want := map[string]string{"policy": policy}
	for _, name := range g.varying {
		want[name] = g.table.Key(g.members[0], name)
	}
	return limits.Select(want)
}

// between is the place of a value on an axis of numeric categories: in
// proportion between its neighbours. It is false outside of them.
func between(levels []string, v float64) (float64, bool) {
	for i := 1; i < len(levels); i++ {
		a, b := number(levels[i-1]), number(levels[i])
		if v >= a && v <= b {
			return float64(i-1) + (v-a)/(b-a), true
		}
	}
	return 0, false
}

// metastableTitle says up to which load policies bring the system back from
// the longest stall.
func metastableTitle(limits *table.Table, g group) string {
	words := []struct{ policy, text string }{
		{"unlimited", "with " + withRetries("retries", g.table.Key(g.members[0], "attempts")) + " and no budget"},
		{"budget-request", "with a budget credited per request"}, {"budget-success", "with one credited per success"}, {"none", "without retries"},
	}
	longest := -1.0
	var up, none []string
	for _, w := range words {
		var row table.Row
		at := -1.0
		for _, r := range hysteresisRows(limits, g, w.policy) {
			if v := number(limits.Key(r, "trigger_s")); v > at {
				row, at = r, v
			}
		}
		if at <= 0 {
			continue
		}
		longest = max(longest, at)
		if load := limits.Value(row, "recovers_up_to_rps"); math.IsNaN(load) {
			none = append(none, w.text)
		} else {
			up = append(up, compact(load, 1)+"/s "+w.text)
		}
	}
	capacity := compact(number(g.table.Key(g.members[0], "workers"))/number(g.table.Key(g.members[0], "service_s")), 1)
	text := "After a stall of " + compact(longest, 3) + " s, a node for " + capacity + "/s recovers at "
	switch {
	case len(up) == 0 && len(none) == 0:
		return "At which load and after which stall a node for " + capacity + "/s stays down"
	case len(none) == 0:
		return text + "loads up to " + strings.Join(up, ", ")
	case len(up) == 0:
		return text + "no load tried " + strings.Join(none, ", ")
	}
	return text + "loads up to " + strings.Join(up, ", ") + "; at no load tried " + strings.Join(none, ", ")
}
