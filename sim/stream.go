package sim

import (
	"fmt"
	"math/bits"
)

// A Rand is a stream of random numbers: the generator xoshiro256++ of
// Blackman and Vigna ("Scrambled linear pseudorandom number generators",
// ACM TOMS 47, 2021), period 2^256 − 1. The numbers it gives are part of this
// package's contract: they change neither with the Go release nor with the
// platform.
//
// A *Rand is a math/rand/v2 Source, so it also drives rand.New and the
// distributions of gonum. It is not safe for concurrent use. Copying a Rand
// copies the stream at its present place. Make one with Stream or Draws.Rand:
// the zero value is no stream, it gives zeros only.
type Rand struct {
	s0, s1, s2, s3 uint64
}

// Stream returns the random stream of one source, such as "arrivals/edge", in
// one replication. The three names alone decide the numbers, not the order in
// which streams are made: a new source never disturbs the others, so policies
// can be compared under common random numbers.
func Stream(seed, replication uint64, source string) *Rand {
	k := hashNames(streamDomain, seed, replication, source)
	r := seeded(k.a, k.b)
	return &r
}

// seeded spreads 128 bits over the state. Never all of it is zero, the one
// state that xoshiro256++ cannot leave: mix is a bijection and its arguments
// for s0 and s2 differ.
func seeded(a, b uint64) Rand {
	step := uint64(golden)
	return Rand{mix(a + step), mix(b + 2*step), mix(a + 3*step), mix(b + 4*step)}
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	s0, s1, s2, s3 := r.s0, r.s1, r.s2, r.s3
	x := bits.RotateLeft64(s0+s3, 23) + s0
	s2 ^= s0
	s3 ^= s1
	r.s0, r.s1, r.s2, r.s3 = s0^s3, s1^s2, s2^s1<<17, bits.RotateLeft64(s3, 45)
	return x
}

// Float64 returns a uniform number in [0, 1), a multiple of 2^-53.
func (r *Rand) Float64() float64 { return unit(r.Uint64()) }

// Uint64N returns a uniform integer in [0, n), without bias. It panics if n is
// 0. The method is Lemire's ("Fast random integer generation in an interval",
// ACM TOMACS 29, 2019).
func (r *Rand) Uint64N(n uint64) uint64 {
	if n == 0 {
		panic("sim: Uint64N(0), want at least 1")
	}
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(r.Uint64(), n)
		}
	}
	return hi
}

// IntN returns a uniform integer in [0, n), without bias. It panics if n is
// less than 1.
func (r *Rand) IntN(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("sim: IntN(%d), want at least 1", n))
	}
	return int(r.Uint64N(uint64(n)))
}

// unit maps 64 bits to [0, 1) by their upper 53.
func unit(u uint64) float64 { return float64(int64(u>>11)) * 0x1p-53 }

// A nameKey is the 128-bit hash of a domain and the three names of a stream.
type nameKey struct{ a, b uint64 }

// Domains keep a Stream and Draws of the same three names apart.
const (
	streamDomain uint64 = 1
	drawsDomain  uint64 = 2
)

// golden is 2^64 divided by the golden ratio, the step of SplitMix64.
const golden = 0x9E3779B97F4A7C15

// hashNames absorbs the names word by word; the length comes before the bytes of
// source, so that no two triples of names give the same words.
func hashNames(domain, seed, replication uint64, source string) nameKey {
	k := nameKey{0x243F6A8885A308D3, 0x13198A2E03707344} // first digits of pi
	k.absorb(domain)
	k.absorb(seed)
	k.absorb(replication)
	k.absorb(uint64(len(source)))
	for len(source) > 0 {
		var w uint64
		n := min(8, len(source))
		for i := range n {
			w |= uint64(source[i]) << (8 * i)
		}
		k.absorb(w)
		source = source[n:]
	}
	return k
}

// absorb is a bijection of the key for each w, and the two halves take w in by
// different ways: a pair of names collides with probability about 2^-128.
func (k *nameKey) absorb(w uint64) {
	k.a = mix(k.a ^ w)
	k.b = mix(k.b + bits.RotateLeft64(w, 32)*golden + k.a)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014; constants of Stafford's
// variant 13): a bijection in which each input bit flips each output bit with
// probability close to one half.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
