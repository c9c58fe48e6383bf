package model

import (
	"math"
	"math/big"

	"github.com/stormglass/stormglass/sim"
)

// fixedSource produces first, first + period, first + 2·period, … rounded to
// the nearest tick, halves up, without error at any distance.
//
// With period = step + stepRem/mod it keeps the exact time, plus the half that
// turns rounding down into rounding to the nearest, as next + rem/mod. If
// first is not a multiple of 1/mod, rem is what remains when it is rounded
// down to one. That loses nothing: for whole k and m,
// floor((x+k)/m) = floor((floor(x)+k)/m).
type fixedSource struct {
	next, rem     int64
	step, stepRem int64
	mod           int64
}

// newFixed makes a source from a first time at or after 0 and a period above
// 0, both in ticks. The period's denominator must fit 62 bits; that of a rate
// does, having at most 17 digits.
func newFixed(first, period *big.Rat) *fixedSource {
	two := big.NewInt(2)
	mod := new(big.Int).Mul(period.Denom(), two)
	step, stepRem := new(big.Int).QuoRem(period.Num(), period.Denom(), new(big.Int))
	stepRem.Mul(stepRem, two)

	half := new(big.Rat).Add(first, big.NewRat(1, 2))
	next, rem := new(big.Int).QuoRem(half.Num(), half.Denom(), new(big.Int))
	rem.Quo(rem.Mul(rem, mod), half.Denom())
	if !next.IsInt64() {
		next.SetInt64(math.MaxInt64)
	}
	return &fixedSource{
		next: next.Int64(), rem: rem.Int64(),
		step: step.Int64(), stepRem: stepRem.Int64(),
		mod: mod.Int64(),
	}
}

func (s *fixedSource) Next() (sim.Time, bool) {
	t := s.next
	if uint64(t) >= math.MaxInt64 { // never, or wrapped below zero
		return 0, false
	}
	next, rem := t+s.step, s.rem+s.stepRem
	if rem >= s.mod {
		rem -= s.mod
		next++
	}
	s.next, s.rem = next, rem
	return sim.Time(t), true
}

// floatSource does what many programs do: it adds 1/rate, rounded to a
// float64, to a float64 time in seconds. After n calls the sum is off by up to
// n roundings, so a call due at a boundary may fall on either side of it.
type floatSource struct {
	t, gap float64 // seconds
	ticks  float64 // per second
}

func (s *floatSource) Next() (sim.Time, bool) {
	t := s.t
	at := t * s.ticks
	next := t + s.gap
	if !(at < math.MaxInt64) || next == t { // the sum no longer moves
		return 0, false
	}
	s.t = next
	return sim.Time(at), true
}
