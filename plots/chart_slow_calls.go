package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["slow-calls"] = drawSlowCalls }

// slowPalette tells three rules on the same count window apart.
var slowPalette = []Style{NoRetry.Member(0), CountWindow.Member(0), TimeWindow.Member(0), BucketWindow.Member(0)}

// drawSlowCalls shows the threads that wait and the calls sent over time.
func drawSlowCalls(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no time line")
	}
	timeline := details[0]
	var drawings []Drawing
	for _, g := range groups(timeline, "policy", "replication") {
		key := func(name string) string { return timeline.Key(g.members[0], name) }
		change := number(key("slow_from_s"))
		end := change + number(key("rounds"))*number(key("slow_s"))
		busy := []Mark{Spans{{From: change, To: end, Label: fmt.Sprintf("every call takes %s s and succeeds", key("slow_s"))}}}
		sent := []Mark{Spans{{From: change, To: end}}}
		f := &Figure{
			Subtitle: fmt.Sprintf("%s closed-loop threads on one server, calls of %s s that turn into %s s%s", key("threads"), key("fast_s"), key("slow_s"), g.title()),
			Note:     " · lines: replication 0; title: means",
			Key:      []KeyItem{{KeySpan, Style{}, "slow server"}},
			ShareX:   true,
		}
		names := slowNames(timeline)
		for i, policy := range timeline.Levels("policy") {
			rows := g.rows("policy", policy)
			style := slowPalette[i%len(slowPalette)]
			label := names[policy]
			a, b := Line{Label: label, Style: style, Step: true}, Line{Label: label, Style: style, Step: true}
			for _, r := range rows {
				t := timeline.Value(r, "t_s")
				a.X, a.Y = append(a.X, t), append(a.Y, timeline.Value(r, "in_flight_count"))
				b.X, b.Y = append(b.X, t), append(b.Y, timeline.Value(r, "calls_after_slow_count"))
			}
			busy, sent = append(busy, a), append(sent, b)
			if opened := slowOpening(summary, g, policy); opened <= end {
				busy = append(busy, Events{Label: "openings", At: []float64{opened}, Drop: true, Style: Style{Color: style.Color}})
				f.Key = append(f.Key, KeyItem{KeyEvent, style, fmt.Sprintf("%s: opens at %s s", label, compact(opened, 2))})
			}
		}
		f.Title = slowTitle(summary, g)
		f.Panels = []Panel{
			{X: Axis{Label: "time, s"}, Y: Axis{Label: "threads held by a call"}, Marks: busy},
			{X: Axis{Label: "time, s"}, Y: Axis{Label: "calls sent since the change"}, Marks: sent},
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// slowName says what a rule looks at, since the windows are alike.
func slowName(label string) string {
	switch {
	case strings.HasSuffix(label, "in flight"):
		return "slow calls in flight"
	case strings.Contains(label, "slow"):
		return "slow calls"
	}
	return "failures only"
}

// slowSummary is the summary row that belongs to a policy of the group.
func slowSummary(summary *table.Table, g group, policy string) (table.Row, bool) {
	want := map[string]string{"policy": policy}
	for _, name := range g.varying {
		want[name] = g.table.Key(g.members[0], name)
	}
	rows := summary.Select(want)
	if len(rows) == 0 {
		return table.Row{}, false
	}
	return rows[0], true
}

// slowOpening is the mean instant of a policy's opening; +Inf if it never opened.
func slowOpening(summary *table.Table, g group, policy string) float64 {
	if r, ok := slowSummary(summary, g, policy); ok {
		if v := summary.Value(r, "opened_at_s_mean"); !math.IsNaN(v) {
			return v
		}
	}
	return math.Inf(1)
}

// slowTitle compares the thread time of the first policy with the best one.
func slowTitle(summary *table.Table, g group) string {
	held := func(policy string) (float64, string) {
		r, ok := slowSummary(summary, g, policy)
		if !ok {
			return math.NaN(), ""
		}
		return summary.Value(r, "thread_s_mean"), summary.Label(r, "policy")
	}
	policies := g.table.Levels("policy")
	first, label := held(policies[0])
	names := slowNames(g.table)
	text := fmt.Sprintf("Slow calls cost %s thread-seconds with a breaker that watches %s", compact(first, 0), names[policies[0]])
	if names[policies[0]] == label {
		text = fmt.Sprintf("Slow calls cost %s thread-seconds with %s", compact(first, 0), shortName(label))
	}
	others := policies[1:]
	if len(others) > 2 {
		best := others[0]
		for _, p := range others {
			a, _ := held(p)
			b, _ := held(best)
			if a < b {
				best = p
			}
		}
		others = []string{best}
	}
	for _, p := range others {
		v, _ := held(p)
		text += fmt.Sprintf(", %s with %s", compact(v, 0), names[p])
	}
	return text
}

// slowNames says what each rule looks at, or gives its whole label where that
// would not tell two apart.
func slowNames(t *table.Table) map[string]string {
	names, users := map[string]string{}, map[string]int{}
	for _, c := range t.Keys {
		if c.Name != "policy" {
			continue
		}
		for _, p := range t.Levels("policy") {
			names[p] = slowName(c.Label(p))
			users[names[p]]++
		}
		for p, n := range names {
			if users[n] > 1 {
				names[p] = c.Label(p)
			}
		}
	}
	return names
}
