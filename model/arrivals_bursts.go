package model

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/stormglass/stormglass/sim"
)

// burstSource alternates two constant rates. Call k is due when the integral
// of the rate passes k; where that is the very end of a phase, the call
// belongs to the next phase that has a rate. So 100/s during 10 s, then 0
// during 50 s, gives calls at 0, 0.01, …, 9.99, 60, 60.01, …
//
// Phase boundaries are rational numbers; the calls inside a phase are a fixed
// source. Whole cycles without a call are skipped in one step.
type burstSource struct {
	phases [2]burstPhase
	cycle  *big.Rat // ticks
	gain   *big.Rat // calls per cycle

	phase int      // the phase that comes next
	start *big.Rat // its start
	need  *big.Rat // calls' worth still missing for the next call, at start

	calls *fixedSource
	left  int64 // calls left in the present phase
}

type burstPhase struct {
	length *big.Rat // ticks
	period *big.Rat // ticks between calls; nil when there are none
	gain   *big.Rat // calls per phase
}

func newBursts(a Arrivals) *burstSource {
	ticks := a.ticks()
	s := &burstSource{start: new(big.Rat), need: new(big.Rat)}
	for i, rate := range []float64{a.RateRPS, a.OffRPS} {
		p := burstPhase{length: exactTicks(a.On, ticks), gain: new(big.Rat)}
		if i == 1 {
			p.length = exactTicks(a.Off, ticks)
		}
		if rate > 0 {
			p.period = period(rate, ticks)
			p.gain.Quo(p.length, p.period)
		}
		s.phases[i] = p
	}
	s.cycle = new(big.Rat).Add(s.phases[0].length, s.phases[1].length)
	s.gain = new(big.Rat).Add(s.phases[0].gain, s.phases[1].gain)
	return s
}

func (s *burstSource) Next() (sim.Time, bool) {
	for s.left == 0 {
		if s.start.Cmp(maxTicks) >= 0 {
			return 0, false
		}
		s.enter()
	}
	s.left--
	return s.calls.Next()
}

// enter works out the calls of the next phase.
func (s *burstSource) enter() {
	if s.phase == 0 && s.need.Cmp(s.gain) >= 0 {
		n := new(big.Rat).Quo(s.need, s.gain)
		n.SetInt(new(big.Int).Quo(n.Num(), n.Denom()))
		s.start.Add(s.start, new(big.Rat).Mul(n, s.cycle))
		s.need.Sub(s.need, n.Mul(n, s.gain))
	}
	p := s.phases[s.phase]
	rest := new(big.Rat).Sub(p.gain, s.need)
	if rest.Sign() > 0 {
		first := new(big.Rat).Mul(s.need, p.period)
		s.calls = newFixed(first.Add(first, s.start), p.period)
		count := ceil(rest)
		s.left = count.Int64()
		s.need = new(big.Rat).SetInt(count)
		s.need.Sub(s.need, rest)
	} else {
		s.need.Neg(rest)
	}
	s.start.Add(s.start, p.length)
	s.phase = 1 - s.phase
}

// ceil rounds a positive number up.
func ceil(x *big.Rat) *big.Int {
	n, rem := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if rem.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n
}

// randomBurstSource is the Poisson process with the same rate: the next call
// is where the integral has grown by a unit exponential.
type randomBurstSource struct {
	r       *sim.Rand
	ticks   int64
	length  uint64     // of a cycle, in nanoseconds
	ends    [2]float64 // of the phases, in ticks since the cycle began
	perTick [2]float64 // rates
	gain    float64    // calls per cycle

	cycles uint64  // complete so far
	start  uint64  // of the present cycle, in ticks, rounded down
	pos    float64 // the last call, in ticks since the cycle began
}

func newRandomBursts(a Arrivals, r *sim.Rand) *randomBurstSource {
	ticks := float64(a.ticks())
	s := &randomBurstSource{
		r: r, ticks: a.ticks(),
		length:  uint64(a.On) + uint64(a.Off),
		perTick: [2]float64{a.RateRPS / ticks, a.OffRPS / ticks},
	}
	s.ends[0], _ = exactTicks(a.On, a.ticks()).Float64()
	s.ends[1], _ = exactTicks(a.Off, a.ticks()).Float64()
	s.gain = float64(s.ends[0]*s.perTick[0]) + float64(s.ends[1]*s.perTick[1])
	s.ends[1] += s.ends[0]
	return s
}

func (s *randomBurstSource) Next() (sim.Time, bool) {
	need := s.r.ExpFloat64()
	for s.start < math.MaxInt64 {
		for i, end := range s.ends {
			if s.pos >= end {
				continue
			}
			if have := (end - s.pos) * s.perTick[i]; need >= have {
				need -= have
				s.pos = end
				continue
			}
			s.pos += need / s.perTick[i]
			if float64(s.start)+s.pos >= math.MaxInt64 {
				s.start = math.MaxInt64
				return 0, false
			}
			return sim.Time(s.start) + sim.Time(s.pos), true
		}
		skip := math.Floor(need / s.gain)
		need = max(0, need-float64(skip*s.gain))
		s.pos = 0
		s.begin(skip + 1)
	}
	return 0, false
}

// begin goes on by whole cycles; a start beyond the clock's range saturates.
func (s *randomBurstSource) begin(cycles float64) {
	s.start = math.MaxInt64
	if cycles >= math.MaxInt64 {
		return
	}
	s.cycles += uint64(cycles)
	hi, ns := bits.Mul64(s.cycles, s.length)
	if hi > 0 {
		return
	}
	hi, lo := bits.Mul64(ns, uint64(s.ticks))
	if hi >= uint64(defaultTicks) {
		return
	}
	s.start, _ = bits.Div64(hi, lo, defaultTicks)
	s.start = min(s.start, math.MaxInt64)
}
