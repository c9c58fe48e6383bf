package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The constants solve the equations they are said to solve: with the base
// layer of area v, 255 more layers of area v end at f(0) = 1.
func TestZigguratConstants(t *testing.T) {
	normTail := math.Sqrt(math.Pi/2) * math.Erfc(normR/math.Sqrt2)
	for _, c := range []struct {
		name             string
		r, v, tail, atR  float64
		f, g             func(float64) float64
		layers           *[zigLayers]zigLayer
		heights          *[zigLayers + 1]float64
		unit, toleration float64
	}{
		{"exponential", expR, expV, math.Exp(-expR), math.Exp(-expR),
			func(x float64) float64 { return math.Exp(-x) },
			func(y float64) float64 { return -math.Log(y) },
			&expLayer, &expHeight, 0x1p-53, 1e-13},
		{"normal", normR, normV, normTail, math.Exp(-normR * normR / 2),
			func(x float64) float64 { return math.Exp(-x * x / 2) },
			func(y float64) float64 { return math.Sqrt(-2 * math.Log(y)) },
			&normLayer, &normHeight, 0x1p-52, 1e-10},
	} {
		if area := c.r*c.atR + c.tail; math.Abs(area/c.v-1) > c.toleration {
			t.Errorf("%s: area of the base layer %.17g, want %.17g", c.name, area, c.v)
		}
		edge, height := c.r, c.atR
		for i := 1; i < zigLayers; i++ {
			if got := c.layers[i].scale / c.unit; math.Abs(got-edge) > 1e-9 {
				t.Errorf("%s: edge of layer %d is %.15g, want %.15g", c.name, i, got, edge)
			}
			if got := c.heights[i]; math.Abs(got-height) > 1e-12 {
				t.Errorf("%s: height of layer %d is %.15g, want %.15g", c.name, i, got, height)
			}
			if i < zigLayers-1 {
				if area := edge * (c.heights[i+1] - c.heights[i]); math.Abs(area/c.v-1) > 1e-12 {
					t.Errorf("%s: area of layer %d is %.15g, want %.15g", c.name, i, area, c.v)
				}
				if c.layers[i].inner != c.layers[i+1].scale/c.unit {
					t.Errorf("%s: layer %d ends at %g, the next at %g", c.name, i, c.layers[i].inner, c.layers[i+1].scale/c.unit)
				}
			}
			height += c.v / edge
			edge = c.g(height)
		}
		if math.Abs(height-1) > 1e-8 {
			t.Errorf("%s: the layers end at height %.15g, want 1", c.name, height)
		}
		if top := c.layers[zigLayers-1].inner; top != 0 {
			t.Errorf("%s: the top layer has an inner part of width %g", c.name, top)
		}
	}
}

// Sums of n numbers against the moments of the law.
func TestZigguratMoments(t *testing.T) {
	const n = 4_000_000
	r := Stream(1, 0, "moments")
	var exp, norm [7]float64
	for range n {
		x, y := r.ExpFloat64(), r.NormFloat64()
		px, py := 1.0, 1.0
		for k := 1; k <= 6; k++ {
			px *= x
			py *= y
			exp[k] += px
			norm[k] += py
		}
	}
	factorial := func(k int) float64 { return math.Gamma(float64(k) + 1) }
	for k := 1; k <= 6; k++ {
		// E X^k = k!, and for the normal law (k−1)!! or 0.
		want := factorial(k)
		sd := math.Sqrt(factorial(2*k) - want*want)
		checkNormal(t, fmt.Sprintf("exponential, moment %d", k), (exp[k]/n-want)/sd*math.Sqrt(n))

		want = 0
		if k%2 == 0 {
			want = doubleFactorial(k - 1)
		}
		sd = math.Sqrt(doubleFactorial(2*k-1) - want*want)
		checkNormal(t, fmt.Sprintf("normal, moment %d", k), (norm[k]/n-want)/sd*math.Sqrt(n))
	}
}

func doubleFactorial(k int) float64 {
	p := 1.0
	for ; k > 1; k -= 2 {
		p *= float64(k)
	}
	return p
}

func TestZigguratLaws(t *testing.T) {
	const n = 500_000
	r := Stream(2, 0, "laws")
	exp, norm, folded := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		exp[i], norm[i] = r.ExpFloat64(), r.NormFloat64()
		folded[i] = math.Abs(norm[i])
	}
	checkUncorrelated(t, "exponential, lag 1", exp[1:], exp[:n-1])
	checkUncorrelated(t, "normal, lag 1", norm[1:], norm[:n-1])
	checkUncorrelated(t, "exponential against normal", exp, norm)
	checkLaw(t, "exponential", exp, func(x float64) float64 { return -math.Expm1(-x) })
	checkLaw(t, "normal", norm, distuv.UnitNormal.CDF)
	checkLaw(t, "size of normal", folded, func(x float64) float64 { return math.Erf(x / math.Sqrt2) })
}

