package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// settlesAt returns after how many values of a series it counts as settled, or
// 0 if not within 1000.
func settlesAt(rule CountRule, value func(i int) float64) int {
	s := sure(NewCountChain(rule, DefaultMaxStates)).newSettle()
	for i := range 1000 {
		if s.add(value(i)) {
			return i + 1
		}
	}
	return 0
}

func TestSettle(t *testing.T) {
	rule := CountRule{10, 4, 0.5} // waits for 10 values, then for 10 that repeat with period 4
	for _, test := range []struct {
		name  string
		value func(i int) float64
		want  int
	}{
		{"constant", func(int) float64 { return 0.3 }, 20},
		{"zero", func(int) float64 { return 0 }, 20},
		{"tiny", func(int) float64 { return 1e-300 }, 20},
		{"of the period", func(i int) float64 { return float64(i % 4) }, 20},
		{"of half the period", func(i int) float64 { return float64(i % 2) }, 20},
		{"of another period", func(i int) float64 { return float64(i % 3) }, 0},
		{"a change at 15", func(i int) float64 { return indicator(i >= 15) }, 29},
		{"a spike at 15", func(i int) float64 { return 1 + indicator(i == 15) }, 30},
		{"growing slowly", func(i int) float64 { return 1 + 1e-12*float64(i) }, 0},
		{"within rounding", func(i int) float64 { return 1 + 1e-16*float64(i%7) }, 20},
	} {
		if got := settlesAt(rule, test.value); got != test.want {
			t.Errorf("%s: settled after %d values, want %d", test.name, got, test.want)
		}
	}
}

func TestSettleSkips(t *testing.T) {
	s := sure(NewCountChain(CountRule{10, 4, 0.5}, DefaultMaxStates)).newSettle()
	for i := range 40 {
		s.add(float64(i % 4))
	}
	for _, test := range []struct{ calls, skipped, trips int64 }{
		{0, 0, 0}, {3, 0, 0}, {4, 4, 6}, {11, 8, 12}, {4e15 + 1, 4e15, 6e15},
	} {
		if got := s.skip(test.calls); got != (skip{test.skipped, float64(test.trips)}) {
			t.Errorf("skip(%d) = %+v, want %d calls, %d trips", test.calls, got, test.skipped, test.trips)
		}
	}
}

// TestSurvivalAgainstTrips adds up first trips in an unscaled walk.
func TestSurvivalAgainstTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sure(NewCountChain(drawRule(t, 10), DefaultMaxStates))
		s, w := newSurvival(c), newWalk(c)
		for range rapid.IntRange(1, 80).Draw(t, "outcomes") {
			p := drawP(t)
			before := w.total()
			trips := w.step(p, false)
			if hazard := s.step(p); before > 1e-200 {
				near(t, "hazard", hazard, min(trips/before, 1), 1e-12)
			}
			if left := w.total(); left > 1e-200 {
				near(t, "survival", math.Exp(s.log), left, 1e-11)
			}
			if s.mass < 0.5 || s.mass > 1 {
				t.Errorf("mass %v, want 0.5 to 1", s.mass)
			}
		}
	})
}

func TestSurvivalDoesNotUnderflow(t *testing.T) {
	c := sure(NewCountChain(fifth, DefaultMaxStates))
	s := newSurvival(c)
	if err := s.advance(1e6, 0.3); err != nil {
		t.Fatal(err)
	}
	if s.log > -1e5 || s.gone() {
		t.Errorf("logarithm of the survival of 1e6 calls: %v", s.log)
	}
	// One more call costs the last hazard.
	before := s.log
	hazard := s.step(0.3)
	near(t, "step", s.log-before, math.Log1p(-hazard), 1e-5)
}

func TestSurvivalIsGone(t *testing.T) {
	s := newSurvival(sure(NewCountChain(CountRule{5, 5, 0.2}, DefaultMaxStates)))
	if err := s.advance(4, 1); err != nil || s.gone() {
		t.Errorf("after 4 of 5 calls: %v, %v", s.log, err)
	}
	if err := s.advance(100, 1); err != nil || !s.gone() {
		t.Errorf("after 5 failures: %v, %v", s.log, err)
	}
	if hazard, _, err := s.steady(0.5); hazard != 1 || err != nil {
		t.Errorf("hazard of what is gone: %v, %v", hazard, err)
	}
}
