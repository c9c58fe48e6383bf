package theory

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestLongSegments compares skipping and leaping with plain steps.
func TestLongSegments(t *testing.T) {
	for _, rule := range []CountRule{{10, 10, 0.5}, {10, 3, 0.5}, {20, 20, 0.2}, {12, 8, 0.7}, {25, 25, 0.1}, {5, 5, 1}} {
		c := sure(NewCountChain(rule, DefaultMaxStates))
		for _, p := range []float64{0, 1e-4, 0.02, 0.3, 0.5, 0.7, 0.9, 0.99, 1} {
			segments := []Segment{{200*int64(rule.Calls) + 7, p}, {101, 0.2}, {507, 0.01}}
			w := newWalk(c)
			want := 0.0
			for _, s := range segments {
				for range s.Calls {
					want += w.step(s.P, true)
				}
			}
			near(t, "trips", sure(c.ExpectedTrips(segments)), want, 2e-12)
		}
	}
}

func TestTripsAtExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t, 12)
		calls := rapid.Int64Range(0, 1e9).Draw(t, "length")
		c := sure(NewCountChain(rule, DefaultMaxStates))
		if got := sure(c.ExpectedTrips([]Segment{{calls, 0}})); got != 0 {
			t.Errorf("p = 0: %v trips", got)
		}
		if got := sure(c.AnyTrip([]Segment{{calls, 0}})); got != 0 {
			t.Errorf("p = 0: any trip %v", got)
		}
		near(t, "p = 1", sure(c.ExpectedTrips([]Segment{{calls, 1}})), float64(calls/int64(rule.minCalls())), 1e-13)
		near(t, "p = 1, any", sure(c.AnyTrip([]Segment{{calls, 1}})), indicator(calls >= int64(rule.minCalls())), 0)
		p := drawP(t)
		short := sure(c.AnyTrip([]Segment{{calls, p}}))
		if long := sure(c.AnyTrip([]Segment{{calls + 10, p}})); long < short*(1-1e-12) {
			t.Errorf("any trip in %d calls %v, in 10 more %v", calls, short, long)
		}
		if more := sure(c.AnyTrip([]Segment{{calls, p + (1-p)/2}})); more < short*(1-1e-12) {
			t.Errorf("any trip at %v %v, at more %v", p, short, more)
		}
		if mean := sure(c.ExpectedTrips([]Segment{{calls, p}})); mean < short*(1-1e-10) {
			t.Errorf("expected trips %v, any trip %v", mean, short)
		}
	})
}

func TestTripErrors(t *testing.T) {
	c := sure(NewCountChain(fifth, DefaultMaxStates))
	_, err := c.ExpectedTrips([]Segment{{1, 0.5}, {-1, 0.5}})
	wantError(t, err, "segment 1", "calls -1")
	_, err = c.AnyTrip([]Segment{{1, 1.5}})
	wantError(t, err, "segment 0", "failure probability 1.5")
	for _, test := range []struct {
		change func(g *GlitchTrace)
		parts  []string
	}{
		{func(g *GlitchTrace) { g.TotalCalls = -1 }, []string{"total calls -1"}},
		{func(g *GlitchTrace) { g.Glitches = -1 }, []string{"glitches -1"}},
		{func(g *GlitchTrace) { g.GlitchCalls = -1 }, []string{"glitch calls -1"}},
		{func(g *GlitchTrace) { g.BaselineP = math.NaN() }, []string{"baseline failure probability NaN"}},
		{func(g *GlitchTrace) { g.GlitchP = 2 }, []string{"glitch failure probability 2"}},
		{func(g *GlitchTrace) { g.Glitches = 5000 }, []string{"5000 glitches of 250 calls", "at most 1080000"}},
	} {
		g := glitchTrace
		test.change(&g)
		_, err := c.Glitches(g)
		wantError(t, err, append(test.parts, "glitch trace")...)
		_, err = c.AnyTripInGlitches(g)
		wantError(t, err, test.parts...)
	}
}

// TestTooLong uses a baseline at which trips come almost at regular intervals.
func TestTooLong(t *testing.T) {
	c := sure(NewCountChain(CountRule{10, 10, 0.5}, DefaultMaxStates))
	c.maxWork = 2e5
	g := GlitchTrace{TotalCalls: sixHours, BaselineP: 0.8}
	quiet := g
	quiet.BaselineP, quiet.Glitches, quiet.GlitchCalls, quiet.GlitchP = 0.01, 1, 100_000, 0.9
	tiring := *c
	tiring.maxWork = 20 * int64(c.States())
	for name, f := range map[string]func() (any, error){
		"baseline":         func() (any, error) { return c.Glitches(g) },
		"glitch":           func() (any, error) { return c.Glitches(quiet) },
		"segment":          func() (any, error) { return c.ExpectedTrips([]Segment{{sixHours, 0.8}}) },
		"any trip":         func() (any, error) { return tiring.AnyTrip([]Segment{{sixHours, 0.1}}) },
		"any in baseline":  func() (any, error) { return tiring.AnyTripInGlitches(g) },
		"interval":         func() (any, error) { return tiring.TripInterval(0.3) },
		"trips in a short": func() (any, error) { return tiring.ExpectedTrips([]Segment{{30, 0.3}}) },
	} {
		v, err := f()
		wantError(t, err, "count chain", "too long", "failure probability 0.")
		if !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v, %v is not ErrTooLong", name, v, err)
		}
	}
}
