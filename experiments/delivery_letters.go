package experiments

import (
	"context"
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

func deliveryDetail(ctx context.Context, r *Result) ([]*table.Table, error) {
	letters, err := deliveryLetters(ctx, r)
	if err != nil {
		return nil, err
	}
	series, err := deliverySeries(ctx, r)
	return append(letters, series...), err
}

// maxLetters bounds the rows of the table of dead letters.
const maxLetters = 10_000

// deliveryLetters lists the dead letters left at the end of replication 0, with
// what must be kept of each to replay it, of the first consumers at least once
// whose letters nobody reads.
func deliveryLetters(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	keys := append(p.keyColumns(), table.Column{Name: "replication"},
		table.Column{Name: "key", Doc: "business key"}, table.Column{Name: "payload", Doc: "what was to be done"}, table.Column{Name: "reason", Doc: "why it was given up"})
	t := table.New("delivery_letters", keys, []table.Column{
		{Name: "first_failure_s", Doc: "first attempt that failed, s"}, {Name: "dead_at_s", Doc: "when it was given up, s"},
		{Name: "attempts_count", Doc: "attempts made"}, {Name: "deliveries_count", Doc: "deliveries"},
	})
	for i, c := range p.Cells {
		if c.Text("guarantee") != model.AtLeastOnce || !c.first("dedup") || c.Float("owner_every_s") > 0 {
			continue
		}
		d, err := runDelivery(ctx, p.Job(i, 0))
		if err != nil {
			return nil, err
		}
		for _, l := range d.DeadLetters() {
			if len(t.Rows) == maxLetters {
				return []*table.Table{t}, nil
			}
			failed := math.NaN()
			if l.FirstFailure >= 0 {
				failed = l.FirstFailure.Seconds()
			}
			t.Append(append(p.keyCells(i), "0", fmt.Sprint(l.Key), fmt.Sprintf("0x%016x", l.Payload), l.Reason),
				failed, l.At.Seconds(), float64(l.Attempts), float64(l.Deliveries))
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return []*table.Table{t}, nil
}

// runDelivery runs one replication of a cell.
func runDelivery(ctx context.Context, j Job) (*model.Delivery, error) {
	d, err := model.NewDelivery(deliveryConfig(j.Cells[0]), j.Seed, j.Replication)
	if err != nil {
		return nil, err
	}
	return d, d.Run(ctx)
}
