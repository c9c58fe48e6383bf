package model

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// checkPoisson checks a Poisson count against its mean: 4 standard deviations,
// which one count in 16,000 exceeds; the seed is fixed.
func checkPoisson(t *testing.T, what string, got int, mean float64) {
	t.Helper()
	if math.Abs(float64(got)-mean) > 4*math.Sqrt(mean) {
		t.Errorf("%s: %d, want %.0f ± %.0f", what, got, mean, 4*math.Sqrt(mean))
	}
}

func TestPoissonRate(t *testing.T) {
	for _, rate := range []float64{0.5, 50, 1e6, 3e8, 1e9} {
		s := mustSource(t, Arrivals{Kind: Poisson, RateRPS: rate})
		until := sim.Time(1e6 / rate * 1e9)
		checkPoisson(t, "calls at "+formatFloat(rate), countBetween(s, 0, until), 1e6)
	}
}

// Gaps are exponential: the empirical distribution of 100,000 of them keeps
// within the Kolmogorov–Smirnov bound (1.63/√n at 1 %), and they are not
// correlated with their successors (4/√n).
func TestPoissonGaps(t *testing.T) {
	const n = 100_000
	times := take(mustSource(t, Arrivals{Kind: Poisson, RateRPS: 1000}), n+1)
	var below [20]int // by the law's own quantiles
	sum, product := 0.0, 0.0
	previous := 0.0
	for i := range n {
		gap := float64(times[i+1]-times[i]) / 1e6
		below[int(20*-math.Expm1(-gap))]++
		sum += gap
		product += (gap - 1) * (previous - 1)
		previous = gap
	}
	total := 0
	for i, k := range below {
		total += k
		if d := math.Abs(float64(total)/n - float64(i+1)/20); d > 1.63/math.Sqrt(n) {
			t.Errorf("share of gaps below the %d %% quantile is off by %v", 5*(i+1), d)
		}
	}
	if r := product / n; math.Abs(r) > 4/math.Sqrt(n) {
		t.Errorf("correlation of successive gaps %v, want 0", r)
	}
}

func TestRandomBurstsRate(t *testing.T) {
	a := Arrivals{Kind: Bursts, RateRPS: 300, OffRPS: 20, On: 3 * time.Second, Off: 7 * time.Second, Random: true}
	var on, off int
	s := mustSource(t, a)
	for at, _ := s.Next(); at < 1000*second; at, _ = s.Next() {
		if at%(10*second) < 3*second {
			on++
		} else {
			off++
		}
	}
	checkPoisson(t, "on", on, 300*3*100)
	checkPoisson(t, "off", off, 20*7*100)
}

// Phases far shorter than the gap between calls: most cycles have no call.
func TestRandomBurstsOfNanoseconds(t *testing.T) {
	a := Arrivals{Kind: Bursts, RateRPS: 100, On: 3, Off: 7, Random: true}
	s := mustSource(t, a)
	n := 0
	for at, _ := s.Next(); at < 1000*second; at, _ = s.Next() {
		if at%10 >= 3 {
			t.Fatalf("call at %d, in the off phase", at)
		}
		n++
	}
	checkPoisson(t, "calls", n, 30_000)
}
