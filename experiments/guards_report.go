package experiments

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stormglass/stormglass/table"
)

func reportGuards(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("budget", "guard") {
		c := p.Cells[cells[0]]
		through := table.Text{
			Caption: fmt.Sprintf("What gets through: %s of the calls fail from %s s on, first wait %s s, means of %s%s", formatPercent(c.Float("error_ratio")),
				c.Text("outage_at_s"), c.Text("wait_s"), r.replications(), p.varying(c, "budget", "guard", "outage_at_s", "wait_s", "error_ratio")),
			Header: []string{"budget", "asked", "attempts/request", "retries", "closed form",
				"first " + c.Text("grace"), "closed form", "after a reset", "closed form", "most in 1 s", "peak ÷ load"},
			Left: 2,
		}
		refused := table.Text{
			Caption: "Refused retries by reason",
			Header: []string{"budget", "asked", "success", "no budget", "breaker not closed", "not idempotent", "spent, not sent",
				"unsafe retries", "openings"},
			Left: 2,
		}
		for _, i := range cells {
			c := p.Cells[i]
			mean := func(metric string, decimals int) string { return short(r.Stat(i, metric).Mean, decimals) }
			formula := func(metric string, decimals int) string { return short(r.Stat(i, metric).Exact, decimals) }
			asked := guardOrders[c.Text("guard")]
			through.Append(c.Text("budget"), asked, mean("amplification_ratio", 3), mean("retries_count", 0), formula("retries_count", 0), mean("start_retries_count", 0), formula("start_retries_count", 0),
				mean("reset_retries_count", 0), formula("reset_retries_count", 0), mean("burst_retries_count", 0), mean("peak_load_ratio", 2))
			refused.Append(c.Text("budget"), asked, mean("success_ratio", 3), mean("budget_refused_count", 0), mean("breaker_refused_count", 0),
				mean("unsafe_refused_count", 0), mean("spent_unsent_count", 0), mean("unsafe_retries_count", 0), mean("breaker_openings_count", 1))
		}
		through.Notes = guardNotes(c)
		if note := guardOrderNote(r, cells); note != "" {
			refused.Notes = append(refused.Notes, note)
		}
		texts = append(texts, through, refused)
	}
	return texts
}

// guardNotes derives what budgets alone grant to immediate retries of a node
// that is down.
func guardNotes(c Cell) []string {
	f := guardFigures(c)
	notes := []string{
		fmt.Sprintf("Counter: in the first %s requests %s × %s = %s immediate retries, after a reset %s × (%s + 1) = %s; nothing more until they are %s of the requests counted, %s requests later.",
			short(f.grace, 0), short(f.retries, 0), short(f.grace, 0), short(f.retries*f.grace, 0),
			short(f.retries, 0), short(f.grace, 0), short(f.retries*(f.grace+1), 0),
			formatPercent(f.ratio), short(max(0, quotient(f.retries*(f.grace+1), f.ratio)-f.grace), 0)),
	}
	if f.before > 0 {
		notes = append(notes, fmt.Sprintf("Saved before the outage: the counter %s retries (%s of the requests since its reset), the window %s, the bucket %s.",
			short(floorOf(f.ratio*float64(int64(f.before)%int64(f.every))), 0), formatPercent(f.ratio),
			short(floorOf(f.ratio*min(f.before, c.Float("window_s")*c.Float("rate_rps"))), 0), short(min(c.Float("cap"), floorOf(f.ratio*f.before)), 0)))
	}
	return notes
}

// guardOrderNote compares the budget asked first with the same asked last, where
// it differs most in the retries that are granted.
func guardOrderNote(r *Result, cells []int) string {
	p := r.Plan
	text, most := "", 0.5
	for _, i := range cells {
		for _, k := range cells {
			first, last := p.Cells[i], p.Cells[k]
			if first.Text("guard") != guardBudgetFirst || last.Text("guard") != guardBudgetLast || first.Text("budget") != last.Text("budget") {
				continue
			}
			a, b := r.Stat(i, "retries_count").Mean, r.Stat(k, "retries_count").Mean
			if b-a <= most {
				continue
			}
			most = b - a
			text = fmt.Sprintf("Asked first, the %s pays for %s retries that are not sent and grants %s; asked last it grants %s.",
				first.Text("budget"), short(r.Stat(i, "spent_unsent_count").Mean, 0), short(a, 0), short(b, 0))
			if before, after := shareText(r.Stat(i, "success_ratio").Mean), shareText(r.Stat(k, "success_ratio").Mean); before != after {
				text += fmt.Sprintf(" Of the requests %s succeed instead of %s.", after, before)
			}
		}
	}
	return text
}

// shareText is a share in percent with one decimal.
func shareText(ratio float64) string { return short(100*ratio, 1) + " %" }

// guardsDetail is the run of replication 0 over time.
func guardsDetail(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	keys := append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "t_s", Doc: "end of the interval, s"})
	t := table.New("guards_series", keys, []table.Column{
		{Name: "retries_count", Doc: "retries granted from the start of the run on"},
		{Name: "calls_rps", Doc: "attempts that reached the node, per second of the interval"},
		{Name: "denied_rps", Doc: "retries that the budget refused, per second of the interval"},
	})
	for i := range p.Cells {
		j := p.Job(i, 0)
		s, err := runSystem(ctx, j, guardsSystem(p.Cells[i]))
		if err != nil {
			return nil, err
		}
		granted := 0.0
		for _, v := range s.Series() {
			d := v.End.Sub(v.Start).Seconds()
			granted += float64(v.Calls[0].Retries)
			t.Append(append(p.keyCells(i), "0", strconv.FormatFloat(v.End.Seconds(), 'f', -1, 64)),
				granted, float64(v.Nodes[0].Attempts)/d, float64(v.Calls[0].Denied)/d)
		}
	}
	return []*table.Table{t}, nil
}
