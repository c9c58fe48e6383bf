package model

import (
	"math"
	"math/big"

	"github.com/stormglass/stormglass/sim"
)

// rampSource inverts the integral of a rate that moves linearly from r0 to r1
// over [0, T) and then stays. Up to T the integral is r0·t + a·t²/2 with
// a = (r1-r0)/T, and it passes k at t = 2k / (r0 + √(r0² + 2ak)), the form of
// the quadratic's root that has no cancellation. The square root is the rate
// at that moment; when the rate falls it is computed from the end,
// √(r1² + 2|a|(total-k)), to be exact where it comes down to zero.
//
// Even calls have k = 0, 1, 2, … In the random form k is a sum of unit
// exponentials: a Poisson process whose rate varies is one of rate 1 on a
// stretched time axis (Çinlar, Introduction to Stochastic Processes, 1975,
// section 4.7).
type rampSource struct {
	spec  Arrivals
	r     *sim.Rand // nil for even calls
	accel float64   // per second squared
	ticks float64   // per second

	k     int64   // the next call is where the integral passes k + part
	part  float64 // in [0, 1)
	whole int64   // calls in the sloping part: whole + frac
	frac  float64 // in [0, 1)
	total *big.Rat

	last sim.Time // of the sloping part
	flat Source   // from T on; nil before
}

func newRamp(a Arrivals, r *sim.Rand) *rampSource {
	total := new(big.Rat).Add(exactRate(a.RateRPS), exactRate(a.ToRPS))
	total.Mul(total, big.NewRat(int64(a.Over), 2e9))
	whole, rem := new(big.Int).QuoRem(total.Num(), total.Denom(), new(big.Int))
	frac, _ := new(big.Rat).SetFrac(rem, total.Denom()).Float64()
	s := &rampSource{
		spec:  a,
		accel: (a.ToRPS - a.RateRPS) / a.Over.Seconds(),
		ticks: float64(a.ticks()),
		whole: whole.Int64(), frac: frac, total: total,
	}
	if a.Random {
		s.r = r
		s.advance()
	}
	return s
}

func (s *rampSource) Next() (sim.Time, bool) {
	if s.flat != nil {
		return s.flat.Next()
	}
	if s.k > s.whole || s.k == s.whole && s.part >= s.frac {
		return s.level()
	}
	at := s.invert() * s.ticks
	if s.r == nil {
		at += 0.5
	}
	if !(at < math.MaxInt64) {
		s.flat = noSource{}
		return 0, false
	}
	s.last = max(s.last, sim.Time(at))
	s.advance()
	return s.last, true
}

// invert returns the time in seconds at which the integral passes k + part.
// The conversions keep products from being fused with sums, which would make
// the bits depend on the processor.
func (s *rampSource) invert() float64 {
	r0, r1 := s.spec.RateRPS, s.spec.ToRPS
	k := float64(s.k) + s.part
	if k == 0 {
		return 0
	}
	var square float64
	if s.accel >= 0 {
		square = float64(r0*r0) + float64(2*s.accel*k)
	} else {
		left := float64(s.whole-s.k) + (s.frac - s.part)
		square = float64(r1*r1) + float64(-2*s.accel*left)
	}
	return 2 * k / (r0 + math.Sqrt(square))
}

func (s *rampSource) advance() {
	if s.r == nil {
		s.k++
		return
	}
	sum := s.part + s.r.ExpFloat64()
	whole := math.Floor(sum)
	s.k += int64(whole)
	s.part = sum - whole
}

// level goes over to the constant final rate and returns the first call there.
func (s *rampSource) level() (sim.Time, bool) {
	s.flat = noSource{}
	if s.spec.ToRPS == 0 {
		return 0, false
	}
	over := exactTicks(s.spec.Over, s.spec.ticks())
	if s.r == nil {
		// Call k is due (k - total) periods after the ramp's end.
		gap := period(s.spec.ToRPS, s.spec.ticks())
		first := new(big.Rat).SetInt64(s.k)
		first.Sub(first, s.total)
		first.Add(first.Mul(first, gap), over)
		s.flat = newFixed(first, gap)
		return s.flat.Next()
	}
	past := float64(s.k-s.whole) + (s.part - s.frac)
	start, _ := over.Float64()
	start += past / s.spec.ToRPS * s.ticks
	if !(start < math.MaxInt64) {
		return 0, false
	}
	s.flat = newPoisson(s.spec.ToRPS, s.spec.ticks(), start, s.r)
	return max(s.last, sim.Time(start)), true
}

// noSource has no calls.
type noSource struct{}

func (noSource) Next() (sim.Time, bool) { return 0, false }
