package model

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/sim"
)

// Where the law has a closed form or the quantile is known: the numbers
// without a formula were solved for with 40 digits.
func TestGammaQuantileKnown(t *testing.T) {
	for _, tc := range []struct {
		cv, u, want float64
	}{
		{1, 0x1p-53, 0x1p-53},
		{1, 0.25, -math.Log(0.75)},
		{1, 0.5, math.Ln2},
		{1, 0.999, -math.Log(0.001)},
		{1, 1 - 0x1p-53, 53 * math.Ln2},
		{math.Sqrt2, 0.5, 0.4549364231195728},     // chi-square of 1 degree of freedom
		{math.Sqrt2, 0.95, 3.841458820694126},     // the square of 1.9599639845…
		{1 / math.Sqrt2, 1 - 3*math.Exp(-2), 1},   // Erlang, 2 stages: P(2, 2) = 1 - 3 e^-2
		{0.5, 1 - math.Exp(-4)*(1+4+8+32.0/3), 1}, // Erlang, 4 stages
		{0.1, 0.01, 0.7821598305379583},
		{10, 0.99, 26.50525502515821},
		{1000, 0.99999, 25.48961730206414},
		{0.001, 1e-6, 0.9952537719775001},
		{0.0001, 0.9, 1.000128157297612},
	} {
		got := gammaQuantile(tc.cv, tc.u)
		if e := math.Abs(got/tc.want - 1); e > 1e-10 {
			t.Errorf("CV %v at %v: %.12g, want %.12g", tc.cv, tc.u, got, tc.want)
		}
	}
}

var gammaCVs = []float64{1e-9, 1e-4, nearlyNormal, 1.001 * nearlyNormal, 0.03, 0.3, 0.9, 1, 1.1, 2, 3, 10, 100, 1000}

// The quantile function inverts the distribution function, in both tails.
func TestGammaQuantileInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cv := math.Exp(rapid.Float64Range(math.Log(3e-3), math.Log(300)).Draw(t, "ln CV"))
		u := rapid.OneOf(rapid.Float64Range(0x1p-53, 1-0x1p-53), rapid.Float64Range(0x1p-53, 1e-6),
			rapid.Custom(func(t *rapid.T) float64 { return 1 - rapid.Float64Range(0x1p-53, 1e-6).Draw(t, "1-u") })).Draw(t, "u")
		shape := 1 / (cv * cv)
		x := shape * gammaQuantile(cv, u)
		if x < 1e-290 {
			return // the distribution function has no digits left
		}
		// In units of the law's own logarithm: how far is ln x from the root?
		lgamma, _ := math.Lgamma(shape)
		density := math.Exp(shape*math.Log(x) - x - lgamma)
		off := (mathext.GammaIncReg(shape, x) - u) / density
		if u > 0.5 {
			off = (1 - u - mathext.GammaIncRegComp(shape, x)) / density
		}
		if math.Abs(off) > 1e-9 {
			t.Fatalf("CV %v at %v: x %v is off by %g of itself", cv, u, x, off)
		}
	})
}

// The expansion for small CVs meets the exact solution where it takes over.
func TestGammaNearlyNormal(t *testing.T) {
	for _, cv := range []float64{3e-3, 4e-3, nearlyNormal} {
		for _, u := range []float64{0x1p-53, 1e-12, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-9, 1 - 0x1p-53} {
			a, b := gammaQuantile(cv, u), cv*cv*gammaInverse(1/(cv*cv), u)
			if math.Abs(a/b-1) > 1e-12 {
				t.Errorf("CV %v at %v: %.16g by the expansion, %.16g by iteration", cv, u, a, b)
			}
		}
	}
}

// Quantiles are finite and do not decrease, whatever the CV, up to the ends.
func TestGammaQuantileEnds(t *testing.T) {
	us := []float64{0, 5e-324, 1e-300, 1e-100, 0x1p-53, 1e-9, 1e-3, 0.1, 0.4999, 0.5, 0.5001, 0.9, 0.999, 1 - 1e-9, 1 - 0x1p-52, 1 - 0x1p-53}
	for _, cv := range gammaCVs {
		last := 0.0
		for _, u := range us {
			x := gammaQuantile(cv, u)
			if !(x >= last && x < math.MaxFloat64) {
				t.Errorf("CV %v at %v: %v, after %v", cv, u, x, last)
			}
			last = x
		}
	}
}

// Mean and CV of the quantile function, by the midpoint rule over u = v²(3-2v),
// which crowds the ends.
func TestGammaMoments(t *testing.T) {
	for _, cv := range gammaCVs {
		if cv > 10 {
			continue // all of the mean is in a tail that the rule does not resolve
		}
		const n = 100_000
		var mean, variance float64
		for i := range n {
			v := (float64(i) + 0.5) / n
			x := gammaQuantile(cv, v*v*(3-2*v)) - 1
			weight := 6 * v * (1 - v) / n
			mean += x * weight
			variance += x * x * weight
		}
		if math.Abs(mean) > 1e-4*cv || math.Abs(math.Sqrt(variance)/cv-1) > 1e-3 {
			t.Errorf("CV %v: mean %v, CV %v", cv, 1+mean, math.Sqrt(variance))
		}
	}
}

// A CV of 1000 leaves the mean to one draw in 100,000: it is there.
func TestGammaLargestCV(t *testing.T) {
	const n = 200_000
	sum := 0.0
	for i := range n {
		// The upper 2e-5 of the law, which hold all but e^-20 of the mean.
		v := (float64(i) + 0.5) / n
		sum += gammaQuantile(maxCV, min(1-2e-5*v*v, 1-0x1p-53)) * 2e-5 * 2 * v / n
	}
	if math.Abs(sum-1) > 1e-3 {
		t.Errorf("mean %v, want 1", sum)
	}
}

func BenchmarkGammaSample(b *testing.B) {
	for _, cv := range []float64{1e-3, 0.1, 0.5, 1, 1.5, 3, 30} {
		law := Law{Kind: Gamma, Mean: time.Second, CV: cv}
		b.Run(fmt.Sprint(cv), func(b *testing.B) {
			r := sim.Stream(1, 0, "law")
			for b.Loop() {
				law.Sample(r)
			}
		})
	}
}
