package model

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// The kinds of Arrivals.
const (
	Fixed      = "fixed"       // evenly spaced, exact
	FixedFloat = "fixed-float" // evenly spaced by t += 1/rate in float64, drift included
	Poisson    = "poisson"     // independent exponential gaps
	Ramp       = "ramp"        // the rate moves linearly, then stays
	Bursts     = "bursts"      // two rates take turns
)

var arrivalKinds = []string{Fixed, FixedFloat, Poisson, Ramp, Bursts}

// maxRate is the highest rate accepted, in calls per second.
const maxRate = 1e9

// defaultTicks is the resolution of sim.Time, in ticks per second.
const defaultTicks = 1_000_000_000

// Arrivals says when original requests come, in an open loop: a request does
// not wait for earlier ones. A field that the kind does not use must be zero.
//
// A rate is the shortest decimal number that denotes its float64, so that 0.1
// is one tenth exactly. Rates are at most 1e9 per second, and a positive rate
// is at least one call in the range of the clock (292 years of nanoseconds).
type Arrivals struct {
	// Kind is one of
	//
	//	fixed        call k = 0, 1, 2, … is due at k/RateRPS seconds exactly
	//	fixed-float  call k is due at the float64 sum of k terms 1/RateRPS
	//	poisson      gaps, the first included, are exponential with mean 1/RateRPS
	//	ramp         the rate goes linearly from RateRPS at 0 to ToRPS at Over, then stays there
	//	bursts       RateRPS during On, then OffRPS during Off, and so on, from 0
	Kind string

	// RateRPS is the rate in calls per second: above 0, except in a ramp,
	// which may start at 0.
	RateRPS float64

	// ToRPS is the final rate of a ramp; 0 means that calls cease.
	ToRPS float64
	// Over is the length of a ramp, above 0.
	Over time.Duration

	// OffRPS is the rate during Off; 0 means none.
	OffRPS float64
	// On and Off are the lengths of the two phases of bursts, both above 0.
	On, Off time.Duration

	// Random makes ramp and bursts a Poisson process of the stated rate. When
	// false, call k is due when the integral of the rate passes k.
	Random bool

	// TicksPerSecond is the unit of the times that Source returns; 0 means
	// 1e9, nanoseconds. A scenario that has to keep differences smaller than
	// a nanosecond, such as the drift of fixed-float, may run entirely in
	// other ticks: 1<<48 per second has a range of 9.1 hours and keeps every
	// bit of the float64 sums from 16 s on.
	TicksPerSecond int64
}

// A Source produces the times of successive calls. They never decrease. After
// the first false there are no more: the rate fell to zero for good or the
// next time is beyond the range of the clock.
type Source interface {
	Next() (sim.Time, bool)
}

// Validate reports the first field that is out of range, contradicts another,
// or is not used by the kind.
func (a Arrivals) Validate() error {
	if !slices.Contains(arrivalKinds, a.Kind) {
		return fmt.Errorf("model: arrivals %q: unknown kind, want one of %s", a.Kind, strings.Join(arrivalKinds, ", "))
	}
	if a.TicksPerSecond < 0 {
		return a.errorf("ticks per second %d, want at least 1, or 0 for nanoseconds", a.TicksPerSecond)
	}
	ramp, bursts := a.Kind == Ramp, a.Kind == Bursts
	if err := a.checkRate("rate", a.RateRPS, ramp); err != nil {
		return err
	}
	if err := a.checkRate("final rate", a.ToRPS, true); err != nil {
		return err
	}
	if err := a.checkRate("off rate", a.OffRPS, true); err != nil {
		return err
	}
	switch {
	case !ramp && a.ToRPS != 0:
		return a.errorf("final rate %v, only a ramp has one", a.ToRPS)
	case !ramp && a.Over != 0:
		return a.errorf("ramp length %v, only a ramp has one", a.Over)
	case !bursts && a.OffRPS != 0:
		return a.errorf("off rate %v, only bursts have one", a.OffRPS)
	case !bursts && a.On != 0:
		return a.errorf("on length %v, only bursts have one", a.On)
	case !bursts && a.Off != 0:
		return a.errorf("off length %v, only bursts have one", a.Off)
	case !ramp && !bursts && a.Random:
		return a.errorf("random, only ramp and bursts choose; independent calls at a constant rate are %q", Poisson)
	case ramp && a.Over <= 0:
		return a.errorf("ramp length %v, want above 0", a.Over)
	case ramp && a.RateRPS == 0 && a.ToRPS == 0:
		return a.errorf("rate 0 and final rate 0, want one above 0")
	case bursts && a.On <= 0:
		return a.errorf("on length %v, want above 0", a.On)
	case bursts && a.Off <= 0:
		return a.errorf("off length %v, want above 0", a.Off)
	}
	return nil
}

// Source returns the calls from time 0 on. Random kinds draw from r, which
// must not serve anything else; the others ignore it, and it may be nil.
//
// fixed, and ramp and bursts without Random, round an exact time to the
// nearest tick, halves up; the remainder is carried, so they never drift. (The
// sloping part of a ramp comes from a square root, good to 1 part in 1e15.)
// fixed-float and the random kinds round down, and carry the remainder too.
func (a Arrivals) Source(r *sim.Rand) (Source, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if r == nil && (a.Random || a.Kind == Poisson) {
		return nil, a.errorf("random stream nil, want one")
	}
	switch {
	case a.Kind == FixedFloat:
		return &floatSource{gap: 1 / a.RateRPS, ticks: float64(a.ticks())}, nil
	case a.Kind == Poisson:
		return newPoisson(a.RateRPS, a.ticks(), 0, r), nil
	case a.Kind == Ramp:
		return newRamp(a, r), nil
	case a.Kind == Bursts && a.Random:
		return newRandomBursts(a, r), nil
	case a.Kind == Bursts:
		return newBursts(a), nil
	}
	return newFixed(new(big.Rat), period(a.RateRPS, a.ticks())), nil
}

func (a Arrivals) ticks() int64 {
	if a.TicksPerSecond == 0 {
		return defaultTicks
	}
	return a.TicksPerSecond
}

func (a Arrivals) errorf(format string, args ...any) error {
	return fmt.Errorf("model: arrivals %q: %s", a.Kind, fmt.Sprintf(format, args...))
}

func (a Arrivals) checkRate(field string, rate float64, zero bool) error {
	if rate == 0 && zero {
		return nil
	}
	if !(rate > 0 && rate <= maxRate) {
		least := "above 0"
		if zero {
			least = "at least 0"
		}
		return a.errorf("%s %v, want %s and at most %g per second", field, rate, least, float64(maxRate))
	}
	if period(rate, a.ticks()).Cmp(maxTicks) >= 0 {
		return a.errorf("%s %v, the time between calls is beyond the clock's range of %.3g s",
			field, rate, float64(math.MaxInt64)/float64(a.ticks()))
	}
	return nil
}

// maxTicks is the time that means never.
var maxTicks = new(big.Rat).SetInt64(math.MaxInt64)

// exactRate is the shortest decimal number that denotes rate.
func exactRate(rate float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(rate, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("model: rate %v is not finite", rate))
	}
	return r
}

// period is the exact time between calls, in ticks. The rate is above 0.
func period(rate float64, ticks int64) *big.Rat {
	r := exactRate(rate)
	return r.Mul(r.Inv(r), new(big.Rat).SetInt64(ticks))
}

// exactTicks is d in ticks.
func exactTicks(d time.Duration, ticks int64) *big.Rat {
	t := big.NewRat(int64(d), int64(time.Second))
	return t.Mul(t, new(big.Rat).SetInt64(ticks))
}
