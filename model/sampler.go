package model

import (
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A sampler draws from a law, the common kinds without looking at its name.
type sampler struct {
	kind lawKind
	mean float64
	law  Law
	lane *sim.Lane // of a constant law
}

type lawKind uint8

const (
	lawZero lawKind = iota
	lawConstant
	lawExponential
	lawOther
)

func newSampler(l Law, e *sim.Engine) sampler {
	s := sampler{kind: lawOther, mean: float64(l.Mean), law: l}
	switch {
	case (l.Kind == "" || l.Kind == Constant) && l.Mean == 0:
		s.kind = lawZero
	case l.Kind == "" || l.Kind == Constant:
		s.kind = lawConstant
		s.lane = e.Lane(l.Mean)
	case l.Kind == Exponential:
		s.kind = lawExponential
	}
	return s
}

// draw returns the duration at the uniform number of an attempt of a request.
func (s *sampler) draw(d *sim.Draws, request, attempt uint64) time.Duration {
	switch s.kind {
	case lawZero:
		return 0
	case lawConstant:
		return s.law.Mean
	case lawExponential:
		return nanoseconds(s.mean * d.ExpFloat64(request, attempt))
	}
	return s.law.quantile(d.Float64(request, attempt))
}
