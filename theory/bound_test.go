package theory

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestUpperBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t, 12)
		p := drawP(t)
		calls := rapid.Int64Range(0, 5000).Draw(t, "length")
		c := sure(NewCountChain(rule, DefaultMaxStates))
		exact := sure(c.ExpectedTrips([]Segment{{calls, p}}))
		if bound := sure(ExpectedTripsUpperBound(rule, calls, p)); bound < exact*(1-1e-11) {
			t.Errorf("bound %v, exact %v", bound, exact)
		}
		rate := sure(c.TripInterval(p)).Rate()
		if bound := sure(TripRateUpperBound(rule, p)); bound < rate*(1-1e-11) {
			t.Errorf("bound of rate %v, exact %v", bound, rate)
		}
	})
}

// TestUpperBoundsAreUseful checks how near they are where trips are rare.
func TestUpperBoundsAreUseful(t *testing.T) {
	for _, test := range []struct {
		rule CountRule
		p    float64
		most float64 // bound ÷ exact
	}{
		{fifth, 0.02, 1.1}, {half, 0.02, 1.03}, {CountRule{20, 10, 0.2}, 0.02, 1.1}, {CountRule{40, 20, 0.1}, 0.005, 1.1},
	} {
		c := sure(NewCountChain(test.rule, DefaultMaxStates))
		if got := sure(TripRateUpperBound(test.rule, test.p)) / sure(c.TripInterval(test.p)).Rate(); got > test.most {
			t.Errorf("%+v: bound is %v times the rate", test.rule, got)
		}
	}
	// 100 calls, 20 %: beyond the chain, so beside Naus's approximation.
	bound, naus := sure(TripRateUpperBound(CountRule{100, 100, 0.2}, 0.02)), sure(ScanTripRate(100, 20, 0.02))
	if bound < naus || bound > 1.2*naus {
		t.Errorf("bound %v, approximation %v", bound, naus)
	}
	// 500 calls (10 s at 50/s): no trip of the full window, ever.
	if got := sure(ExpectedTripsUpperBound(CountRule{500, 500, 0.2}, sixHours, 0.02)); !(got > 0 && got < 1e-55) {
		t.Errorf("bound %v", got)
	}
}

func TestUpperBoundErrors(t *testing.T) {
	_, err := TripRateUpperBound(CountRule{0, 1, 0.5}, 0.5)
	wantError(t, err, "calls 0")
	_, err = TripRateUpperBound(fifth, 1.5)
	wantError(t, err, "trip rate bound", "1.5")
	_, err = ExpectedTripsUpperBound(fifth, -1, 0.5)
	wantError(t, err, "expected trips bound", "calls -1")
	_, err = ExpectedTripsUpperBound(CountRule{1e6, 1, 1}, 1, 0.5)
	wantError(t, err, "too long", "1000000 calls")
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("%v is not ErrTooLong", err)
	}
}

// TestFillingKeepsAll checks the split of an empty window's future.
func TestFillingKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, p := drawRule(t, 40), drawP(t)
		b := sure(newTripBound("test", rule, p))
		near(t, "filling and passing", b.filling+b.passing, 1, 1e-13)
		if rule.MinCalls >= rule.Calls {
			k := FailuresToTrip(rule.Calls, rule.FailureRate)
			near(t, "filling", b.filling, binomialTail(rule.Calls, k, p), 1e-12)
		}
	})
}
