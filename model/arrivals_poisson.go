package model

import (
	"math"

	"github.com/stormglass/stormglass/sim"
)

// poissonSource adds exponential gaps. The part of the sum below one tick is
// carried, so that the mean rate is right even when gaps are a few ticks long.
type poissonSource struct {
	r    *sim.Rand
	mean float64 // ticks between calls
	now  int64   // the last call, rounded down
	frac float64 // what the rounding left, in [0, 1)
}

// newPoisson starts at a time in ticks, at or after 0, which is not itself a
// call. A start beyond the clock's range gives no calls.
func newPoisson(rate float64, ticks int64, start float64, r *sim.Rand) *poissonSource {
	s := &poissonSource{r: r, mean: float64(ticks) / rate}
	if start < math.MaxInt64 {
		s.now = int64(start)
		s.frac = start - float64(s.now)
	} else {
		s.now = math.MaxInt64
	}
	return s
}

func (s *poissonSource) Next() (sim.Time, bool) {
	// The conversion keeps the product from being fused with the sum, which
	// would make the bits depend on the processor.
	gap := s.frac + float64(s.r.ExpFloat64()*s.mean)
	whole := int64(gap)
	next := s.now + whole
	if uint64(next) >= math.MaxInt64 || gap >= math.MaxInt64 {
		s.now, s.mean = math.MaxInt64, 0
		return 0, false
	}
	s.now, s.frac = next, gap-float64(whole)
	return sim.Time(next), true
}
