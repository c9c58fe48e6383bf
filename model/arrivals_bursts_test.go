package model

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
	"pgregory.net/rapid"
)

func TestBurstTimes(t *testing.T) {
	const ms = sim.Time(time.Millisecond)
	for _, tc := range []struct {
		name string
		a    Arrivals
		want []sim.Time
	}{
		{
			// The call that would be due at 1 s waits for the next phase.
			name: "silent pauses",
			a:    Arrivals{Kind: Bursts, RateRPS: 4, On: time.Second, Off: 9 * time.Second},
			want: []sim.Time{0, 250 * ms, 500 * ms, 750 * ms, 10 * second, 10*second + 250*ms},
		},
		{
			name: "slow pauses take over the remainder",
			a:    Arrivals{Kind: Bursts, RateRPS: 3, OffRPS: 1, On: 500 * time.Millisecond, Off: 2 * time.Second},
			// 1.5 calls' worth up to 0.5 s, 3.5 up to 2.5 s, 5 up to 3 s
			want: []sim.Time{0, 333333333, 1000 * ms, 2000 * ms, 2666666667, 3 * second, 4 * second},
		},
		{
			name: "one call in several cycles",
			a:    Arrivals{Kind: Bursts, RateRPS: 0.5, On: time.Second, Off: time.Second},
			want: []sim.Time{0, 4 * second, 8 * second},
		},
	} {
		if got := take(mustSource(t, tc.a), len(tc.want)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

// burstTime is the time at which the integral passes k, directly.
func burstTime(a Arrivals, k int64) *big.Int {
	on, off := exactTicks(a.On, a.ticks()), exactTicks(a.Off, a.ticks())
	gainOn := new(big.Rat).Quo(on, period(a.RateRPS, a.ticks()))
	gain := new(big.Rat).Set(gainOn)
	if a.OffRPS > 0 {
		gain.Add(gain, new(big.Rat).Quo(off, period(a.OffRPS, a.ticks())))
	}
	rest := new(big.Rat).SetInt64(k)
	cycles := new(big.Rat).Quo(rest, gain)
	cycles.SetInt(new(big.Int).Div(cycles.Num(), cycles.Denom()))
	rest.Sub(rest, new(big.Rat).Mul(cycles, gain))
	at := new(big.Rat).Add(on, off)
	at.Mul(at, cycles)
	if rest.Cmp(gainOn) < 0 {
		at.Add(at, rest.Mul(rest, period(a.RateRPS, a.ticks())))
	} else {
		at.Add(at, on)
		rest.Sub(rest, gainOn)
		at.Add(at, rest.Mul(rest, period(a.OffRPS, a.ticks())))
	}
	at.Add(at, big.NewRat(1, 2))
	return new(big.Int).Div(at.Num(), at.Denom())
}

func TestBurstsAgainstTheIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.OneOf(rapid.Int64Range(1, 1000), rapid.Int64Range(1, 1e10))
		a := Arrivals{
			Kind:    Bursts,
			RateRPS: rapid.OneOf(rapid.Float64Range(1e-3, 1e9), rapid.SampledFrom([]float64{0.1, 1, 3, 100})).Draw(t, "rate"),
			OffRPS:  rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e9)).Draw(t, "off rate"),
			On:      time.Duration(length.Draw(t, "on")), Off: time.Duration(length.Draw(t, "off")),
			TicksPerSecond: rapid.SampledFrom([]int64{0, 1 << 48}).Draw(t, "ticks"),
		}
		s, err := a.Source(nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range int64(60) {
			want := burstTime(a, k)
			at, ok := s.Next()
			if ok != want.IsInt64() || ok && int64(at) != want.Int64() {
				t.Fatalf("%+v: call %d at %d (%t), exact %v", a, k, at, ok, want)
			}
		}
	})
}
