package traffic

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

// A Stretch is a time of failures, whatever a breaker makes of it.
type Stretch struct {
	Start time.Duration // end of the first failed call, or start of the first segment
	End   time.Duration // end of the last failed call, or end of the last segment
}

// excess is by how many failed calls a stretch must exceed the share, and fall
// short of it at its end.
const excess = 5

// badCalls finds the stretches in which more than a share of the calls failed,
// by excess calls or more (the cumulative sum of Page, 1954, "Continuous
// inspection schemes"). A stretch begins with the failed call at which the sum
// last left 0, and ends with the one at which it was highest.
func badCalls(calls []Call, share float64) []Stretch {
	var list []Stretch
	var s Stretch
	sum, top := 0.0, 0.0
	inside := false
	for _, c := range calls {
		if c.Failed {
			if sum <= 0 && !inside {
				s.Start, sum = c.End, 0
			}
			if sum += 1 - share; !inside || sum > top {
				top, s.End = sum, c.End
			}
			inside = inside || sum >= excess
			continue
		}
		sum -= share
		if inside && sum <= top-excess {
			list = append(list, s)
			inside, sum = false, 0
		}
	}
	if inside {
		list = append(list, s)
	}
	return list
}

// badSegments finds the runs of segments that follow each other in each of
// which more than a share of the calls failed.
func badSegments(segments []model.Segment, share float64) []Stretch {
	var list []Stretch
	for _, s := range segments {
		switch n := len(list); {
		case s.ErrorRatio <= share:
		case n > 0 && list[n-1].End == s.Start:
			list[n-1].End = s.End
		default:
			list = append(list, Stretch{s.Start, s.End})
		}
	}
	return list
}

// stretchAt returns the number of the stretch that holds an instant, its end
// included; -1 if there is none.
func stretchAt(list []Stretch, at time.Duration) int {
	i, _ := slices.BinarySearchFunc(list, at, func(s Stretch, at time.Duration) int { return cmp.Compare(s.End, at) })
	if i < len(list) && list[i].Start <= at {
		return i
	}
	return -1
}

// draw makes calls of segments that CanPlay. The fate of a
// call is that of the segment in which it starts.
func draw(segments []model.Segment, seed, replication uint64) ([]Call, error) {
	expected := 0.0
	for _, s := range segments {
		expected += s.RateRPS.Value * (s.End - s.Start).Seconds()
	}
	arrivals, err := model.TraceArrivals(segments, sim.Stream(seed, replication, "arrivals"))
	if err != nil {
		return nil, err
	}
	fate := sim.NewDraws(seed, replication, "fate")
	calls := make([]Call, 0, int(expected+4*math.Sqrt(expected))+1)
	var law model.Law
	for at, ok := arrivals.Next(); ok; at, ok = arrivals.Next() {
		for moved := false; len(segments) > 0; moved = true {
			if s := segments[0]; time.Duration(at) < s.End {
				if moved || len(calls) == 0 {
					law, _ = s.LatencyLaw() // the zero law, 0 s, where nothing is known
				}
				break
			}
			segments = segments[1:]
		}
		k := uint64(len(calls))
		c := Call{Failed: fate.Float64(k, 0) < segments[0].ErrorRatio}
		if law.Kind != "" {
			c.Latency = law.Quantile(fate.Float64(k, 1))
		}
		if c.Failed {
			c.Code = 500
		}
		c.End = time.Duration(at) + c.Latency
		calls = append(calls, c)
	}
	slices.SortStableFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(b.Latency, a.Latency))
	})
	return calls, nil
}
