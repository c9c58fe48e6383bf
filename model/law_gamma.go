package model

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// nearlyNormal is the CV up to which gammaNormal is good to 1 part in 1e12 for
// every u with 53 bits, 2^-53 included.
const nearlyNormal = 5e-3

// gammaQuantile is the quantile at u of a gamma law with mean 1 and the given
// CV: shape 1/CV², scale CV².
func gammaQuantile(cv, u float64) float64 {
	switch {
	case u == 0:
		return 0
	case cv <= nearlyNormal:
		return gammaNormal(cv, mathext.NormalQuantile(u))
	}
	return cv * cv * gammaInverse(1/(cv*cv), u)
}

// gammaNormal is the quantile that belongs to the quantile z of the standard
// normal distribution, by the expansion of Cornish and Fisher (1938): the
// cumulant of order n of the normalised gamma law is (n-1)!·CV^(n-2).
func gammaNormal(cv, z float64) float64 {
	z2 := z * z
	fifth := z * (float64((float64(9*z2)+256)*z2) - 433) / 38880
	fourth := (float64((float64(3*z2)+7)*z2) - 16) / 810
	third := z * (z2 - 7) / 36
	y := z + float64(cv*((z2-1)/3+float64(cv*(third-float64(cv*(fourth-float64(cv*fifth)))))))
	return max(0, 1+float64(cv*y))
}

// gammaInverse solves P(a, x) = u for x, where P is the regularised incomplete
// gamma function: by Halley's method on the logarithm of the smaller tail as a
// function of t = ln x. The root is never left by more than half of what
// remains, so that it is found from any start.
//
// (GammaIncRegInv of gonum v0.17 takes 2 to 500 times as long, depending on the
// shape, and panics for very small u.)
func gammaInverse(a, u float64) float64 {
	lgamma, _ := math.Lgamma(a + 1)
	// P lies between x^a e^-x/Γ(a+1) and x^a/Γ(a+1). So this is a lower bound,
	// and the root itself where it is small.
	low, high := (math.Log(u)+lgamma)/a, math.Inf(1)
	if low < -38 { // e^-38 is 3e-17
		return math.Exp(low)
	}
	t := max(low, math.Log(gammaGuess(a, u)))
	for range 200 {
		x := math.Exp(t)
		density := math.Exp(float64(a*t)-x-lgamma) * a // dP/dt
		var f, slope, bend float64                     // f is 0 at the root; f' and f''/f'
		if u <= 0.5 {
			p := mathext.GammaIncReg(a, x)
			f, slope = math.Log(p/u), density/p
			bend = a - x - slope
		} else {
			q := gammaUpper(a, t, lgamma)
			f, slope = math.Log((1-u)/q), density/q
			bend = a - x + slope
		}
		if f < 0 {
			low = t
		} else {
			high = t
		}
		step := -f / slope
		step /= max(0.5, 1+step*bend/2)
		next := t + step
		if !(next >= low && next <= high) {
			if next = t + 1; !math.IsInf(high, 1) {
				next = (low + high) / 2
			}
		} else if math.Abs(step) < 1e-5 { // the next error is its third power
			return math.Exp(next)
		}
		t = next
	}
	return math.Exp(t)
}

// gammaUpper is the upper tail 1 - P(a, e^t); lgamma is ln Γ(a+1). For small
// shapes it takes the series
//
//	1 - P(a, x) = 1 - x^a/Γ(a+1)·(1 + a·Σ (-x)^n/((a+n)·n!)), n = 1, 2, …
//
// (NIST Handbook 8.7.1), which needs no constant anew for each x.
func gammaUpper(a, t, lgamma float64) float64 {
	x := math.Exp(t)
	if a >= 1 || x > 1.1 {
		return mathext.GammaIncRegComp(a, x)
	}
	sum, power := 0.0, 1.0
	for n := 1.0; n < 100; n++ {
		power *= -x / n
		term := power / (a + n)
		sum += term
		if math.Abs(term) < 1e-17*math.Abs(sum) {
			break
		}
	}
	y := float64(a*t) - lgamma
	return -math.Expm1(y) - float64(math.Exp(y)*a*sum)
}

// gammaGuess is near the root: by Wilson and Hilferty (1931) for large shapes,
// and for others by the ends of the law, as in Numerical Recipes (Press et al.
// 2007, 6.2.1).
func gammaGuess(a, u float64) float64 {
	if a > 1 {
		if w := 1 - 1/(9*a) + mathext.NormalQuantile(u)/(3*math.Sqrt(a)); w > 0 {
			return a * w * w * w
		}
		return 0
	}
	if t := 1 - a*(0.253+float64(a*0.12)); u < t {
		return math.Pow(u/t, 1/a)
	} else {
		return 1 - math.Log((1-u)/(1-t))
	}
}
