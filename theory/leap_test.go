package theory

import (
	"math"
	"testing"
)

// TestFirstTrips compares with runs of failures: f(n) = q·pⁿ·(…) begins with
// pⁿ at n calls and q·pⁿ from n+1 to 2n.
func TestFirstTrips(t *testing.T) {
	const n, p = 6, 0.9
	c := sure(NewCountChain(CountRule{n, n, 1}, DefaultMaxStates))
	first := c.firstTrips(p)
	power := math.Pow(p, n)
	for i, got := range first[:2*n] {
		want := 0.0
		switch calls := i + 1; {
		case calls == n:
			want = power
		case calls > n:
			want = (1 - p) * power
		}
		near(t, "first trip", got, want, 1e-14)
	}
	near(t, "all", sum(first), 1, 1e-14)
	if rare := c.firstTrips(0.01); rare != nil {
		t.Errorf("first trips of a rare event: %d values, want none", len(rare))
	}
}

// TestLeapEndsWhereStepsEnd compares trips and the distribution afterwards.
func TestLeapEndsWhereStepsEnd(t *testing.T) {
	leaps := 0
	for _, rule := range []CountRule{{8, 8, 0.5}, {8, 3, 0.5}, {10, 10, 0.2}, {6, 6, 1}, {1, 1, 1}} {
		for _, p := range []float64{0.6, 0.8, 0.97, 1} {
			c := sure(NewCountChain(rule, DefaultMaxStates))
			first := c.firstTrips(p)
			if first == nil { // trips are too rare for a leap
				continue
			}
			leaps++
			a, b := newWalk(c), newWalk(c)
			for range 40 { // some history, then a window of p
				a.step(0.1, true)
				b.step(0.1, true)
			}
			for range rule.Calls {
				a.step(p, true)
				b.step(p, true)
			}
			calls := int64(len(first)) + 777
			got := sure(a.leap(calls, p, first))
			want := 0.0
			for range calls {
				want += b.step(p, true)
			}
			near(t, "trips", got, want, 1e-12)
			near(t, "total", a.total(), 1, 1e-12)
			for i := range a.full {
				if math.Abs(a.full[i]-b.full[i]) > 1e-12 {
					t.Errorf("%+v at %v: state %d is %v, want %v", rule, p, i, a.full[i], b.full[i])
				}
			}
			for i := range a.fresh {
				if math.Abs(a.fresh[i]-b.fresh[i]) > 1e-12 {
					t.Errorf("%+v at %v: filling state %d is %v, want %v", rule, p, i, a.fresh[i], b.fresh[i])
				}
			}
			for range 30 { // and on
				near(t, "trips afterwards", a.step(0.3, true), b.step(0.3, true), 1e-11)
			}
		}
	}
	if leaps < 15 {
		t.Errorf("%d leaps of 20 tried, want 15", leaps)
	}
}
