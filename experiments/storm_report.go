package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func reportStorm(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("topology", "capacity_ratio") {
		c := p.Cells[cells[0]]
		t := table.Text{
			Caption: fmt.Sprintf("Load of a node, %s: means of %s%s", p.column("failure").Label(c.Text("failure")), r.replications(), p.varying(c, "failure", "topology", "capacity_ratio")),
			Header: []string{"layers", "capacity ÷ load", "after 2 s, calls/s", "closed form", "peak ÷ requests", "growth", "closed form", "mean growth", "closed form",
				"grown " + c.Text("claim_ratio") + "× after s", "closed form", "success"},
			Left: 1,
		}
		for _, i := range cells {
			c := p.Cells[i]
			capacity := c.Text("capacity_ratio")
			if isDown(c) {
				capacity = Blank
			}
			get := func(metric string) Stat { return r.Stat(i, metric) }
			t.Append(c.topology().String(), capacity,
				short(get("load_after_2s_rps").Mean, 1), exact(get("load_after_2s_rps"), 1),
				short(get("load_ratio").Mean, 3), short(get("growth_ratio").Mean, 3), exact(get("growth_ratio"), 3),
				short(get("mean_growth_ratio").Mean, 4), exact(get("mean_growth_ratio"), 4),
				reached(get("reach_s"), 1), exact(get("reach_s"), 1), short(get("success_ratio").Mean, 4))
		}
		t.DropEmpty(Blank)
		t.Notes = stormNotes(r, cells)
		texts = append(texts, t)
	}
	return texts
}

// stormNotes says which configurations give the article's numbers and which
// cannot.
func stormNotes(r *Result, cells []int) []string {
	p := r.Plan
	c := p.Cells[cells[0]]
	claim := c.Float("claim_ratio")
	lists := map[string]*stormList{}
	add := func(list string, i int) {
		if lists[list] == nil {
			lists[list] = &stormList{capacities: map[string][]string{}}
		}
		lists[list].add(p.Cells[i])
	}
	for _, i := range cells {
		t := p.Cells[i].topology()
		if r.Stat(i, "load_ratio").Mean >= 12*(1-1e-9) {
			add("twelve", i)
		}
		switch {
		case t.product() < claim:
			add("cannot", i)
		case r.Stat(i, "growth_ratio").Mean >= claim*(1-1e-9):
			add("grown", i)
		default:
			add("not", i)
		}
		if v := r.Stat(i, "load_after_2s_rps").Mean; v >= 12*c.Float("rate_rps")*(1-1e-9) {
			add("soon", i)
		}
	}
	line := func(text, list string) string { return text + ": " + lists[list].String() + "." }
	notes := []string{}
	if isDown(c) {
		notes = append(notes, line(fmt.Sprintf("12 calls for each request (%s/s for %s/s)", short(12*c.Float("rate_rps"), 1), c.Text("rate_rps")), "twelve"),
			line("The same two seconds after the fault", "soon"))
	}
	notes = append(notes, line(fmt.Sprintf("%s× the node's own load", short(claim, 2)), "grown"), line("Not reached", "not"),
		line("Cannot: attempts of all layers multiply to less, and copies are in the load before", "cannot"))
	switch c.Text("failure") {
	case downHang:
		notes = append(notes, fmt.Sprintf("No attempt follows before its timeout of %s s: what is there earlier is not made by timeouts.", c.Text("timeout_s")))
	case fewRandom:
		notes = append(notes, driftNote(c), "Failures at random alone multiply by 1 + p + p² + …, whatever the layers: the closed form of the mean growth.")
	case fewStalled:
		notes = append(notes, "A stall makes requests late; what they repeat makes the next late too if there is too little capacity to spare, and more of it with every layer that repeats. Then all attempts are made: the load grows by their product.")
	}
	return notes
}

// A stormList is topologies, each with the capacities at which something holds.
type stormList struct {
	topologies []string
	capacities map[string][]string
}

func (l *stormList) add(c Cell) {
	name := c.topology().String()
	if l.capacities[name] == nil {
		l.topologies = append(l.topologies, name)
	}
	level := c.Text("capacity_ratio")
	if isDown(c) {
		level = ""
	}
	l.capacities[name] = append(l.capacities[name], level)
}

// String lists them: "2 layers: 4 × 3 attempts (capacity 1.001, 1.2)".
func (l *stormList) String() string {
	if l == nil {
		return "none"
	}
	var parts []string
	for _, t := range l.topologies {
		if levels := strings.Join(l.capacities[t], ", "); levels != "" {
			t += " (capacity " + levels + ")"
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, "; ")
}

// driftNote says how long a queue needs to reach the timeout if the retries of
// failures at random are more than the capacity left.
func driftNote(c Cell) string {
	var parts []string
	for _, level := range c.levelsOf("capacity_ratio") {
		v, err := parseNumber(level)
		if err != nil {
			continue
		}
		excess := randomGrowth(topologySpec{attempts: []int{4}, copies: 1}, c.Float("failure_ratio")) - v
		if excess <= 0 {
			parts = append(parts, "never at "+level)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s s at %s", short(c.Float("timeout_s")*v/excess, 0), level))
	}
	return "As a fluid, the queue that such failures leave is as long as the timeout after: " + strings.Join(parts, ", ") + " of capacity ÷ load. Its own ups and downs get there sooner, and first where the load is low: -set failure=random -set rate_rps=50 -set length_s=1500."
}

// stormSeries is the load by the second in replication 0.
func stormSeries(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("storm_series", append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "t_s", Doc: "start of the second after the fault, s"}),
		[]table.Column{
			{Name: "calls_rps", Doc: "calls at the node, per second"},
			{Name: "load_ratio", Doc: "calls at the node ÷ requests"},
			{Name: "growth_ratio", Doc: "calls at the node ÷ its load without failures"},
		})
	for i, c := range p.Cells {
		s, err := runSystem(ctx, p.Job(i, 0), stormConfig(c))
		if err != nil {
			return nil, err
		}
		for _, v := range s.Series() {
			at := math.Round(v.Start.Seconds() - stormWarm.Seconds())
			if at < -5 {
				continue
			}
			calls := float64(v.Nodes[0].Attempts) / (v.End - v.Start).Seconds()
			ratio := calls / c.Float("rate_rps")
			t.Append(append(slices.Clone(p.keyCells(i)), "0", strconv.FormatFloat(at, 'f', -1, 64)), calls, ratio, ratio/float64(c.topology().copies))
		}
	}
	return []*table.Table{t}, nil
}
