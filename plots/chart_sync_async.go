package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["sync-async"] = drawSyncAsync }

// drawSyncAsync shows what users wait and the callee carries over the length of
// the outage, a figure for each way to fail.
func drawSyncAsync(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	first := summary.Levels("outage_answer")[0]
	for _, g := range groups(summary, "way", "delay_s", "cap_s", "outage_s") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		capacity := number(key("workers")) / number(key("service_s"))
		fails := "fails at once"
		if key("outage_answer") == "after-work" {
			fails = "fails after its work"
		}
		f := &Figure{
			Title: syncAsyncTitle(summary, g),
			Subtitle: fmt.Sprintf("A callee for %s/s %s; %s requests/s; users wait %s\u00a0s for an attempt, back-off from %s\u00a0ms; queue: %s consumers, delays to %s\u00a0s%s",
				compact(capacity, 1), fails, key("rate_rps"), key("timeout_s"), key("backoff_ms"), key("workers"), key("cap_s"),
				strings.Replace(g.title(), " · outage_answer = "+key("outage_answer"), "", 1)),
			Note:    " · means, 95 % intervals as bands · never: not by the end of the run; points there stand side by side",
			Columns: 2, ShareX: true, Height: 880,
		}
		for i, m := range []struct {
			metric, title, axis, never string
			rule                       []Mark
		}{
			{"wait_mean_s", "What users wait", "mean of those who come in the outage, s", "", nil},
			{"seen_success_ratio", "What users are told", "share of them told of success", "", nil},
			{"outage_load_ratio", "What the callee carries", "attempts in the outage ÷ capacity", "", []Mark{Rule{At: 1}}},
			{"done_s", "When what was asked before the outage's end is done", "after the outage, s", "never", nil},
		} {
			p := Panel{Title: m.title, X: outageAxis(g), Y: Axis{Label: m.axis, Never: m.never}, Marks: m.rule}
			for _, l := range wayLines(summary, g) {
				line := l.of(summary, m.metric)
				// Leaders of labels would cross the other points of the strip.
				if n := len(line.Y); i%2 == 1 && !math.IsInf(line.Y[n-1], 1) {
					line.Label = l.label
				}
				if usable(line) {
					p.Marks = append(p.Marks, line)
				}
			}
			dodgeNever(p.Marks, p.X.Range)
			f.Panels = append(f.Panels, p)
		}
		drawings = append(drawings, Drawing{strings.Replace(g.suffix(), "_outage_answer-"+first, "", 1), f})
	}
	return drawings, nil
}

// outageAxis holds the lengths of the outage and room beside them.
func outageAxis(g group) Axis {
	lo, hi := math.Inf(1), 0.0
	for _, r := range g.members {
		x := number(g.table.Key(r, "outage_s"))
		lo, hi = math.Min(lo, x), math.Max(hi, x)
	}
	room := math.Max(1.1, math.Pow(hi/lo, 1.0/16))
	if lo == hi {
		room = 3
	}
	return Axis{Label: "length of the outage, s", Kind: Log, Range: [2]float64{lo / room, hi * room}}
}

// dodgeNever moves points that lines share in the strip of what is never
// reached apart, to the right and left of their place on the logarithmic axis,
// by about the width of a marker.
func dodgeNever(marks []Mark, ends [2]float64) {
	const markers = 32 // side by side over the width of a panel
	at := map[float64][]*float64{}
	for _, m := range marks {
		l, ok := m.(Line)
		if !ok {
			continue
		}
		for i, x := range l.X {
			if math.IsInf(l.Y[i], 1) {
				at[x] = append(at[x], &l.X[i])
			}
		}
	}
	step := math.Pow(ends[1]/ends[0], 1.0/markers)
	for _, shared := range at {
		for k, x := range shared {
			*x *= math.Pow(step, float64(k)-float64(len(shared)-1)/2)
		}
	}
}

