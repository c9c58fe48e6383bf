package model

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// mustSource makes a source with a stream of its own.
func mustSource(t testing.TB, a Arrivals) Source {
	t.Helper()
	s, err := a.Source(sim.Stream(1, 0, "arrivals/test"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// take returns the first n times, fewer if the source ends.
func take(s Source, n int) []sim.Time {
	var times []sim.Time
	for range n {
		at, ok := s.Next()
		if !ok {
			break
		}
		times = append(times, at)
	}
	return times
}

// countBetween counts the calls in [from, to) of a fresh source.
func countBetween(s Source, from, to sim.Time) int {
	n := 0
	for at, ok := s.Next(); ok && at < to; at, ok = s.Next() {
		if at >= from {
			n++
		}
	}
	return n
}

const second = sim.Time(time.Second)

func TestArrivalsValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ramp := func(from, to float64, over time.Duration) Arrivals {
		return Arrivals{Kind: Ramp, RateRPS: from, ToRPS: to, Over: over}
	}
	bursts := func(rate, off float64, on, pause time.Duration) Arrivals {
		return Arrivals{Kind: Bursts, RateRPS: rate, OffRPS: off, On: on, Off: pause}
	}
	for _, tc := range []struct {
		a    Arrivals
		want string // "" means valid
	}{
		{Arrivals{Kind: Fixed, RateRPS: 0.5}, ""},
		{Arrivals{Kind: Fixed, RateRPS: 1e9}, ""},
		{Arrivals{Kind: Fixed, RateRPS: 1.09e-10}, ""},
		{Arrivals{Kind: FixedFloat, RateRPS: 5, TicksPerSecond: 1 << 48}, ""},
		{Arrivals{Kind: Poisson, RateRPS: 50}, ""},
		{ramp(0, 10, time.Minute), ""},
		{ramp(10, 0, time.Minute), ""},
		{bursts(10, 0, time.Second, time.Second), ""},
		{Arrivals{Kind: Ramp, RateRPS: 1, ToRPS: 2, Over: 1, Random: true}, ""},

		{Arrivals{}, `model: arrivals "": unknown kind, want one of fixed, fixed-float, poisson, ramp, bursts`},
		{Arrivals{Kind: "poison", RateRPS: 1}, `model: arrivals "poison": unknown kind, want one of fixed, fixed-float, poisson, ramp, bursts`},
		{Arrivals{Kind: Fixed}, `model: arrivals "fixed": rate 0, want above 0 and at most 1e+09 per second`},
		{Arrivals{Kind: Fixed, RateRPS: -1}, `model: arrivals "fixed": rate -1, want above 0 and at most 1e+09 per second`},
		{Arrivals{Kind: Poisson, RateRPS: nan}, `model: arrivals "poisson": rate NaN, want above 0 and at most 1e+09 per second`},
		{Arrivals{Kind: Poisson, RateRPS: inf}, `model: arrivals "poisson": rate +Inf, want above 0 and at most 1e+09 per second`},
		{Arrivals{Kind: Fixed, RateRPS: 1.000001e9}, `model: arrivals "fixed": rate 1.000001e+09, want above 0 and at most 1e+09 per second`},
		{Arrivals{Kind: Fixed, RateRPS: 1e-10}, `model: arrivals "fixed": rate 1e-10, the time between calls is beyond the clock's range of 9.22e+09 s`},
		{Arrivals{Kind: Poisson, RateRPS: 5e-324}, `model: arrivals "poisson": rate 5e-324, the time between calls is beyond the clock's range of 9.22e+09 s`},
		{Arrivals{Kind: Fixed, RateRPS: 1e-5, TicksPerSecond: 1 << 48}, `model: arrivals "fixed": rate 1e-05, the time between calls is beyond the clock's range of 3.28e+04 s`},
		{Arrivals{Kind: Fixed, RateRPS: 1, TicksPerSecond: -1}, `model: arrivals "fixed": ticks per second -1, want at least 1, or 0 for nanoseconds`},
		{Arrivals{Kind: Fixed, RateRPS: 1, Random: true}, `model: arrivals "fixed": random, only ramp and bursts choose; independent calls at a constant rate are "poisson"`},
		{Arrivals{Kind: Fixed, RateRPS: 1, ToRPS: 2}, `model: arrivals "fixed": final rate 2, only a ramp has one`},
		{Arrivals{Kind: Fixed, RateRPS: 1, Over: 2}, `model: arrivals "fixed": ramp length 2ns, only a ramp has one`},
		{Arrivals{Kind: Poisson, RateRPS: 1, OffRPS: 2}, `model: arrivals "poisson": off rate 2, only bursts have one`},
		{Arrivals{Kind: Poisson, RateRPS: 1, On: 2}, `model: arrivals "poisson": on length 2ns, only bursts have one`},
		{Arrivals{Kind: Ramp, RateRPS: 1, Over: 1, Off: 2}, `model: arrivals "ramp": off length 2ns, only bursts have one`},
		{ramp(1, 2, 0), `model: arrivals "ramp": ramp length 0s, want above 0`},
		{ramp(0, 0, time.Minute), `model: arrivals "ramp": rate 0 and final rate 0, want one above 0`},
		{ramp(1, -2, time.Minute), `model: arrivals "ramp": final rate -2, want at least 0 and at most 1e+09 per second`},
		{ramp(1, nan, time.Minute), `model: arrivals "ramp": final rate NaN, want at least 0 and at most 1e+09 per second`},
		{bursts(1, nan, 1, 1), `model: arrivals "bursts": off rate NaN, want at least 0 and at most 1e+09 per second`},
		{bursts(0, 1, 1, 1), `model: arrivals "bursts": rate 0, want above 0 and at most 1e+09 per second`},
		{bursts(1, 1, 0, 1), `model: arrivals "bursts": on length 0s, want above 0`},
		{bursts(1, 1, 1, -1), `model: arrivals "bursts": off length -1ns, want above 0`},
	} {
		got := ""
		if err := tc.a.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v:\n got %q\nwant %q", tc.a, got, tc.want)
		}
		if _, err := tc.a.Source(sim.Stream(1, 0, "x")); (err == nil) != (tc.want == "") {
			t.Errorf("%+v: Source gives error %v, Validate %q", tc.a, err, tc.want)
		}
	}
}

func TestArrivalsNeedStream(t *testing.T) {
	if _, err := (Arrivals{Kind: Fixed, RateRPS: 1}).Source(nil); err != nil {
		t.Errorf("fixed without a stream: %v", err)
	}
	_, err := Arrivals{Kind: Poisson, RateRPS: 1}.Source(nil)
	if err == nil || !strings.Contains(err.Error(), "random stream nil") {
		t.Errorf("poisson without a stream: %v", err)
	}
}

// every kind, at rates where the details matter.
var everyArrivals = []Arrivals{
	{Kind: Fixed, RateRPS: 7},
	{Kind: FixedFloat, RateRPS: 7},
	{Kind: Poisson, RateRPS: 7},
	{Kind: Poisson, RateRPS: 1e9},
	{Kind: Ramp, RateRPS: 0, ToRPS: 20, Over: 3 * time.Second},
	{Kind: Ramp, RateRPS: 20, ToRPS: 0, Over: 3 * time.Second},
	{Kind: Ramp, RateRPS: 20, ToRPS: 1, Over: 3 * time.Second, Random: true},
	{Kind: Bursts, RateRPS: 20, OffRPS: 0, On: time.Second, Off: 2 * time.Second},
	{Kind: Bursts, RateRPS: 20, OffRPS: 3, On: time.Second, Off: 2 * time.Second, Random: true},
}

func TestArrivalsNeverDecrease(t *testing.T) {
	for _, a := range everyArrivals {
		for _, ticks := range []int64{0, 1, 1000, 1 << 48} {
			a.TicksPerSecond = ticks
			if times := take(mustSource(t, a), 2000); !slices.IsSorted(times) || len(times) == 0 || times[0] < 0 {
				t.Errorf("%+v: times %v…, want a nondecreasing sequence from 0", a, times[:min(5, len(times))])
			}
		}
	}
}

func TestArrivalsAreReproducible(t *testing.T) {
	for _, a := range everyArrivals {
		if one, two := take(mustSource(t, a), 1000), take(mustSource(t, a), 1000); !slices.Equal(one, two) {
			t.Errorf("%+v: two sources from equal streams differ", a)
		}
	}
}

// At one call in a third of the clock's range the range ends after a few calls.
func TestArrivalsEndWithTheClock(t *testing.T) {
	const slow = 3.3e-10
	year := 365 * 24 * time.Hour
	for _, a := range []Arrivals{
		{Kind: Fixed, RateRPS: slow},
		{Kind: FixedFloat, RateRPS: slow},
		{Kind: Poisson, RateRPS: slow},
		{Kind: Ramp, RateRPS: slow / 2, ToRPS: slow, Over: 100 * year},
		{Kind: Ramp, RateRPS: slow, ToRPS: slow / 2, Over: math.MaxInt64},
		{Kind: Ramp, RateRPS: slow, ToRPS: slow / 2, Over: 100 * year, Random: true},
		{Kind: Ramp, RateRPS: slow, ToRPS: slow / 2, Over: math.MaxInt64, Random: true},
		{Kind: Bursts, RateRPS: slow, On: 1, Off: year},
		{Kind: Bursts, RateRPS: slow, On: 100 * year, Off: year},
		{Kind: Bursts, RateRPS: slow, OffRPS: slow, On: math.MaxInt64, Off: math.MaxInt64},
		{Kind: Bursts, RateRPS: slow, On: 1, Off: year, Random: true},
		{Kind: Bursts, RateRPS: slow, On: 100 * year, Off: year, Random: true},
		{Kind: Bursts, RateRPS: slow, OffRPS: slow, On: math.MaxInt64, Off: math.MaxInt64, Random: true},
	} {
		s := mustSource(t, a)
		times := take(s, 1000)
		if len(times) > 20 {
			t.Errorf("%+v: still going after %v", a, times[len(times)-1])
		}
		for range 5 {
			if at, ok := s.Next(); ok {
				t.Errorf("%+v: call at %v after the end", a, at)
			}
		}
		if !slices.IsSorted(times) || slices.Contains(times, math.MaxInt64) {
			t.Errorf("%+v: times %v", a, times)
		}
	}
}

func TestClosedLoopValidate(t *testing.T) {
	for _, tc := range []struct {
		loop ClosedLoop
		want string
	}{
		{ClosedLoop{Clients: 20}, ""},
		{ClosedLoop{Clients: 1, Think: Law{Kind: Exponential, Mean: time.Second}}, ""},
		{ClosedLoop{}, "model: closed loop: clients 0, want at least 1"},
		{ClosedLoop{Clients: 1, Think: Law{Mean: -1}}, `model: closed loop: think time "constant": mean -1ns, want at least 0`},
	} {
		got := ""
		if err := tc.loop.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v: got %q, want %q", tc.loop, got, tc.want)
		}
	}
}