// Equally likely bins: each layer's edge and the tail would show as a bin with
// too much or too little.
func TestZigguratBins(t *testing.T) {
	const n, bins = 4_000_000, 1000
	r := Stream(3, 0, "bins")
	exp, norm := make([]int, bins), make([]int, bins)
	for range n {
		exp[bin(math.Exp(-r.ExpFloat64()), bins)]++
		norm[bin(math.Erfc(r.NormFloat64()/math.Sqrt2)/2, bins)]++
	}
	checkUniform(t, "exponential", exp)
	checkUniform(t, "normal", norm)
}

func bin(p float64, bins int) int { return min(int(p*float64(bins)), bins-1) }

// The tails begin in layer 0, by code of their own: numbers beyond r must come
// as often as the law says, and follow it there.
func TestZigguratTails(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine, 40 million numbers")
	}
	const n = 20_000_000
	r := Stream(4, 0, "tails")
	const expFrom, normFrom = 7.0, 3.4 // before r, to have the joint in the middle
	var exp, norm []float64
	for range n {
		if x := r.ExpFloat64(); x > expFrom {
			exp = append(exp, x)
		}
		if x := math.Abs(r.NormFloat64()); x > normFrom {
			norm = append(norm, x)
		}
	}
	checkCount := func(what string, got int, p float64) {
		checkNormal(t, what+": how often", (float64(got)-n*p)/math.Sqrt(n*p*(1-p)))
	}
	pExp, pNorm := math.Exp(-expFrom), math.Erfc(normFrom/math.Sqrt2)
	checkCount("exponential tail", len(exp), pExp)
	checkCount("normal tail", len(norm), pNorm)
	checkLaw(t, "exponential tail", exp, func(x float64) float64 { return 1 - math.Exp(-x)/pExp })
	checkLaw(t, "normal tail", norm, func(x float64) float64 { return 1 - math.Erfc(x/math.Sqrt2)/pNorm })
}

// The share of numbers that are taken at once, which the comment states.
func TestZigguratSpeedClaim(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers *[zigLayers]zigLayer
		unit   float64
		want   float64
	}{{"exponential", &expLayer, 0x1p-53, 0.978}, {"normal", &normLayer, 0x1p-52, 0.985}} {
		share := make([]float64, zigLayers)
		for i, l := range c.layers {
			share[i] = l.inner / (l.scale / c.unit)
		}
		if got := stat.Mean(share, nil); math.Abs(got-c.want) > 0.0005 {
			t.Errorf("%s: %.4f taken at once, want %.3f", c.name, got, c.want)
		}
	}
}

// The package's own exponential and logarithm agree with package math to two
// units in the last place over the range the tables use.
func TestPortableExpLog(t *testing.T) {
	close := func(got, want float64) bool {
		return math.Abs(got-want) <= 4*0x1p-53*math.Abs(want)
	}
	for i := range 20_000 {
		x := -float64(i) / 2000
		if got, want := expm(x), math.Exp(x); !close(got, want) {
			t.Errorf("expm(%g) = %.17g, want %.17g", x, got, want)
		}
		y := float64(i+1) / 20_000
		if got, want := logm(y), math.Log(y); !close(got, want) {
			t.Errorf("logm(%g) = %.17g, want %.17g", y, got, want)
		}
	}
}

func BenchmarkRand(b *testing.B) {
	r := Stream(1, 0, "bench")
	for _, c := range []struct {
		name string
		run  func(n int) float64
	}{
		{"Uint64", func(n int) float64 {
			var sum uint64
			for range n {
				sum += r.Uint64()
			}
			return float64(sum)
		}},
		{"Exp", func(n int) (sum float64) {
			for range n {
				sum += r.ExpFloat64()
			}
			return sum
		}},
		{"Norm", func(n int) (sum float64) {
			for range n {
				sum += r.NormFloat64()
			}
			return sum
		}},
		{"StdExp", func(n int) (sum float64) { // math/rand/v2 on PCG, to compare
			std := rand.New(rand.NewPCG(1, 2))
			for range n {
				sum += std.ExpFloat64()
			}
			return sum
		}},
	} {
		b.Run(c.name, func(b *testing.B) { keep(b, c.run(b.N)) })
	}
}

// keep uses a result, so that the work for it is not removed.
func keep(b *testing.B, x float64) {
	if math.IsNaN(x) {
		b.Fatal("not a number")
	}
}