// A wayLine is the rows of one way, by length of the outage.
type wayLine struct {
	label string
	style Style
	rows  []table.Row
}

func wayLines(summary *table.Table, g group) []*wayLine {
	var lines []*wayLine
	index := map[string]*wayLine{}
	queues, waits := 0, 0
	for _, r := range g.members {
		way := summary.Key(r, "way")
		id := way + "\x00" + summary.Key(r, "delay_s") + "\x00" + summary.Key(r, "cap_s")
		l := index[id]
		if l == nil {
			l = &wayLine{label: summary.Label(r, "way")}
			switch way {
			case "async":
				l.label = "queue, delays from " + summary.Key(r, "delay_s") + " s"
				if len(summary.Levels("cap_s")) > 1 {
					l.label += " to " + summary.Key(r, "cap_s") + " s"
				}
				l.style = Budget.Member(queues)
				queues++
			case "sync-0":
				l.style = NoRetry.Member(0)
			default:
				l.style = Unlimited.Member(waits)
				waits++
			}
			index[id] = l
			lines = append(lines, l)
		}
		l.rows = append(l.rows, r)
	}
	return lines
}

// of is the line of a metric. All is never done where at least half of the
// runs did not get there.
func (l *wayLine) of(summary *table.Table, metric string) Line {
	line := Line{Style: l.style, Points: true}
	for _, r := range l.rows {
		y, lo, hi := summary.Value(r, metric+"_mean"), summary.Value(r, metric+"_ci95_lo"), summary.Value(r, metric+"_ci95_hi")
		if metric == "done_s" && summary.Value(r, "never_done_count") >= summary.Value(r, "n")/2 {
			y, lo, hi = math.Inf(1), math.NaN(), math.NaN()
		}
		line.X, line.Y = append(line.X, number(summary.Key(r, "outage_s"))), append(line.Y, y)
		line.Lo, line.Hi = append(line.Lo, lo), append(line.Hi, hi)
	}
	return line
}

// syncAsyncTitle compares the most retries with the queue in the longest
// outage.
func syncAsyncTitle(summary *table.Table, g group) string {
	longest := 0.0
	for _, r := range g.members {
		longest = max(longest, number(summary.Key(r, "outage_s")))
	}
	var sync, queue *table.Row
	for i, r := range g.members {
		if number(summary.Key(r, "outage_s")) != longest {
			continue
		}
		if summary.Key(r, "way") == "async" {
			queue = &g.members[i]
		} else if sync == nil || summary.Value(r, "attempts_ratio_mean") >= summary.Value(*sync, "attempts_ratio_mean") {
			sync = &g.members[i]
		}
	}
	text := fmt.Sprintf("Outage of %s s: ", compact(longest, 3))
	if sync != nil {
		text += fmt.Sprintf("users who wait (%s) wait %s s, %s %% succeed, and the callee gets %s × its capacity",
			waysText(summary.Key(*sync, "way")), compact(summary.Value(*sync, "wait_mean_s_mean"), 2),
			compact(100*summary.Value(*sync, "seen_success_ratio_mean"), 1), compact(summary.Value(*sync, "outage_load_ratio_mean"), 1))
		if queue != nil {
			text += "; "
		}
	}
	if queue != nil {
		done := "is never through with what was asked by then"
		if v := summary.Value(*queue, "done_s_mean"); !math.IsNaN(v) {
			done = "is through with what was asked by then " + compact(v, 0) + " s after it"
		}
		text += fmt.Sprintf("a queue (delays from %s s) answers in %s s, gives it %s × and %s",
			summary.Key(*queue, "delay_s"), compact(summary.Value(*queue, "wait_mean_s_mean"), 3), compact(summary.Value(*queue, "outage_load_ratio_mean"), 1), done)
	}
	return text
}

// waysText is the number of retries of a way in words.
func waysText(way string) string {
	if len(way) > 5 {
		return retriesText(way[5:])
	}
	return way
}
