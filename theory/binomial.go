package theory

import "math"

// BinomialTail returns P[Bin(n, p) >= k], the probability that at least k of n
// independent trials fail. It is 1 for k <= 0 and 0 for k > n. The relative
// error is below 1e-12 as long as the value is a normal float64, however small
// it is.
//
// The first term is Loader's (2000) saddle-point form of the binomial
// probability, the others follow from it by their exact ratios; the side of
// the distribution that does not hold the mean is the one that is added up.
func BinomialTail(n int, p float64, k int) (float64, error) {
	if err := checkAtLeast("binomial tail", "n", int64(n), 0); err != nil {
		return 0, err
	}
	if err := checkProbability("binomial tail", "p", p); err != nil {
		return 0, err
	}
	return binomialTail(n, k, p), nil
}

// BinomialPMF returns P[Bin(n, p) = k]; it is 0 for k < 0 and k > n. Source and
// accuracy are those of [BinomialTail].
func BinomialPMF(n int, p float64, k int) (float64, error) {
	if err := checkAtLeast("binomial probability", "n", int64(n), 0); err != nil {
		return 0, err
	}
	if err := checkProbability("binomial probability", "p", p); err != nil {
		return 0, err
	}
	return binomialPMF(n, k, p), nil
}

// binomialTail is P[Bin(n, p) >= k] for n >= 0 and p in [0, 1].
func binomialTail(n, k int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	case float64(k) > float64(n)*p:
		return upperSum(n, k, p)
	}
	return 1 - lowerSum(n, k-1, p)
}

// binomialCDF is P[Bin(n, p) <= k] for n >= 0 and p in [0, 1]. Unlike
// 1 - binomialTail(n, k+1, p) it keeps its relative accuracy when it is small.
func binomialCDF(n, k int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	case float64(k) < float64(n)*p:
		return lowerSum(n, k, p)
	}
	return 1 - upperSum(n, k+1, p)
}

// upperSum adds the terms k, k+1, …, n; they fall if k is above the mean.
func upperSum(n, k int, p float64) float64 {
	term, sum, odds := 1.0, 1.0, p/(1-p)
	for i := k; i < n; i++ {
		term *= float64(n-i) / float64(i+1) * odds
		sum += term
		if term < sum*1e-17 {
			break
		}
	}
	return binomialPMF(n, k, p) * sum
}

// lowerSum adds the terms k, k-1, …, 0; they fall if k is below the mean.
func lowerSum(n, k int, p float64) float64 {
	term, sum, odds := 1.0, 1.0, (1-p)/p
	for i := k; i > 0; i-- {
		term *= float64(i) / float64(n-i+1) * odds
		sum += term
		if term < sum*1e-17 {
			break
		}
	}
	return binomialPMF(n, k, p) * sum
}

// binomialPMF is P[Bin(n, p) = k] for n >= 0 and p in [0, 1].
func binomialPMF(n, k int, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case p == 0:
		return indicator(k == 0)
	case p == 1:
		return indicator(k == n)
	case k == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case k == n:
		return math.Exp(float64(n) * math.Log(p))
	}
	N, x, y := float64(n), float64(k), float64(n-k)
	log := stirlingError(n) - stirlingError(k) - stirlingError(n-k) - deviance(x, N*p) - deviance(y, N*(1-p))
	return math.Exp(log) * math.Sqrt(N/(2*math.Pi*x*y))
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// deviance is x·ln(x/m) + m - x for x > 0 and m > 0, without the cancellation
// between its parts when x is near m (Loader 2000).
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.3*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	// With v = (x-m)/(x+m), ln(x/m) = 2·(v + v³/3 + v⁵/5 + …).
	v := (x - m) / (x + m)
	sum, power := (x-m)*v, 2*x*v
	for i := 3; ; i += 2 {
		power *= v * v
		next := sum + power/float64(i)
		if next == sum {
			return sum
		}
		sum = next
	}
}

// stirlingError is ln(n!) minus Stirling's formula ln(sqrt(2πn)·(n/e)ⁿ), n >= 1.
func stirlingError(n int) float64 {
	x := float64(n)
	if n < len(smallStirling) {
		return smallStirling[n]
	}
	// The Stirling series (Abramowitz and Stegun 1964, 6.1.41).
	s := 1 / (x * x)
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-(1.0/1188-691.0/360360*s)*s)*s)*s)*s) / x
}

// smallStirling holds the values for which the series is too short: there n!
// is exact in a float64.
var smallStirling = func() (table [17]float64) {
	factorial := 1.0
	for n := 1; n < len(table); n++ {
		x := float64(n)
		factorial *= x
		table[n] = math.Log(factorial) - 0.5*math.Log(2*math.Pi*x) - x*math.Log(x) + x
	}
	return table
}()
