package theory

import (
	"math"
	"testing"
)

func TestFailuresNeeded(t *testing.T) {
	never := math.MaxInt
	for _, test := range []struct {
		rule CountRule
		want []int
	}{
		{CountRule{6, 4, 0.5}, []int{never, never, never, never, 2, 3, 3}},
		{CountRule{3, 10, 0.5}, []int{never, never, never, 2}},
		{CountRule{4, 1, 1}, []int{never, 1, 2, 3, 4}},
		{CountRule{4, 1, 0.01}, []int{never, 1, 1, 1, 1}},
	} {
		got := failuresNeeded(test.rule)
		if len(got) != len(test.want) {
			t.Fatalf("%+v: %v, want %v", test.rule, got, test.want)
		}
		for i, want := range test.want {
			if got[i] != want {
				t.Errorf("%+v: %d outcomes need %d failures, want %d", test.rule, i, got[i], want)
			}
		}
	}
}

func TestRecordIsBinomial(t *testing.T) {
	const most = 5
	failures := make([]float64, most+1)
	failures[0] = 1
	for i := 1; i <= 30; i++ {
		near(t, "trips", record(failures, i, math.MaxInt, 0.2), 0, 0)
		for j, got := range failures[:most] {
			near(t, "failures", got, binomialPMF(i, j, 0.2), 1e-13)
		}
		near(t, "and more", failures[most], binomialTail(i, most, 0.2), 1e-13)
	}
	// Now all with at least 3 failures trip.
	want := binomialTail(31, 3, 0.2)
	near(t, "trips", record(failures, 31, 3, 0.2), want, 1e-13)
	near(t, "left", sum(failures), 1-want, 1e-11)
}
