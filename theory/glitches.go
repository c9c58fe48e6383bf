package theory

import (
	"fmt"
	"math"
)

// A GlitchTrace is a long sequence of outcomes at a baseline, interrupted by
// glitches of equal length and depth. They are taken to be so far apart that
// the window has recovered before the next one, which some 3 windows of
// outcomes ensure; where they stand then makes no difference.
type GlitchTrace struct {
	TotalCalls  int64   // with those in glitches
	BaselineP   float64 // failure probability outside glitches
	Glitches    int64   // number of glitches
	GlitchCalls int64   // outcomes in one glitch
	GlitchP     float64 // failure probability in a glitch
	// Warm means that the window has been watched at the baseline for long
	// before the trace, and for [CountChain.AnyTripInGlitches] that it has not
	// tripped there. Otherwise it is empty at the start of the trace.
	Warm bool
}

// Validate returns an error that names the first field out of range.
func (g GlitchTrace) Validate() error {
	const what = "glitch trace"
	if err := checkAtLeast(what, "total calls", g.TotalCalls, 0); err != nil {
		return err
	}
	if err := checkAtLeast(what, "glitches", g.Glitches, 0); err != nil {
		return err
	}
	if err := checkAtLeast(what, "glitch calls", g.GlitchCalls, 0); err != nil {
		return err
	}
	if err := checkProbability(what, "baseline failure probability", g.BaselineP); err != nil {
		return err
	}
	if err := checkProbability(what, "glitch failure probability", g.GlitchP); err != nil {
		return err
	}
	if g.Glitches > 0 && g.GlitchCalls > g.TotalCalls/g.Glitches {
		return fmt.Errorf("theory: %s: %d glitches of %d calls, want at most %d calls in all",
			what, g.Glitches, g.GlitchCalls, g.TotalCalls)
	}
	return nil
}

// GlitchTrips is what a [CountRule] does on a [GlitchTrace].
type GlitchTrips struct {
	Mean         float64 // expected number of trips
	BaselineRate float64 // trips per call far from any glitch
	PerGlitch    float64 // expected number of trips that one glitch adds
}

// Glitches returns the trips in a trace with glitches. Only one of them is
// followed step by step, from a window at the baseline until the window has
// recovered. The error wraps [ErrTooLong] where a rate does not settle.
func (c *CountChain) Glitches(g GlitchTrace) (t GlitchTrips, err error) {
	if err := g.Validate(); err != nil {
		return t, err
	}
	w := newWalk(c)
	rate, calls, first, err := w.steady(g.BaselineP)
	if err != nil {
		return t, err
	}
	t.BaselineRate = rate
	if g.Glitches == 0 && !g.Warm && g.TotalCalls < calls { // over before it is steady
		t.Mean, err = newWalk(c).advance(g.TotalCalls, g.BaselineP)
		return t, err
	}
	if g.Glitches > 0 && g.GlitchCalls > 0 {
		in, err := w.advance(g.GlitchCalls, g.GlitchP)
		if err != nil {
			return t, err
		}
		_, recovery, after, err := w.steady(g.BaselineP)
		if err != nil {
			return t, err
		}
		t.PerGlitch = in + after - rate*float64(g.GlitchCalls+recovery)
	}
	t.Mean = rate*float64(g.TotalCalls) + t.PerGlitch*float64(g.Glitches)
	if !g.Warm {
		t.Mean += first - rate*float64(calls)
	}
	t.Mean = max(t.Mean, 0)
	return t, nil
}

// AnyTripInGlitches returns the probability of at least one trip in a trace
// with glitches. It goes the way of [CountChain.Glitches] once more, with the
// part that has never tripped.
func (c *CountChain) AnyTripInGlitches(g GlitchTrace) (float64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	s := newSurvival(c)
	hazard, calls, err := s.steady(g.BaselineP)
	if err != nil {
		return 0, err
	}
	if s.gone() || g.Glitches == 0 && !g.Warm && g.TotalCalls < calls {
		return c.AnyTrip([]Segment{{g.TotalCalls, g.BaselineP}})
	}
	quiet := math.Log1p(-hazard) // per call at the baseline
	log := quiet * float64(g.TotalCalls)
	if !g.Warm {
		log += s.log - quiet*float64(calls)
	}
	if g.Glitches > 0 && g.GlitchCalls > 0 {
		before := s.log
		if err := s.advance(g.GlitchCalls, g.GlitchP); err != nil {
			return 0, err
		}
		if s.gone() {
			return 1, nil
		}
		_, recovery, err := s.steady(g.BaselineP)
		if err != nil {
			return 0, err
		}
		log += float64(g.Glitches) * (s.log - before - quiet*float64(g.GlitchCalls+recovery))
	}
	return -math.Expm1(min(log, 0)), nil
}
