package policies

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// A BackoffKind names a way to choose the wait before a retry. The formulas
// of the last three are those of Brooker (2015), "Exponential Backoff And
// Jitter", AWS Architecture Blog.
type BackoffKind string

// The kinds of back-off. Below, t is Base*Multiplier^(FirstExponent+n-1)
// before retry n, or Cap if that is less, and U[a, b) is uniform.
const (
	NoBackoff          BackoffKind = "none"         // 0
	FixedBackoff       BackoffKind = "fixed"        // Base, with Jitter U[Base*(1-Jitter), Base*(1+Jitter))
	ExponentialBackoff BackoffKind = "exponential"  // t, with Jitter U[t*(1-Jitter), t*(1+Jitter))
	FullJitter         BackoffKind = "full"         // U[0, t)
	EqualJitter        BackoffKind = "equal"        // U[t/2, t)
	DecorrelatedJitter BackoffKind = "decorrelated" // U[Base, 3*previous), or Cap if that is less; at first previous is Base
)

var backoffKinds = []BackoffKind{NoBackoff, FixedBackoff, ExponentialBackoff, FullJitter, EqualJitter, DecorrelatedJitter}

// A BackoffConfig describes the waits between the attempts of a request. Each
// kind reads its own fields and ignores the others.
type BackoffConfig struct {
	Kind BackoffKind // empty means NoBackoff

	Base time.Duration // the wait to start from, 1 ns to 8760 h

	// Multiplier is the growth from one wait to the next, 1 or 1.01 to 1000,
	// with at most 9 decimals. 0 means 2.
	Multiplier float64
	// FirstExponent is the exponent before the first retry, 0 to 62. It is 0
	// in most libraries and 1 in the simulator of the blog.
	FirstExponent int
	// Cap is the longest wait, at least Base, before the jitter is applied. 0
	// means no cap besides the longest Duration.
	Cap time.Duration

	// Jitter is the share by which a fixed or exponential wait may be shorter
	// or longer, 0 to 1, with at most 9 decimals.
	Jitter float64
	// CapLast applies Cap after that jitter as well. Without it a wait may be
	// Cap*(1+Jitter) long.
	CapLast bool
}

// Validate reports the first field that makes no sense.
func (c BackoffConfig) Validate() error {
	switch c.Kind {
	case "", NoBackoff:
		return nil
	case FixedBackoff, ExponentialBackoff, FullJitter, EqualJitter, DecorrelatedJitter:
	default:
		known := make([]string, len(backoffKinds))
		for i, k := range backoffKinds {
			known[i] = string(k)
		}
		return fmt.Errorf("policies: backoff kind %q, want one of %s", c.Kind, strings.Join(known, ", "))
	}
	if c.Base < 1 || c.Base > maxLength {
		return fmt.Errorf("policies: %s backoff: base %v, want 1ns to %v", c.Kind, c.Base, maxLength)
	}
	if c.Kind == FixedBackoff {
		_, err := c.jitter()
		return err
	}
	if c.Cap != 0 && c.Cap < c.Base {
		return fmt.Errorf("policies: %s backoff: cap %v, want 0s for none or at least the base %v", c.Kind, c.Cap, c.Base)
	}
	if c.Kind == DecorrelatedJitter {
		return nil
	}
	if _, err := c.multiplier(); err != nil {
		return err
	}
	if c.FirstExponent < 0 || c.FirstExponent > 62 {
		return fmt.Errorf("policies: %s backoff: first exponent %d, want 0 to 62", c.Kind, c.FirstExponent)
	}
	if c.Kind == ExponentialBackoff {
		_, err := c.jitter()
		return err
	}
	return nil
}

func (c BackoffConfig) jitter() (fraction, error) {
	return ratioOf(string(c.Kind)+" backoff", "jitter", c.Jitter)
}

// A Backoff says how long to wait before a retry. It keeps no state, so many
// requests may share one.
type Backoff struct {
	steps        []span // before retry 1, 2, ...; the last one stays
	limit        uint64 // no wait is longer
	base         uint64
	decorrelated bool
}

// A span is the half-open interval of waits [low, low+width), or low alone if
// the width is 0.
type span struct{ low, width uint64 }

// NewBackoff returns a back-off, or the error of Validate.
func NewBackoff(c BackoffConfig) (*Backoff, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Backoff{base: uint64(c.Base), limit: math.MaxInt64}
	switch c.Kind {
	case "", NoBackoff:
		b.steps = []span{{}}
	case DecorrelatedJitter:
		b.decorrelated = true
		b.limit = uint64(c.cap())
	default:
		b.steps = c.spans()
		if c.CapLast && c.Kind == ExponentialBackoff {
			b.limit = uint64(c.cap())
		}
	}
	return b, nil
}

func (c BackoffConfig) cap() time.Duration {
	if c.Cap == 0 {
		return math.MaxInt64
	}
	return c.Cap
}

// Delay returns the wait after the given number of attempts, at least 1, the
// last of which has failed; a lower number is taken as 1. Previous is the
// wait that Delay returned before, 0 if there was none; only decorrelated
// jitter looks at it. U is uniform in [0, 1) and decides where in the
// interval of the kind the wait lies, rounded down to whole nanoseconds; a
// number outside is taken as the nearest one inside.
//
// The same arguments always give the same wait.
func (b *Backoff) Delay(attempts int, previous time.Duration, u float64) time.Duration {
	var s span
	if b.decorrelated {
		high := uint64(max(int64(previous), int64(b.base)))
		s = span{b.base, min(3*min(high, math.MaxInt64/3), math.MaxInt64) - b.base}
	} else {
		s = b.steps[min(max(attempts, 1), len(b.steps))-1]
	}
	return time.Duration(min(s.at(u), b.limit))
}

// at returns the wait at the share u of the span, saturated: rounded down and
// so below low+width. U has 53 bits, and the product is exact.
func (s span) at(u float64) uint64 {
	if s.width == 0 {
		return s.low
	}
	share := uint64(0)
	if u > 0 { // false for NaN
		share = uint64(min(u*0x1p53, 0x1p53-1))
	}
	high, low := bits.Mul64(share, s.width)
	return min(s.low+(high<<11|low>>53), math.MaxInt64)
}
