package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/stormglass/stormglass/table"
)

func reportJitter(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("backoff") {
		c := p.Cells[cells[0]]
		hit := "at once"
		if c.Float("spread_s") > 0 {
			hit = "over " + c.Text("spread_s") + " s"
		}
		t := table.Text{
			Caption: fmt.Sprintf("First attempts of %s callers fail %s: means of %s%s", c.Text("callers"), hit, r.replications(), p.varying(c, "backoff", "spread_s")),
			Header: []string{"back-off", "peak in 10 ms", "peak ÷ mean", "autocorrelation at base", "one base later", "closed form",
				"overload s", "complete s", "retries/caller", "retry ratio", "callers succeed", "others succeed"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(metric string) Stat { return r.Stat(i, metric) }
			t.Append(p.column("backoff").Label(p.Cells[i].Text("backoff")), short(get("peak_count").Mean, 1), short(get("peak_to_mean_ratio").Mean, 2),
				meanCI(get("echo_ratio"), 2), short(get("base_bin_count").Mean, 1), exact(get("base_bin_count"), 1),
				short(get("overload_s").Mean, 2), reached(get("completion_s"), 2), short(get("attempts_ratio").Mean, 2), short(get("callers_retry_ratio").Mean, 3),
				short(get("callers_success_ratio").Mean, 3), short(get("others_success_ratio").Mean, 3))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("Capacity: %s calls in 10 ms; others bring %s. Complete: the last caller has succeeded or given up. Retry ratio: of the callers alone; the measures below have the others in them, who do not retry.",
			short(c.capacity()*jitterBin.Seconds(), 2), short(c.Float("rate_rps")*jitterBin.Seconds(), 2)))
		texts = append(texts, t)
	}
	return texts
}

// jitterSeries is the arrivals over time in replication 0.
func jitterSeries(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("jitter_series", append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "t_s", Doc: "start of the bin after the fault, s"}),
		[]table.Column{
			{Name: "arrivals_count", Doc: "attempts that reached the node in 10 ms, without the first of each caller, which fails"},
			{Name: "rejected_count", Doc: "of the attempts that ended, those that found the queue full"},
		})
	for i, c := range p.Cells {
		s, err := runSystem(ctx, p.Job(i, 0), jitterConfig(c))
		if err != nil {
			return nil, err
		}
		series := s.Series()
		for k := range series {
			v := &series[k]
			at := float64(k)*jitterBin.Seconds() - jitterWarm.Seconds()
			if at < -0.2 || at >= 2*c.Float("window_s") {
				continue
			}
			t.Append(append(slices.Clone(p.keyCells(i)), "0", strconv.FormatFloat(at, 'f', 2, 64)), jitterArrivals(v), float64(v.Nodes[0].Rejected))
		}
	}
	return []*table.Table{t}, nil
}
