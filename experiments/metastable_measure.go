package experiments

import (
	"context"
	"math"
)

func measureMetastable(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, metaConfig(c))
	if err != nil {
		return nil, err
	}
	series := s.Series()
	horizon, judge := c.Float("horizon_s"), c.Float("judge_s")
	end := overStretch(series, horizon-judge, horizon)
	well := end.well()

	trigger := c.Float("trigger_s")
	from := c.Float("trigger_at_s")
	// The last second before the trigger is left out: its answers may come after
	// it.
	collapsed := !overStretch(series, max(0, from-11), max(1, from-1)).well()
	recovery, collapse := math.NaN(), math.NaN()
	switch {
	case trigger == 0:
		collapse = firstCollapse(series)
	case collapsed:
	case !well:
		recovery = math.Inf(1)
	default:
		recovery = max(0, lastBadSecond(series)-from-trigger)
	}
	l := s.Ledger()
	n := l.Node("node")
	service := n.Useful + n.AbandonedWork + n.Duplicate + n.RejectedWork
	return [][]float64{withMeasures(l,
		indicate(well && !collapsed), indicate(!well && !collapsed), indicate(collapsed),
		recovery, collapse,
		quotient(float64(end.succeeded), end.end-end.start), quotient(end.attempts, end.requests),
		quotient(n.AbandonedWork, service),
	)}, nil
}
