package model

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestLawValidate(t *testing.T) {
	points := func(p ...Point) Law { return Law{Kind: Quantiles, Points: p} }
	for _, tc := range []struct {
		law  Law
		want string
	}{
		{Law{}, ""},
		{Law{Mean: time.Second}, ""},
		{Law{Kind: Uniform, Low: 0, High: 1}, ""},
		{Law{Kind: Exponential, Mean: 1}, ""},
		{Law{Kind: Lognormal, Mean: 1, CV: 1000}, ""},
		{points(Point{0, 0}, Point{1, 0}), ""},
		{points(Point{0.5, ms}), ""},
		{Law{Kind: Gamma, Mean: 1, CV: 1000}, ""},
		{Law{Kind: Empirical, Samples: []time.Duration{0, 0, ms}}, ""},

		{Law{Kind: "normal"}, `model: law "normal": unknown kind, want one of constant, uniform, exponential, lognormal, gamma, quantiles, empirical`},
		{Law{Mean: -1}, `model: law "constant": mean -1ns, want at least 0`},
		{Law{Kind: Exponential}, `model: law "exponential": mean 0s, want above 0`},
		{Law{Kind: Lognormal, Mean: -ms, CV: 1}, `model: law "lognormal": mean -1ms, want above 0`},
		{Law{Kind: Lognormal, Mean: ms}, `model: law "lognormal": CV 0, want above 0 and at most 1000`},
		{Law{Kind: Lognormal, Mean: ms, CV: math.NaN()}, `model: law "lognormal": CV NaN, want above 0 and at most 1000`},
		{Law{Kind: Exponential, Mean: ms, CV: 1}, `model: law "exponential": CV 1, only a lognormal or a gamma law has one`},
		{Law{Kind: Uniform, Low: -1, High: 1}, `model: law "uniform": low -1ns, want at least 0`},
		{Law{Kind: Uniform, Low: ms, High: ms}, `model: law "uniform": high 1ms, want above low 1ms`},
		{Law{Kind: Uniform, Mean: ms, High: ms}, `model: law "uniform": mean 1ms, the kind has none to set`},
		{Law{High: ms}, `model: law "constant": bounds 0s and 1ms, only a uniform law has them`},
		{Law{Points: []Point{{}}}, `model: law "constant": 1 points, only a quantiles law has them`},
		{points(), `model: law "quantiles": no points, want at least one`},
		{points(Point{0.5, ms}, Point{0.5, ms}), `model: law "quantiles": point 2: P 0.5, want above the previous 0.5`},
		{points(Point{0.5, ms}, Point{0.9, 0}), `model: law "quantiles": point 2: duration 0s, want at least the previous 1ms`},
		{points(Point{1.5, ms}), `model: law "quantiles": point 1: P 1.5, want from 0 to 1`},
		{points(Point{math.NaN(), ms}), `model: law "quantiles": point 1: P NaN, want from 0 to 1`},
		{Law{Kind: Gamma, CV: 1}, `model: law "gamma": mean 0s, want above 0`},
		{Law{Kind: Gamma, Mean: ms, CV: math.Inf(1)}, `model: law "gamma": CV +Inf, want above 0 and at most 1000`},
		{Law{Kind: Gamma, Mean: ms, CV: -1}, `model: law "gamma": CV -1, want above 0 and at most 1000`},
		{Law{Kind: Empirical}, `model: law "empirical": 0 samples, want from 1 to 1000000`},
		{Law{Kind: Empirical, Samples: make([]time.Duration, 1_000_001)}, `model: law "empirical": 1000001 samples, want from 1 to 1000000`},
		{Law{Kind: Empirical, Samples: []time.Duration{-1}}, `model: law "empirical": sample 1: -1ns, want at least 0s`},
		{Law{Kind: Empirical, Samples: []time.Duration{ms, 2 * ms, 0}}, `model: law "empirical": sample 3: 0s, want at least the previous 2ms`},
		{Law{Kind: Empirical, Mean: ms, Samples: []time.Duration{0}}, `model: law "empirical": mean 1ms, the kind has none to set`},
		{Law{Kind: Gamma, Mean: ms, CV: 1, Samples: []time.Duration{0}}, `model: law "gamma": 1 samples, only an empirical law has them`},
		{points(Point{0.5, -ms}), `model: law "quantiles": point 1: duration -1ms, want at least 0`},
	} {
		got := ""
		if err := tc.law.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v:\n got %q\nwant %q", tc.law, got, tc.want)
		}
	}
}

