package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

var _ rand.Source = (*Rand)(nil)

// The first numbers of the reference implementation for the state 1, 2, 3, 4.
func TestRandIsXoshiro256PlusPlus(t *testing.T) {
	r := &Rand{1, 2, 3, 4}
	for i, want := range []uint64{
		41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205,
		9973669472204895162, 14011001112246962877, 12406186145184390807,
		15849039046786891736, 10450023813501588000,
	} {
		if got := r.Uint64(); got != want {
			t.Errorf("number %d: got %d, want %d", i, got, want)
		}
	}
}

// The first numbers of SplitMix64 for the seed 1234567.
func TestMixIsSplitMix64(t *testing.T) {
	x := uint64(1234567)
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
	} {
		x += golden
		if got := mix(x); got != want {
			t.Errorf("number %d: got %d, want %d", i, got, want)
		}
	}
}

// Results that were published with a seed depend on these numbers: they never
// change. The lengths of the names cross the boundaries of the hash's words.
func TestStreamGolden(t *testing.T) {
	for _, g := range []struct {
		seed, replication uint64
		source            string
		want              [3]uint64
	}{
		{0, 0, "", [3]uint64{0x1a56e10e47e7e83e, 0xa32e512b53a3ae2d, 0xb1beae5e2ec926f6}},
		{1, 0, "arrivals/edge", [3]uint64{0xd003059fceb4f2b2, 0x5d2f6a6c2b08e279, 0x2f1a01d3514cd48a}},
		{1, 1, "arrivals/edge", [3]uint64{0xf9d875fa07cf9668, 0x9a67daa7785b577b, 0x18b940198afaaacc}},
		{2, 0, "arrivals/edge", [3]uint64{0x4738f9e94478d26b, 0x53a228021bd0452c, 0xf94a9ff51388fc1a}},
		{1, 0, "service", [3]uint64{0xd423455565b85d92, 0xd9f59f26b5e63140, 0xecbaab478935a30}},
		{1, 0, "services", [3]uint64{0x2942a708b8aaab85, 0x1b85fa6b17bfe4eb, 0x8ac82a34bc6adeca}},
		{1, 0, "service/db", [3]uint64{0x9447bb3da3e01144, 0x809bc4dcee7da11e, 0x9e9db627f30232dd}},
		{math.MaxUint64, math.MaxUint64, "Zürich", [3]uint64{0xbcf755b700871fb, 0xc475dd8cc23dac02, 0x7bfb1f2736abdd24}},
	} {
		r := Stream(g.seed, g.replication, g.source)
		for i, want := range g.want {
			if got := r.Uint64(); got != want {
				t.Errorf("Stream(%d, %d, %q) number %d: got %#x, want %#x", g.seed, g.replication, g.source, i, got, want)
			}
		}
	}
}

// The derived numbers are frozen like the words they are made of.
func TestRandGolden(t *testing.T) {
	r := Stream(1, 0, "golden")
	for _, g := range []struct {
		name string
		next func() float64
		want [4]float64
	}{
		{"Float64", r.Float64, [4]float64{0.26785663540097804, 0.2225468320891858, 0.7096974842334763, 0.5790756864736167}},
		{"ExpFloat64", r.ExpFloat64, [4]float64{0.270439226119832, 0.6257962208125833, 2.695739169836414, 1.1162674900562068}},
		{"NormFloat64", r.NormFloat64, [4]float64{-0.545940534657527, 0.48859121094101854, -0.943902761051003, -0.603284250598777}},
		{"IntN", func() float64 { return float64(r.IntN(1000)) }, [4]float64{104, 111, 39, 639}},
	} {
		for i, want := range g.want {
			if got := g.next(); got != want {
				t.Errorf("%s number %d: got %v, want %v", g.name, i, got, want)
			}
		}
	}
	// A million numbers of each law pass through every layer and both tails.
	var exp, norm float64
	for range 1_000_000 {
		exp += r.ExpFloat64()
		norm += r.NormFloat64()
	}
	if wantExp, wantNorm := 1.0014839875007204e+06, 469.55898469046474; exp != wantExp || norm != wantNorm {
		t.Errorf("sums %v and %v, want %v and %v", exp, norm, wantExp, wantNorm)
	}
}

