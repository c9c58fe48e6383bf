package experiments

import (
	"context"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/table"
)

// timelineStep is the width of the intervals that the figure shows.
const timelineStep = 100 * time.Millisecond

// timelineDetail is the run of replication 0 in short intervals.
func timelineDetail(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	var keys []table.Column
	for _, k := range p.keyColumns() {
		if k.Name != "second" {
			keys = append(keys, k)
		}
	}
	t := table.New("amplification-timeline_series", append(keys, table.Column{Name: "replication"}, table.Column{Name: "t_s", Doc: "start of the interval, s"}),
		[]table.Column{
			{Name: "calls_rps", Doc: "attempts that reached the server, per second"},
			{Name: "success_ratio", Doc: "share of the requests made in the interval that were answered well"},
			{Name: "retries_rps", Doc: "retries granted, per second"},
			{Name: "denied_rps", Doc: "retries that the budget refused, per second"},
		})
	for _, cells := range p.groups {
		c := p.Cells[cells[0]]
		s, err := runSystem(ctx, p.Job(cells[0], 0), timelineSystem(c, timelineStep))
		if err != nil {
			return nil, err
		}
		for _, v := range s.Series() {
			if v.Start.Seconds() >= c.Float("length_s") {
				break
			}
			row := timelineValues(v)
			for _, i := range []int{0, 2, 3} {
				row[i] /= v.End.Sub(v.Start).Seconds()
			}
			var texts []string
			for _, k := range keys {
				if k.Name == "experiment" {
					texts = append(texts, p.Experiment.Name)
				} else {
					texts = append(texts, c.Text(k.Name))
				}
			}
			t.Append(append(texts, "0", strconv.FormatFloat(v.Start.Seconds(), 'f', -1, 64)), row...)
		}
	}
	return []*table.Table{t}, nil
}