func TestLawQuantile(t *testing.T) {
	measured := Law{Kind: Quantiles, Points: []Point{{0.5, 10 * ms}, {0.9, 40 * ms}, {0.99, 90 * ms}}}
	for _, tc := range []struct {
		law  Law
		u    float64
		want time.Duration
	}{
		{Law{}, 0.7, 0},
		{Law{Kind: Constant, Mean: ms}, 0.7, ms},
		{Law{Kind: Uniform, Low: 10, High: 14}, 0, 10},
		{Law{Kind: Uniform, Low: 10, High: 14}, 0.49, 11},
		{Law{Kind: Uniform, Low: 10, High: 14}, 0.5, 12},
		{Law{Kind: Uniform, Low: 10, High: 14}, 1 - 1e-16, 13},
		{Law{Kind: Uniform, Low: 0, High: math.MaxInt64}, 1 - 1e-16, math.MaxInt64 - 1023},
		{Law{Kind: Exponential, Mean: time.Second}, 0, 0},
		{Law{Kind: Exponential, Mean: time.Second}, 0.5, 693147181},
		{Law{Kind: Exponential, Mean: math.MaxInt64}, 0.9, math.MaxInt64},
		{Law{Kind: Lognormal, Mean: time.Second, CV: 1}, 0, 0},
		{Law{Kind: Lognormal, Mean: time.Second, CV: 1}, 0.5, 707106781}, // mean/√(1+CV²)
		{Law{Kind: Lognormal, Mean: time.Second, CV: 1e-6}, 0.5, time.Second},
		{Law{Kind: Gamma, Mean: time.Second, CV: 2}, 0, 0},
		{Law{Kind: Gamma, Mean: time.Second, CV: 1}, 0.5, 693147181},
		{Law{Kind: Gamma, Mean: math.MaxInt64, CV: 1}, 0.9, math.MaxInt64},
		{Law{Kind: Gamma, Mean: time.Second, CV: 1000}, 0.999, 0},
		{Law{Kind: Empirical, Samples: []time.Duration{7}}, 1 - 1e-16, 7},
		{Law{Kind: Empirical, Samples: []time.Duration{3, 5, 5, 9}}, 0, 3},
		{Law{Kind: Empirical, Samples: []time.Duration{3, 5, 5, 9}}, 0.25, 5},
		{Law{Kind: Empirical, Samples: []time.Duration{3, 5, 5, 9}}, 0.7499, 5},
		{Law{Kind: Empirical, Samples: []time.Duration{3, 5, 5, 9}}, 1 - 1e-16, 9},
		{measured, 0, 0},
		{measured, 0.25, 5 * ms},
		{measured, 0.5, 10 * ms},
		{measured, 0.7, 20 * ms}, // the geometric mean of 10 and 40
		{measured, 0.9, 40 * ms},
		{measured, 0.945, 60 * ms},
		{measured, 0.99, 90 * ms},
		{measured, 0.9999, 90 * ms},
		{Law{Kind: Quantiles, Points: []Point{{0, 5}, {1, 5}}}, 0.3, 5},
		{Law{Kind: Quantiles, Points: []Point{{0, 0}, {0.5, 0}, {1, 10}}}, 0.75, 5},
	} {
		if got := tc.law.Quantile(tc.u); got != tc.want {
			t.Errorf("%+v at %v: got %d, want %d", tc.law, tc.u, got, tc.want)
		}
	}
}

