package model

import (
	"slices"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// Frozen: other numbers for the same seed are a breaking change.
func TestRandomArrivalsGolden(t *testing.T) {
	for _, tc := range []struct {
		a    Arrivals
		want []sim.Time
	}{
		{Arrivals{Kind: Poisson, RateRPS: 7},
			[]sim.Time{499996643, 533928099, 566933735, 760795734, 772402293, 798020601}},
		{Arrivals{Kind: Poisson, RateRPS: 1e9},
			[]sim.Time{3, 3, 3, 5, 5, 5}},
		{Arrivals{Kind: Ramp, RateRPS: 20, ToRPS: 1, Over: 3 * time.Second, Random: true},
			[]sim.Time{180136615, 192757800, 205086373, 278564923, 283023683, 292889740}},
		{Arrivals{Kind: Bursts, RateRPS: 20, OffRPS: 3, On: time.Second, Off: 2 * time.Second, Random: true},
			[]sim.Time{174998825, 186874834, 198426807, 266278507, 270340802, 279307210}},
	} {
		if got := take(mustSource(t, tc.a), len(tc.want)); !slices.Equal(got, tc.want) {
			t.Errorf("%+v:\n got %d\nwant %d", tc.a, got, tc.want)
		}
	}
}

// Frozen as well: the glitches of replication 0. (That the three minutes drawn
// by number are those drawn by probability is no accident: both favour minutes
// whose draw is small.)
func TestGeneratorGolden(t *testing.T) {
	want := []time.Duration{4899450843988, 5704713552331, 6430922067286}
	for _, gl := range []Glitches{{Count: 3}, {PerMinute: 0.01}} {
		var got []time.Duration
		for _, s := range generate(t, sixHours(gl), draws(0)) {
			if s.ErrorRatio == 0.3 {
				got = append(got, s.Start)
				if s.End != s.Start+5*time.Second {
					t.Errorf("%+v lasts %v, want 5 s", gl, s.End-s.Start)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: glitches at %d, want %d", gl, got, want)
		}
	}
}
