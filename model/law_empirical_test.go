package model

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

func TestEmpiricalMean(t *testing.T) {
	for _, tc := range []struct {
		samples []time.Duration
		want    time.Duration
	}{
		{[]time.Duration{7}, 7},
		{[]time.Duration{0, 0, 1}, 0},
		{[]time.Duration{0, 1}, 1}, // halves go up
		{[]time.Duration{1, 2, 3, 4, 10}, 4},
		{[]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MaxInt64},
		{[]time.Duration{1, math.MaxInt64}, 1 << 62},
	} {
		if got := (Law{Kind: Empirical, Samples: tc.samples}).MeanDuration(); got != tc.want {
			t.Errorf("mean of %d: %d, want %d", tc.samples, got, tc.want)
		}
	}
}

// Each sample comes as often as the others: a chi-square statistic of 9
// degrees of freedom is below 27.9 with probability 0.999.
func TestEmpiricalDrawsAllAlike(t *testing.T) {
	law := Law{Kind: Empirical}
	for i := range 10 {
		law.Samples = append(law.Samples, time.Duration(i))
	}
	r := sim.Stream(1, 0, "law")
	const n = 100_000
	var counts [10]float64
	for range n {
		counts[law.Sample(r)]++
	}
	chi2 := 0.0
	for _, c := range counts {
		chi2 += (c - n/10) * (c - n/10) / (n / 10)
	}
	if chi2 > 27.9 {
		t.Errorf("chi-square %.1f: counts %v", chi2, counts)
	}
}
