package model

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
	"pgregory.net/rapid"
)

// rampIntegral is the number of calls that a ramp has brought by t seconds.
func rampIntegral(a Arrivals, t float64) float64 {
	over := a.Over.Seconds()
	sloping := min(t, over)
	return a.RateRPS*sloping + (a.ToRPS-a.RateRPS)/over*sloping*sloping/2 + a.ToRPS*(t-sloping)
}

func TestRampTimes(t *testing.T) {
	for _, tc := range []struct {
		name string
		a    Arrivals
		want []sim.Time // in milliseconds
	}{
		{
			// The integral is t²/2 up to 4 s, where it is 8.
			name: "from nothing to 4/s in 4 s",
			a:    Arrivals{Kind: Ramp, ToRPS: 4, Over: 4 * time.Second},
			want: []sim.Time{0, 1414, 2000, 2449, 2828, 3162, 3464, 3742, 4000, 4250, 4500, 4750},
		},
		{
			// 4t - t²/2: the eighth call would be due where the rate reaches 0.
			name: "from 4/s to nothing in 4 s",
			a:    Arrivals{Kind: Ramp, RateRPS: 4, Over: 4 * time.Second},
			want: []sim.Time{0, 258, 536, 838, 1172, 1551, 2000, 2586},
		},
		{
			// 2t + t²/4 is 2.25 at 1 s: the third call comes 0.75/2.5 s later.
			name: "the remainder goes over to the flat part",
			a:    Arrivals{Kind: Ramp, RateRPS: 2, ToRPS: 2.5, Over: time.Second},
			want: []sim.Time{0, 472, 899, 1300, 1700, 2100},
		},
	} {
		s := mustSource(t, tc.a)
		got := take(s, len(tc.want))
		for i, at := range got {
			got[i] = (at + 500_000) / 1_000_000
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v ms, want %v", tc.name, got, tc.want)
		}
	}
	falling := mustSource(t, Arrivals{Kind: Ramp, RateRPS: 4, Over: 4 * time.Second})
	if n := len(take(falling, 100)); n != 8 {
		t.Errorf("falling to 0: %d calls, want 8 and then the end", n)
	}
}

// The integral at the time of call k is k.
func TestRampInvertsTheIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e5))
		a := Arrivals{
			Kind: Ramp, RateRPS: rate.Draw(t, "from"), ToRPS: rate.Draw(t, "to"),
			Over: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "over")),
		}
		if a.RateRPS == 0 && a.ToRPS == 0 {
			t.Skip("no calls")
		}
		s, err := a.Source(nil)
		if err != nil {
			t.Fatal(err)
		}
		last := sim.Time(-1)
		for k := range 200 {
			at, ok := s.Next()
			if !ok {
				if a.ToRPS > 0 || rampIntegral(a, a.Over.Seconds()) > float64(k)+1e-6 {
					t.Fatalf("%+v: ended at call %d", a, k)
				}
				return
			}
			if at < last {
				t.Fatalf("%+v: call %d at %d after %d", a, k, at, last)
			}
			last = at
			seconds := float64(at) / 1e9
			// Half a nanosecond at the present rate, and float64 noise.
			slack := 0.51e-9*max(a.RateRPS, a.ToRPS) + 1e-9*float64(k+1)
			if got := rampIntegral(a, seconds); math.Abs(got-float64(k)) > slack {
				t.Fatalf("%+v: call %d at %v s, where the integral is %v", a, k, seconds, got)
			}
		}
	})
}

// With equal rates a ramp is a fixed source.
func TestRampWithoutSlopeIsFixed(t *testing.T) {
	ramp := take(mustSource(t, Arrivals{Kind: Ramp, RateRPS: 7, ToRPS: 7, Over: time.Minute}), 5000)
	fixed := take(mustSource(t, Arrivals{Kind: Fixed, RateRPS: 7}), 5000)
	if !slices.Equal(ramp, fixed) {
		t.Error("times differ")
	}
}

func TestRandomRampRate(t *testing.T) {
	a := Arrivals{Kind: Ramp, RateRPS: 100, ToRPS: 500, Over: 100 * time.Second, Random: true}
	for _, tc := range []struct{ from, to float64 }{{0, 10}, {40, 60}, {90, 100}, {100, 110}, {200, 300}} {
		got := countBetween(mustSource(t, a), sim.Time(tc.from*1e9), sim.Time(tc.to*1e9))
		checkPoisson(t, "calls", got, rampIntegral(a, tc.to)-rampIntegral(a, tc.from))
	}
	falling := Arrivals{Kind: Ramp, RateRPS: 500, ToRPS: 0, Over: 100 * time.Second, Random: true}
	got := countBetween(mustSource(t, falling), 0, math.MaxInt64)
	checkPoisson(t, "falling to 0", got, 25_000)
}
