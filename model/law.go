package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// The kinds of Law.
const (
	Constant    = "constant"    // always Mean
	Uniform     = "uniform"     // whole nanoseconds from Low to High, High excluded
	Exponential = "exponential" // by Mean
	Lognormal   = "lognormal"   // by Mean and CV
	Gamma       = "gamma"       // by Mean and CV
	Quantiles   = "quantiles"   // through Points
	Empirical   = "empirical"   // one of Samples
)

var lawKinds = []string{Constant, Uniform, Exponential, Lognormal, Gamma, Quantiles, Empirical}

// A Law is a distribution of durations. The zero Law is the constant 0. A
// field that the kind does not use must be zero.
type Law struct {
	// Kind is one of the constants above; "" means Constant.
	Kind string

	// Mean is the value of a constant law, at least 0, and the mean of an
	// exponential, lognormal or gamma one, above 0.
	Mean time.Duration
	// CV is the coefficient of variation of a lognormal or gamma law, its
	// standard deviation divided by its mean: above 0, at most 1000. A gamma
	// law has the shape 1/CV² and the scale Mean·CV²; it is the exponential
	// one at 1, and the Erlang one of k stages at 1/√k.
	CV float64
	// Low and High bound a uniform law: Low at least 0, High above Low.
	Low, High time.Duration
	// Points are known quantiles, at least one, P strictly increasing and D
	// not decreasing. Between two of them the logarithm of the duration is
	// linear in the probability, or the duration itself where the lower one
	// is 0. Below the first point it is linear from 0 at P = 0; above the
	// last it stays. Points at P = 0 and 1 set a minimum and a maximum.
	Points []Point
	// Samples are the durations of an empirical law, such as those that were
	// measured: 1 to 1,000,000 in ascending order, the first at least 0, each
	// as likely as the others and drawn as it is.
	Samples []time.Duration
}

// A Point is one quantile: a share P, from 0 to 1, of all durations is at most D.
type Point struct {
	P float64
	D time.Duration
}

const maxCV = 1000

// Validate reports the first field that is out of range or not used by the kind.
func (l Law) Validate() error {
	if text := l.problem(); text != "" {
		return errors.New("model: law " + text)
	}
	return nil
}

// problem is Validate's text after the name of the thing, "" if there is none.
func (l Law) problem() string {
	kind := l.Kind
	if kind == "" {
		kind = Constant
	}
	byCV := kind == Lognormal || kind == Gamma
	var rule string
	switch {
	case !slices.Contains(lawKinds, kind):
		return fmt.Sprintf("%q: unknown kind, want one of %s", kind, strings.Join(lawKinds, ", "))
	case l.Mean != 0 && (kind == Uniform || kind == Quantiles || kind == Empirical):
		rule = fmt.Sprintf("mean %v, the kind has none to set", l.Mean)
	case l.CV != 0 && !byCV:
		rule = fmt.Sprintf("CV %v, only a lognormal or a gamma law has one", l.CV)
	case (l.Low != 0 || l.High != 0) && kind != Uniform:
		rule = fmt.Sprintf("bounds %v and %v, only a uniform law has them", l.Low, l.High)
	case len(l.Points) > 0 && kind != Quantiles:
		rule = fmt.Sprintf("%d points, only a quantiles law has them", len(l.Points))
	case len(l.Samples) > 0 && kind != Empirical:
		rule = fmt.Sprintf("%d samples, only an empirical law has them", len(l.Samples))
	case kind == Constant && l.Mean < 0:
		rule = fmt.Sprintf("mean %v, want at least 0", l.Mean)
	case (kind == Exponential || byCV) && l.Mean <= 0:
		rule = fmt.Sprintf("mean %v, want above 0", l.Mean)
	case byCV && !(l.CV > 0 && l.CV <= maxCV):
		rule = fmt.Sprintf("CV %v, want above 0 and at most %d", l.CV, maxCV)
	case kind == Uniform && l.Low < 0:
		rule = fmt.Sprintf("low %v, want at least 0", l.Low)
	case kind == Uniform && l.High <= l.Low:
		rule = fmt.Sprintf("high %v, want above low %v", l.High, l.Low)
	case kind == Quantiles:
		rule = pointsProblem(l.Points)
	case kind == Empirical:
		rule = samplesProblem(l.Samples)
	}
	if rule == "" {
		return ""
	}
	return fmt.Sprintf("%q: %s", kind, rule)
}

// Sample draws a duration, from exactly one number of r whatever the kind: two
// laws that are sampled from equal streams stay in step.
func (l Law) Sample(r *sim.Rand) time.Duration { return l.quantile(r.Float64()) }

// Quantile returns the duration below which a share u of the law lies, rounded
// to the nearest nanosecond (a uniform one down, to stay below High), and at
// most the largest Duration. It does not decrease in u (a gamma law may by
// rounding, 1 part in 1e12), so that a u from sim.Draws gives common random
// numbers: the same luck under another law. It panics unless 0 ≤ u < 1. The law
// must be valid.
func (l Law) Quantile(u float64) time.Duration {
	if !(u >= 0 && u < 1) {
		panic(fmt.Sprintf("model: quantile at %v of law %q, want from 0 to below 1", u, l.Kind))
	}
	return l.quantile(u)
}

// quantile has a pointer receiver because a copy costs more than a draw.
func (l *Law) quantile(u float64) time.Duration {
	switch l.Kind {
	case Uniform:
		return min(l.Low+time.Duration(u*float64(l.High-l.Low)), l.High-1)
	case Exponential:
		return nanoseconds(-float64(l.Mean) * math.Log(1-u))
	case Lognormal:
		// ln X is normal with variance s² = ln(1+CV²) and mean ln(Mean) - s²/2.
		s2 := math.Log1p(l.CV * l.CV)
		z := math.Sqrt2 * math.Erfinv(2*u-1)
		return nanoseconds(float64(l.Mean) * math.Exp(float64(math.Sqrt(s2)*z)-s2/2))
	case Gamma:
		return nanoseconds(float64(l.Mean) * gammaQuantile(l.CV, u))
	case Quantiles:
		return pointsQuantile(l.Points, u)
	case Empirical:
		return samplesQuantile(l.Samples, u)
	}
	return l.Mean
}

// MeanDuration is the mean of a valid law, rounded to the nearest nanosecond.
func (l Law) MeanDuration() time.Duration {
	switch l.Kind {
	case Uniform:
		return l.Low + (l.High-1-l.Low)/2
	case Quantiles:
		return nanoseconds(pointsMean(l.Points))
	case Empirical:
		return samplesMean(l.Samples)
	}
	return l.Mean
}

// nanoseconds rounds a non-negative number to the nearest Duration there is.
func nanoseconds(x float64) time.Duration {
	if !(x < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(math.RoundToEven(x))
}
