package model

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// One call of each kind of source, through the interface.
func BenchmarkSourceNext(b *testing.B) {
	for _, bc := range []struct {
		name string
		a    Arrivals
	}{
		{"fixed", Arrivals{Kind: Fixed, RateRPS: 700}},
		{"fixed-float", Arrivals{Kind: FixedFloat, RateRPS: 700}},
		{"poisson", Arrivals{Kind: Poisson, RateRPS: 700}},
		{"ramp", Arrivals{Kind: Ramp, RateRPS: 1, ToRPS: 1e6, Over: 100 * time.Hour}},
		{"ramp-random", Arrivals{Kind: Ramp, RateRPS: 1, ToRPS: 1e6, Over: 100 * time.Hour, Random: true}},
		{"bursts", Arrivals{Kind: Bursts, RateRPS: 700, OffRPS: 70, On: 10 * time.Second, Off: 50 * time.Second}},
		{"bursts-random", Arrivals{Kind: Bursts, RateRPS: 700, OffRPS: 70, On: 10 * time.Second, Off: 50 * time.Second, Random: true}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := mustSource(b, bc.a)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := s.Next(); !ok {
					b.Fatal("the source has ended")
				}
			}
		})
	}
}

func BenchmarkLawSample(b *testing.B) {
	for _, law := range []Law{
		{Kind: Constant, Mean: ms},
		{Kind: Uniform, High: ms},
		{Kind: Exponential, Mean: ms},
		{Kind: Lognormal, Mean: ms, CV: 1},
		{Kind: Quantiles, Points: []Point{{0.5, 5 * ms}, {0.9, 20 * ms}, {0.99, 80 * ms}}},
	} {
		b.Run(law.Kind, func(b *testing.B) {
			r := sim.Stream(1, 0, "law")
			for b.Loop() {
				law.Sample(r)
			}
		})
	}
}

// Six hours with 18 glitches, looked up at 50 calls a second.
func BenchmarkCursorFind(b *testing.B) {
	g := sixHours(Glitches{Count: 18})
	var cursor *Cursor
	at := time.Duration(math.MaxInt64)
	for b.Loop() {
		if at >= g.Horizon {
			source, err := g.Source(draws(0))
			if err != nil {
				b.Fatal(err)
			}
			cursor, at = NewCursor(source), 0
		}
		if cursor.Find(at) == nil {
			b.Fatal("not observed")
		}
		at += 20 * ms
	}
}
