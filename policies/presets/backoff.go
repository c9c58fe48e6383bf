package presets

import (
	"math"
	"math/bits"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// waits are what a back-off waits before the jitter, before retry 1, 2 and so
// on; the last one stays. They are listed at construction, so that a wait
// costs the same however many attempts there were.
type waits[T int64 | float64] []T

// maxWaits bounds the list, for growth so slow that it would not end: later
// retries wait as long as retry 65,536.
const maxWaits = 1 << 16

// grow lists first, next(first), next(next(first)) and so on, up to the first
// that stays the same.
func grow[T int64 | float64](first T, next func(T) T) waits[T] {
	w := waits[T]{first}
	for len(w) < maxWaits {
		last := w[len(w)-1]
		n := next(last)
		if n == last {
			break
		}
		w = append(w, n)
	}
	return w
}

// at returns the wait after a number of attempts; a number below 1 counts as 1.
func (w waits[T]) at(attempts int) T { return w[min(max(attempts, 1), len(w))-1] }

// A stepped is a back-off that draws each wait from its step alone.
type stepped[T int64 | float64] struct {
	steps waits[T]
	draw  func(step T, u float64) time.Duration
}

// Delay implements policies.Delays.
func (s *stepped[T]) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	return s.draw(s.steps.at(attempts), unit(u))
}

// unjittered draws a wait without jitter.
func unjittered(step int64, _ float64) time.Duration { return time.Duration(step) }

// lastUnit is the largest number below 1 that a generator of 53 bits draws.
const lastUnit = 1 - 0x1p-53

// unit returns the nearest number in [0, 1).
func unit(u float64) float64 {
	if !(u > 0) { // or NaN
		return 0
	}
	return min(u, lastUnit)
}

// truncate rounds towards zero and saturates, as a cast to long does in Java
// for numbers that are not negative.
func truncate(x float64) int64 {
	switch {
	case !(x > 0): // or NaN
		return 0
	case x >= 0x1p63:
		return math.MaxInt64
	}
	return int64(x)
}

// drawBelow returns the whole part of u*n, exactly, for u in [0, 1) and n of 0 or
// more: the draw of an integer below n.
func drawBelow(u float64, n int64) int64 {
	high, low := bits.Mul64(uint64(u*0x1p53), uint64(n))
	return int64(high<<11 | low>>53)
}

// productOf and sumOf saturate; neither argument is negative.
func productOf(a, b int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

func sumOf(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func fromMilliseconds(n int64) time.Duration {
	return time.Duration(productOf(n, int64(time.Millisecond)))
}

// orNone is the longest Duration if there is no maximum.
func orNone(d time.Duration) int64 {
	if d == 0 {
		return math.MaxInt64
	}
	return int64(d)
}

// growth checks the factor from one wait to the next.
func (f *fields) growth(name string, x float64) { f.within(name, x, 1, 1000) }

// delays makes an interface of a back-off, which is nil if there was an error.
func delays[D policies.Delays](d D, err error) (policies.Delays, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}
