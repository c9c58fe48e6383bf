package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["contention"] = drawContention }

// backoffStyles tell the kinds of back-off apart: those without jitter have the
// colours of retries without a limit.
var backoffStyles = map[string]Style{
	"none": Unlimited.Member(0), "fixed": FixedRetry.Member(1), "exponential": FixedRetry.Member(0),
	"equal": TimeWindow.Member(2), "full": Budget.Member(0), "decorrelated": CountWindow.Member(1),
}

// drawContention shows calls and completion time against the number of
// clients, one line for each kind of back-off, with the published values.
func drawContention(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "clients", "backoff") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: contentionTitle(summary, g),
			Subtitle: fmt.Sprintf("Clients that update one row under optimistic concurrency, all from one instant; back-off from %s s to %s s, legs |N(%s, %s)| s%s",
				key("base_s"), key("cap_s"), key("network_mean_s"), key("network_sd_s"), g.title()),
			Note:    " · bands: 95 % intervals of the mean (Student t)",
			Columns: 2, ShareX: true,
		}
		x := Axis{Label: "clients", Kind: Log}
		if levels := summary.Levels("clients"); len(levels) > 1 && len(levels) <= 6 {
			for _, l := range levels {
				x.Ticks = append(x.Ticks, number(l))
			}
		}
		for _, m := range contentionPanels {
			p := Panel{X: x, Y: Axis{Label: m.label, Kind: m.scale(g)}}
			for _, kind := range summary.Levels("backoff") {
				p.Marks = append(p.Marks, m.line(summary, g.rows("backoff", kind), kind))
			}
			if ref := m.reference(g, details); len(ref.X) > 0 {
				p.Marks = append(p.Marks, ref)
				f.Key = []KeyItem{{KeyReference, Style{}, "published: mean of 100 runs"}}
			}
			f.Panels = append(f.Panels, p)
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// A contentionPanel shows a column, for each client if so said.
type contentionPanel struct {
	column, label string
	perClient     bool
}

var contentionPanels = []contentionPanel{
	{"calls_count", "conditional writes per client", true},
	{"completion_s", "time until the last is done, s", false},
}

// share is what a value is divided by.
func (m contentionPanel) share(t *table.Table, r table.Row) float64 {
	if m.perClient {
		return number(t.Key(r, "clients"))
	}
	return 1
}

// scale is logarithmic for times, with a place for zero if a mean or an
// interval reaches it.
func (m contentionPanel) scale(g group) Kind {
	if m.perClient {
		return Linear
	}
	for _, r := range g.members {
		if g.table.Value(r, m.column+"_mean") <= 0 || g.table.Value(r, m.column+"_ci95_lo") <= 0 {
			return LogZero
		}
	}
	return Log
}

func (m contentionPanel) line(summary *table.Table, rows []table.Row, kind string) Line {
	line := Line{Label: kind, Points: len(rows) <= 12, Style: backoffStyles[kind]}
	for _, r := range rows {
		value := func(part string) float64 { return summary.Value(r, m.column+part) / m.share(summary, r) }
		line.X, line.Y = append(line.X, number(summary.Key(r, "clients"))), append(line.Y, value("_mean"))
		line.Lo, line.Hi = append(line.Lo, value("_ci95_lo")), append(line.Hi, value("_ci95_hi"))
	}
	if !anyWidth(line.Lo, line.Hi) {
		line.Lo, line.Hi = nil, nil
	}
	return line
}

// reference marks the published values of the group's rows.
func (m contentionPanel) reference(g group, details []*table.Table) Reference {
	ref := Reference{Label: "published"}
	if len(details) == 0 {
		return ref
	}
	published := map[string]table.Row{}
	for _, r := range details[0].Rows {
		published[strings.Join(r.Keys, "\x00")] = r
	}
	for _, r := range g.members {
		if p, ok := published[strings.Join(r.Keys, "\x00")]; ok {
			ref.X = append(ref.X, number(g.table.Key(r, "clients")))
			ref.Y = append(ref.Y, details[0].Value(p, m.column)/m.share(g.table, r))
		}
	}
	return ref
}

// contentionTitle names the kinds of back-off that need the fewest calls at
// the last number of clients, all that the intervals do not tell from the best,
// which is done soonest, and what the worst kinds need.
func contentionTitle(summary *table.Table, g group) string {
	levels := summary.Levels("clients")
	clients := levels[len(levels)-1]
	rows := g.rows("clients", clients)
	calls := func(r table.Row) float64 { return summary.Value(r, "calls_count_mean") }
	took := func(r table.Row) float64 { return summary.Value(r, "completion_s_mean") }
	kind := func(r table.Row) string { return summary.Key(r, "backoff") }
	best, most, slowest, soonest := rows[0], rows[0], rows[0], rows[0]
	for _, r := range rows {
		if calls(r) < calls(best) {
			best = r
		}
		if calls(r) > calls(most) {
			most = r
		}
		if took(r) > took(slowest) {
			slowest = r
		}
		if took(r) < took(soonest) {
			soonest = r
		}
	}
	var names, numbers, times []string
	for _, r := range rows {
		lo, hi := summary.Value(r, "calls_count_ci95_lo"), summary.Value(best, "calls_count_ci95_hi")
		if calls(r) == calls(best) || lo <= hi {
			names = append(names, contentionName(kind(r)))
			numbers = append(numbers, compact(calls(r), 0))
			times = append(times, compact(took(r), 2)+" s")
		}
	}
	if len(rows) == 1 {
		return fmt.Sprintf("%s clients with %s need %s calls and %s to update one row", clients, names[0], numbers[0], times[0])
	}
	if len(names) == len(rows) {
		return fmt.Sprintf("The kind of back-off makes no difference to the calls of %s clients that update one row", clients)
	}
	verb := "needs"
	if len(names) > 1 {
		verb = "need"
	}
	text := fmt.Sprintf("%s %s the fewest calls to let %s clients update one row: %s, in %s", capital(contentionList(names)), verb, clients, contentionList(numbers), contentionList(times))
	fast, slow := contentionName(kind(soonest)), contentionName(kind(slowest))
	switch {
	case slices.Contains(names, fast) && len(names) == 1:
		text += ", the least of all"
	case !slices.Contains(names, fast):
		text += fmt.Sprintf("; %s is done soonest, in %s s, with %s calls", fast, compact(took(soonest), 2), compact(calls(soonest), 0))
	}
	if kind(most) != kind(soonest) && kind(most) != kind(slowest) {
		text += fmt.Sprintf("; %s takes %s calls", contentionName(kind(most)), compact(calls(most), 0))
	}
	switch {
	case kind(slowest) == kind(most):
		text += fmt.Sprintf("; %s takes %s calls and %s s", slow, compact(calls(most), 0), compact(took(slowest), 1))
	case !slices.Contains(names, slow):
		text += fmt.Sprintf("; %s takes %s s", slow, compact(took(slowest), 1))
	}
	return text
}

// contentionName is a kind of back-off in prose.
func contentionName(kind string) string {
	switch kind {
	case "none":
		return "no back-off"
	case "fixed", "exponential":
		return kind + " back-off"
	}
	return kind + " jitter"
}

// contentionList is "a", "a and b" or "a, b and c".
func contentionList(items []string) string {
	n := len(items)
	if n == 1 {
		return items[0]
	}
	return strings.Join(items[:n-1], ", ") + " and " + items[n-1]
}
