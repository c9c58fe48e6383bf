package policies

import (
	"fmt"
	"math/big"
	"math/bits"
)

// minMultiplier bounds the table of steps to some 4,400: the number of times
// that a nanosecond can grow until it exceeds the longest Duration.
const minMultiplier, maxMultiplier = 1.01, 1000

func (c BackoffConfig) multiplier() (fraction, error) {
	m := c.Multiplier
	switch {
	case m == 0:
		return fraction{2, 1}, nil
	case m == 1, m >= minMultiplier && m <= maxMultiplier:
		f, err := decimal(m)
		if err != nil {
			err = fmt.Errorf("policies: %s backoff: multiplier %v, %w", c.Kind, m, err)
		}
		return f, err
	}
	return fraction{}, fmt.Errorf("policies: %s backoff: multiplier %v, want 1, or %v to %d, or 0 for 2",
		c.Kind, m, minMultiplier, maxMultiplier)
}

// spans returns the intervals of the waits of a valid configuration that is
// neither none nor decorrelated.
func (c BackoffConfig) spans() []span {
	waits := []uint64{uint64(c.Base)}
	if c.Kind != FixedBackoff {
		waits = c.waits()
	}
	steps := make([]span, len(waits))
	for i, t := range waits {
		switch c.Kind {
		case FullJitter:
			steps[i] = span{0, t}
		case EqualJitter:
			steps[i] = span{t / 2, t - t/2}
		default:
			f, _ := c.jitter() // is valid
			high, low := bits.Mul64(t, uint64(f.num))
			spread, _ := bits.Div64(high, low, uint64(f.den))
			steps[i] = span{t - spread, 2 * spread}
		}
	}
	return steps
}

// waits returns Base*Multiplier^e for e from FirstExponent on, each rounded
// down once, up to the first that reaches the cap, which it is cut to.
func (c BackoffConfig) waits() []uint64 {
	f, _ := c.multiplier() // is valid
	num, den := big.NewInt(f.num), big.NewInt(f.den)
	limit := big.NewInt(int64(c.cap()))
	exponent := big.NewInt(int64(c.FirstExponent))
	above := new(big.Int).Exp(num, exponent, nil)
	above.Mul(above, big.NewInt(int64(c.Base)))
	below := new(big.Int).Exp(den, exponent, nil)
	var waits []uint64
	for wait := new(big.Int); ; {
		if wait.Quo(above, below).Cmp(limit) >= 0 {
			return append(waits, limit.Uint64())
		}
		waits = append(waits, wait.Uint64())
		if f.num == f.den {
			return waits
		}
		above.Mul(above, num)
		below.Mul(below, den)
	}
}