// A stream gives the same numbers whatever other streams are made, and drawn
// from, before it and beside it.
// Every single bit of a name moves about half of the bits of the numbers.
func TestRandUniform(t *testing.T) {
	const n = 1 << 20
	r := Stream(1, 0, "uniform")
	low, high, pairs := make([]int, 256), make([]int, 256), make([]int, 64*64)
	x := make([]float64, n)
	before := r.Uint64()
	for i := range x {
		u := r.Uint64()
		low[u&255]++
		high[u>>56]++
		pairs[before>>58<<6|u>>58]++
		before = u
		x[i] = unit(u)
	}
	checkUniform(t, "low byte", low)
	checkUniform(t, "high byte", high)
	checkUniform(t, "pairs", pairs)
	for lag := 1; lag <= 8; lag++ {
		checkUncorrelated(t, fmt.Sprintf("lag %d", lag), x[lag:], x[:n-lag])
	}
	checkLaw(t, "Float64", x, func(x float64) float64 { return x })
}

// Streams of neighbouring seeds and replications are as good as independent.
// The first numbers of many streams form a good sequence of their own.
func TestUnitRange(t *testing.T) {
	for _, c := range []struct {
		u    uint64
		want float64
	}{
		{0, 0},
		{1<<11 - 1, 0},
		{1 << 11, 0x1p-53},
		{1 << 63, 0.5},
		{math.MaxUint64, 1 - 0x1p-53},
	} {
		if got := unit(c.u); got != c.want {
			t.Errorf("unit(%#x) = %g, want %g", c.u, got, c.want)
		}
	}
	a, b := Stream(1, 1, "a"), Stream(1, 1, "a")
	for range 1000 {
		if got, want := a.Float64(), unit(b.Uint64()); got != want {
			t.Fatalf("Float64 = %g, but unit of the same word is %g", got, want)
		}
	}
}

func TestUint64N(t *testing.T) {
	r := Stream(1, 0, "uint64n")
	for _, n := range []uint64{1, 2, 3, 7, 100, 256} {
		counts := make([]int, n)
		for range 50_000 {
			counts[r.Uint64N(n)]++
		}
		if n > 1 {
			checkUniform(t, fmt.Sprintf("Uint64N(%d)", n), counts)
		}
	}
	// Here one word in four is rejected; without that one third would come twice
	// as often as the others.
	const n = 3 << 62
	counts := make([]int, 3)
	for range 30_000 {
		counts[r.Uint64N(n)>>62]++
	}
	checkUniform(t, "Uint64N(3·2^62)", counts)
	for range 100 {
		if x := r.Uint64N(math.MaxUint64); x == math.MaxUint64 {
			t.Error("Uint64N(max) reached its bound")
		}
	}
}

func TestIntN(t *testing.T) {
	a, b := Stream(1, 0, "intn"), Stream(1, 0, "intn")
	for range 1000 {
		if got, want := a.IntN(1000), int(b.Uint64N(1000)); got != want {
			t.Fatalf("IntN = %d, Uint64N = %d from the same place", got, want)
		}
	}
}

func TestBoundsPanic(t *testing.T) {
	r := Stream(1, 0, "panic")
	checkPanic(t, "sim: IntN(0), want at least 1", func() { r.IntN(0) })
	checkPanic(t, "sim: IntN(-3), want at least 1", func() { r.IntN(-3) })
	checkPanic(t, "sim: Uint64N(0), want at least 1", func() { r.Uint64N(0) })
}

// checkPanic checks that f panics with a message that contains want.
func checkPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	f()
}

func TestCopyOfRandIsAFork(t *testing.T) {
	r := Stream(1, 0, "copy")
	r.Uint64()
	fork := *r
	want := r.Uint64()
	if got := fork.Uint64(); got != want {
		t.Errorf("the copy goes on with %#x, the original with %#x", got, want)
	}
}

func TestRandDrivesOtherLibraries(t *testing.T) {
	const n = 50_000
	law := distuv.LogNormal{Mu: -1, Sigma: 0.5, Src: Stream(1, 0, "lognormal")}
	x := make([]float64, n)
	for i := range x {
		x[i] = law.Rand()
	}
	checkLaw(t, "gonum LogNormal", x, law.CDF)

	std := rand.New(Stream(1, 0, "std"))
	counts := make([]int, 120)
	for range n {
		p := std.Perm(5)
		counts[p[0]*24+(p[1]-b2i(p[1] > p[0]))*6+permutationRank(p[2:])]++
	}
	checkUniform(t, "rand.Perm(5)", counts)
}

// permutationRank numbers the six orders of three numbers.
func permutationRank(p []int) int {
	return 2*(b2i(p[0] > p[1])+b2i(p[0] > p[2])) + b2i(p[1] > p[2])
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
