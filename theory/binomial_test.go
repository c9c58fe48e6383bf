package theory

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

// A reporter is a *testing.T or a *rapid.T.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// near fails unless got is within a relative tolerance of want.
func near(t reporter, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s: got %.17g, want %.17g (relative error %.2g, allowed %g)", what, got, want, math.Abs(got/want-1), tol)
	}
}

// must returns v, or fails the test.
func must[T any](t reporter, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sure is must for use inside expressions, where an error is a bug of the test.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// wantError fails unless err mentions all parts.
func wantError(t reporter, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range append(parts, "theory: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want %q in it", err, part)
		}
	}
}

// bigTail adds up P[Bin(n, p) >= k] in 400-bit arithmetic.
func bigTail(n int, p float64, k int) float64 {
	const prec = 400
	P := new(big.Float).SetPrec(prec).SetFloat64(p)
	Q := new(big.Float).SetPrec(prec).Sub(big.NewFloat(1).SetPrec(prec), P)
	powers := func(x *big.Float) []*big.Float {
		list := []*big.Float{big.NewFloat(1).SetPrec(prec)}
		for i := range n {
			list = append(list, new(big.Float).SetPrec(prec).Mul(list[i], x))
		}
		return list
	}
	ps, qs := powers(P), powers(Q)
	sum, ways := new(big.Float).SetPrec(prec), big.NewInt(1)
	for i := range n + 1 {
		if i >= k {
			term := new(big.Float).SetPrec(prec).SetInt(ways)
			term.Mul(term, ps[i])
			sum.Add(sum, term.Mul(term, qs[n-i]))
		}
		ways.Mul(ways, big.NewInt(int64(n-i)))
		ways.Quo(ways, big.NewInt(int64(i+1)))
	}
	v, _ := sum.Float64()
	return v
}

func TestBinomialTailPublished(t *testing.T) {
	for _, test := range []struct {
		n    int
		p    float64
		k    int
		want float64
		tol  float64 // of the digits printed
	}{
		{20, 0.3, 10, 0.047962, 1e-5},
		{20, 0.02, 4, 5.997e-4, 1e-4},
		{100, 0.3, 20, 0.99111, 1e-5},
		{20, 0.3, 4, 0.8929, 1e-4},
	} {
		near(t, "published tail", sure(BinomialTail(test.n, test.p, test.k)), test.want, test.tol)
	}
}

func TestBinomialTailExtremes(t *testing.T) {
	for _, test := range []struct {
		n int
		p float64
		k int
	}{
		{500, 0.02, 100}, // 1.9e-67
		{500, 0.02, 180}, // 1.6e-168
		{3000, 0.02, 400},
		{3000, 0.5, 2400},
		{3000, 0.3, 900},
		{3000, 0.3, 901},
		{1000, 1e-9, 3},
		{1000, 1e-100, 2},
		{1000, 1 - 1e-10, 999},
		{1000, 1e-300, 1},
		{17, 0.5, 9},
		{16, 0.5, 8},
		{1, 0.25, 1},
	} {
		got, want := sure(BinomialTail(test.n, test.p, test.k)), bigTail(test.n, test.p, test.k)
		if want == 0 {
			t.Fatalf("%+v: the reference underflows", test)
		}
		near(t, "tail", got, want, 1e-12)
	}
}

func TestBinomialTailAgainstExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 120).Draw(t, "n")
		k := rapid.IntRange(-1, n+2).Draw(t, "k")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		want := bigTail(n, p, k)
		if want != 0 && want < 1e-300 {
			t.Skip("not a normal float64")
		}
		near(t, "tail", sure(BinomialTail(n, p, k)), want, 1e-12)
	})
}

func TestBinomialTailIsBetaFunction(t *testing.T) {
	for _, p := range []float64{0.001, 0.02, 0.3, 0.5, 0.77} {
		for _, n := range []int{5, 20, 100, 500} {
			for k := 1; k <= n; k += 1 + n/20 {
				want := mathext.RegIncBeta(float64(k), float64(n-k+1), p)
				if want > 1e-250 {
					near(t, "tail", sure(BinomialTail(n, p, k)), want, 1e-10)
				}
			}
		}
	}
}

func TestBinomialTailEdges(t *testing.T) {
	for _, test := range []struct {
		n    int
		p    float64
		k    int
		want float64
	}{
		{0, 0.5, 0, 1}, {0, 0.5, 1, 0}, {5, 0.5, -3, 1}, {5, 0.5, 6, 0},
		{5, 0, 0, 1}, {5, 0, 1, 0}, {5, 1, 5, 1}, {5, 1, 0, 1}, {5, 1, 6, 0},
	} {
		if got := sure(BinomialTail(test.n, test.p, test.k)); got != test.want {
			t.Errorf("BinomialTail(%d, %v, %d) = %v, want %v", test.n, test.p, test.k, got, test.want)
		}
	}
	_, err := BinomialTail(-1, 0.5, 0)
	wantError(t, err, "binomial tail", "n -1", "at least 0")
	_, err = BinomialTail(1, 1.5, 0)
	wantError(t, err, "p 1.5", "0 to 1")
	_, err = BinomialTail(1, math.NaN(), 0)
	wantError(t, err, "p NaN")
	_, err = BinomialPMF(-1, 0.5, 0)
	wantError(t, err, "n -1")
	_, err = BinomialPMF(1, -0.5, 0)
	wantError(t, err, "p -0.5")
}

func TestBinomialPMFAddsUp(t *testing.T) {
	for _, p := range []float64{0, 1e-12, 0.02, 0.5, 0.9, 1} {
		for _, n := range []int{0, 1, 16, 17, 18, 400} {
			sum := 0.0
			for k := 0; k <= n; k++ {
				sum += sure(BinomialPMF(n, p, k))
			}
			near(t, "sum", sum, 1, 1e-12)
		}
	}
}

func TestBinomialTailMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		k := rapid.IntRange(1, n).Draw(t, "k")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := rapid.Float64Range(p, 1).Draw(t, "q")
		a := sure(BinomialTail(n, p, k))
		if b := sure(BinomialTail(n, q, k)); b < a*(1-1e-12) {
			t.Errorf("n %d, k %d: %v at %v, less at %v: %v", n, k, a, p, q, b)
		}
		if b := sure(BinomialTail(n, p, k-1)); b < a*(1-1e-12) {
			t.Errorf("n %d, p %v: %v at k %d, less at %d: %v", n, p, a, k, k-1, b)
		}
		near(t, "both sides", a+binomialCDF(n, k-1, p), 1, 1e-12)
	})
}
