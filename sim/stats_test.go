package sim

import (
	"math"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The statistical tests run at fixed seeds and reject below this probability.
// A test that fails after a change of the generator is therefore a finding,
// not bad luck: all of them together would fail by chance once in some
// hundred choices of seeds.
const rejectBelow = 1e-5

// checkUniform compares bin counts with equal expectations by chi-square. It
// also rejects a fit that is too good to be random.
func checkUniform(t *testing.T, what string, counts []int) {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	want := float64(n) / float64(len(counts))
	sum := 0.0
	for _, c := range counts {
		d := float64(c) - want
		sum += d * d / want
	}
	law := distuv.ChiSquared{K: float64(len(counts) - 1)}
	if p := min(law.Survival(sum), law.CDF(sum)); p < rejectBelow {
		t.Errorf("%s: chi-square %.1f in %d bins, probability %.2g", what, sum, len(counts), p)
	}
}

// checkLaw compares a sample, which it sorts, with a distribution function by
// the Kolmogorov-Smirnov test with its limit law (Kolmogorov 1933).
func checkLaw(t *testing.T, what string, sample []float64, cdf func(float64) float64) {
	t.Helper()
	sort.Float64s(sample)
	n := float64(len(sample))
	gap := 0.0
	for i, x := range sample {
		f := cdf(x)
		gap = max(gap, f-float64(i)/n, float64(i+1)/n-f)
	}
	p := 0.0
	for k := 1.0; k < 100; k++ {
		p += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*gap*gap*n)
	}
	if p < rejectBelow {
		t.Errorf("%s: largest gap to the law %.3g in %g numbers, probability %.2g", what, gap, n, p)
	}
}

// checkUncorrelated tests that two samples are linearly independent: r·√n is
// then close to a standard normal number.
func checkUncorrelated(t *testing.T, what string, x, y []float64) {
	t.Helper()
	checkNormal(t, what+": correlation", stat.Correlation(x, y, nil)*math.Sqrt(float64(len(x))))
}

// checkNormal tests that z may come from the standard normal law.
func checkNormal(t *testing.T, what string, z float64) {
	t.Helper()
	if p := math.Erfc(math.Abs(z) / math.Sqrt2); !(p >= rejectBelow) {
		t.Errorf("%s: %.2f standard errors off, probability %.2g", what, z, p)
	}
}
