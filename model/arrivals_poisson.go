package model

import (
	"math"

	"github.com/stormglass/stormglass/sim"
)

// poissonSource adds exponential gaps. Times are rounded down to a tick but
// the sum is not, so that the mean rate is right even when gaps are a few
// ticks long.
type poissonSource struct {
	r    *sim.Rand
	mean float64 // ticks between calls
	base int64   // the last call is at base + past, in ticks
	past float64 // in [0, maxPast)
}

// maxPast bounds the float64 part of a sum so that it is good to 1/8192 tick.
const maxPast = 1 << 40

// newPoisson starts at a time in ticks, from 0 to below never, which is not
// itself a call.
func newPoisson(rate float64, ticks int64, start float64, r *sim.Rand) *poissonSource {
	base := int64(start)
	return &poissonSource{r: r, mean: float64(ticks) / rate, base: base, past: start - float64(base)}
}

func (s *poissonSource) Next() (sim.Time, bool) {
	// The conversion keeps the product from being fused with the sum, which
	// would make the bits depend on the processor.
	past := s.past + float64(s.r.ExpFloat64()*s.mean)
	if past >= maxPast {
		return s.rebase(past)
	}
	s.past = past
	t := s.base + int64(past)
	return sim.Time(t), uint64(t) < math.MaxInt64
}

// rebase moves the whole ticks of past into base. At the end of the clock's
// range base stays at never.
func (s *poissonSource) rebase(past float64) (sim.Time, bool) {
	base := int64(math.MaxInt64)
	if past < math.MaxInt64 {
		base = s.base + int64(past)
	}
	if uint64(base) >= math.MaxInt64 {
		s.base, s.past, s.mean = math.MaxInt64, 0, 0
		return 0, false
	}
	s.base, s.past = base, past-math.Floor(past)
	return sim.Time(base), true
}
