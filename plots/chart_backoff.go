package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["backoff"] = drawBackoff }

// backoffStyle tells the kinds of back-off apart.
func backoffStyle(kind string) Style {
	for i, k := range []struct {
		kind   string
		family Family
	}{
		{"none", NoRetry}, {"fixed", FixedRetry}, {"exponential", Unlimited}, {"plus-minus", BucketWindow},
		{"full", Budget}, {"equal", CountWindow}, {"decorrelated", TimeWindow},
	} {
		if k.kind == kind {
			s := k.family.Member(i % len(memberGlyphs))
			s.Dashes = memberDashes[min(i/4, 1)]
			return s
		}
	}
	return Neutral.Member(0)
}

// backoffPanels are what a figure shows of an outage.
var backoffPanels = []struct{ metric, title, axis, never string }{
	{"amplification_ratio", "Load in all", "attempts per request", ""},
	{"recovery_s", "Recovery", "after the outage, s", "never"},
	{"peak_after_load_ratio", "Peak after the outage", "attempts in 100 ms ÷ capacity", ""},
	{"outage_success_ratio", "Requests of the outage that succeed", "share", ""},
}

// drawBackoff shows load and recovery against the base, for each kind.
func drawBackoff(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "kind", "base_s", "jitter_ratio") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		capacity := number(key("workers")) / number(key("service_s"))
		outage := "answers every call with an error"
		if key("outage") == "stall" {
			outage = "stands still"
		}
		f := &Figure{
			Title: backoffTitle(summary, g),
			Subtitle: fmt.Sprintf("A node for %s/s %s for %s s; %s requests/s, timeout %s s, at most %s attempts, waits of at most %s s%s",
				compact(capacity, 1), outage, key("outage_s"), key("rate_rps"), key("timeout_s"), key("attempts"), key("cap_s"), g.title()),
			Note:    " · means, 95 % intervals as bands · never: not back by the end of the run",
			Columns: 2, ShareX: true, Height: 860,
		}
		lines := backoffLines(summary, g)
		for i, m := range backoffPanels {
			p := Panel{Title: m.title, X: Axis{Label: "base, s", Kind: Log}, Y: Axis{Label: m.axis, Never: m.never}}
			for _, l := range lines {
				line := l.of(summary, m.metric)
				if i%2 == 1 {
					line.Label = l.label
				}
				if usable(line) {
					p.Marks = append(p.Marks, line)
				}
			}
			if m.metric == "peak_after_load_ratio" {
				p.Marks = append(p.Marks, Rule{At: 1})
			}
			f.Panels = append(f.Panels, p)
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// A backoffLine is the rows of one kind, by base; of no back-off it has the
// same row at both ends.
type backoffLine struct {
	label string
	style Style
	bases []float64
	rows  []table.Row
}

func backoffLines(summary *table.Table, g group) []backoffLine {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, level := range summary.Levels("base_s") {
		lo, hi = math.Min(lo, number(level)), math.Max(hi, number(level))
	}
	var out []backoffLine
	for _, kind := range summary.Levels("kind") {
		byJitter := map[string]*backoffLine{}
		var order []*backoffLine
		for _, r := range g.rows("kind", kind) {
			jitter := summary.Key(r, "jitter_ratio")
			l := byJitter[jitter]
			if l == nil {
				l = &backoffLine{label: summary.Label(r, "kind"), style: backoffStyle(kind)}
				if len(summary.Levels("jitter_ratio")) > 1 && kind == "plus-minus" {
					l.label = "exponential ± " + percent(jitter) + " %"
					l.style.Dashes = memberDashes[len(order)%len(memberDashes)]
				}
				byJitter[jitter] = l
				order = append(order, l)
			}
			if kind == "none" {
				l.bases, l.rows = append(l.bases, lo, hi), append(l.rows, r, r)
				continue
			}
			l.bases, l.rows = append(l.bases, number(summary.Key(r, "base_s"))), append(l.rows, r)
		}
		for _, l := range order {
			out = append(out, *l)
		}
	}
	return out
}

// of is the line of a metric. A time is never where at least half of the runs
// did not reach it.
func (l backoffLine) of(summary *table.Table, metric string) Line {
	line := Line{Style: l.style, Points: len(l.rows) > 0 && l.style.Color != NoRetry.Color()}
	for i, r := range l.rows {
		y, lo, hi := summary.Value(r, metric+"_mean"), summary.Value(r, metric+"_ci95_lo"), summary.Value(r, metric+"_ci95_hi")
		if metric == "recovery_s" && summary.Value(r, "unrecovered_count") >= summary.Value(r, "n")/2 {
			y, lo, hi = math.Inf(1), math.NaN(), math.NaN()
		}
		line.X, line.Y = append(line.X, l.bases[i]), append(line.Y, y)
		line.Lo, line.Hi = append(line.Lo, lo), append(line.Hi, hi)
	}
	return line
}

// usable reports whether a line has a point to draw.
func usable(l Line) bool {
	for _, y := range l.Y {
		if !math.IsNaN(y) {
			return true
		}
	}
	return false
}

// backoffTitle names the shortest waits with which the system comes back, or
// what the waits do to the requests of the outage.
func backoffTitle(summary *table.Table, g group) string {
	back, down := map[string]float64{}, map[string]bool{}
	for _, r := range g.members {
		kind, base := summary.Label(r, "kind"), number(summary.Key(r, "base_s"))
		if summary.Value(r, "unrecovered_count") >= summary.Value(r, "n")/2 {
			down[kind] = true
		} else if old, seen := back[kind]; !seen || base < old {
			back[kind] = base
		}
	}
	if len(down) > 0 {
		best, least := "", math.Inf(1)
		for _, r := range g.members { // in order, so that the first of several is named
			kind := summary.Label(r, "kind")
			if base, ok := back[kind]; ok && base < least {
				best, least = kind, base
			}
		}
		if best == "" {
			return "No back-off tried brings the node back: it moves attempts, and each failing request still makes all of its own"
		}
		return fmt.Sprintf("Back-off brings the node back only if it waits out the backlog: from a base of %s s (%s), whatever the jitter", compact(least, 3), best)
	}
	first := g.members[0]
	worst, best := first, first
	for _, r := range g.members {
		if summary.Value(r, "outage_success_ratio_mean") < summary.Value(worst, "outage_success_ratio_mean") {
			worst = r
		}
		if summary.Value(r, "outage_success_ratio_mean") > summary.Value(best, "outage_success_ratio_mean")+0.005 {
			best = r
		}
	}
	name := func(r table.Row) string {
		kind := summary.Label(r, "kind")
		if summary.Key(r, "kind") == "none" {
			return "without back-off"
		}
		return strings.TrimSpace("with " + kind + " from " + summary.Key(r, "base_s") + " s")
	}
	text := func(r table.Row) string {
		return fmt.Sprintf("%s %% of the requests of the outage succeed and the load rises to %s times the capacity",
			compact(100*summary.Value(r, "outage_success_ratio_mean"), 0), compact(summary.Value(r, "peak_load_ratio_mean"), 1))
	}
	return capital(name(worst)) + ", " + text(worst) + "; " + name(best) + ", " +
		fmt.Sprintf("%s %% and %s times", compact(100*summary.Value(best, "outage_success_ratio_mean"), 0), compact(summary.Value(best, "peak_load_ratio_mean"), 1))
}
