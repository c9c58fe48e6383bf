package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["timeout-order"] = drawTimeoutOrder }

// The parts of a span: waiting for or doing work that is wanted, and what is
// good for nothing.
var (
	waitStyle     = Neutral.Member(0)
	wantedStyle   = Budget.Member(0)
	unwantedStyle = Unlimited.Member(0)
)

// drawTimeoutOrder shows over time when the client waits and the server works,
// one panel for each setting.
func drawTimeoutOrder(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no spans")
	}
	spans := details[0]
	var drawings []Drawing
	for _, g := range groups(summary, "timeouts") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: orderTitle(summary, g),
			Subtitle: fmt.Sprintf("One request that needs work of %s s, %s s after it has come to the server; what each attempt makes of client and server%s",
				key("work_s"), key("queue_s"), g.title()),
			Key: []KeyItem{{KeyPoint, square(waitStyle), "client waits"}, {KeyPoint, square(wantedStyle), "server works for a client that waits"},
				{KeyPoint, square(unwantedStyle), "for nothing: the other side has gone"}},
			Columns: 2, ShareX: true,
		}
		if key("cancel") == "on" {
			f.Subtitle += "; the server stops when the client has left"
		}
		for _, r := range g.members {
			p := Panel{Title: summary.Label(r, "timeouts"), X: Axis{Label: "time, s"}}
			var bars Bars
			for _, s := range spans.Select(map[string]string{"timeouts": summary.Key(r, "timeouts"), "cancel": key("cancel"), "work_s": key("work_s"), "queue_s": key("queue_s")}) {
				side := spans.Key(s, "side")
				row := indexOf(&p.Y.Rows, side+" "+spans.Key(s, "attempt"))
				style := wantedStyle
				if side == "client" {
					style = waitStyle
				}
				from, good, to := spans.Value(s, "from_s"), spans.Value(s, "good_until_s"), spans.Value(s, "to_s")
				if good > from {
					bars = append(bars, Bar{Row: row, From: from, To: good, Style: style})
				}
				if to > good {
					bars = append(bars, Bar{Row: row, From: good, To: to, Style: unwantedStyle})
				}
			}
			if len(bars) > 0 {
				p.Marks = []Mark{bars}
				f.Panels = append(f.Panels, p)
			}
		}
		if len(f.Panels) == 0 {
			continue
		}
		if len(f.Panels) == 1 {
			f.Columns = 1
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// square is a style whose sample in the key is a box.
func square(s Style) Style {
	s.Glyph = Box
	return s
}

// orderTitle names the worst of the copies and of the connections held.
func orderTitle(summary *table.Table, g group) string {
	text := ""
	add := func(s string) {
		if text != "" {
			text += "; "
		}
		text += s
	}
	worst := func(metric string) (table.Row, float64) {
		best, most := g.members[0], math.Inf(-1)
		for _, r := range g.members {
			if v := summary.Value(r, metric+"_mean"); v > most {
				best, most = r, v
			}
		}
		return best, most
	}
	if r, n := worst("copies_count"); n > 1 {
		add(fmt.Sprintf("%s: %s copies of the same work at once", summary.Label(r, "timeouts"), compact(n, 0)))
	}
	if r, s := worst("held_for_nothing_s"); s > 0 {
		add(fmt.Sprintf("%s: a connection held %s s for nothing", summary.Label(r, "timeouts"), compact(s, 2)))
	}
	if text == "" {
		_, attempts := worst("attempts_count")
		if attempts == 1 {
			return "One attempt, never two copies of the same work at once"
		}
		return fmt.Sprintf("Up to %s attempts, never two copies of the same work at once", compact(attempts, 0))
	}
	return text
}
