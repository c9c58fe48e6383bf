package plots

import "math"

// An extent is the range of the values that marks have on one axis.
type extent struct {
	lo, hi   float64 // over finite values and the ends of intervals
	least    float64 // over finite values alone
	positive float64 // the least value above zero
	finite   int     // number of finite values
	never    int     // number of values of +Inf
}

func newExtent() extent {
	inf := math.Inf(1)
	return extent{lo: inf, hi: -inf, least: inf, positive: inf}
}

// add takes note of values; NaN and −Inf are skipped.
func (e *extent) add(values ...float64) {
	for _, v := range values {
		switch {
		case math.IsInf(v, 1):
			e.never++
		case finite(v):
			e.finite++
			e.least = math.Min(e.least, v)
			if v > 0 {
				e.positive = math.Min(e.positive, v)
			}
			e.bound(v)
		}
	}
}

// bound takes note of the ends of intervals. They widen the axis, but not below
// zero if no value is, nor downwards if it is logarithmic, where the end of an
// interval may be anywhere.
func (e *extent) bound(values ...float64) {
	for _, v := range values {
		if finite(v) {
			e.lo, e.hi = math.Min(e.lo, v), math.Max(e.hi, v)
		}
	}
}

// merge makes e cover f too.
func (e *extent) merge(f extent) {
	e.lo, e.hi = math.Min(e.lo, f.lo), math.Max(e.hi, f.hi)
	e.least, e.positive = math.Min(e.least, f.least), math.Min(e.positive, f.positive)
	e.finite += f.finite
	e.never += f.never
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
