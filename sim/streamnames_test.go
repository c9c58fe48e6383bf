package sim

import (
	"math"
	"math/bits"
	"testing"
)

func TestStreamNames(t *testing.T) {
	type name struct {
		seed, replication uint64
		source            string
	}
	var names []name
	for _, source := range []string{"", "\x00", "\x00\x00", "a", "b", "ab", "ba", "arrivals/edge", "arrivals/edgf",
		"12345678", "12345678\x00", "123456781234567", "1234567812345678"} {
		for seed := range uint64(12) {
			for replication := range uint64(12) {
				names = append(names, name{seed, replication, source})
			}
		}
		names = append(names, name{1 << 63, 0, source}, name{0, 1 << 63, source}, name{math.MaxUint64, math.MaxUint64, source})
	}
	first := map[uint64]name{}
	for _, n := range names {
		x := Stream(n.seed, n.replication, n.source).Uint64()
		if other, ok := first[x]; ok {
			t.Errorf("streams %v and %v begin with the same number %#x", n, other, x)
		}
		first[x] = n
		d := NewDraws(n.seed, n.replication, n.source).Uint64(0, 0)
		if other, ok := first[d]; ok {
			t.Errorf("draws of %v and stream or draws of %v begin with the same number %#x", n, other, d)
		}
		first[d] = n
	}
}

func TestStreamIgnoresCreationOrder(t *testing.T) {
	alone := Stream(7, 3, "arrivals/edge")
	other := Stream(7, 3, "service/db")
	other.Uint64()
	late := Stream(7, 3, "arrivals/edge")
	for i := range 100 {
		if a, b := alone.Uint64(), late.Uint64(); a != b {
			t.Fatalf("number %d: %#x alone, %#x beside another stream", i, a, b)
		}
		other.Uint64()
	}
}

func TestStreamAvalanche(t *testing.T) {
	source := "service/db"
	flips, trials := 0, 0
	compare := func(base, changed *Rand) {
		flips += bits.OnesCount64(base.Uint64() ^ changed.Uint64())
		trials += 64
	}
	for bit := range 64 {
		for seed := range uint64(16) {
			compare(Stream(seed, 5, source), Stream(seed^1<<bit, 5, source))
			compare(Stream(5, seed, source), Stream(5, seed^1<<bit, source))
		}
	}
	for i := range len(source) {
		for bit := range 8 {
			b := []byte(source)
			b[i] ^= 1 << bit
			compare(Stream(1, 1, source), Stream(1, 1, string(b)))
		}
	}
	checkNormal(t, "flipped bits", (float64(flips)-float64(trials)/2)/math.Sqrt(float64(trials)/4))
}

func TestStreamsUncorrelated(t *testing.T) {
	const n = 20_000
	sample := func(seed, replication uint64, source string) []float64 {
		r := Stream(seed, replication, source)
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64()
		}
		return x
	}
	base := sample(1, 1, "a")
	checkUncorrelated(t, "next seed", base, sample(2, 1, "a"))
	checkUncorrelated(t, "next replication", base, sample(1, 2, "a"))
	checkUncorrelated(t, "next source", base, sample(1, 1, "b"))
	checkUncorrelated(t, "high bit of seed", base, sample(1|1<<63, 1, "a"))
}

func TestFirstNumbersOfStreams(t *testing.T) {
	bySeed, byReplication := make([]int, 256), make([]int, 256)
	for i := range uint64(1 << 16) {
		bySeed[Stream(i, 0, "x").Uint64()>>56]++
		byReplication[Stream(0, i, "x").Uint64()&255]++
	}
	checkUniform(t, "by seed", bySeed)
	checkUniform(t, "by replication", byReplication)
}
