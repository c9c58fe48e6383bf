package plots

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// place resolves an axis for some values and lays it out on 0 to 300 px.
func place(t *testing.T, a Axis, values ...float64) scale {
	t.Helper()
	e := newExtent()
	e.add(values...)
	r, err := a.resolve(e, 6, true)
	if err != nil {
		t.Fatal(err)
	}
	return r.place(0, 300*px, neverSize)
}

func TestLinearScaleStartsAtZero(t *testing.T) {
	s := place(t, Axis{}, 3, 18)
	if s.lo != 0 || s.hi != 20 {
		t.Errorf("range %v to %v, want 0 to 20", s.lo, s.hi)
	}
	for v, want := range map[float64]vg.Length{0: 0, 10: 150 * px, 20: 300 * px} {
		if got := s.at(v); !near(got, want) {
			t.Errorf("%v at %v, want %v", v, got, want)
		}
	}
}

func TestLogScale(t *testing.T) {
	s := place(t, Axis{Kind: Log}, 0.5, 500)
	if s.lo != 0.5 || s.hi != 500 {
		t.Errorf("range %v to %v, want 0.5 to 500", s.lo, s.hi)
	}
	if a, b := s.at(5)-s.at(0.5), s.at(500)-s.at(50); !near(a, b) {
		t.Errorf("decades of %v and %v, want equal ones", a, b)
	}
	if got := s.at(0); got != s.from {
		t.Errorf("0 at %v, want the edge %v", got, s.from)
	}
}

// On a logarithmic axis with a zero, 0 has its own place, and what lies between
// it and the first value is between their places.
func TestLogZeroScale(t *testing.T) {
	s := place(t, Axis{Kind: LogZero}, 0, 0.24, 331)
	if s.lo != 0.2 || s.hi != 500 {
		t.Errorf("range %v to %v, want 0.2 to 500", s.lo, s.hi)
	}
	if got := s.at(0); got != edgePad {
		t.Errorf("0 at %v, want %v", got, edgePad)
	}
	if got := s.at(-3); got != s.at(0) {
		t.Errorf("−3 at %v, want the place of 0", got)
	}
	if got, want := s.at(0.2), edgePad+zeroSize; !near(got, want) {
		t.Errorf("0.2 at %v, want %v", got, want)
	}
	if got, want := s.at(0.1), edgePad+zeroSize/2; !near(got, want) {
		t.Errorf("0.1 at %v, want %v", got, want)
	}
}

func TestLogZeroOfNothingButZeros(t *testing.T) {
	s := place(t, Axis{Kind: LogZero}, 0, 0)
	if s.lo != 1 || s.hi != 10 {
		t.Errorf("range %v to %v, want 1 to 10", s.lo, s.hi)
	}
}

func TestNeverStrip(t *testing.T) {
	s := place(t, Axis{Never: "never"}, 20, inf)
	if got, want := s.at(inf), 300*px-neverSize/2; !near(got, want) {
		t.Errorf("+Inf at %v, want the middle of the strip %v", got, want)
	}
	if top := s.at(20); top >= 300*px-neverSize {
		t.Errorf("the greatest value at %v reaches into the strip from %v", top, 300*px-neverSize)
	}
}

// A larger value is never drawn before a smaller one.
func TestScalesAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Axis{Kind: Kind(rapid.IntRange(0, 2).Draw(t, "kind")), Never: "never"}
		value := rapid.Float64Range(1e-6, 1e6)
		values := rapid.SliceOfN(value, 1, 10).Draw(t, "values")
		e := newExtent()
		e.add(values...)
		r, err := a.resolve(e, 5, rapid.Bool().Draw(t, "loose"))
		if err != nil {
			t.Fatal(err)
		}
		s := r.place(10, 400, neverSize)
		lo, hi := value.Draw(t, "lo"), value.Draw(t, "hi")
		lo, hi = math.Min(lo, hi), math.Max(lo, hi)
		if s.at(lo) > s.at(hi) {
			t.Fatalf("%v at %v, %v at %v", lo, s.at(lo), hi, s.at(hi))
		}
		for _, v := range values {
			if at := s.at(v); at < 10-px || at > s.at(inf) {
				t.Fatalf("%v at %v, outside 10 to %v", v, at, s.at(inf))
			}
		}
	})
}
