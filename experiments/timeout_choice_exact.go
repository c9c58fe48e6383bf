package experiments

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
)

// exactTimeoutChoice has the closed forms; Experiment.Doc derives them.
func exactTimeoutChoice(c Cell, metric string, _ int) (float64, bool) {
	l, timeout := latencyLaw(c), chosenTimeout(c)
	t, n, errors := timeout.Seconds(), c.Float("attempts"), c.Float("error_ratio")
	late := latencyTail(l, timeout)
	fail := late + (1-late)*errors
	attempts := retrySeries(fail, int(n))
	switch metric {
	case "timeout_s":
		return t, true
	case "timeout_ratio":
		return late, true
	case "needless_ratio":
		return attempts * late * (1 - errors), true
	case "amplification_ratio":
		return attempts, true
	case "residual_s":
		if late == 0 {
			return 0, false
		}
		return (latencyMean(l) - latencyWithin(l, timeout)) / late, true
	case "held_s":
		return attempts * latencyWithin(l, timeout), true
	case "stalled_held_s":
		return n * t, true
	case "success_ratio":
		return 1 - math.Pow(fail, n), true
	}
	return 0, false
}

// lognormal returns the mean and standard deviation of the logarithm, in s.
func lognormal(l model.Law) (mu, sigma float64) {
	s2 := math.Log1p(l.CV * l.CV)
	return math.Log(l.Mean.Seconds()) - s2/2, math.Sqrt(s2)
}

// normalTail is P[Z > z] of a standard normal variable.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// latencyTail is P[T ≥ t]: what ends at the instant of the timeout has timed
// out.
func latencyTail(l model.Law, t time.Duration) float64 {
	switch l.Kind {
	case model.Lognormal:
		mu, sigma := lognormal(l)
		return normalTail((math.Log(t.Seconds()) - mu) / sigma)
	case model.Exponential:
		return math.Exp(-t.Seconds() / l.Mean.Seconds())
	}
	lo, hi := 0.0, 1.0 // the quantile function is below t up to lo, and not from hi on
	for range 60 {
		mid := (lo + hi) / 2
		if mid == 1 {
			break
		}
		if l.Quantile(mid) < t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return 1 - hi
}

// latencyMean is E[T], s.
func latencyMean(l model.Law) float64 {
	if l.Kind == model.Lognormal || l.Kind == model.Exponential {
		return l.Mean.Seconds()
	}
	return latencyWithin(l, math.MaxInt64)
}

// latencySteps is the number of intervals of latencyWithin between two
// quantiles.
const latencySteps = 2000

// latencyWithin is E[min(T, t)], s. For a law given by quantiles it is the
// integral of their function cut at t, by the midpoint rule between the points.
func latencyWithin(l model.Law, t time.Duration) float64 {
	switch l.Kind {
	case model.Lognormal:
		mu, sigma := lognormal(l)
		x := math.Log(t.Seconds())
		return l.Mean.Seconds()*normalTail(-(x-mu-sigma*sigma)/sigma) + t.Seconds()*normalTail((x-mu)/sigma)
	case model.Exponential:
		m := l.Mean.Seconds()
		return -m * math.Expm1(-t.Seconds()/m)
	}
	sum, from := 0.0, 0.0
	for _, p := range append(l.Points[:len(l.Points):len(l.Points)], model.Point{P: 1}) {
		width := (p.P - from) / latencySteps
		for i := range latencySteps {
			if width > 0 {
				sum += width * min(l.Quantile(from+(float64(i)+0.5)*width), t).Seconds()
			}
		}
		from = p.P
	}
	return sum
}
