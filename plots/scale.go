package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// A Kind is how an axis maps values to positions.
type Kind uint8

const (
	// Linear is the default. It starts at zero unless the axis has a Range.
	Linear Kind = iota
	// Log is logarithmic; every value must be positive. Lower bounds of bands
	// and whiskers that are not, end at the edge.
	Log
	// LogZero is logarithmic with a separate place for 0 before its start, for
	// counts that span several decades and are sometimes 0. Between the place
	// of 0 and the start of the logarithmic part, which is marked as a break,
	// it is linear; values below 0 are drawn at 0.
	LogZero
)

// A scale maps the values of one axis to coordinates on the surface.
type scale struct {
	kind     Kind
	lo, hi   float64   // the values at from and to
	from, to vg.Length // for categories listed downwards, from is above to
	zero     vg.Length // where 0 is, for LogZero
	hasNever bool
	never    vg.Length // where +Inf is
}

// at returns the coordinate of a value.
func (s scale) at(v float64) vg.Length {
	if math.IsInf(v, 1) && s.hasNever {
		return s.never
	}
	switch s.kind {
	case Log:
		if v <= 0 {
			return s.from
		}
		return s.mix(math.Log(v/s.lo) / math.Log(s.hi/s.lo))
	case LogZero:
		switch {
		case v <= 0:
			return s.zero
		case v < s.lo:
			return s.zero + vg.Length(v/s.lo)*(s.from-s.zero)
		}
		return s.mix(math.Log(v/s.lo) / math.Log(s.hi/s.lo))
	}
	return s.mix((v - s.lo) / (s.hi - s.lo))
}

// mix returns the coordinate at a fraction of the way.
func (s scale) mix(f float64) vg.Length { return s.from + vg.Length(f)*(s.to-s.from) }

// unit returns the distance between two neighbouring categories.
func (s scale) unit() vg.Length {
	d := (s.to - s.from) / vg.Length(s.hi-s.lo)
	return max(d, -d)
}
