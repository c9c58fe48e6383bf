package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// fullRule is the rule whose window needs k of n failures and is its minimum.
func fullRule(n, k int) CountRule { return CountRule{n, n, float64(k) / float64(n)} }

func TestScanExactCases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "calls")
		k := rapid.IntRange(1, n).Draw(t, "failures")
		p := rapid.Float64Range(1e-6, 1).Draw(t, "p")
		c := sure(NewCountChain(fullRule(n, k), DefaultMaxStates))
		for windows := int64(1); windows <= 3; windows++ {
			trials := windows * int64(n)
			want := sure(c.AnyTrip([]Segment{{trials, p}}))
			near(t, "scan", sure(ScanProbability(n, k, trials, p)), want, 1e-11)
		}
	})
}

func TestScanExactCasesLarge(t *testing.T) {
	for _, test := range []struct {
		n, k int
		p    float64
	}{{20, 10, 0.02}, {20, 10, 0.3}, {20, 16, 0.6}, {50, 4, 0.002}, {100, 3, 0.001}} {
		c := sure(NewCountChain(fullRule(test.n, test.k), DefaultMaxStates))
		for windows := int64(1); windows <= 3; windows++ {
			trials := windows * int64(test.n)
			want := sure(c.AnyTrip([]Segment{{trials, test.p}}))
			near(t, "scan", sure(ScanProbability(test.n, test.k, trials, test.p)), want, 1e-12)
		}
	}
}

// TestScanApproximation bounds the error of Naus's approximation: where a trip
// is rare, and of the probability of no trip where it is not.
func TestScanApproximation(t *testing.T) {
	worst, worstRate := 0.0, 0.0
	for _, test := range []struct {
		n, k int
		p    float64
	}{
		{20, 4, 0.02}, {20, 4, 0.3}, {16, 8, 0.02}, {20, 10, 0.3}, {20, 16, 0.6},
		{10, 2, 0.01}, {10, 2, 0.2}, {10, 5, 0.5}, {5, 5, 0.5}, {30, 4, 0.03}, {60, 3, 0.008},
	} {
		c := sure(NewCountChain(fullRule(test.n, test.k), DefaultMaxStates))
		for _, trials := range []int64{int64(5*test.n) / 2, int64(4 * test.n), int64(10*test.n + 1), int64(100 * test.n)} {
			exact := sure(c.AnyTrip([]Segment{{trials, test.p}}))
			got := sure(ScanProbability(test.n, test.k, trials, test.p))
			worst = max(worst, math.Abs(got/exact-1))
			near(t, "scan", got, exact, 1e-3)
		}
		rate := sure(ScanTripRate(test.n, test.k, test.p))
		exact := sure(c.TripInterval(test.p)).Rate()
		worstRate = max(worstRate, math.Abs(rate/exact-1))
		near(t, "rate", rate, exact, 3e-3)
	}
	t.Logf("worst relative error: probability %.1e, rate %.1e", worst, worstRate)
}

func TestScanBetweenOneAndTwoWindows(t *testing.T) {
	for trials := int64(20); trials <= 40; trials++ {
		exact := sure(sure(NewCountChain(fullRule(20, 5), DefaultMaxStates)).AnyTrip([]Segment{{trials, 0.1}}))
		near(t, "scan", sure(ScanProbability(20, 5, trials, 0.1)), exact, 0.06)
	}
}

func TestScanEdges(t *testing.T) {
	for _, test := range []struct {
		n, k   int
		trials int64
		p      float64
		want   float64
	}{
		{20, 4, 19, 0.5, 0}, {20, 21, 1000, 0.5, 0}, {20, 4, 1000, 0, 0}, {20, 4, 20, 1, 1},
		{20, 4, 19, 1, 0}, {300, 1, 300, 0.5, 1}, {300, 1, 700, 0.5, 1}, {300, 1, 300, 1e-300, 3e-298}, {1, 1, 0, 0.5, 0}, {1, 1, 3, 0.5, 0.875}, {20, 20, math.MaxInt64, 0.9, 1},
	} {
		near(t, "scan", sure(ScanProbability(test.n, test.k, test.trials, test.p)), test.want, 1e-13)
	}
	near(t, "rate of certain trips", sure(ScanTripRate(300, 1, 0.9)), 1.0/300, 1e-14)
	near(t, "rate of rare trips", sure(ScanTripRate(300, 1, 1e-300)), 1e-300, 1e-12)
	near(t, "rate at p = 1", sure(ScanTripRate(20, 4, 1)), 0.05, 0)
	near(t, "rate at p = 0", sure(ScanTripRate(20, 4, 0)), 0, 0)
	near(t, "rate out of reach", sure(ScanTripRate(20, 21, 0.5)), 0, 0)
	_, err := ScanProbability(0, 1, 1, 0.5)
	wantError(t, err, "scan probability", "calls 0")
	_, err = ScanProbability(1, 0, 1, 0.5)
	wantError(t, err, "failures 0")
	_, err = ScanProbability(1, 1, -1, 0.5)
	wantError(t, err, "trials -1")
	_, err = ScanProbability(1, 1, 1, 5)
	wantError(t, err, "failure probability 5")
	_, err = ScanTripRate(0, 1, 0.5)
	wantError(t, err, "scan trip rate", "calls 0")
	_, err = ScanTripRate(1, 0, 0.5)
	wantError(t, err, "failures 0")
	_, err = ScanTripRate(1, 1, -5)
	wantError(t, err, "failure probability -5")
}

func TestScanMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "calls")
		k := rapid.IntRange(1, n).Draw(t, "failures")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		trials := rapid.Int64Range(int64(n), 1e6).Draw(t, "trials")
		a := sure(ScanProbability(n, k, trials, p))
		if !(a >= 0 && a <= 1) {
			t.Fatalf("scan %v", a)
		}
		if b := sure(ScanProbability(n, k, trials+1, p)); b < a*(1-1e-9) {
			t.Errorf("%v in %d trials, %v in one more", a, trials, b)
		}
		if b := binomialTail(n, k, p); a < b*(1-1e-9) {
			t.Errorf("%v in %d trials, %v in one window", a, trials, b)
		}
	})
}
