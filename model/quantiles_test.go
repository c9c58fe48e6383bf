package model

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stormglass/stormglass/sim"
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

// A quantile is the least value that the share does not exceed.
func TestQuantileRank(t *testing.T) {
	q := newQuantiles()
	for i := range 59 {
		q.record(time.Duration(i + 1))
	}
	q.record(time.Second)
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 30, 0.51: 31, 0.98: 59, 0.983: 59, 0.984: time.Second, 0.99: time.Second, 1: time.Second} {
		if got := q.at(share); got != want {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
}

// What is asked since an instant has nothing from before.
func TestQuantileSince(t *testing.T) {
	s, err := New(Config{
		Horizon: 20 * time.Second,
		Nodes:   []Node{{Name: "b", Workers: Unlimited, Service: Law{Mean: 10 * time.Millisecond}, Faults: []Fault{{Kind: FaultSlow, Factor: 5, Start: 10 * time.Second}}}},
		Clients: []Client{{Name: "web", Arrivals: Arrivals{Kind: "fixed", RateRPS: 10}, Steps: []Step{{Calls: []Call{{To: "b"}}}}}},
	}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) *Latencies {
		if err := s.RunUntil(t.Context(), sim.Time(d)); err != nil {
			t.Fatal(err)
		}
		return s.Latencies("web")
	}
	zero, half, end := at(0), at(10*time.Second), at(20*time.Second)
	for _, tc := range []struct {
		from, to *Latencies
		want     time.Duration
	}{{zero, half, 10 * time.Millisecond}, {half, end, 50 * time.Millisecond}, {zero, end, 50 * time.Millisecond}} {
		if got, ok := tc.to.QuantileSince(tc.from, 0.51); got != tc.want || !ok {
			t.Errorf("%v, want %v", got, tc.want)
		}
	}
	if _, ok := half.QuantileSince(half, 0.5); ok {
		t.Error("a quantile of nothing")
	}
}
