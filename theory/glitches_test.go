package theory

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
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
		c := sure(NewCountChain(test.rule, DefaultMaxStates))
		got := sure(c.Glitches(test.trace))
		z := ZScore(400, test.mean, test.sd, got.Mean)
		t.Logf("%s: mean %.6f, simulated %v, z %.2f", test.name, got.Mean, test.mean, z)
		if math.Abs(z) > 2.6 {
			t.Errorf("%s: mean %v, simulated %v ± %v: z %v", test.name, got.Mean, test.mean, test.sd, z)
		}
		if got := sure(c.AnyTripInGlitches(test.trace)); got < 0.999999 {
			t.Errorf("%s: any trip %v", test.name, got)
		}
	}
	c := sure(NewCountChain(half, DefaultMaxStates))
	quiet := sure(c.Glitches(baseline))
	near(t, "half, baseline", quiet.Mean, 8.0135e-7, 1e-4)
	near(t, "half, baseline, any", sure(c.AnyTripInGlitches(baseline)), quiet.Mean, 1e-5)
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
	const reps = 25
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
			near(t, "any trip", sure(c.AnyTripInGlitches(g)), sure(c.AnyTrip(segments)), 1e-10)
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
		g := GlitchTrace{TotalCalls: calls, BaselineP: 0.1}
		near(t, "mean", sure(c.Glitches(g)).Mean, sure(c.ExpectedTrips([]Segment{{calls, 0.1}})), 1e-11)
		near(t, "any", sure(c.AnyTripInGlitches(g)), sure(c.AnyTrip([]Segment{{calls, 0.1}})), 1e-11)
	}
	one := sure(NewCountChain(CountRule{1, 1, 1}, DefaultMaxStates))
	g := GlitchTrace{TotalCalls: 100, BaselineP: 1, Glitches: 1, GlitchCalls: 5, GlitchP: 0.5}
	near(t, "every call trips", sure(one.Glitches(g)).Mean, 97.5, 1e-14)
	near(t, "any", sure(one.AnyTripInGlitches(g)), 1, 0)
	g.BaselineP, g.GlitchP = 0.1, 1
	near(t, "a glitch that always trips", sure(one.AnyTripInGlitches(g)), 1, 0)
}

func BenchmarkGlitches(b *testing.B) {
	for _, rule := range []CountRule{fifth, half} {
		b.Run(fmt.Sprintf("N=20/rate=%v", rule.FailureRate), func(b *testing.B) {
			for b.Loop() {
				c := sure(NewCountChain(rule, DefaultMaxStates))
				sure(c.Glitches(glitchTrace))
			}
		})
	}
}
