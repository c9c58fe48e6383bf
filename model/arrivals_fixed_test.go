package model

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
	"pgregory.net/rapid"
)

// nearestTick is first + k·period rounded half up, the slow and plain way.
func nearestTick(first *big.Rat, k int64, period *big.Rat) *big.Int {
	x := new(big.Rat).SetInt64(k)
	x.Add(x.Mul(x, period), first)
	x.Add(x, big.NewRat(1, 2))
	return new(big.Int).Div(x.Num(), x.Denom())
}

func TestFixedAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(
			rapid.Float64Range(1e-6, 1e9),
			rapid.SampledFrom([]float64{0.1, 0.3, 1.0 / 3, 3, 7, 500, 999.999, 1e9, 999999999.99999, 123456789.12345678}),
		).Draw(t, "rate")
		ticks := rapid.SampledFrom([]int64{1, 1000, 1e9, 1 << 48}).Draw(t, "ticks")
		if (Arrivals{Kind: Fixed, RateRPS: rate, TicksPerSecond: ticks}).Validate() != nil {
			t.Skip("period out of range")
		}
		first := big.NewRat(rapid.Int64Range(0, 1e12).Draw(t, "first"), rapid.Int64Range(1, 1e6).Draw(t, "over"))
		s := newFixed(first, period(rate, ticks))
		for k := range int64(50) {
			want := nearestTick(first, k, period(rate, ticks))
			at, ok := s.Next()
			if !want.IsInt64() || want.Int64() == math.MaxInt64 {
				if ok {
					t.Fatalf("call %d at %d, want none: exact %v is out of range", k, at, want)
				}
				return
			}
			if !ok || int64(at) != want.Int64() {
				t.Fatalf("rate %v, %d ticks/s, from %v: call %d at %d (%t), exact %v", rate, ticks, first, k, at, ok, want)
			}
		}
	})
}

// A rate is the decimal that is written, not the binary fraction next to it.
func TestFixedReadsDecimals(t *testing.T) {
	for _, tc := range []struct {
		rate float64
		k    int
		want sim.Time
	}{
		{0.1, 1_000_000, 10_000_000 * second},
		{0.3, 3_000_000, 10_000_000 * second},
		{3, 1, 333_333_333},
		{3, 2, 666_666_667},
		{3, 3_000_000, 1_000_000 * second},
		{2e8, 1, 5},
		{400_000_000, 1, 3}, // 2.5 ns: halves go up
		{1e9, 1_000_000, 1_000_000},
	} {
		s := mustSource(t, Arrivals{Kind: Fixed, RateRPS: tc.rate})
		var at sim.Time
		for range tc.k + 1 {
			at, _ = s.Next()
		}
		if at != tc.want {
			t.Errorf("rate %v: call %d at %d, want %d", tc.rate, tc.k, at, tc.want)
		}
	}
}

// After eight hours at 700/s the call is on the nanosecond that the formula gives.
func TestFixedDoesNotDrift(t *testing.T) {
	const n = 20_000_000
	s := mustSource(t, Arrivals{Kind: Fixed, RateRPS: 700})
	var last sim.Time
	for range n {
		last, _ = s.Next()
	}
	if want := nearestTick(new(big.Rat), n-1, big.NewRat(1e9, 700)); int64(last) != want.Int64() {
		t.Errorf("call %d at %d, exact %v", n-1, last, want)
	}
}

// The float source is the naive loop, floored to ticks.
func TestFixedFloatIsTheNaiveSum(t *testing.T) {
	for _, rate := range []float64{0.5, 5, 20, 500, 7.3} {
		for _, ticks := range []float64{1e9, 1 << 48} {
			s := mustSource(t, Arrivals{Kind: FixedFloat, RateRPS: rate, TicksPerSecond: int64(ticks)})
			sum := 0.0
			for k := range 10_000 {
				if at, _ := s.Next(); at != sim.Time(math.Floor(sum*ticks)) {
					t.Fatalf("rate %v: call %d at %d, sum %v", rate, k, at, sum)
				}
				sum += 1 / rate
			}
		}
	}
}

// The sum stops moving where the gap is less than half a unit of its last
// place: no caller may be left spinning at one instant.
func TestFixedFloatEndsWhereItStalls(t *testing.T) {
	s := &floatSource{t: 1 << 25, gap: 1e-9, ticks: 1e9}
	if at, ok := s.Next(); ok {
		t.Errorf("call at %v, want none", at)
	}
}

// A fixed rate meets a breaker whose windows are a count of 20 or a time of
// 10 s, both opening at half failures of at least 10 calls; every call fails
// from 20 s on. The published delays come from adding 1/rate in float64: at
// 5/s and 500/s the call due at 20 s came early and counted as good, and the
// time window held an entry more. The exact clock gives the round numbers.
func TestFixedAgainstPublishedDelays(t *testing.T) {
	type row struct{ count, window string }
	for _, tc := range []struct {
		rate           float64
		float, integer row
	}{
		{0.5, row{"18.00 10", "never"}, row{"18.00 10", "never"}},
		{1, row{"9.00 10", "4.00 5"}, row{"9.00 10", "4.00 5"}},
		{2, row{"4.50 10", "4.50 10"}, row{"4.50 10", "4.50 10"}},
		{5, row{"2.00 10", "5.20 26"}, row{"1.80 10", "4.80 25"}},
		{20, row{"0.45 10", "4.95 100"}, row{"0.45 10", "4.95 100"}},
		{100, row{"0.09 10", "4.99 500"}, row{"0.09 10", "4.99 500"}},
		{500, row{"0.02 10", "5.00 2501"}, row{"0.02 10", "5.00 2500"}},
	} {
		for kind, want := range map[string]row{FixedFloat: tc.float, Fixed: tc.integer} {
			const ticks = 1 << 48
			times := take(mustSource(t, Arrivals{Kind: kind, RateRPS: tc.rate, TicksPerSecond: ticks}), int(3000*tc.rate))
			got := row{
				detect(times, ticks, func(n int, _ sim.Time) bool { return n <= 20 }),
				detect(times, ticks, func(_ int, age sim.Time) bool { return age < 10*ticks }),
			}
			if got != want {
				t.Errorf("%s, %v/s: got %v, want %v", kind, tc.rate, got, want)
			}
		}
	}
}

// detect returns delay and bad calls of the opening. inWindow says whether the
// n-th last call, so old, is in the window.
func detect(times []sim.Time, ticks sim.Time, inWindow func(n int, age sim.Time) bool) string {
	start, _ := slices.BinarySearch(times, 20*ticks)
	oldest := 0
	for i, at := range times {
		for !inWindow(i-oldest+1, at-times[oldest]) {
			oldest++
		}
		calls := i - oldest + 1
		bad := i - max(oldest, start) + 1
		if i >= start && calls >= 10 && 2*bad >= calls {
			return fmt.Sprintf("%.2f %d", float64(at-20*ticks)/float64(ticks), i-start+1)
		}
	}
	return "never"
}

func TestExactTicks(t *testing.T) {
	if got := exactTicks(1500*time.Millisecond, 1<<48); got.Cmp(big.NewRat(3<<47, 1)) != 0 {
		t.Errorf("1.5 s in 2^48 ticks: %v", got)
	}
	for _, rate := range []float64{0.1, 1e-300, 123456789.12345678} {
		if got, _ := exactRate(rate).Float64(); got != rate {
			t.Errorf("exactRate(%s) is %v", strconv.FormatFloat(rate, 'g', -1, 64), got)
		}
	}
}
