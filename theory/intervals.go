package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MeanSD returns the mean and the standard deviation (divisor n-1) of a
// sample. Both are NaN for an empty one, and the standard deviation is NaN for
// a single value. Equal values have a standard deviation of exactly 0, and the
// mean of whole numbers is their sum, which is exact, divided by n.
func MeanSD(values []float64) (mean, sd float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	n := float64(len(values))
	sum, equal := 0.0, true
	for _, v := range values {
		sum += v
		equal = equal && v == values[0]
	}
	mean = sum / n
	if equal {
		mean = values[0]
	}
	if len(values) == 1 {
		return mean, math.NaN()
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1))
}

// StudentInterval returns the two-sided confidence interval of a mean from a
// sample's size, mean and standard deviation (divisor n-1), by Student's t
// with n-1 degrees of freedom (Student 1908). It is NaN for n < 2, and
// collapses to the mean if the standard deviation is 0. It panics unless the
// confidence is above 0 and below 1.
func StudentInterval(n int, mean, sd, confidence float64) (lo, hi float64) {
	mustConfidence(confidence)
	switch {
	case n < 2 || math.IsNaN(mean) || !(sd >= 0):
		return math.NaN(), math.NaN()
	case sd == 0:
		return mean, mean
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.5 + confidence/2)
	half := t * sd / math.Sqrt(float64(n))
	return mean - half, mean + half
}

// WilsonInterval returns the two-sided confidence interval of a proportion
// from the number of successes in n trials, by Wilson's (1927) score method,
// which stays inside [0, 1] and does not collapse at 0 or n successes. It is
// NaN for n < 1. It panics unless successes are 0 to n and the confidence is
// above 0 and below 1.
func WilsonInterval(successes, n int, confidence float64) (lo, hi float64) {
	mustConfidence(confidence)
	if n < 1 {
		return math.NaN(), math.NaN()
	}
	if successes < 0 || successes > n {
		panic(fmt.Sprintf("theory: Wilson interval: %d successes in %d trials", successes, n))
	}
	z := distuv.UnitNormal.Quantile(0.5 + confidence/2)
	trials, p := float64(n), float64(successes)/float64(n)
	middle := (p + z*z/(2*trials)) / (1 + z*z/trials)
	half := z * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials)) / (1 + z*z/trials)
	lo, hi = max(middle-half, 0), min(middle+half, 1)
	if successes == 0 {
		lo = 0
	}
	if successes == n {
		hi = 1
	}
	return lo, hi
}

func mustConfidence(confidence float64) {
	if !(confidence > 0 && confidence < 1) {
		panic(fmt.Sprintf("theory: confidence %v, want above 0 and below 1", confidence))
	}
}

// ZScore returns how many standard errors a sample's mean is above an exact
// mean: (mean - exact)·sqrt(n)/sd. It is NaN for n < 2. If the standard
// deviation is 0 it is 0 where the means agree and infinite where they do not.
func ZScore(n int, mean, sd, exact float64) float64 {
	switch {
	case n < 2 || math.IsNaN(mean) || math.IsNaN(exact) || !(sd >= 0):
		return math.NaN()
	case mean == exact:
		return 0
	}
	return (mean - exact) / sd * math.Sqrt(float64(n))
}
