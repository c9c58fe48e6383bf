package experiments

import (
	"context"
	"fmt"
	"slices"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

func reportHalfOpen(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("half_open", "probes", "open_s") {
		c := p.Cells[cells[0]]
		metric, flaps := flapMetric(c)
		t := table.Text{
			Caption: fmt.Sprintf("A callee that %s: means of %s%s", p.column("callee").Label(c.Text("callee")), r.replications(), p.varying(c, "callee", "half_open", "probes", "open_s")),
			Header: []string{"probes decide", "probes", "cool-down s", flaps, "probing fails", "closed form", "closed again after s", "recovers after s",
				"success", "refused", "failed at the callee"},
			Left: 1,
		}
		for _, i := range cells {
			c := p.Cells[i]
			get := func(metric string) Stat { return r.Stat(i, metric) }
			t.Append(c.Text("half_open"), c.Text("probes"), c.Text("open_s"), meanCI(get(metric), 1),
				short(get("probe_failure_ratio").Mean, 3), exact(get("probe_failure_ratio"), 3), short(get("closed_after_s").Mean, 1),
				reached(get("recovery_s"), 1), short(get("success_ratio").Mean, 3), short(get("refused_ratio").Mean, 3), short(get("callee_failed_ratio").Mean, 3))
		}
		t.DropEmpty(Blank)
		t.Notes = append(halfOpenWords(c), flapNotes(r, cells)...)
		texts = append(texts, t)
	}
	return texts
}

// halfOpenWords says what the columns mean, and where a breaker stands before a
// callee that fails in part.
func halfOpenWords(c Cell) []string {
	notes := []string{"Probing fails: share of the half-open states that end in open. Closed again after: from an opening to the next closed state, failed probing included."}
	if c.Text("callee") == calleeRamp {
		return append(notes, "Recovers after: from where the callee's capacity is above the load again to the end of the last second in which over 10 % of the calls failed, refused ones included.")
	}
	spec, err := parsePolicy(c.Text("breaker"))
	if p := c.Float("failure_ratio"); err == nil && p > 0 && p < spec.rule.FailureRate {
		notes = append(notes, fmt.Sprintf("Warning: %s %% of failures are below the threshold of the breaker, %s %%: its right state is closed, and every opening is one by chance.",
			short(100*p, 2), short(100*spec.rule.FailureRate, 2)))
	}
	return notes
}

// flapNotes compares the fewest with the most probes, and the shortest with the
// longest cool-down, in the means over all else.
func flapNotes(r *Result, cells []int) []string {
	var notes []string
	metric, flaps := flapMetric(r.Plan.Cells[cells[0]])
	for _, f := range []struct{ factor, text string }{{"probes", "probes"}, {"open_s", "s of cool-down"}} {
		levels := r.Plan.level(f.factor)
		if len(levels) < 2 {
			continue
		}
		text := ""
		for _, rule := range r.Plan.level("half_open") {
			over := func(level string) float64 {
				sum, n := 0.0, 0
				for _, i := range cells {
					if c := r.Plan.Cells[i]; c.Text(f.factor) == level && c.Text("half_open") == rule {
						sum += r.Stat(i, metric).Mean
						n++
					}
				}
				return sum / float64(n)
			}
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("%s %s → %s", rule, short(over(levels[0]), 1), short(over(levels[len(levels)-1]), 1))
		}
		notes = append(notes, fmt.Sprintf("From %s to %s %s, %s: %s.", levels[0], levels[len(levels)-1], f.text, flaps, text))
	}
	return append(notes, concurrencyNotes(r, cells)...)
}

// concurrencyNotes compares probes all at once with one at a time.
func concurrencyNotes(r *Result, cells []int) []string {
	rules := r.Plan.level("half_open")
	if !slices.Contains(rules, collectAll) || !slices.Contains(rules, collectOne) {
		return nil
	}
	metric, flaps := flapMetric(r.Plan.Cells[cells[0]])
	text := ""
	for _, probes := range r.Plan.level("probes") {
		sum, n := map[string]float64{}, map[string]float64{}
		for _, i := range cells {
			if c := r.Plan.Cells[i]; c.Text("probes") == probes {
				sum[c.Text("half_open")] += r.Stat(i, metric).Mean
				n[c.Text("half_open")]++
			}
		}
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%s: %s → %s", probes, short(sum[collectAll]/n[collectAll], 1), short(sum[collectOne]/n[collectOne], 1))
	}
	return []string{"One probe at a time instead of all at once, by the number of probes, " + flaps + ": " + text + "."}
}

// halfOpenStates is the states of the breaker over time in replication 0.
func halfOpenStates(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("half-open_states", append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "state", Doc: "state of the breaker"}),
		[]table.Column{{Name: "from_s", Doc: "start of the state, s"}, {Name: "to_s", Doc: "its end, s"}})
	zero := new(sim.Engine).Clock().Now()
	for i, c := range p.Cells {
		_, changes, err := runHalfOpen(ctx, p.Job(i, 0), c)
		if err != nil {
			return nil, err
		}
		state, from := policies.Closed, 0.0
		end := func(at float64) {
			t.Append(append(slices.Clone(p.keyCells(i)), "0", state.String()), from, at)
		}
		for _, ch := range changes {
			at := ch.At.Sub(zero).Seconds()
			end(at)
			state, from = ch.To, at
		}
		end(c.Float("length_s"))
	}
	return []*table.Table{t}, nil
}
