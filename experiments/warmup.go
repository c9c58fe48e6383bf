package experiments

import (
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

// warmedUp is a generated trace that begins after a stretch at its baseline.
func warmedUp(g model.Generator, warm time.Duration, d sim.Draws) (model.SegmentSource, error) {
	source, err := g.Source(d)
	if err != nil || warm == 0 {
		return source, err
	}
	return &delayed{
		lead:   model.Segment{End: warm, Condition: g.Baseline},
		source: source,
		by:     warm,
	}, nil
}

// delayed yields a lead segment and then a source's segments, later by its
// length.
type delayed struct {
	lead   model.Segment
	source model.SegmentSource
	by     time.Duration
	begun  bool
}

func (d *delayed) Next() (model.Segment, bool) {
	if !d.begun {
		d.begun = true
		return d.lead, true
	}
	s, ok := d.source.Next()
	s.Start += d.by
	s.End += d.by
	return s, ok
}
