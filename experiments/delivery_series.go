package experiments

import (
	"context"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

// seriesPoints is the number of instants of a time line.
const seriesPoints = 360

// deliverySeries is where messages are over time in replication 0, at least
// once with an outage, the first consumers and the most frequent owner.
func deliverySeries(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	owners := p.level("owner_every_s")
	t := table.New("delivery_series", append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "t_s", Doc: "instant, s"}), []table.Column{
		{Name: "waiting_count", Doc: "messages that wait for a consumer"},
		{Name: "delayed_count", Doc: "messages in the delay queue"},
		{Name: "letters_count", Doc: "dead letters"},
		{Name: "without_effect_count", Doc: "intents that have had no effect yet"},
		{Name: "duplicates_count", Doc: "effects beyond the first of each intent up to now"},
	})
	for i, c := range p.Cells {
		if c.Text("guarantee") != model.AtLeastOnce || !c.first("dedup") || c.Float("outage_s") == 0 || c.Text("owner_every_s") != owners[len(owners)-1] {
			continue
		}
		j := p.Job(i, 0)
		d, err := model.NewDelivery(deliveryConfig(c), j.Seed, j.Replication)
		if err != nil {
			return nil, err
		}
		step := max(time.Millisecond, seconds(seriesLength(c)/seriesPoints))
		for k := range seriesPoints + 1 {
			at := sim.Time(step * time.Duration(k))
			if err := d.RunUntil(ctx, at); err != nil {
				return nil, err
			}
			l := d.Ledger()
			t.Append(append(p.keyCells(i), "0", strconv.FormatFloat(at.Seconds(), 'f', -1, 64)),
				float64(l.Visible), float64(l.Delayed), float64(l.Letters), float64(l.Intents-l.Effected-l.Compensated), float64(l.Duplicates.All()))
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return []*table.Table{t}, nil
}

// seriesLength is the time that the time line shows, s: to the second look of
// the owner after the outage and the last intent, or half as long again.
func seriesLength(c Cell) float64 {
	end := max(c.Float("publish_s"), c.Float("outage_at_s")+c.Float("outage_s"))
	if owner := c.Float("owner_every_s"); owner > 0 {
		end += 2 * owner
	} else {
		end *= 1.5
	}
	return min(end, c.Float("horizon_s"))
}
