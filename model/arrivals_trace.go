package model

import (
	"fmt"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// TraceArrivals makes calls at the rates of a trace's segments and none in its
// gaps: at even spacing within each segment, half a gap from its ends, or as a
// Poisson process if random is not nil. Every segment must state its rate.
func TraceArrivals(segments []Segment, random *sim.Rand) (Source, error) {
	for _, s := range segments {
		if !s.RateRPS.Known {
			return nil, fmt.Errorf("model: trace: node %q, segment from %v: no rate_rps, want the rate of calls", s.Node, s.Start)
		}
	}
	return &traceArrivals{rest: segments, random: random}, nil
}

type traceArrivals struct {
	rest   []Segment
	random *sim.Rand
	at     time.Duration // of the last call in rest[0]; before its first, Start
	begun  bool          // a call was made in rest[0]
}

// Next implements Source. A Poisson process has no memory, so it may begin
// anew in each segment.
func (t *traceArrivals) Next() (sim.Time, bool) {
	for len(t.rest) > 0 {
		s := &t.rest[0]
		if !t.begun {
			t.at = s.Start
		}
		if rate := s.RateRPS.Value; rate > 0 {
			gap := 1 / rate
			switch {
			case t.random != nil:
				gap *= t.random.ExpFloat64()
			case !t.begun:
				gap /= 2
			}
			next := float64(t.at) + gap*1e9
			if next < float64(s.End) {
				t.at, t.begun = time.Duration(next), true
				return sim.Time(t.at), true
			}
		}
		t.rest, t.begun = t.rest[1:], false
	}
	return 0, false
}
