package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// An Axis is the x or the y axis of a panel. The zero value is linear, from
// zero, as long as the data, with ticks of its own choice and no label.
type Axis struct {
	// Label is the term and its unit: "detection delay, s".
	Label string
	// Kind is Linear, Log or LogZero; it is ignored if there are Rows.
	Kind Kind
	// Range is the first and the last value. {0, 0} lets the data decide. Lines
	// and bands are cut at its ends; points beyond them are not drawn.
	Range [2]float64
	// Ticks are the values to label; nil chooses nice ones. Without a Range they
	// also widen the axis.
	Ticks []float64
	// Format writes a tick's label; nil is Number.
	Format func(float64) string
	// Rows makes a category axis: row i is at value i, counted from the top, or
	// from the left on a horizontal axis. A second line in a name is muted.
	Rows []string
	// Never, if set, is the label of a strip beyond the end of the axis where
	// values of +Inf are drawn: "never".
	Never string
}

// An axis is an Axis that has seen its data.
type axis struct {
	Axis
	lo, hi float64
	ticks  []tick
}

// resolve decides range and ticks. There is room for about n ticks; a loose
// axis ends at a tick.
func (a Axis) resolve(e extent, n int, loose bool) (axis, error) {
	out := axis{Axis: a}
	if e.never > 0 && a.Never == "" {
		return out, fmt.Errorf("value +Inf, want finite ones or an axis with Never")
	}
	if a.Rows != nil {
		return out, out.categories(e)
	}
	if err := a.check(e); err != nil {
		return out, err
	}
	values := a.Ticks
	switch a.Kind {
	case Linear:
		out.lo, out.hi = a.limits(e)
		if a.Range == [2]float64{} && loose {
			out.lo, out.hi = loosen(out.lo, out.hi, n)
		}
		if values == nil {
			values = linearTicks(out.lo, out.hi, n)
		}
	default:
		out.lo, out.hi = a.logLimits(e, loose || a.Kind == LogZero)
		if values == nil {
			values = logTicks(out.lo, out.hi, n)
			if a.Kind == LogZero {
				values = append([]float64{0}, values...)
			}
		}
	}
	for _, t := range label(values, a.Format, a.Kind == Linear && a.Ticks == nil) {
		if out.shows(t.value) {
			out.ticks = append(out.ticks, t)
		}
	}
	return out, nil
}

// largest is the greatest value an axis can show; its inverse is the least.
const largest = 1e100

// check reports what is wrong with the fields for the data.
func (a Axis) check(e extent) error {
	lo, hi := a.Range[0], a.Range[1]
	switch {
	case a.Kind > LogZero:
		return fmt.Errorf("kind %d, want Linear, Log or LogZero", a.Kind)
	case math.IsNaN(hi-lo) || math.IsInf(hi-lo, 0) || a.Range != [2]float64{} && lo >= hi:
		return fmt.Errorf("range %v to %v, want finite and increasing", lo, hi)
	case a.Kind != Linear && a.Range != [2]float64{} && lo <= 0:
		return fmt.Errorf("range from %v on a logarithmic axis, want above 0", lo)
	case a.Kind == Log && e.least <= 0:
		return fmt.Errorf("value %v on a logarithmic axis, want above 0 or LogZero", e.least)
	case a.Kind == LogZero && e.least < 0:
		return fmt.Errorf("value %v on a logarithmic axis with a zero, want at least 0", e.least)
	case max(-e.lo, e.hi, -lo, hi) > largest:
		return fmt.Errorf("value %v, want at most %g in size", max(-e.lo, e.hi, -lo, hi), largest)
	case a.Kind != Linear && e.positive < 1/largest:
		return fmt.Errorf("value %v, want 0 or at least %g", e.positive, 1/largest)
	case lo < hi && hi-lo < max(1e-12*max(-lo, hi), 1/largest):
		return fmt.Errorf("range %v to %v, want it wider", lo, hi)
	}
	for _, t := range a.Ticks {
		if !(math.Abs(t) <= largest) || a.Kind == Log && t <= 0 || a.Kind == LogZero && t < 0 {
			return fmt.Errorf("tick %v, want finite, and above 0 on a logarithmic axis", t)
		}
	}
	return nil
}

// limits returns the range of a linear axis before it is loosened.
func (a Axis) limits(e extent) (lo, hi float64) {
	if a.Range != [2]float64{} {
		return a.Range[0], a.Range[1]
	}
	for _, t := range a.Ticks {
		e.add(t)
	}
	if e.lo <= e.hi {
		lo, hi = math.Min(0, e.lo), math.Max(0, e.hi)
	}
	if e.least >= 0 {
		lo = 0 // the end of an interval does not make a count negative
	}
	if hi-lo < 1/largest {
		hi = lo + 1
	}
	return lo, hi
}

// logLimits returns the range of the logarithmic part of an axis.
func (a Axis) logLimits(e extent, loose bool) (lo, hi float64) {
	if a.Range != [2]float64{} {
		return a.Range[0], a.Range[1]
	}
	for _, t := range a.Ticks {
		e.add(t)
	}
	if math.IsInf(e.positive, 1) {
		e.positive = 1
		e.hi = math.Max(e.hi, 10)
	}
	lo, hi = e.positive, math.Max(e.positive, e.hi)
	if loose || lo == hi {
		lo, hi = logBelow(lo), logAbove(hi)
	}
	if lo == hi {
		lo, hi = logBelow(lo*0.99), logAbove(hi*1.01)
	}
	return lo, hi
}

// shows reports whether a finite value lies on the axis.
func (a axis) shows(v float64) bool {
	const slack = 1e-9
	switch a.Kind {
	case Log:
		return v >= a.lo*(1-slack) && v <= a.hi*(1+slack)
	case LogZero:
		return v >= 0 && v <= a.hi*(1+slack)
	}
	return v >= a.lo-slack*(a.hi-a.lo) && v <= a.hi+slack*(a.hi-a.lo)
}

// categories makes a the axis of its rows.
func (a *axis) categories(e extent) error {
	n := len(a.Rows)
	switch {
	case n == 0:
		return errors.New("no rows, want at least 1")
	case a.Never != "":
		return fmt.Errorf("never %q on an axis of rows, want it on the other axis", a.Never)
	case e.finite > 0 && (e.lo <= -0.5 || e.hi >= float64(n)-0.5):
		bad := e.lo
		if e.lo > -0.5 {
			bad = e.hi
		}
		return fmt.Errorf("row %v, want 0 to %d", bad, n-1)
	}
	a.Kind, a.lo, a.hi = Linear, -0.5, float64(n)-0.5
	for i, name := range a.Rows {
		a.ticks = append(a.ticks, tick{float64(i), name})
	}
	return nil
}

// place lays the axis out along the coordinates from one end of the data area
// to the other; strip is the length set aside for values beyond the axis.
func (a axis) place(from, to, strip vg.Length) scale {
	s := scale{kind: a.Kind, lo: a.lo, hi: a.hi, from: from, to: to}
	if a.Never != "" {
		s.hasNever, s.never = true, to-strip/2
		s.to -= strip + edgePad
	}
	switch a.Kind {
	case LogZero:
		s.zero = from + edgePad
		s.from = s.zero + zeroSize
		s.to -= edgePad
	case Log:
		s.from += edgePad
		s.to -= edgePad
	}
	return s
}
