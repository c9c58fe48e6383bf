package plots

import (
	"cmp"
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
			panels[1] = backoffPanel{"recovery_s", "Recovery", "after the outage", "never"}
			return panels
		case summary.Value(r, "recovery_s_mean") > 1:
			panels[1] = backoffPanel{"recovery_s", "Recovery", "after the outage", ""}
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
				f.Key = []KeyItem{
					{KeyPoint, Style{Color: Neutral.Color(), Glyph: Disc, Size: 6}, "back in most runs; number: so many seconds after the outage, if above 0"},
					{KeyPoint, Style{Color: Neutral.Color(), Glyph: Cross, Size: 6}, "not back by the end of most runs"},
				}
			}
			p := Panel{Title: m.title, X: Axis{Label: "base, s", Kind: Log}, Y: Axis{Label: m.axis}}
			if m.metric == "recovery_s" {
				p.Title += ", s " + m.axis
				p.Y, p.Marks = recoveryDots(summary, lines)
				f.Panels = append(f.Panels, p)
				continue
			}
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

// recoveryDots has a row for each kind and a dot for each base, full where the
// node comes back, with the time beside it: lines at 0 would hide each other.
func recoveryDots(summary *table.Table, lines []backoffLine) (Axis, []Mark) {
	var rows []string
	var marks []Mark
	for i, l := range lines {
		rows = append(rows, l.label)
		e := Estimates{Label: l.label, Horizontal: true}
		line := l.of(summary, "recovery_s")
		for k, x := range line.X {
			dot := Estimate{At: float64(i), Mean: x, Style: l.style}
			dot.Style.Glyph = Disc
			switch y := line.Y[k]; {
			case math.IsNaN(y):
				continue
			case math.IsInf(y, 1):
				dot.Style.Glyph = Cross
			case y > 0:
				dot.Text = compact(y, 1)
			}
			e.Points = append(e.Points, dot)
		}
		if len(e.Points) > 0 {
			marks = append(marks, e)
		}
	}
	return Axis{Rows: rows}, marks
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
		if metric == "recovery_s" && neverBack(summary, r) {
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

// backoffTitle names the bases with which the system comes back, or what the
// waits do to the requests of the outage.
func backoffTitle(summary *table.Table, g group) string {
	runs := backoffBack(summary, g)
	var back, never []string // kinds
	down := false
	for _, k := range runs {
		down = down || len(k.back) < len(k.tried)
		switch {
		case len(k.back) > 0:
			back = append(back, k.name)
		default:
			never = append(never, k.name)
		}
	}
	outage := summary.Key(g.members[0], "outage_s")
	switch {
	case down && len(back) == 0:
		return "No back-off tried brings the node back: it moves attempts, and a request that fails still makes all of its own"
	case down:
		text := "After an outage of " + outage + " s the node comes back, of the bases tried, with " + backoffBases(runs)
		if len(never) > 0 {
			text += "; never with " + strings.Join(never, ", ")
		}
		return strings.ReplaceAll(text, "with no back-off", "without back-off")
	}
	return backoffTrade(summary, g)
}

// A backoffKind is a kind of back-off with the bases tried and those with which
// the node came back in most runs, in order.
type backoffKind struct {
	name        string
	tried, back []float64
}

func backoffBack(summary *table.Table, g group) []backoffKind {
	var kinds []backoffKind
	index := map[string]int{}
	for _, r := range g.members {
		name, base := summary.Label(r, "kind"), number(summary.Key(r, "base_s"))
		if summary.Key(r, "kind") == "none" {
			name = "no back-off"
		}
		i, seen := index[name]
		if !seen {
			i = len(kinds)
			index[name] = i
			kinds = append(kinds, backoffKind{name: name})
		}
		k := &kinds[i]
		k.tried = append(k.tried, base)
		if !neverBack(summary, r) {
			k.back = append(k.back, base)
		}
	}
	for i := range kinds {
		slices.Sort(kinds[i].tried)
		slices.Sort(kinds[i].back)
	}
	return kinds
}

// neverBack reports whether at least half of the runs were not back at the end.
func neverBack(summary *table.Table, r table.Row) bool {
	return summary.Value(r, "unrecovered_count") >= summary.Value(r, "n")/2
}

// where says with which bases: "from 3 s" if with that and all above it that
// were tried, else "at 3 s, 10 s".
func (k backoffKind) where() string {
	n, m := len(k.tried), len(k.back)
	switch {
	case n == m:
		return "at any"
	case slices.Equal(k.back, k.tried[n-m:]) && m > 1:
		return "from " + compact(k.back[0], 3) + " s"
	}
	var parts []string
	for _, b := range k.back {
		parts = append(parts, compact(b, 3)+" s")
	}
	return "at " + strings.Join(parts, ", ")
}

// backoffBases lists the kinds that bring the node back by their bases:
// "decorrelated jitter from 3 s, fixed, exponential from 5 s".
func backoffBases(kinds []backoffKind) string {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k backoffKind) bool { return len(k.back) == 0 })
	slices.SortStableFunc(kinds, func(a, b backoffKind) int { return cmp.Compare(a.back[0], b.back[0]) })
	var parts []string
	for i := 0; i < len(kinds); {
		where := kinds[i].where()
		var names []string
		for ; i < len(kinds) && kinds[i].where() == where; i++ {
			names = append(names, kinds[i].name)
		}
		parts = append(parts, strings.Join(names, ", ")+" "+where)
	}
	return strings.Join(parts, "; ")
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
