package sim

import "math/bits"

// Draws is a random function instead of a random sequence: the number for a
// request and its attempt depends on these two and the three names of the
// stream, on nothing that was drawn before. Two policies that retry a
// different number of times therefore see the same service demands and the
// same failures for the attempts they have in common.
//
// Draws is a small value without state, safe for concurrent use. Use one
// Draws, with its own source name, for each purpose: "service/db" and
// "failure/db", not the same for both. Make one with NewDraws.
type Draws struct {
	start, twist uint64
}

// NewDraws returns the random function of one source in one replication. It
// is independent of the Stream of the same names.
func NewDraws(seed, replication uint64, source string) Draws {
	k := hashNames(drawsDomain, seed, replication, source)
	return Draws{k.a, k.b}
}

// Uint64 returns the 64 random bits of an attempt of a request, the same in
// each call.
//
// Request and attempt step through 2^64 by multiples of the reciprocal and the
// squared reciprocal of the plastic number, for which no small combination
// comes near zero (Roberts, "The unreasonable effectiveness of quasirandom
// sequences", 2018), so that a grid of requests and attempts is distinct before
// it is mixed. The mixer is rrxmrrxmsx_0 of Evensen ("Better, stronger mixer
// and a test procedure", 2019), made for counters. The second word of the key
// enters between its rounds: two streams are not shifted copies of each other.
func (d Draws) Uint64(request, attempt uint64) uint64 {
	x := d.start + request*0xC13FA9A902A6328F + attempt*0x91E10DA5C79E7B1D
	x ^= bits.RotateLeft64(x, -25) ^ bits.RotateLeft64(x, -50)
	x = x*0xA24BAED4963EE407 + d.twist
	x ^= bits.RotateLeft64(x, -24) ^ bits.RotateLeft64(x, -49)
	x *= 0x9FB21C651E98DF25
	return x ^ x>>28
}

// Float64 returns the uniform number in [0, 1) of an attempt of a request.
func (d Draws) Float64(request, attempt uint64) float64 {
	return unit(d.Uint64(request, attempt))
}

// ExpFloat64 returns the exponential number of mean 1, in [0, ∞), of an attempt
// of a request. It is made of the number that Uint64 returns, so use it in its
// place, not beside it.
func (d Draws) ExpFloat64(request, attempt uint64) float64 {
	u := d.Uint64(request, attempt)
	l := &expLayer[u%zigLayers]
	x := float64(int64(u>>11)) * l.scale
	if x < l.inner {
		return x
	}
	r := d.Rand(request, attempt)
	return r.expEdge(u%zigLayers, x)
}

// Rand returns a whole stream for an attempt of a request, for draws that need
// more than one number. It starts in the same place in each call. Its numbers
// are unrelated to the one that Uint64 returns.
func (d Draws) Rand(request, attempt uint64) Rand {
	h := d.Uint64(request, attempt)
	return seeded(h, h^d.twist)
}
