package theory

import "math"

// A renewal step is a step of a few hundred multiplications instead of one for
// each state. It serves long segments in which trips are frequent but, coming
// almost at regular intervals, do not settle: there all that matters is when
// the window was last emptied, and that is never long ago.

const (
	leapAfter  = 30    // windows of outcomes without settling, after which a leap is tried
	leapReach  = 50    // windows of outcomes that may matter in a leap
	leapForget = 1e-17 // probability that an earlier outcome matters
)

// firstTrips returns the distribution of the number of calls from an empty
// window to the first trip, at index calls-1, or nil if it is too long.
func (c *CountChain) firstTrips(p float64) []float64 {
	s := newSurvival(c)
	var first []float64
	for len(first) < leapReach*c.n {
		alive := math.Exp(s.log)
		first = append(first, alive*s.step(p))
		if len(first) >= c.n && math.Exp(s.log) < leapForget {
			return first
		}
	}
	return nil
}

// leap is advance for a walk whose last n outcomes had failure probability p
// too, given firstTrips of p. It needs at least as many calls as those hold.
//
// The trips follow the renewal equation (Feller 1968, chapter XIII): one at a
// call is the first one after an earlier one. At the end the distribution is
// made anew from the trips that still matter.
func (w *walk) leap(calls int64, p float64, first []float64) (float64, error) {
	reach := len(first)
	latest := make([]float64, reach) // ring of the latest trips
	sum := 0.0
	for i := range latest {
		latest[i] = w.step(p, true)
		sum += latest[i]
	}
	at := 0 // the oldest in the ring
	s := w.chain.newSettle()
	settled := false
	for done := int64(reach); done < calls; done++ {
		v := 0.0
		for i, trips := range latest[at:] {
			v += trips * first[reach-1-i]
		}
		for i, trips := range latest[:at] {
			v += trips * first[at-1-i]
		}
		latest[at] = v
		if at++; at == reach {
			at = 0
		}
		sum += v
		if !settled && s.add(v) {
			settled = true
			skipped := s.skip(calls - done - 1)
			sum += skipped.trips
			done += skipped.calls
		}
		w.work += int64(reach)
		if w.tired() {
			return 0, w.tooLong(calls, p)
		}
	}
	clear(w.full)
	clear(w.fresh)
	clear(w.emptied)
	for range latest {
		w.step(p, false)
		w.restart(latest[at])
		if at++; at == reach {
			at = 0
		}
	}
	return sum, nil
}
