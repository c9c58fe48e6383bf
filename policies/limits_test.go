package policies

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestThresholdIsExactForDecimals(t *testing.T) {
	for _, tt := range []struct {
		rate float64
		k, n int
		want bool
	}{
		{0.07, 7, 100, true}, // 0.07*100 is above 7 in float64
		{0.07, 6, 100, false},
		{0.29, 29, 100, true}, // so is 0.29*100 below 29
		{0.29, 28, 100, false},
		{0.1, 3, 30, true},
		{0.3, 3, 10, true}, // 0.1+0.1+0.1 is not
		{1, 1, 1, true},
		{1, 999_999, 1_000_000, false},
		{0.5, 1, 2, true},
		{0.5, 0, 1, false},
		{1.0 / 3, 1, 3, true},
		{0.333333, 1, 3, true},
		{0.333334, 1, 3, false},
		{math.SmallestNonzeroFloat64, 0, 1, false},
		{math.SmallestNonzeroFloat64, 1, maxCalls, true},
		{0x1p-1022, 1, maxCalls, true},
		{0, 5, 5, false}, // off
	} {
		if got := makeThreshold(tt.rate).met(tt.k, tt.n); got != tt.want {
			t.Errorf("%d of %d at %v: %v, want %v", tt.k, tt.n, tt.rate, got, tt.want)
		}
	}
}

// For a threshold written with up to six decimals the float comparison must
// agree with fractions of whole numbers, for every size up to the largest
// count window.
func TestThresholdAgreesWithFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		denominator := rapid.SampledFrom([]int64{2, 3, 10, 100, 1000, 1_000_000}).Draw(t, "denominator")
		numerator := rapid.Int64Range(1, denominator).Draw(t, "numerator")
		n := rapid.IntRange(1, maxCalls).Draw(t, "n")
		// Most draws of k are close to the threshold.
		k := int(int64(n)*numerator/denominator) + rapid.IntRange(-2, 2).Draw(t, "k")
		k = min(max(k, 0), n)

		rate := float64(numerator) / float64(denominator)
		want := big.NewRat(int64(k), int64(n)).Cmp(big.NewRat(numerator, denominator)) >= 0
		if got := makeThreshold(rate).met(k, n); got != want {
			t.Fatalf("%d of %d at %d/%d: %v, want %v", k, n, numerator, denominator, got, want)
		}
	})
}

// The multiplication that saves the division must never change the answer.
func TestThresholdShortcutNeverLies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, maxCalls).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		rate := rapid.Float64Range(math.SmallestNonzeroFloat64, 1).Draw(t, "rate")
		if k > 0 && rapid.Bool().Draw(t, "near the share") {
			rate = float64(k) / float64(n)
			towards := rapid.SampledFrom([]float64{0, 1}).Draw(t, "towards")
			for range rapid.IntRange(0, 9).Draw(t, "ulps") {
				rate = math.Nextafter(rate, towards)
			}
		}
		want := float64(k)/float64(n) >= rate
		if got := makeThreshold(rate).met(k, n); got != want {
			t.Fatalf("%d of %d at %v: %v, want %v", k, n, rate, got, want)
		}
	})
}

// Every small case, against fractions: all rates of whole percent, all
// windows up to 200 calls.
func TestThresholdExhaustively(t *testing.T) {
	for percent := 1; percent <= 100; percent++ {
		threshold := makeThreshold(parseRate(t, percent))
		for n := 1; n <= 200; n++ {
			for k := 0; k <= n; k++ {
				if got, want := threshold.met(k, n), 100*k >= percent*n; got != want {
					t.Fatalf("%d of %d at %d %%: %v, want %v", k, n, percent, got, want)
				}
			}
		}
	}
}

// parseRate reads a percentage the way a flag would, from its decimals.
func parseRate(t *testing.T, percent int) float64 {
	var rate float64
	if _, err := fmt.Sscan(fmt.Sprintf("%d.%02d", percent/100, percent%100), &rate); err != nil {
		t.Fatal(err)
	}
	return rate
}

func TestLimitsKeepTheRatesApart(t *testing.T) {
	l := makeLimits(RuleConfig{
		Window:   WindowConfig{Kind: CountWindow, Calls: 100},
		MinCalls: 10, FailureRate: 0.5, SlowRate: 0.5, SlowAfter: 1,
	})
	for _, tt := range []struct {
		held Counts
		want bool
	}{
		{Counts{100, 25, 25}, false},
		{Counts{100, 49, 49}, false}, // not 98
		{Counts{100, 50, 0}, true},
		{Counts{100, 0, 50}, true},
		{Counts{9, 9, 9}, false}, // too few
		{Counts{10, 5, 0}, true},
		{Counts{10, 0, 0}, false},
	} {
		if got := l.reached(tt.held); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.held, got, tt.want)
		}
	}
}
