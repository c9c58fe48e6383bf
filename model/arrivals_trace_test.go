package model

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

func rated(start, end time.Duration, rate float64) Segment {
	return Segment{Node: "n", Start: start, End: end, RateRPS: Known(rate)}
}

func all(s Source) (times []sim.Time) {
	for t, ok := s.Next(); ok; t, ok = s.Next() {
		times = append(times, t)
	}
	return times
}

// Evenly: in each segment at its own rate, the first half a gap in; nothing in
// a gap or at rate 0.
func TestTraceArrivalsEven(t *testing.T) {
	s, err := TraceArrivals([]Segment{rated(0, 2*time.Second, 1), rated(2*time.Second, 3*time.Second, 4), rated(3*time.Second, 9*time.Second, 0),
		rated(60*time.Second, 61*time.Second, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0.5, 1.5, 2.125, 2.375, 2.625, 2.875, 60 + 1.0/6, 60.5, 60 + 5.0/6}
	got := all(s)
	if len(got) != len(want) {
		t.Fatalf("calls at %v, want %v", got, want)
	}
	for i := range want {
		if math.Abs(got[i].Seconds()-want[i]) > 1e-9 {
			t.Errorf("call %d at %v, want %v s", i, got[i], want[i])
		}
	}
}

// Rounding does not add up: 3/s for 100 hours are 1,080,000 calls, the last in
// its place.
func TestTraceArrivalsDoNotDrift(t *testing.T) {
	s, err := TraceArrivals([]Segment{rated(0, 100*time.Hour, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := all(s)
	if len(got) != 1_080_000 {
		t.Fatalf("%d calls, want 1,080,000", len(got))
	}
	if last := got[len(got)-1].Seconds(); math.Abs(last-(360_000-1.0/6)) > 1e-6 {
		t.Errorf("last call at %v s", last)
	}
}

func TestTraceArrivalsPoisson(t *testing.T) {
	s, err := TraceArrivals([]Segment{rated(0, 1000*time.Second, 5), rated(2000*time.Second, 3000*time.Second, 50)}, sim.Stream(1, 0, "arrivals"))
	if err != nil {
		t.Fatal(err)
	}
	slow, fast := 0, 0
	var last sim.Time
	for _, at := range all(s) {
		switch sec := at.Seconds(); {
		case at < last:
			t.Fatalf("%v after %v", at, last)
		case sec < 1000:
			slow++
		case sec >= 2000 && sec < 3000:
			fast++
		default:
			t.Fatalf("a call at %v, in a gap", at)
		}
		last = at
	}
	if math.Abs(float64(slow)-5000) > 4*math.Sqrt(5000) || math.Abs(float64(fast)-50_000) > 4*math.Sqrt(50_000) {
		t.Errorf("%d and %d calls, want 5,000 and 50,000 within 4 standard deviations", slow, fast)
	}
}

func TestTraceArrivalsNeedRates(t *testing.T) {
	_, err := TraceArrivals([]Segment{rated(0, 1, 1), segment(1, 2, 0)}, nil)
	if err == nil || !strings.Contains(err.Error(), "no rate_rps") {
		t.Errorf("error %v, want one that names rate_rps", err)
	}
}
