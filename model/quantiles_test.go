package model

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The cells are those of the histogram: values are in one cell exactly if the
// histogram holds them for equal.
func TestCells(t *testing.T) {
	h := hdrhistogram.New(1, longest, figures)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := r.Int64N(longest) >> r.IntN(62)
		w := min(v+r.Int64N(v/64+2), longest)
		if got, want := cell(v) == cell(w), h.ValuesAreEquivalent(v, w); got != want {
			t.Fatalf("%d and %d in one cell: %v, want %v", v, w, got, want)
		}
	}
}

// A quantile is a value that occurred, and exact where a cell has only one.
func TestQuantiles(t *testing.T) {
	q := newQuantiles()
	if got := q.at(0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	for range 98 {
		q.record(400 * time.Millisecond)
	}
	q.record(0)
	q.record(time.Duration(longest))
	for share, want := range map[float64]time.Duration{0: 0, 0.5: 400 * time.Millisecond, 0.99: 400 * time.Millisecond, 1: time.Duration(longest)} {
		if got := q.at(share); got != want {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
}
