package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// deliveryVisibility shows what a visibility timeout repeats over its length,
// for each law of the processing time, with the closed form; nothing of a
// single timeout.
func deliveryVisibility(summary *table.Table) []Drawing {
	const metric = "duplicate_visibility_ratio"
	if len(summary.Levels("visibility_s")) < 2 {
		return nil
	}
	var drawings []Drawing
	for _, g := range groups(summary, "visibility_s", "processing_law") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		if key("guarantee") != "at-least-once" || key("dedup") != "none" {
			continue
		}
		p := Panel{X: Axis{Label: "visibility timeout, s"}, Y: Axis{Label: "effects repeated because of it, per 1,000 intents", Kind: LogZero}}
		p.Marks = append(p.Marks, Rule{At: number(key("processing_s")), Vertical: true, Label: "mean work"})
		closed := false
		for i, law := range summary.Levels("processing_law") {
			style := TimeWindow.Member(i)
			if i > 0 {
				style = []Style{Budget.Member(1), CountWindow.Member(2)}[(i-1)%2]
			}
			style.Dashes = nil
			line := Line{Label: law, Style: style, Points: true}
			exact := Line{Style: Style{Color: style.Color, Dashes: []float64{3, 4}, Width: 1.5}}
			for _, r := range g.rows("processing_law", law) {
				x := number(summary.Key(r, "visibility_s"))
				if x == 0 {
					continue // no timeout
				}
				line.X, exact.X = append(line.X, x), append(exact.X, x)
				line.Y = append(line.Y, 1e3*summary.Value(r, metric+"_mean"))
				line.Lo = append(line.Lo, 1e3*math.Max(0, summary.Value(r, metric+"_ci95_lo")))
				line.Hi = append(line.Hi, 1e3*summary.Value(r, metric+"_ci95_hi"))
				exact.Y = append(exact.Y, 1e3*summary.Value(r, metric+"_exact"))
			}
			if !usable(line) {
				continue
			}
			p.Marks = append(p.Marks, line)
			if usable(exact) {
				closed = true
				p.Marks = append(p.Marks, exact)
			}
		}
		if len(p.Marks) == 1 {
			continue
		}
		f := &Figure{
			Title: deliveryVisibilityTitle(summary, g, metric),
			Subtitle: fmt.Sprintf("Work of %s\u00a0s on average; a consumer commits every %s\u00a0s, at least once, not idempotent%s",
				key("processing_s"), key("commit_every_s"), without(g.title(), g, "guarantee", "dedup")),
			Note:   " · means, 95 % intervals as bands",
			Panels: []Panel{p},
		}
		if closed {
			f.Key = []KeyItem{{KeyLine, Style{Dashes: []float64{3, 4}, Width: 1.5}, "closed form"}}
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings
}

// deliveryVisibilityTitle compares the shortest timeout with the longest.
func deliveryVisibilityTitle(summary *table.Table, g group, metric string) string {
	law := summary.Key(g.members[0], "processing_law")
	var short, long *table.Row
	for i, r := range g.members {
		v := number(summary.Key(r, "visibility_s"))
		if v == 0 || summary.Key(r, "processing_law") != law {
			continue
		}
		if short == nil || v < number(summary.Key(*short, "visibility_s")) {
			short = &g.members[i]
		}
		if long == nil || v > number(summary.Key(*long, "visibility_s")) {
			long = &g.members[i]
		}
	}
	if short == nil {
		return "A visibility timeout repeats what takes longer"
	}
	text := func(r table.Row) string {
		v, decimals := 1e3*summary.Value(r, metric+"_mean"), 0
		switch {
		case v < 1:
			decimals = 2
		case v < 100:
			decimals = 1
		}
		return fmt.Sprintf("of %s s repeats %s", summary.Key(r, "visibility_s"), compact(v, decimals))
	}
	if short == long {
		return "A visibility timeout " + text(*short) + " effects per 1,000 intents"
	}
	return "A visibility timeout " + text(*short) + " effects per 1,000 intents, one " + text(*long) + " (" + law + " work)"
}

// without takes the named levels out of a group's title.
func without(title string, g group, names ...string) string {
	for _, name := range names {
		title = strings.Replace(title, " · "+name+" = "+g.table.Key(g.members[0], name), "", 1)
	}
	return title
}
