package theory

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

const sixHours = 1_080_000 // calls at 50 per second

var (
	half  = CountRule{20, 20, 0.5}
	fifth = CountRule{20, 20, 0.2}
	// glitchTrace is 2 % failures with 18 glitches of 5 s at 30 %.
	glitchTrace = GlitchTrace{TotalCalls: sixHours, BaselineP: 0.02, Glitches: 18, GlitchCalls: 250, GlitchP: 0.3, Warm: true}
)

// TestGlitchesPublished compares with 400 replications of a simulation.
func TestGlitchesPublished(t *testing.T) {
	baseline := glitchTrace
	baseline.Glitches = 0
	for _, test := range []struct {
		name     string
		rule     CountRule
		trace    GlitchTrace
		mean, sd float64
	}{
		{"half, glitches", half, glitchTrace, 29.9, 5.1},
		{"fifth, baseline", fifth, baseline, 109.9, 10.1},
		{"fifth, glitches", fifth, glitchTrace, 331.7, 10.8},
	} {
		got := sure(sure(NewCountChain(test.rule, DefaultMaxStates)).Glitches(test.trace))
		z := ZScore(400, test.mean, test.sd, got.Mean)
		t.Logf("%s: mean %.6f, simulated %v, z %.2f", test.name, got.Mean, test.mean, z)
		if math.Abs(z) > 2.6 {
			t.Errorf("%s: mean %v, simulated %v ± %v: z %v", test.name, got.Mean, test.mean, test.sd, z)
		}
		if got.AnyTrip < 0.999999 {
			t.Errorf("%s: any trip %v", test.name, got.AnyTrip)
		}
	}
	quiet := sure(sure(NewCountChain(half, DefaultMaxStates)).Glitches(baseline))
	near(t, "half, baseline", quiet.Mean, 8.0135e-7, 1e-4)
	near(t, "half, baseline, any", quiet.AnyTrip, quiet.Mean, 1e-5)
}

// simulate counts trips of full-minimum windows in a trace with a glitch every
// period calls.
func simulate(r *rand.Rand, rule CountRule, k int, g GlitchTrace) float64 {
	period := g.TotalCalls / max(g.Glitches, 1)
	var window uint64
	mask := uint64(1)<<rule.Calls - 1
	held, trips := 0, 0.0
	base, glitch := uint64(g.BaselineP*(1<<32)), uint64(g.GlitchP*(1<<32))
	for i := range g.TotalCalls {
		p := base
		if g.Glitches > 0 && i%period >= period-g.GlitchCalls-1000 && i%period < period-1000 {
			p = glitch
		}
		window = window << 1 & mask
		if r.Uint64()>>32 < p {
			window |= 1
		}
		if held++; held >= rule.Calls && bits.OnesCount64(window) >= k {
			window, held = 0, 0
			trips++
		}
	}
	return trips
}

// TestGlitchesAgainstSimulation makes its own replications of both rules.
func TestGlitchesAgainstSimulation(t *testing.T) {
	const reps = 40
	r := rand.New(rand.NewPCG(1, 2))
	for _, rule := range []CountRule{half, fifth} {
		g := glitchTrace
		g.Warm = false
		c := sure(NewCountChain(rule, DefaultMaxStates))
		got := sure(c.Glitches(g))
		var trips []float64
		for range reps {
			trips = append(trips, simulate(r, rule, c.k, g))
		}
		mean, sd := MeanSD(trips)
		z := ZScore(reps, mean, sd, got.Mean)
		t.Logf("%+v: exact %.3f, simulated %.3f ± %.3f, z %.2f", rule, got.Mean, mean, sd, z)
		if math.Abs(z) > 3 {
			t.Errorf("%+v: exact %v, simulated %v, z %v", rule, got.Mean, mean, z)
		}
	}
}

