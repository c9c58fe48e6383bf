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
		grown := "grows " + c.Text("claim_ratio") + "×"
		t := table.Text{
			Caption: fmt.Sprintf("Load of a node, %s: means of %s%s", p.column("failure").Label(c.Text("failure")), r.replications(), p.varying(c, "failure", "topology", "capacity_ratio")),
			Header: []string{"layers", "capacity ÷ load", "after 2 s, calls/s", "closed form", "mean growth", "closed form", "of the runs, least to most", "peak ÷ requests", "peak growth", "closed form",
				grown + ", runs", "after s", "closed form", "success"},
			Left: 1,
		}
		for _, i := range cells {
			c := p.Cells[i]
			capacity := c.Text("capacity_ratio")
			if isDown(c) {
				capacity = Blank
			}
			get := func(metric string) Stat { return r.Stat(i, metric) }
			reach := get("reach_s")
			t.Append(c.topology().String(), capacity,
				short(get("load_after_2s_rps").Mean, 1), exact(get("load_after_2s_rps"), 1),
				short(get("mean_growth_ratio").Mean, 4), exact(get("mean_growth_ratio"), 4), spanOf(r.Values(i, "mean_growth_ratio")),
				short(get("load_ratio").Mean, 3), short(get("growth_ratio").Mean, 3), exact(get("growth_ratio"), 3),
				fmt.Sprintf("%d of %d", reach.N, reach.N+reach.Censored), short(reach.Mean, 1), exact(reach, 1), short(get("success_ratio").Mean, 4))
		}
		t.DropEmpty(Blank)
		t.Notes = append([]string{fmt.Sprintf("Mean growth: second half of the time. Peak: the highest second. %s: runs in which a second has %s times the load before, and when the first of these ends (mean of such runs).", capitalised(grown), c.Text("claim_ratio"))},
			stormNotes(r, cells)...)
		texts = append(texts, t)
	}
	return texts
}

func capitalised(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// spanOf renders the least and the most of runs that differ by more than a
// fifth: their mean is of two outcomes then.
func spanOf(values []float64) string {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) == 0 || slices.Max(values) <= 1.2*slices.Min(values) {
		return Blank
	}
	return short(slices.Min(values), 2) + " to " + short(slices.Max(values), 2)
}

// stormNotes says which configurations give the article's numbers and which do
// not. All of it is read off the runs.
func stormNotes(r *Result, cells []int) []string {
	p := r.Plan
	c := p.Cells[cells[0]]
	claim := c.Float("claim_ratio")
	lists := map[string]*stormList{}
	add := func(list string, i int, suffix string) {
		if lists[list] == nil {
			lists[list] = &stormList{capacities: map[string][]string{}}
		}
		lists[list].add(p.Cells[i], suffix)
	}
	for _, i := range cells {
		attempts := p.Cells[i].topology().product()
		if r.Stat(i, "load_ratio").Mean >= 12*(1-1e-9) {
			add("twelve", i, "")
		}
		if v := r.Stat(i, "load_after_2s_rps").Mean; v >= 12*c.Float("rate_rps")*(1-1e-9) {
			add("soon", i, "")
		}
		reach := r.Stat(i, "reach_s")
		switch n := reach.N + reach.Censored; {
		case reach.N == 0 && attempts < claim:
			add("few attempts", i, "")
		case reach.N == 0:
			add("no run", i, "")
		case reach.N < n:
			add("some runs", i, fmt.Sprintf(": %d of %d", reach.N, n))
		default:
			add("every run", i, "")
		}
		if reach.N > 0 && attempts < claim {
			add("by chance", i, "")
		}
	}
	notes := []string{}
	line := func(text, list string) {
		if lists[list] != nil {
			notes = append(notes, text+": "+lists[list].String()+".")
		}
	}
	if isDown(c) {
		for _, list := range []string{"twelve", "soon"} {
			if lists[list] == nil {
				lists[list] = &stormList{}
			}
		}
		line(fmt.Sprintf("12 calls for each request (6000/s for 500/s; here %s/s for %s/s)", short(12*c.Float("rate_rps"), 1), c.Text("rate_rps")), "twelve")
		line("The same two seconds after the fault", "soon")
	}
	grown := short(claim, 2) + "× the node's own load"
	line(grown+" in every run", "every run")
	line(grown+" in some runs", "some runs")
	line("Not reached though there are attempts enough", "no run")
	line(fmt.Sprintf("Not reached with fewer than %s attempts for a request (copies are in the load before)", short(claim, 2)), "few attempts")
	line(fmt.Sprintf("Of these, fewer than %s attempts for a request: it takes a second with more requests than the mean", short(claim, 2)), "by chance")
	switch c.Text("failure") {
	case downHang:
		notes = append(notes, fmt.Sprintf("No attempt follows before its timeout of %s s: what is there earlier is not made by timeouts.", c.Text("timeout_s")))
	case fewRandom:
		notes = append(notes, driftNote(c), "With capacity to spare failures at random multiply by 1 + p + p² + …, whatever the layers: the closed form of the mean growth. With next to none, a queue as long as the timeout makes all attempts fail.")
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

func (l *stormList) add(c Cell, suffix string) {
	name := c.topology().String()
	if l.capacities[name] == nil {
		l.topologies = append(l.topologies, name)
	}
	level := c.Text("capacity_ratio")
	if isDown(c) {
		level = ""
	}
	l.capacities[name] = append(l.capacities[name], level+suffix)
}

// String lists them: "2 layers: 4 × 3 attempts (capacity 1.001, 1.2)".
func (l *stormList) String() string {
	if len(l.topologies) == 0 {
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
	growth, worst := 0.0, topologySpec{}
	for _, level := range c.levelsOf("topology") {
		t, err := parseTopology(level)
		if err != nil {
			continue
		}
		if g := randomGrowth(t, c.Float("failure_ratio")); g > growth {
			growth, worst = g, t
		}
	}
	var parts []string
	for _, level := range c.levelsOf("capacity_ratio") {
		v, err := parseNumber(level)
		if err != nil {
			continue
		}
		excess := growth - v
		if excess <= 0 {
			parts = append(parts, "never at "+level)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s s at %s", short(c.Float("timeout_s")*v/excess, 1), level))
	}
	return "As a fluid, the queue that such failures leave (" + worst.String() + ") is as long as the timeout after: " + strings.Join(parts, ", ") + " of capacity ÷ load. Its own ups and downs get there sooner, and first where the load is low: -set failure=random -set capacity_ratio=1.001 -set rate_rps=50 -set length_s=1500."
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