func TestLawQuantilePanics(t *testing.T) {
	for _, u := range []float64{-1e-300, 1, 2, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic at %v", u)
				}
			}()
			Law{}.Quantile(u)
		}()
	}
}

var someLaws = []Law{
	{},
	{Kind: Constant, Mean: 7 * ms},
	{Kind: Uniform, Low: ms, High: 9 * ms},
	{Kind: Exponential, Mean: 7 * ms},
	{Kind: Lognormal, Mean: 7 * ms, CV: 0.5},
	{Kind: Lognormal, Mean: 7 * ms, CV: 2},
	{Kind: Gamma, Mean: 7 * ms, CV: 1e-4},
	{Kind: Gamma, Mean: 7 * ms, CV: 0.3},
	{Kind: Gamma, Mean: 7 * ms, CV: 1.5},
	{Kind: Empirical, Samples: []time.Duration{ms, ms, 4 * ms, 90 * ms}},
	{Kind: Quantiles, Points: []Point{{0.5, 5 * ms}, {0.9, 20 * ms}, {0.99, 80 * ms}}},
	{Kind: Quantiles, Points: []Point{{0, ms}, {0.5, ms}, {1, 2 * ms}}},
	{Kind: Quantiles, Points: []Point{{0.5, 0}, {0.9, 20 * ms}}},
}

func TestLawQuantileDoesNotDecrease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		law := rapid.SampledFrom(someLaws).Draw(t, "law")
		u := rapid.Float64Range(0, math.Nextafter(1, 0))
		a, b := u.Draw(t, "a"), u.Draw(t, "b")
		if low, high := law.Quantile(min(a, b)), law.Quantile(max(a, b)); low > high || low < 0 {
			t.Fatalf("%+v: %v at %v, %v at %v", law, low, min(a, b), high, max(a, b))
		}
	})
}

// The mean of samples agrees with MeanDuration within 4 standard errors, and
// so does the midpoint rule on Quantile.
func TestLawMean(t *testing.T) {
	const n = 200_000
	for _, law := range someLaws {
		r := sim.Stream(1, 0, "law")
		var sum, squares, grid float64
		for i := range n {
			x := float64(law.Sample(r))
			sum += x
			squares += x * x
			grid += float64(law.Quantile((float64(i)+0.5)/n)) / n
		}
		mean := sum / n
		want := float64(law.MeanDuration())
		if e := 4*math.Sqrt(max(0, squares/n-mean*mean)/n) + 1; math.Abs(mean-want) > e {
			t.Errorf("%+v: mean of samples %.0f, want %.0f ± %.0f", law, mean, want, e)
		}
		if math.Abs(grid-want) > 1e-3*want+1 {
			t.Errorf("%+v: mean of the quantile function %.0f, want %.0f", law, grid, want)
		}
	}
}

// A lognormal law has the CV that it states.
func TestLognormalCV(t *testing.T) {
	law := Law{Kind: Lognormal, Mean: time.Second, CV: 0.5}
	const n = 1_000_000
	variance := 0.0
	for i := range n {
		d := law.Quantile((float64(i)+0.5)/n).Seconds() - 1
		variance += d * d / n
	}
	if cv := math.Sqrt(variance); math.Abs(cv-0.5) > 1e-3 {
		t.Errorf("CV %v, want 0.5", cv)
	}
}

// Whatever the law, a sample takes one number: the streams stay in step.
func TestLawSampleTakesOneNumber(t *testing.T) {
	for _, law := range someLaws {
		a, b := sim.Stream(1, 0, "law"), sim.Stream(1, 0, "law")
		law.Sample(a)
		b.Float64()
		if a.Uint64() != b.Uint64() {
			t.Errorf("%+v: the stream is elsewhere", law)
		}
	}
}
