package experiments

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// A hysteresis is what a policy's loads did after one length of trigger.
type hysteresis struct {
	cell        int     // one of the cells, for the levels of the other factors
	recovers    float64 // highest load that recovers, as all below do, in at least half of the runs; NaN if none does
	stuck       float64 // lowest load that is stuck in at least half of the runs; NaN if none is
	collapses   float64 // lowest load that collapses without a trigger in at least half of the runs; NaN if none does
	untriggered bool    // whether there are runs without a trigger
	highest     float64 // highest load tried
	stuckAbove  float64 // closed form; NaN if none is known
	drains      float64 // the same within the horizon
}

// width is the range of loads in which the system may be well or down for
// good, by what has happened to it. If no load tried collapses it is at least
// this, up to the highest load. It is NaN without runs that have no trigger.
func (h hysteresis) width() float64 {
	top := h.collapses
	if math.IsNaN(top) {
		top = h.highest
	}
	if math.IsNaN(h.recovers) || !h.untriggered {
		return math.NaN()
	}
	return max(0, top-h.recovers)
}

// hystereses reads them off a result, one for each policy, trigger above 0 and
// combination of the other factors.
func hystereses(r *Result) []hysteresis {
	p := r.Plan
	most := func(cell int, metric string) bool { return r.Stat(cell, metric).Mean >= 0.5 }
	spontaneous := func(c Cell) (first float64, known bool) {
		first = math.NaN()
		for i, o := range p.Cells {
			if o.Float("trigger_s") != 0 || !sameBut(c, o, "rate_rps", "trigger_s") || r.Stat(i, "recovered_ratio").N == 0 {
				continue
			}
			known = true
			if r.Stat(i, "recovered_ratio").Mean <= 0.5 {
				first = fmin(first, o.Float("rate_rps"))
			}
		}
		return first, known
	}
	var out []hysteresis
	for _, cells := range p.cellGroups("rate_rps") {
		c := p.Cells[cells[0]]
		if c.Float("trigger_s") == 0 {
			continue
		}
		h := hysteresis{
			cell: cells[0], recovers: math.NaN(), stuck: math.NaN(),
			stuckAbove: stuckAbove(c), drains: drainsBelow(c),
		}
		h.collapses, h.untriggered = spontaneous(c)
		fails := math.NaN() // lowest load that does not recover
		for _, i := range cells {
			load := p.Cells[i].Float("rate_rps")
			h.highest = max(h.highest, load)
			if most(i, "stuck_ratio") {
				h.stuck = fmin(h.stuck, load)
			}
			if !most(i, "recovered_ratio") {
				fails = fmin(fails, load)
			}
		}
		for _, i := range cells {
			if load := p.Cells[i].Float("rate_rps"); math.IsNaN(fails) || load < fails {
				h.recovers = fmax(h.recovers, load)
			}
		}
		out = append(out, h)
	}
	return out
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
		{Name: "collapses_from_rps", Doc: "lowest load tried that is not well at the end, or was not before trigger_at_s, in at least half of the runs without a trigger"},
		{Name: "hysteresis_rps", Doc: "collapses_from_rps, or the highest load tried, less recovers_up_to_rps: the loads at which history decides; empty without runs that have no trigger"},
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
		caption := "Stall of " + c.Text("trigger_s") + " s: seconds to recover if all runs do, or how many are back, stuck, or were down before the stall; "
		if c.Float("trigger_s") == 0 {
			caption = "Without a stall: how many runs are well and how many collapse; "
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
	row, name := map[string][]string{}, map[string]string{}
	for _, i := range cells {
		policy := p.Cells[i].Text("policy")
		name[policy] = metaName(p.Cells[i])
		row[policy] = append(row[policy], phaseWord(r, i))
	}
	for _, policy := range p.level("policy") {
		if len(row[policy]) > 0 {
			t.Append(append([]string{name[policy]}, row[policy]...)...)
		}
	}
	return t
}

// phaseWord says what became of the runs of a cell: the mean time to recover if
// all did, else how many did what.
func phaseWord(r *Result, cell int) string {
	recovered, stuck, before := r.Stat(cell, "recovered_ratio"), r.Stat(cell, "stuck_ratio"), r.Stat(cell, "collapsed_before_ratio")
	if recovered.N == 0 {
		return Blank
	}
	count := func(share float64) int { return int(math.Round(share * float64(recovered.N))) }
	type outcome struct {
		name  string
		count int
	}
	outcomes := []outcome{{"back", count(recovered.Mean)}, {"stuck", count(stuck.Mean)}, {"down before", count(before.Mean)}}
	if r.Plan.Cells[cell].Float("trigger_s") == 0 {
		outcomes = []outcome{{"well", outcomes[0].count}, {"collapsed", outcomes[1].count + outcomes[2].count}}
	}
	var parts []string
	for _, o := range outcomes {
		switch o.count {
		case 0:
			continue
		case recovered.N:
			return allOf(r, cell, o.name)
		}
		parts = append(parts, fmt.Sprintf("%d %s", o.count, o.name))
	}
	return strings.Join(parts, ", ")
}

// allOf is an outcome of all runs of a cell, with its mean time.
func allOf(r *Result, cell int, outcome string) string {
	back, at := r.Stat(cell, "recovery_s"), r.Stat(cell, "collapse_s")
	switch {
	case outcome == "back" && back.N > 0 && back.Mean < 0.5:
		return "<1 s"
	case outcome == "back" && back.N > 0:
		return short(back.Mean, 0) + " s"
	case outcome == "collapsed" && at.N > 0:
		return "collapsed at " + short(at.Mean, 0) + " s"
	}
	return outcome
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
		case !h.untriggered || h.recovers == h.highest:
			width = Blank // no load tried tells
		default:
			width = "≥ " + width
		}
		t.Append(metaName(c)+r.Plan.varying(c, "policy", "rate_rps", "trigger_s"), c.Text("trigger_s"),
			short(h.recovers, 1), short(h.stuck, 1), short(h.collapses, 1), width, short(h.stuckAbove, 1))
	}
	t.Notes = []string{
		"A load recovers, is stuck or collapses by itself if at least half of its runs do; up to: so do all loads tried below it. –: no load tried does.",
		"By itself: in runs without a stall (trigger_s = 0), which also tell the width: collapses from, less recovers up to. At the loads between them the past decides. ≥: no load tried collapses.",
		"Closed form: capacity ÷ attempts per request when all fail. It holds for runs without end; this horizon also needs time to drain the backlog.",
	}
	return t
}
