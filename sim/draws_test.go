package sim

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"
)

// Frozen like the numbers of Stream.
func TestDrawsGolden(t *testing.T) {
	for _, g := range []struct {
		seed, replication uint64
		source            string
		request, attempt  uint64
		want, first       uint64
	}{
		{0, 0, "", 0, 0, 0x905fc82fb78e9297, 0x524cf336ce858dfd},
		{1, 0, "service/db", 0, 0, 0x3cd915e2e2255e51, 0x4e0ab51cec3eea72},
		{1, 0, "service/db", 1, 0, 0x3c317cd7296cc945, 0x8d637c37b7e546e},
		{1, 0, "service/db", 0, 1, 0xa908691e4d659249, 0x59695c196a66580d},
		{1, 1, "service/db", 0, 0, 0xb346b9730d04c45, 0x58865666373ef34},
		{2, 0, "service/db", 0, 0, 0x720fad573b24e5ff, 0xabf2afdee167f345},
		{1, 0, "failure/db", 0, 0, 0x8aa9752871287bb4, 0x20224e64fc85a314},
		{math.MaxUint64, math.MaxUint64, "Zürich", math.MaxUint64, math.MaxUint64, 0xf6266b9169368c01, 0x4e0ae759fbef4585},
	} {
		d := NewDraws(g.seed, g.replication, g.source)
		if got := d.Uint64(g.request, g.attempt); got != g.want {
			t.Errorf("NewDraws(%d, %d, %q).Uint64(%d, %d) = %#x, want %#x",
				g.seed, g.replication, g.source, g.request, g.attempt, got, g.want)
		}
		r := d.Rand(g.request, g.attempt)
		if got := r.Uint64(); got != g.first {
			t.Errorf("NewDraws(%d, %d, %q).Rand(%d, %d) begins with %#x, want %#x",
				g.seed, g.replication, g.source, g.request, g.attempt, got, g.first)
		}
	}
}

// Whatever is drawn, in whatever order, by whichever copy: the number of an
// attempt stays the same.
func TestDrawsArePure(t *testing.T) {
	a, b := NewDraws(1, 2, "service"), NewDraws(1, 2, "service")
	want := map[[2]uint64]uint64{}
	for request := range uint64(50) {
		for attempt := range uint64(4) {
			want[[2]uint64{request, attempt}] = a.Uint64(request, attempt)
		}
	}
	for attempt := range uint64(4) {
		for request := range uint64(50) {
			key := [2]uint64{49 - request, attempt}
			got := b.Uint64(key[0], key[1])
			if got != want[key] {
				t.Errorf("request %d, attempt %d: %#x, before %#x", key[0], key[1], got, want[key])
			}
			if f := b.Float64(key[0], key[1]); f != unit(got) {
				t.Errorf("request %d, attempt %d: Float64 %g, want %g", key[0], key[1], f, unit(got))
			}
			r, again := b.Rand(key[0], key[1]), a.Rand(key[0], key[1])
			for range 3 {
				if x, y := r.Uint64(), again.Uint64(); x != y {
					t.Errorf("request %d, attempt %d: Rand gives %#x and %#x", key[0], key[1], x, y)
				}
			}
		}
	}
}

// sequences are the ways in which a model walks through requests and attempts.
var sequences = []struct {
	name string
	at   func(i uint64) (request, attempt uint64)
}{
	{"requests", func(i uint64) (uint64, uint64) { return i, 0 }},
	{"second attempts", func(i uint64) (uint64, uint64) { return i, 1 }},
	{"attempts", func(i uint64) (uint64, uint64) { return 12345, i }},
	{"requests, 4 attempts each", func(i uint64) (uint64, uint64) { return i / 4, i % 4 }},
	{"diagonal", func(i uint64) (uint64, uint64) { return i, i }},
	{"anti-diagonal", func(i uint64) (uint64, uint64) { return i, -i }},
	{"every 1024th request", func(i uint64) (uint64, uint64) { return i << 10, 0 }},
	{"high half of requests", func(i uint64) (uint64, uint64) { return i << 32, 0 }},
	{"highest bits of attempts", func(i uint64) (uint64, uint64) { return 0, i << 44 }},
	{"node and request in one word", func(i uint64) (uint64, uint64) { return i%8<<56 | i/8, 0 }},
}

func TestDrawsUniformAndUncorrelated(t *testing.T) {
	const n = 1 << 18
	d := NewDraws(1, 0, "uniform")
	x := make([]float64, n)
	for _, s := range sequences {
		low, high, pairs := make([]int, 256), make([]int, 256), make([]int, 64*64)
		before := d.Uint64(s.at(n))
		for i := range x {
			u := d.Uint64(s.at(uint64(i)))
			low[u&255]++
			high[u>>56]++
			pairs[before>>58<<6|u>>58]++
			before = u
			x[i] = unit(u)
		}
		checkUniform(t, s.name+": low byte", low)
		checkUniform(t, s.name+": high byte", high)
		checkUniform(t, s.name+": pairs", pairs)
		for lag := 1; lag <= 4; lag++ {
			checkUncorrelated(t, fmt.Sprintf("%s: lag %d", s.name, lag), x[lag:], x[:n-lag])
		}
		checkLaw(t, s.name, x, func(x float64) float64 { return x })
	}
}

