package experiments

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

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
				"first " + c.Text("grace"), "closed form", "after a reset", "closed form", "most in 1 s", "peak of 100 ms ÷ load"},
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
			asked := guardsAsked(c)
			through.Append(c.Text("budget"), asked, mean("amplification_ratio", 3), mean("retries_count", 0), formula("retries_count", 0), mean("start_retries_count", 0), formula("start_retries_count", 0),
				mean("reset_retries_count", 0), formula("reset_retries_count", 0), mean("burst_retries_count", 0), mean("peak_load_ratio", 2))
			refused.Append(c.Text("budget"), asked, mean("success_ratio", 3), mean("budget_refused_count", 0), mean("breaker_refused_count", 0),
				mean("unsafe_refused_count", 0), mean("spent_unsent_count", 0), mean("unsafe_retries_count", 0), mean("breaker_openings_count", 1))
		}
		through.Notes = guardNotes(p, cells)
		if note := guardOrderNote(r, cells); note != "" {
			refused.Notes = append(refused.Notes, note)
		}
		texts = append(texts, through, refused)
	}
	if n := len(texts); n > 0 {
		texts[n-1].Notes = append(texts[n-1].Notes, "Spent, not sent: the budget was asked before, and paid for a retry that another guard refused. Unsafe retries: sent though the call must not be made twice. "+
			"Peak: the 100 ms with the most calls at the node; most in 1 s: the second with the most retries.")
	}
	return texts
}

// guardNotes derives what budgets alone grant to immediate retries of a node
// that is down, and what they have saved by then: of the budgets in a table.
func guardNotes(p *Plan, cells []int) []string {
	c := p.Cells[cells[0]]
	f := guardFigures(c)
	alone, has := false, map[string]bool{}
	for _, i := range cells {
		budget := p.Cells[i].Text("budget")
		has[budget] = true
		alone = alone || budget == guardCounter && p.Cells[i].Text("guard") == guardBudgetOnly
	}
	var notes []string
	fresh, resets := math.Mod(f.before, f.every) == 0 && f.failing >= f.grace, len(f.stretches()) > 1
	if alone && (fresh || resets) && c.Float("error_ratio") == 1 && c.Float("wait_s") == 0 {
		var grants []string
		if fresh {
			grants = append(grants, fmt.Sprintf("in the first %s requests %s × %s = %s immediate retries", short(f.grace, 0), short(f.retries, 0), short(f.grace, 0), short(f.retries*f.grace, 0)))
		}
		if resets {
			grants = append(grants, fmt.Sprintf("after a reset %s × (%s + 1) = %s", short(f.retries, 0), short(f.grace, 0), short(f.retries*(f.grace+1), 0)))
		}
		again := ""
		if !fresh {
			again = " immediate retries"
		}
		later := f.retries*(f.grace+1)/f.ratio - f.grace
		if !resets {
			later = f.retries*f.grace/f.ratio - f.grace
		}
		until := "until the next reset"
		if f.ratio > 0 && later+f.grace < f.every {
			until = fmt.Sprintf("until they are %s of the requests counted, %s requests later", formatPercent(f.ratio), short(max(0, later), 0))
		}
		notes = append(notes, "Counter alone: "+strings.Join(grants, ", ")+again+"; nothing more "+until+".")
	}
	if f.before > 0 {
		var saved []string
		for _, v := range []struct {
			budget string
			most   float64
		}{{guardCounter, math.Mod(f.before, f.every)}, {guardWindow, min(f.before, c.Float("window_s")*c.Float("rate_rps"))}, {guardBucket, f.before}} {
			n := floorOf(f.ratio * v.most)
			if v.budget == guardBucket {
				n = min(n, c.Float("cap"))
			}
			if has[v.budget] {
				saved = append(saved, "the "+v.budget+" "+short(n, 0))
			}
		}
		if len(saved) > 0 {
			notes = append(notes, fmt.Sprintf("Retries saved by the requests before the outage, %s of those that count: %s.", formatPercent(f.ratio), strings.Join(saved, ", ")))
		}
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
