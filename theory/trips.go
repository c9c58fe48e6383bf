package theory

import (
	"fmt"
	"math"
)

// A Segment is a stretch of outcomes with the same failure probability.
type Segment struct {
	Calls int64   // at least 0
	P     float64 // probability that an outcome is a failure, 0 to 1
}

func checkSegments(segments []Segment) error {
	for i, s := range segments {
		what := fmt.Sprintf("segment %d", i)
		if err := checkAtLeast(what, "calls", s.Calls, 0); err != nil {
			return err
		}
		if err := checkProbability(what, "failure probability", s.P); err != nil {
			return err
		}
	}
	return nil
}

// ExpectedTrips returns the expected number of trips in a sequence of outcomes
// that begins with an empty window. Long segments cost little: when the rate
// of trips has settled, the rest is a multiplication. The relative error is
// below 1e-10. The error wraps [ErrTooLong] where a rate does not settle.
func (c *CountChain) ExpectedTrips(segments []Segment) (float64, error) {
	trips, err := c.TripsBySegment(segments)
	sum := 0.0
	for _, t := range trips {
		sum += t
	}
	return sum, err
}

// TripsBySegment is [CountChain.ExpectedTrips] with the trips of each segment
// apart, so that a warm-up can be left out, or an outage told from the rest.
func (c *CountChain) TripsBySegment(segments []Segment) ([]float64, error) {
	if err := checkSegments(segments); err != nil {
		return nil, err
	}
	w := newWalk(c)
	trips := make([]float64, len(segments))
	for i, s := range segments {
		var err error
		if trips[i], err = w.advance(s.Calls, s.P); err != nil {
			return nil, err
		}
	}
	return trips, nil
}

// AnyTrip returns the probability of at least one trip in a sequence of
// outcomes that begins with an empty window.
func (c *CountChain) AnyTrip(segments []Segment) (float64, error) {
	if err := checkSegments(segments); err != nil {
		return 0, err
	}
	s := newSurvival(c)
	for _, seg := range segments {
		if err := s.advance(seg.Calls, seg.P); err != nil {
			return 0, err
		}
	}
	return -math.Expm1(s.log), nil
}