// TestGlitchesIsSumOfSegments writes the trace out.
func TestGlitchesIsSumOfSegments(t *testing.T) {
	for _, rule := range []CountRule{{20, 20, 0.2}, {12, 12, 0.5}, {12, 5, 0.5}, {15, 3, 0.4}, {7, 7, 1}, {6, 2, 0.1}} {
		for _, p := range []float64{0, 0.02, 0.1} {
			g := GlitchTrace{TotalCalls: 30_000, BaselineP: p, Glitches: 3, GlitchCalls: 120, GlitchP: 0.35}
			segments := []Segment{{5000, p}, {120, 0.35}, {9000, p}, {120, 0.35}, {10_000, p}, {120, 0.35}, {5640, p}}
			c := sure(NewCountChain(rule, DefaultMaxStates))
			got := sure(c.Glitches(g))
			near(t, "mean", got.Mean, sure(c.ExpectedTrips(segments)), 1e-10)
			near(t, "any trip", got.AnyTrip, sure(c.AnyTrip(segments)), 1e-10)
			warm := g
			warm.Warm = true
			near(t, "warm", sure(c.Glitches(warm)).Mean, got.Mean, 1e-2)
			near(t, "baseline", got.BaselineRate, sure(c.TripInterval(p)).Rate(), 1e-11)
			near(t, "parts", sure(c.Glitches(warm)).Mean, got.BaselineRate*30_000+3*got.PerGlitch, 1e-13)
		}
	}
}

func TestGlitchesShortTraces(t *testing.T) {
	c := sure(NewCountChain(fifth, DefaultMaxStates))
	for _, calls := range []int64{0, 1, 19, 20, 40, 5000} {
		got := sure(c.Glitches(GlitchTrace{TotalCalls: calls, BaselineP: 0.1}))
		near(t, "mean", got.Mean, sure(c.ExpectedTrips([]Segment{{calls, 0.1}})), 1e-11)
		near(t, "any", got.AnyTrip, sure(c.AnyTrip([]Segment{{calls, 0.1}})), 1e-11)
	}
	one := sure(NewCountChain(CountRule{1, 1, 1}, DefaultMaxStates))
	got := sure(one.Glitches(GlitchTrace{TotalCalls: 100, BaselineP: 1, Glitches: 1, GlitchCalls: 5, GlitchP: 0.5}))
	near(t, "every call trips", got.Mean, 97.5, 1e-14)
	near(t, "any", got.AnyTrip, 1, 0)
	sureTrip := sure(one.Glitches(GlitchTrace{TotalCalls: 100, BaselineP: 0.1, Glitches: 1, GlitchCalls: 5, GlitchP: 1}))
	near(t, "a glitch that always trips", sureTrip.AnyTrip, 1, 0)
}

// TestLongSegments compares skipping and leaping with plain steps.
func TestLongSegments(t *testing.T) {
	for _, rule := range []CountRule{{10, 10, 0.5}, {10, 3, 0.5}, {20, 20, 0.2}, {12, 8, 0.7}, {30, 30, 0.1}, {5, 5, 1}} {
		c := sure(NewCountChain(rule, DefaultMaxStates))
		for _, p := range []float64{0, 1e-4, 0.02, 0.3, 0.5, 0.7, 0.9, 0.99, 1} {
			segments := []Segment{{6007, p}, {101, 0.2}, {6007, 0.01}}
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
	}
}

// TestTooLong uses a baseline at which trips come almost at regular intervals.
func TestTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	c := sure(NewCountChain(half, DefaultMaxStates))
	_, err := c.Glitches(GlitchTrace{TotalCalls: sixHours, BaselineP: 0.8})
	wantError(t, err, "count chain", "too long", "0.8")
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("%v is not ErrTooLong", err)
	}
}

func BenchmarkGlitches(b *testing.B) {
	for name, rule := range map[string]CountRule{"N=20/k=4": fifth, "N=20/k=10": half} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := sure(NewCountChain(rule, DefaultMaxStates))
				sure(c.Glitches(glitchTrace))
			}
		})
	}
}
