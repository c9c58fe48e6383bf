package model

import (
	"fmt"

	"github.com/stormglass/stormglass/sim"
)

// TraceArrivals makes calls at the rates of a trace's segments and none in its
// gaps. Without a stream they are evenly spaced in each segment, the first half
// a gap after its start; with one they are a Poisson process. A segment that
// states no rate is an error.
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
	calls  float64 // made in rest[0]
	gaps   float64 // from its start to the last call, in mean gaps
}

// Next implements Source. The instant is computed from the start of the
// segment, so that rounding does not add up. A Poisson process has no memory,
// so it may begin anew in each segment.
func (t *traceArrivals) Next() (sim.Time, bool) {
	for len(t.rest) > 0 {
		s := &t.rest[0]
		if rate := s.RateRPS.Value; rate > 0 {
			gaps := t.calls + 0.5
			if t.random != nil {
				gaps = t.gaps + t.random.ExpFloat64()
			}
			if at := gaps / rate * 1e9; at < float64(s.End-s.Start) {
				t.calls++
				t.gaps = gaps
				return sim.Time(s.Start + nanoseconds(at)), true
			}
		}
		t.rest, t.calls, t.gaps = t.rest[1:], 0, 0
	}
	return 0, false
}
