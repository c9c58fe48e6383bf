package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestMeanSD(t *testing.T) {
	for _, test := range []struct {
		values   []float64
		mean, sd float64
	}{
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32.0 / 7)},
		{[]float64{1e9 + 1, 1e9 + 2, 1e9 + 3}, 1e9 + 2, 1},
		{[]float64{0.1, 0.1, 0.1}, 0.1, 0},
		{[]float64{-1, 1}, 0, math.Sqrt2},
	} {
		mean, sd := MeanSD(test.values)
		near(t, "mean", mean, test.mean, 1e-15)
		near(t, "sd", sd, test.sd, 1e-14)
	}
	if mean, sd := MeanSD(nil); !math.IsNaN(mean) || !math.IsNaN(sd) {
		t.Errorf("empty sample: %v, %v", mean, sd)
	}
	if mean, sd := MeanSD([]float64{3}); mean != 3 || !math.IsNaN(sd) {
		t.Errorf("single value: %v, %v", mean, sd)
	}
}

func TestStudentInterval(t *testing.T) {
	// Two-sided critical values of Student's t, from printed tables.
	for _, test := range []struct {
		n             int
		confidence, t float64
	}{
		{2, 0.95, 12.7062}, {3, 0.95, 4.3027}, {5, 0.95, 2.7764}, {10, 0.95, 2.2622},
		{30, 0.95, 2.0452}, {31, 0.99, 2.7500}, {121, 0.95, 1.9799}, {2, 0.9, 6.3138}, {1000001, 0.95, 1.95997},
	} {
		n := float64(test.n)
		lo, hi := StudentInterval(test.n, 7, math.Sqrt(n), test.confidence)
		near(t, "half width", hi-7, test.t, 2e-5)
		near(t, "symmetric", 7-lo, hi-7, 1e-12)
	}
	if lo, hi := StudentInterval(30, 7, 0, 0.95); lo != 7 || hi != 7 {
		t.Errorf("sd 0: %v, %v", lo, hi)
	}
	for _, test := range []struct {
		n        int
		mean, sd float64
	}{{0, 7, 1}, {1, 7, 1}, {1, 7, math.NaN()}, {5, math.NaN(), 1}, {5, 7, math.NaN()}, {5, 7, -1}} {
		if lo, hi := StudentInterval(test.n, test.mean, test.sd, 0.95); !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("%+v: %v, %v, want NaN", test, lo, hi)
		}
	}
}

// TestStudentIntervalCovers counts how often it holds the true mean.
func TestStudentIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rounds = 4000
	held := 0
	values := make([]float64, 5)
	for range rounds {
		for i := range values {
			values[i] = 10 + 3*r.NormFloat64()
		}
		mean, sd := MeanSD(values)
		if lo, hi := StudentInterval(len(values), mean, sd, 0.9); lo <= 10 && 10 < hi {
			held++
		}
	}
	if lo, hi := WilsonInterval(held, rounds, 0.999); !(lo <= 0.9 && 0.9 <= hi) {
		t.Errorf("the 90 %% interval held the mean in %d of %d", held, rounds)
	}
}

func TestWilsonInterval(t *testing.T) {
	// Newcombe (1998), table I, method 3.
	for _, test := range []struct {
		successes, n int
		lo, hi       float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
	} {
		lo, hi := WilsonInterval(test.successes, test.n, 0.95)
		if math.Abs(lo-test.lo) > 6e-5 || math.Abs(hi-test.hi) > 6e-5 {
			t.Errorf("%d of %d: %v, %v, want %v, %v", test.successes, test.n, lo, hi, test.lo, test.hi)
		}
	}
	if lo, hi := WilsonInterval(0, 0, 0.95); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("no trials: %v, %v", lo, hi)
	}
}

func TestWilsonIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "successes")
		confidence := rapid.Float64Range(0.01, 0.999).Draw(t, "confidence")
		lo, hi := WilsonInterval(k, n, confidence)
		p := float64(k) / float64(n)
		if !(0 <= lo && lo <= p+1e-15 && p-1e-15 <= hi && hi <= 1 && lo < hi) {
			t.Errorf("%d of %d: %v, %v", k, n, lo, hi)
		}
		mirrorLo, mirrorHi := WilsonInterval(n-k, n, confidence)
		if math.Abs(1-mirrorHi-lo) > 1e-12 || math.Abs(1-mirrorLo-hi) > 1e-12 {
			t.Errorf("%d of %d: %v, %v, mirrored %v, %v", k, n, lo, hi, mirrorLo, mirrorHi)
		}
		// The ends are where the score test is just not rejected.
		if k > 0 {
			z := math.Abs(p-lo) / math.Sqrt(lo*(1-lo)/float64(n))
			near(t, "score", math.Erf(z/math.Sqrt2), confidence, 1e-6)
		}
	})
}

func TestImpossibleArgumentsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"theory: Wilson interval: 6 successes in 5 trials":  func() { WilsonInterval(6, 5, 0.95) },
		"theory: Wilson interval: -1 successes in 5 trials": func() { WilsonInterval(-1, 5, 0.95) },
		"theory: confidence 95, want above 0 and below 1":   func() { WilsonInterval(1, 5, 95) },
		"theory: confidence 1, want above 0 and below 1":    func() { StudentInterval(5, 1, 1, 1) },
		"theory: confidence NaN, want above 0 and below 1":  func() { StudentInterval(5, 1, 1, math.NaN()) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != name {
					t.Errorf("panic %q, want %q", got, name)
				}
			}()
			f()
		}()
	}
}

func TestZScore(t *testing.T) {
	near(t, "z", ZScore(400, 331.7, 10.8, 331), 0.7/10.8*20, 1e-12)
	near(t, "below", ZScore(4, 1, 2, 3), -2, 0)
	for _, test := range []struct {
		n               int
		mean, sd, exact float64
		want            float64
	}{
		{30, 5, 0, 5, 0}, {30, 6, 0, 5, math.Inf(1)}, {30, 4, 0, 5, math.Inf(-1)},
		{1, 6, math.NaN(), 5, math.NaN()}, {0, 6, 1, 5, math.NaN()},
		{30, math.NaN(), 1, 5, math.NaN()}, {30, 6, 1, math.NaN(), math.NaN()}, {30, 6, -1, 5, math.NaN()},
	} {
		got := ZScore(test.n, test.mean, test.sd, test.exact)
		if got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
