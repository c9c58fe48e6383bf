package theory

import (
	"errors"
	"fmt"
	"math"
)

// ErrTooLong is wrapped by the error of an evaluation that would take more than
// 1e9 updates of a state, one or two seconds. It happens where failures are so
// many that trips come at almost regular intervals, and their rate does not
// settle; and to chains with a great many states.
var ErrTooLong = errors.New("too long")

const (
	maxWork   = 1e9
	settleTol = 1e-13 // relative change per look that counts as none
)

// A settle recognises that a series has become periodic; being constant is a
// special case. Windows trip with a period of m at p = 1 and at a constant
// rate otherwise, and what came before the last n outcomes matters only
// through trips, so it waits for n outcomes and then for n without change.
type settle struct {
	ring  []float64 // the last period values
	at    int
	n     int
	seen  int
	quiet int
}

func (c *CountChain) newSettle() *settle {
	return &settle{ring: make([]float64, c.m), n: c.n}
}

// add takes the next value and reports whether the series has settled.
func (s *settle) add(v float64) bool {
	change := math.Abs(v - s.ring[s.at])
	s.ring[s.at] = v
	if s.at++; s.at == len(s.ring) {
		s.at = 0
	}
	s.quiet++
	if s.seen++; s.seen <= s.n || !(change <= settleTol*v) {
		s.quiet = 0
	}
	return s.quiet >= s.n
}

// period returns the sum of the last period values.
func (s *settle) period() float64 { return sum(s.ring) }

// A skip is a number of calls that need no steps, and the trips in them.
type skip struct {
	calls int64
	trips float64
}

// skip returns as many whole periods as fit into some calls.
func (s *settle) skip(calls int64) skip {
	period := int64(len(s.ring))
	periods := calls / period
	return skip{periods * period, float64(periods) * s.period()}
}

// advance records calls outcomes of failure probability p and returns the
// expected number of trips. When the trips have settled, the distribution has
// too, and whole periods are skipped.
func (w *walk) advance(calls int64, p float64) (float64, error) {
	c := w.chain
	s := c.newSettle()
	settled, trips := false, 0.0
	for done := int64(0); done < calls; done++ {
		v := w.step(p, true)
		trips += v
		if !settled && s.add(v) {
			settled = true
			skipped := s.skip(calls - done - 1)
			trips += skipped.trips
			done += skipped.calls
		}
		left := calls - done - 1
		if !settled && done == leapAfter*int64(c.n) && left > 3*leapReach*int64(c.n) {
			if first := c.firstTrips(p); first != nil {
				rest, err := w.leap(left, p, first)
				return trips + rest, err
			}
		}
		if w.tired() {
			return 0, w.tooLong(calls, p)
		}
	}
	return trips, nil
}

// steady records outcomes of failure probability p until trips come at a
// constant rate, which it returns with the number of outcomes and the expected
// number of trips on the way.
func (w *walk) steady(p float64) (rate float64, calls int64, trips float64, err error) {
	s := w.chain.newSettle()
	for {
		rate = w.step(p, true)
		calls++
		trips += rate
		// Periodic is not enough here.
		if s.add(rate) && math.Abs(rate*float64(len(s.ring))-s.period()) <= 1e-11*s.period() {
			return rate, calls, trips, nil
		}
		if w.tired() {
			return 0, 0, 0, w.tooLong(calls, p)
		}
	}
}

// tired reports that the walk has cost too much.
func (w *walk) tired() bool { return w.work > w.chain.maxWork }

func (w *walk) tooLong(calls int64, p float64) error {
	return fmt.Errorf("theory: count chain: %w: trips do not settle within %d calls at failure probability %v", ErrTooLong, calls, p)
}

// A survival is the part of a walk that has never tripped, scaled so that it
// does not vanish.
type survival struct {
	w    *walk
	mass float64 // total probability in the walk, between 0.5 and 1
	log  float64 // natural logarithm of the probability of no trip so far
}

func newSurvival(c *CountChain) *survival { return &survival{w: newWalk(c), mass: 1} }

// step records one outcome and returns the probability of a trip at it, given
// that there was none before.
func (s *survival) step(p float64) float64 {
	trips := s.w.step(p, false)
	hazard := min(trips/s.mass, 1)
	if s.mass-trips >= 0.5 {
		s.log += math.Log1p(-hazard)
		s.mass -= trips
		return hazard
	}
	left := s.w.total() // the difference may have cancelled out
	s.log += math.Log(left / s.mass)
	s.mass = 1
	if left > 0 {
		s.w.scale(1 / left)
	}
	return hazard
}

// total is the probability that the walk holds.
func (w *walk) total() float64 { return sum(w.full) + sum(w.fresh) }

// scale multiplies all probabilities that the walk holds.
func (w *walk) scale(by float64) {
	for _, part := range [][]float64{w.full, w.fresh, w.emptied} {
		for i := range part {
			part[i] *= by
		}
	}
}

// gone reports that a trip was certain.
func (s *survival) gone() bool { return math.IsInf(s.log, -1) }

// advance records calls outcomes of failure probability p. When the hazard has
// settled, the rest is geometric.
func (s *survival) advance(calls int64, p float64) error {
	hazards := s.w.chain.newSettle()
	for done := int64(0); done < calls && !s.gone(); {
		hazard := s.step(p)
		done++
		if hazards.add(hazard) {
			s.log += float64(calls-done) * math.Log1p(-hazard)
			return nil
		}
		if s.w.tired() {
			return s.w.tooLong(calls, p)
		}
	}
	return nil
}

// steady records outcomes of failure probability p until the hazard is
// constant, and returns it with the number of outcomes.
func (s *survival) steady(p float64) (hazard float64, calls int64, err error) {
	hazards := s.w.chain.newSettle()
	for !s.gone() {
		hazard = s.step(p)
		calls++
		if hazards.add(hazard) {
			return hazard, calls, nil
		}
		if s.w.tired() {
			return 0, 0, s.w.tooLong(calls, p)
		}
	}
	return 1, calls, nil
}
