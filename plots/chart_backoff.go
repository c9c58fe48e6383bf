package plots

import (
	"fmt"
	"math"
	"slices"
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

// A backoffPanel is one metric of an outage.
type backoffPanel struct{ metric, title, axis, never string }

// backoffPanels are what a figure shows: of an outage after which all recover
// at once, how long requests take in place of the recovery.
func backoffPanels(summary *table.Table, g group) []backoffPanel {
	panels := []backoffPanel{
		{"amplification_ratio", "Load in all", "attempts per request", ""},
		{"latency_p99_s", "Latency, 99th percentile", "s", ""},
		{"peak_after_load_ratio", "Peak after the outage", "attempts in 100 ms ÷ capacity", ""},
		{"outage_success_ratio", "Requests of the outage that succeed", "share", ""},
	}
	for _, r := range g.members {
		switch {
		case summary.Value(r, "unrecovered_count") > 0:
			panels[1] = backoffPanel{"recovery_s", "Recovery", "after the outage, s", "never"}
			return panels
		case summary.Value(r, "recovery_s_mean") > 1:
			panels[1] = backoffPanel{"recovery_s", "Recovery", "after the outage, s", ""}
		}
	}
	return panels
}

// drawBackoff shows load and recovery against the base, for each kind.
func drawBackoff(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "kind", "base_s", "jitter_ratio") {
		lines := backoffLines(summary, g)
		if !slices.ContainsFunc(lines, func(l backoffLine) bool { return usable(l.of(summary, backoffPanels(summary, g)[0].metric)) }) {
			continue // no request came
		}
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
			Note:    " · means, 95 % intervals as bands",
			Columns: 2, ShareX: true, Height: 860,
		}
		for i, m := range backoffPanels(summary, g) {
			if m.never != "" {
				f.Note += " · never: not back by the end of the run"
			}
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
	least, down := map[string]float64{}, false
	var kinds []string // that bring the system back, in order
	for _, r := range g.members {
		if summary.Value(r, "unrecovered_count") >= summary.Value(r, "n")/2 {
			down = true
			continue
		}
		kind, base := summary.Label(r, "kind"), number(summary.Key(r, "base_s"))
		if old, seen := least[kind]; !seen {
			kinds = append(kinds, kind)
			least[kind] = base
		} else {
			least[kind] = min(old, base)
		}
	}
	switch {
	case down && len(kinds) == 0:
		return "No back-off tried brings the node back: it moves attempts, and a request that fails still makes all of its own"
	case down:
		return "Only waits longer than the backlog bring the node back: " + backoffBases(kinds, least)
	}
	return backoffTrade(summary, g)
}

// backoffBases lists kinds by the shortest base that works: "decorrelated
// jitter from a base of 3 s, the others from 10 s".
func backoffBases(kinds []string, least map[string]float64) string {
	var bases []float64
	of := map[float64][]string{}
	for _, k := range kinds {
		b := least[k]
		if of[b] == nil {
			bases = append(bases, b)
		}
		of[b] = append(of[b], k)
	}
	slices.Sort(bases)
	var parts []string
	for i, b := range bases {
		who := strings.Join(of[b], ", ")
		if i == len(bases)-1 && len(of[b]) > 2 {
			who = "the others"
			if i == 0 {
				who = "all kinds"
			}
		}
		parts = append(parts, who+" from a base of "+compact(b, 3)+" s")
	}
	return strings.Join(parts, ", ")
}

// backoffTrade compares the least with the most of the outage's requests that
// succeed, of equal ones that with the lower peak.
func backoffTrade(summary *table.Table, g group) string {
	good := func(r table.Row) float64 { return summary.Value(r, "outage_success_ratio_mean") }
	peak := func(r table.Row) float64 { return summary.Value(r, "peak_load_ratio_mean") }
	worst, best := g.members[0], g.members[0]
	for _, r := range g.members {
		if good(r) < good(worst) {
			worst = r
		}
		if d := good(r) - good(best); d > 0.005 || d > -0.005 && peak(r) < peak(best) {
			best = r
		}
	}
	name := func(r table.Row) string {
		if summary.Key(r, "kind") == "none" {
			return "without back-off"
		}
		return "with " + summary.Label(r, "kind") + " from " + summary.Key(r, "base_s") + " s"
	}
	return fmt.Sprintf("%s, %s %% of the outage's requests succeed and the load peaks at %s × capacity; %s, %s %% and %s ×, for a 99th percentile of %s s",
		capital(name(worst)), compact(100*good(worst), 0), compact(peak(worst), 1),
		name(best), compact(100*good(best), 0), compact(peak(best), 1), compact(summary.Value(best, "latency_p99_s_mean"), 0))
}
