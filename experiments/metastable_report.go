package experiments

import (
	"context"
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

// A hysteresis is what a policy's loads did after one length of trigger.
type hysteresis struct {
	cell       int     // one of the cells, for the levels of the other factors
	recovers   float64 // highest load below which every load recovers in most runs; NaN if none does
	stuck      float64 // lowest load that is stuck in most runs; NaN if none is
	collapses  float64 // lowest load that collapses without a trigger in most runs; NaN if none does
	highest    float64 // highest load tried
	stuckAbove float64 // closed form; NaN if none is known
	drains     float64 // the same within the horizon
}

// width is the range of loads in which the system may be well or down for
// good, by what has happened to it. If no load tried collapses it is at least
// this, up to the highest load.
func (h hysteresis) width() float64 {
	top := h.collapses
	if math.IsNaN(top) {
		top = h.highest
	}
	if math.IsNaN(h.recovers) {
		return math.NaN()
	}
	return max(0, top-h.recovers)
}

// hystereses reads them off a result, one for each policy, trigger above 0 and
// combination of the other factors.
func hystereses(r *Result) []hysteresis {
	p := r.Plan
	most := func(cell int, metric string) bool { return r.Stat(cell, metric).Mean >= 0.5 }
	spontaneous := func(c Cell) float64 {
		first := math.NaN()
		for i, o := range p.Cells {
			if o.Float("trigger_s") == 0 && sameBut(c, o, "rate_rps", "trigger_s") && most(i, "collapsed_before_ratio") {
				first = fmin(first, o.Float("rate_rps"))
			}
		}
		return first
	}
	var out []hysteresis
	for _, cells := range p.cellGroups("rate_rps") {
		c := p.Cells[cells[0]]
		if c.Float("trigger_s") == 0 {
			continue
		}
		h := hysteresis{
			cell: cells[0], recovers: math.NaN(), stuck: math.NaN(), collapses: spontaneous(c),
			stuckAbove: stuckAbove(c), drains: drainsBelow(c),
		}
		for _, i := range cells {
			load := p.Cells[i].Float("rate_rps")
			h.highest = max(h.highest, load)
			if most(i, "stuck_ratio") {
				h.stuck = fmin(h.stuck, load)
			}
			if !most(i, "recovered_ratio") {
				h.collapses = fmin(h.collapses, loadIf(most(i, "collapsed_before_ratio"), load))
			}
		}
		for _, i := range cells {
			load := p.Cells[i].Float("rate_rps")
			below := func(limit float64) bool { return math.IsNaN(limit) || load < limit }
			if most(i, "recovered_ratio") && below(h.stuck) && below(h.collapses) {
				h.recovers = fmax(h.recovers, load)
			}
		}
		out = append(out, h)
	}
	return out
}

// loadIf is the load, or NaN.
func loadIf(yes bool, load float64) float64 {
	if yes {
		return load
	}
	return math.NaN()
}

// fmin and fmax leave NaN out.
func fmin(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func fmax(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// sameBut reports whether two cells of a plan differ in the named factors alone.
func sameBut(a, b Cell, but ...string) bool {
	for i, f := range a.factors {
		skip := false
		for _, name := range but {
			skip = skip || f.Name == name
		}
		if !skip && a.levels[i] != b.levels[i] {
			return false
		}
	}
	return true
}

// hysteresisTable is one row for each policy and length of trigger.
func hysteresisTable(_ context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	keys := []table.Column{{Name: "experiment", Doc: p.Experiment.Question()}}
	for _, f := range p.Factors {
		if f.Name != "rate_rps" {
			keys = append(keys, p.column(f.Name))
		}
	}
	t := table.New("metastable_hysteresis", keys, []table.Column{
		{Name: "recovers_up_to_rps", Doc: "highest load tried that recovers from the trigger in at least half of the runs, as all below do"},
		{Name: "stuck_from_rps", Doc: "lowest load tried that is stuck after the trigger in at least half of the runs"},
		{Name: "collapses_from_rps", Doc: "lowest load tried that collapses without a trigger in at least half of the runs"},
		{Name: "hysteresis_rps", Doc: "collapses_from_rps, or the highest load tried, less recovers_up_to_rps: the loads at which history decides"},
		{Name: "capacity_rps", Doc: "workers ÷ mean service time"},
		{Name: "stuck_above_rps", Doc: "capacity ÷ attempts per request when all fail; closed form of an endless run"},
		{Name: "drained_below_rps", Doc: "the same for what the horizon leaves to drain the backlog, taken as a fluid"},
	})
	for _, h := range hystereses(r) {
		c := p.Cells[h.cell]
		row := []string{p.Experiment.Name}
		for i, f := range p.Factors {
			if f.Name != "rate_rps" {
				row = append(row, c.levels[i])
			}
		}
		t.Append(row, h.recovers, h.stuck, h.collapses, h.width(), c.capacity(), h.stuckAbove, h.drains)
	}
	return []*table.Table{t}, nil
}

func reportMetastable(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("rate_rps", "policy") {
		c := p.Cells[cells[0]]
		caption := "Stall of " + c.Text("trigger_s") + " s: seconds to recover, or what else became of the system, "
		if c.Float("trigger_s") == 0 {
			caption = "Without a stall: what became of the system, "
		}
		texts = append(texts, phaseText(r, cells, caption+r.replications()+p.varying(c, "policy", "rate_rps", "trigger_s")))
	}
	if t := hysteresisText(r); len(t.Rows) > 0 {
		texts = append(texts, t)
	}
	return texts
}

// phaseText is one row for each policy and one column for each load.
func phaseText(r *Result, cells []int, caption string) table.Text {
	p := r.Plan
	t := table.Text{Caption: caption, Header: []string{"policy"}, Left: 1}
	for _, load := range p.level("rate_rps") {
		t.Header = append(t.Header, load+"/s")
	}
	row := map[string][]string{}
	for _, i := range cells {
		policy := p.Cells[i].Text("policy")
		row[policy] = append(row[policy], phaseWord(r, i))
	}
	for _, policy := range p.level("policy") {
		if len(row[policy]) > 0 {
			t.Append(append([]string{metaWords[policy]}, row[policy]...)...)
		}
	}
	return t
}

// phaseWord says what became of the runs of a cell: the mean time to recover if
// all did.
func phaseWord(r *Result, cell int) string {
	recovered, stuck, before := r.Stat(cell, "recovered_ratio"), r.Stat(cell, "stuck_ratio"), r.Stat(cell, "collapsed_before_ratio")
	n := recovered.N
	count := func(s Stat) int { return int(math.Round(s.Mean * float64(n))) }
	switch {
	case n == 0:
		return Blank
	case before.Mean == 1:
		if at := r.Stat(cell, "collapse_s"); at.N > 0 {
			return "collapsed at " + short(at.Mean, 0) + " s"
		}
		return "collapsed before"
	case stuck.Mean == 1:
		return "stuck"
	case recovered.Mean == 1:
		if back := r.Stat(cell, "recovery_s"); back.N > 0 {
			return short(back.Mean, 0) + " s"
		}
		return "well"
	case before.Mean > 0:
		return fmt.Sprintf("collapsed %d of %d", count(before), n)
	}
	return fmt.Sprintf("stuck %d of %d", count(stuck), n)
}

func hysteresisText(r *Result) table.Text {
	t := table.Text{
		Caption: "Hysteresis: loads, in requests/s, at which the past decides whether the system is well",
		Header:  []string{"policy", "stall s", "recovers up to", "stuck from", "collapses by itself from", "width", "closed form: stuck above"},
		Left:    1,
	}
	for _, h := range hystereses(r) {
		c := r.Plan.Cells[h.cell]
		width := short(h.width(), 1)
		switch {
		case math.IsNaN(h.recovers) || !math.IsNaN(h.collapses):
		case h.recovers == h.highest:
			width = Blank // no load tried tells
		default:
			width = "≥ " + width
		}
		t.Append(metaWords[c.Text("policy")]+r.Plan.varying(c, "policy", "rate_rps", "trigger_s"), c.Text("trigger_s"),
			short(h.recovers, 1), short(h.stuck, 1), short(h.collapses, 1), width, short(h.stuckAbove, 1))
	}
	t.Notes = []string{
		"Closed form: capacity ÷ attempts per request when all fail. It holds for runs without end; this horizon also needs time to drain the backlog.",
		"A blank means that no load tried did so.",
	}
	return t
}
