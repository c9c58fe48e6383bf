package sim

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Both ways to sort a few entries give what a stable sort gives, in reverse.
func TestSortFewIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]Time{0, 1 << 62, 7 << 60}).Draw(t, "base")
		width := rapid.SampledFrom([]int64{1, 2, 20, 1 << 30, 1 << sortBits}).Draw(t, "width")
		offsets := rapid.SliceOfN(rapid.Int64Range(0, width-1), 1, 16).Draw(t, "offsets")
		from := make([]entry, len(offsets))
		for i, offset := range offsets {
			from[i] = entry{base + Time(offset), uint64(i)}
		}
		want := slices.Clone(from)
		slices.SortStableFunc(want, func(x, y entry) int { return int(min(1, max(-1, x.t-y.t))) })
		slices.Reverse(want)
		got := make([]entry, 20)
		if sortFew(from, got); !slices.Equal(got[:len(from)], want) {
			t.Fatalf("sortFew: got %v, want %v", got, want)
		}
		if insertionSort(from, got); !slices.Equal(got[:len(from)], want) {
			t.Fatalf("insertionSort: got %v, want %v", got, want)
		}
	})
}

// A network that sorts every row of zeros and ones sorts every row (Knuth, The
// Art of Computer Programming 3, section 5.3.4, theorem Z).
func TestNetworksSortZerosAndOnes(t *testing.T) {
	for row := range uint(1 << 8) {
		var k8 [8]uint64
		for i := range k8 {
			k8[i] = uint64(row >> i & 1)
		}
		k4 := [4]uint64(k8[:4])
		sort8(&k8)
		sort4(&k4)
		if !slices.IsSorted(k8[:]) || !slices.IsSorted(k4[:]) {
			t.Errorf("row %08b: %v, %v", row, k8, k4)
		}
		ones := uint64(0)
		for _, k := range k8 {
			ones += k
		}
		if ones != uint64(bits.OnesCount(row)) {
			t.Errorf("row %08b: %d ones came out", row, ones)
		}
	}
}
