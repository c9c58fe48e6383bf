package model

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSlabReturnsWhatWasPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s slab[int]
		twin := map[uint64]int{}
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(twin) == 0 || rapid.Bool().Draw(t, "put") {
				p := s.put(i)
				if _, used := twin[p]; used {
					t.Fatalf("place %d given twice", p)
				}
				twin[p] = i
				continue
			}
			for p, want := range twin {
				if got := s.take(p); got != want {
					t.Fatalf("place %d holds %d, want %d", p, got, want)
				}
				delete(twin, p)
				break
			}
		}
		if s.held() != len(twin) {
			t.Fatalf("%d held, want %d", s.held(), len(twin))
		}
	})
}
