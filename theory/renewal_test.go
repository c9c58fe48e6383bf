package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestTripIntervalRuns compares with the waiting time for a run of failures
// (Feller 1968, section XIII.7).
func TestTripIntervalRuns(t *testing.T) {
	for _, n := range []int{1, 2, 5, 20} {
		for _, p := range []float64{0.1, 0.5, 0.9, 0.99} {
			q, power := 1-p, math.Pow(p, float64(n))
			mean := (1 - power) / (q * power)
			variance := 1/(q*power*q*power) - float64(2*n+1)/(q*power) - p/(q*q)
			c := sure(NewCountChain(CountRule{n, n, 1}, DefaultMaxStates))
			got := sure(c.TripInterval(p))
			near(t, "mean", got.Mean, mean, 1e-10)
			near(t, "variance", got.SD*got.SD, variance, 1e-8)
		}
	}
}

// TestTripIntervalOneFailure has a window that trips at its first failure once
// it is full: the interval is the larger of n and ... the calls to a failure
// among the last n.
func TestTripIntervalOneFailure(t *testing.T) {
	for _, n := range []int{1, 3, 10} {
		for _, p := range []float64{1e-9, 0.02, 0.5} {
			c := sure(NewCountChain(CountRule{n, n, 1e-9}, DefaultMaxStates))
			want := float64(n) + math.Pow(1-p, float64(n))/p
			near(t, "mean", sure(c.TripInterval(p)).Mean, want, 1e-12)
		}
	}
}

func TestTripIntervalExtremes(t *testing.T) {
	c := sure(NewCountChain(half, DefaultMaxStates))
	got := sure(c.TripInterval(0))
	if !math.IsInf(got.Mean, 1) || !math.IsInf(got.SD, 1) || got.Rate() != 0 || got.CountSD(sixHours) != 0 {
		t.Errorf("p = 0: %+v, rate %v", got, got.Rate())
	}
	if got := sure(c.TripInterval(1)); got != (TripInterval{Mean: 20}) {
		t.Errorf("p = 1: %+v", got)
	}
	rare := sure(c.TripInterval(1e-20))
	// 10 failures within 20 calls, the last one completing them.
	near(t, "rare", rare.Rate(), 92378e-200, 1e-9)
	near(t, "rare is geometric", rare.SD, rare.Mean, 1e-12)
	_, err := c.TripInterval(-0.1)
	wantError(t, err, "trip interval", "-0.1")
}

func TestTripIntervalIsLongRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sure(NewCountChain(drawRule(t, 10), DefaultMaxStates))
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		const calls = 1e6
		got := sure(c.ExpectedTrips([]Segment{{calls, p}}))
		want := calls * sure(c.TripInterval(p)).Rate()
		// The beginning makes a difference of a few trips, for good.
		if math.Abs(got-want) > 3+1e-11*want {
			t.Errorf("long run: %v trips, want about %v", got, want)
		}
	})
}

// TestCountSD compares with the spread of the published simulation.
func TestCountSD(t *testing.T) {
	c := sure(NewCountChain(fifth, DefaultMaxStates))
	got := sure(c.TripInterval(0.02)).CountSD(sixHours)
	// 10.1 from 400 replications, known to within 10.1/sqrt(800).
	if math.Abs(got-10.1) > 3*10.1/math.Sqrt(800) {
		t.Errorf("sd %v, simulated 10.1", got)
	}
}
