package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/stormglass/stormglass/table"
)

func reportTimeoutOrder(r *Result) []table.Text {
	t := table.Text{
		Caption: "One request: as simulated; what arithmetic makes of it beside, where that differs",
		Header: []string{"timeouts", "server stops too", "attempts", "whole retries", "copies at once", "work s", "unwanted s",
			"held s", "for nothing s", "succeeded", "retry ratio"},
		Left: 2,
	}
	for i, c := range r.Plan.Cells {
		cells := []string{c.order().String() + r.Plan.varying(c, "timeouts", "cancel"), c.Text("cancel")}
		for _, m := range orderMetrics {
			s := r.Stat(i, m.Name)
			text := short(s.Mean, 3)
			if s.Exact != s.Mean {
				text += " ≠ " + exact(s, 3)
			}
			cells = append(cells, text)
		}
		t.Append(cells...)
	}
	t.Notes = orderNotes(r)
	return []table.Text{t}
}

// orderNotes says which of the settings do harm, and which do none.
func orderNotes(r *Result) []string {
	var notes []string
	for i, c := range r.Plan.Cells {
		if c.Text("cancel") == "on" {
			continue
		}
		o := c.order()
		get := func(metric string) float64 { return r.Stat(i, metric).Mean }
		label := o.String() + r.Plan.varying(c, "timeouts", "cancel")
		if n := get("copies_count"); n > 1 {
			notes = append(notes, fmt.Sprintf("%s: %s copies of the same work run at once, %s s of it for nobody.", label, short(n, 0), short(get("unwanted_s"), 3)))
		}
		if n := get("whole_retries_count"); n < float64(o.attempts-1) && get("succeeded_count") == 0 {
			notes = append(notes, fmt.Sprintf("%s: of %d retries on paper %s is whole within the total.", label, o.attempts-1, short(n, 0)))
		}
		if s := get("held_for_nothing_s"); s > 0 {
			notes = append(notes, fmt.Sprintf("%s: the client holds a connection for %s s after the server has stopped.", label, short(s, 3)))
		}
	}
	return append(notes,
		"Retry ratio: of the client's calls. The measures below also have the call by which the server has its work done, once for each attempt.",
		"Copies run side by side where the client's timeout is shorter than queue and server together and the server does not notice that it has left.",
		"The order client < server < total, taken literally, is that case: it needs a server that stops with its client. Without one the server's timeout, with its queue, must be the shorter, as in the nested 3 s, 2.5 s, 1.8 s.",
		"A longer wait of the client costs nothing as long as the server answers that it has given up; a silent one makes every second of it a connection held for nothing.")
}

// orderSpans is who is busy when, as computed: the spans of each attempt at
// the client and at the server.
func orderSpans(_ context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("timeout-order_spans", append(p.keyColumns(), table.Column{Name: "side", Doc: "client or server"}, table.Column{Name: "attempt"}),
		[]table.Column{
			{Name: "from_s", Doc: "when the client begins to wait, or the server to work, s"},
			{Name: "good_until_s", Doc: "when the server has stopped, or the client has left, if it is before the end, s"},
			{Name: "to_s", Doc: "the end, s"},
		})
	for i, c := range p.Cells {
		f := orderExact(c)
		for _, side := range []struct {
			name  string
			spans []orderSpan
		}{{"client", f.waits}, {"server", f.busy}} {
			for k, s := range side.spans {
				t.Append(append(slices.Clone(p.keyCells(i)), side.name, strconv.Itoa(k+1)), s.from.Seconds(), max(s.from, min(s.good, s.to)).Seconds(), s.to.Seconds())
			}
		}
	}
	return []*table.Table{t}, nil
}
