package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestFailuresToTrip(t *testing.T) {
	for _, test := range []struct {
		calls int
		rate  float64
		want  int
	}{
		{20, 0.5, 10}, {20, 0.2, 4}, {100, 0.2, 20}, {19, 0.5, 10}, {1, 1, 1}, {1, 1e-9, 1},
		{100, 0.07, 7},  // 0.07*100 is above 7
		{100, 0.29, 29}, // 0.29*100 is below 29
		{6, 5.0 / 6, 5}, {3, 1.0 / 3, 1}, {3, 2.0 / 3, 2}, {49, 3.0 / 49, 3},
		{20, 0.51, 11}, {20, 0.5000001, 11}, {20, 0.4999999, 10},
		{0, 0.5, 1}, {5, 1.5, 6},
	} {
		if got := FailuresToTrip(test.calls, test.rate); got != test.want {
			t.Errorf("FailuresToTrip(%d, %v) = %d, want %d", test.calls, test.rate, got, test.want)
		}
	}
	for percent := 1; percent <= 100; percent++ {
		if got := FailuresToTrip(100, float64(percent)/100); got != percent {
			t.Errorf("%d %% of 100 calls: %d", percent, got)
		}
	}
}

func TestFailuresToTripIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.IntRange(1, 400).Draw(t, "calls")
		rate := rapid.OneOf(
			rapid.Float64Range(1e-6, 1),
			rapid.Map(rapid.IntRange(1, calls), func(k int) float64 { return float64(k) / float64(calls) }),
		).Draw(t, "rate")
		want := 1
		for float64(want)/float64(calls) < rate {
			want++
		}
		if got := FailuresToTrip(calls, rate); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
		// A larger window never needs fewer failures.
		if more := FailuresToTrip(calls+1, rate); more < want {
			t.Errorf("%d calls need %d, %d calls %d", calls, want, calls+1, more)
		}
	})
}

func TestCountRuleValidate(t *testing.T) {
	good := CountRule{Calls: 20, MinCalls: 100, FailureRate: 0.5}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	wantError(t, CountRule{0, 1, 0.5}.Validate(), "count rule", "calls 0", "at least 1")
	wantError(t, CountRule{20, 0, 0.5}.Validate(), "minimum calls 0")
	for _, rate := range []float64{0, -1, 1.01, math.NaN(), math.Inf(1)} {
		wantError(t, CountRule{20, 10, rate}.Validate(), "failure rate", "above 0 and at most 1")
	}
}
