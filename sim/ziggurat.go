package sim

import "math"

// The ziggurat of Marsaglia and Tsang ("The ziggurat method for generating
// random variables", Journal of Statistical Software 5, 2000) with 256 layers.
// A decreasing density f on [0, ∞) is covered by layers of equal area v: layer
// i ≥ 1 is the rectangle from 0 to edge[i] between the heights f(edge[i]) and
// f(edge[i+1]); layer 0 lies below f(r), from 0 to r and the tail beyond. A
// point in the part of its layer that lies wholly under f is taken at once:
// 97.8 times in 100 for the exponential law, 98.5 for the normal.
//
// One word gives the layer (8 lowest bits) and the place in it (53 highest).
const zigLayers = 256

// Right end r of the base layer and common area v: the solution of
// r·f(r) + ∫f from r to ∞ = v for which 255 more layers of area v end exactly
// at f(0) (same paper, and checked by a test).
const (
	expR  = 7.69711747013104972
	expV  = 0.0039496598225815571993
	normR = 3.6541528853610088
	normV = 0.00492867323399
)

// A zigLayer maps the signed or unsigned 53-bit place to x by scale; x below
// inner is under the density.
type zigLayer struct{ scale, inner float64 }

var (
	expLayer   [zigLayers]zigLayer
	expHeight  [zigLayers + 1]float64
	normLayer  [zigLayers]zigLayer
	normHeight [zigLayers + 1]float64
)

// The tables hold the same bits on every platform: see expm and logm.
func init() {
	buildLayers(&expLayer, &expHeight, expR, expV, 0x1p-53,
		func(x float64) float64 { return expm(-x) },
		func(y float64) float64 { return -logm(y) })
	buildLayers(&normLayer, &normHeight, normR, normV, 0x1p-52,
		func(x float64) float64 { return expm(-0.5 * x * x) },
		func(y float64) float64 { return math.Sqrt(-2 * logm(y)) })
}

// buildLayers fills the tables of the density f with inverse g, from the base up.
func buildLayers(layer *[zigLayers]zigLayer, height *[zigLayers + 1]float64, r, v, unit float64, f, g func(float64) float64) {
	edge := r
	height[0], height[1] = 0, f(r)
	layer[0].scale, layer[0].inner = v/height[1]*unit, r
	for i := 1; i < zigLayers; i++ {
		next := 0.0
		height[i+1] = 1
		if i < zigLayers-1 {
			height[i+1] = height[i] + v/edge
			next = g(height[i+1])
		}
		layer[i].scale, layer[i].inner = edge*unit, next
		edge = next
	}
}

// ExpFloat64 returns an exponential number of mean 1, in [0, ∞).
func (r *Rand) ExpFloat64() float64 {
	u := r.Uint64()
	l := &expLayer[u%zigLayers]
	x := float64(int64(u>>11)) * l.scale
	if x < l.inner {
		return x
	}
	return r.expEdge(u%zigLayers, x)
}

// expEdge decides the points that ExpFloat64 could not take at once. Beyond r
// the law is the same as from 0 on, shifted by r. Package math's exponential
// may serve here: it decides about x but is no part of it, and a different last
// bit would change the decision in one of some 10^17 numbers.
func (r *Rand) expEdge(i uint64, x float64) float64 {
	if i == 0 {
		return expR + r.ExpFloat64()
	}
	if r.under(&expHeight, i, math.Exp(-x)) {
		return x
	}
	return r.ExpFloat64()
}

// NormFloat64 returns a normal number of mean 0 and standard deviation 1.
func (r *Rand) NormFloat64() float64 {
	u := r.Uint64()
	l := &normLayer[u%zigLayers]
	x := float64(int64(u)>>11) * l.scale
	if math.Abs(x) < l.inner {
		return x
	}
	return r.normEdge(u%zigLayers, x)
}

// normEdge decides the points that NormFloat64 could not take at once. The
// tail beyond r is drawn by Marsaglia's method of 1964.
func (r *Rand) normEdge(i uint64, x float64) float64 {
	if i == 0 {
		for {
			t, y := r.ExpFloat64()/normR, r.ExpFloat64()
			if 2*y > t*t {
				return math.Copysign(normR+t, x)
			}
		}
	}
	if r.under(&normHeight, i, math.Exp(-0.5*x*x)) {
		return x
	}
	return r.NormFloat64()
}

// under draws a height within layer i and reports whether it lies below f.
func (r *Rand) under(height *[zigLayers + 1]float64, i uint64, f float64) bool {
	rise := float64(r.Float64() * (height[i+1] - height[i]))
	return height[i]+rise < f
}

// expm returns e^x for x ≤ 0 and logm the natural logarithm for y in (0, 1],
// both to about one unit in the last place. Package math may use assembly that
// differs by platform in that unit; these use only operations that IEEE 754
// rounds in one way, and the conversions keep the compiler from fusing them.
func expm(x float64) float64 {
	k := math.Floor(x/math.Ln2 + 0.5)
	x -= float64(k * ln2Hi)
	x -= float64(k * ln2Lo)
	sum := 1.0
	for n := 16.0; n >= 1; n-- {
		sum = 1 + float64(sum*x)/n
	}
	return math.Ldexp(sum, int(k))
}

func logm(y float64) float64 {
	m, e := math.Frexp(y)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	square := float64(s * s)
	sum := 0.0
	for n := 25.0; n >= 1; n -= 2 {
		sum = 1/n + float64(sum*square)
	}
	k := float64(e)
	return float64(k*ln2Hi) + (float64(k*ln2Lo) + float64(2*s*sum))
}

// ln 2 in two parts, the first with enough zeros at its end that small
// multiples of it are exact.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)