// Attempts of one request, and the same attempt under related names, are as
// good as independent.
func TestDrawsOfRelatedNames(t *testing.T) {
	const n = 1 << 16
	base := NewDraws(1, 1, "service/db")
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = base.Float64(uint64(i), 0)
	}
	for _, c := range []struct {
		name string
		at   func(i uint64) float64
	}{
		{"next attempt", func(i uint64) float64 { return base.Float64(i, 1) }},
		{"next seed", func(i uint64) float64 { return NewDraws(2, 1, "service/db").Float64(i, 0) }},
		{"next replication", func(i uint64) float64 { return NewDraws(1, 2, "service/db").Float64(i, 0) }},
		{"other source", func(i uint64) float64 { return NewDraws(1, 1, "service/dc").Float64(i, 0) }},
		{"Rand of the same attempt", func(i uint64) float64 { r := base.Rand(i, 0); return r.Float64() }},
		{"second number of Rand", func(i uint64) float64 { r := base.Rand(i, 0); r.Uint64(); return r.Float64() }},
	} {
		for i := range y {
			y[i] = c.at(uint64(i))
		}
		checkUncorrelated(t, c.name, x, y)
		joint := make([]int, 32*32)
		for i := range x {
			joint[int(x[i]*32)<<5|int(y[i]*32)]++
		}
		checkUniform(t, c.name+": joint", joint)
	}
}

// Each bit of the request, the attempt and the first word of the key flips each
// bit of the number in half of the cases.
func TestDrawsAvalanche(t *testing.T) {
	const n = 4096
	inputs := []struct {
		name string
		flip func(bit int, d Draws, request, attempt uint64) uint64
	}{
		{"request", func(bit int, d Draws, r, a uint64) uint64 { return d.Uint64(r^1<<bit, a) }},
		{"attempt", func(bit int, d Draws, r, a uint64) uint64 { return d.Uint64(r, a^1<<bit) }},
		{"start", func(bit int, d Draws, r, a uint64) uint64 { d.start ^= 1 << bit; return d.Uint64(r, a) }},
	}
	d := NewDraws(1, 0, "avalanche")
	for _, in := range inputs {
		worst := 0.0
		for bit := range 64 {
			var flips [64]int
			for i := range uint64(n) {
				x := d.Uint64(i>>2, i&3) ^ in.flip(bit, d, i>>2, i&3)
				for ; x != 0; x &= x - 1 {
					flips[bits.TrailingZeros64(x)]++
				}
			}
			for _, f := range flips {
				worst = max(worst, math.Abs(float64(f)-n/2)/math.Sqrt(n/4))
			}
		}
		// Largest of 4096 normal numbers: above 6 with probability 8e-6.
		if worst > 6 {
			t.Errorf("%s: an output bit is %.1f standard deviations off flipping half of the time", in.name, worst)
		}
	}
}

// Two points of the grid share a number only if their place before mixing is
// the same, since the mixer is a bijection. For up to 2^12 attempts the
// requests must be more than 2^48 apart, so no run can meet it.
func TestDrawsGridIsDistinct(t *testing.T) {
	const alpha, beta uint64 = 0xC13FA9A902A6328F, 0x91E10DA5C79E7B1D
	inverse := alpha
	for range 6 {
		inverse *= 2 - alpha*inverse
	}
	for da := uint64(1); da < 1<<12; da++ {
		dr := -da * beta * inverse
		if far := min(dr, -dr); far < 1<<48 {
			t.Errorf("requests %d apart and attempts %d apart share a number", int64(dr), da)
		}
	}
	d := NewDraws(1, 0, "grid")
	seen := make(map[uint64]bool)
	for request := range uint64(1 << 12) {
		for attempt := range uint64(1 << 6) {
			u := d.Uint64(request, attempt)
			if seen[u] {
				t.Fatalf("request %d, attempt %d repeats a number", request, attempt)
			}
			seen[u] = true
		}
	}
}

func BenchmarkDraws(b *testing.B) {
	d := NewDraws(1, 0, "bench")
	b.Run("Uint64", func(b *testing.B) {
		var sum uint64
		for i := range b.N {
			sum += d.Uint64(uint64(i), 1)
		}
		keep(b, float64(sum))
	})
	b.Run("Rand", func(b *testing.B) {
		var sum uint64
		for i := range b.N {
			r := d.Rand(uint64(i), 1)
			sum += r.Uint64()
		}
		keep(b, float64(sum))
	})
}

// The exponential numbers of a grid of requests and attempts follow their law,
// up to the largest difference of the distribution functions (Kolmogorov 1933).
func TestDrawsExponential(t *testing.T) {
	d := NewDraws(3, 1, "service/db")
	var x []float64
	sum, squares := 0.0, 0.0
	for request := range uint64(20_000) {
		for attempt := range uint64(5) {
			v := d.ExpFloat64(request, attempt)
			if v < 0 || v != d.ExpFloat64(request, attempt) {
				t.Fatalf("request %d, attempt %d: %v, want one number from 0 on", request, attempt, v)
			}
			x = append(x, v)
			sum += v
			squares += v * v
		}
	}
	n := float64(len(x))
	if mean := sum / n; math.Abs(mean-1) > 4/math.Sqrt(n) {
		t.Errorf("mean %v, want 1", mean)
	}
	if second := squares / n; math.Abs(second-2) > 4*math.Sqrt(20/n) {
		t.Errorf("second moment %v, want 2", second)
	}
	slices.Sort(x)
	worst := 0.0
	for i, v := range x {
		worst = max(worst, math.Abs(1-math.Exp(-v)-float64(i)/n))
	}
	if worst > 1.95/math.Sqrt(n) { // exceeded by chance once in 1000
		t.Errorf("distribution functions differ by %v", worst)
	}
}
