package policies

import (
	"math"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWindowBudgetConfigValidate(t *testing.T) {
	for _, test := range []struct {
		cfg  WindowBudgetConfig
		want string
	}{
		{WindowBudgetConfig{Length: 10 * sec, Ratio: 0.2, MinRPS: 10}, ""}, {WindowBudgetConfig{Length: 1}, ""},
		{WindowBudgetConfig{Length: math.MaxInt64, Ratio: 0.123456789, MinRPS: 999_999_999}, ""},
		{WindowBudgetConfig{Ratio: 0.2}, "policies: window budget: length 0s, want above 0s"},
		{WindowBudgetConfig{Length: -sec}, "length -1s, want above 0s"},
		{WindowBudgetConfig{Length: sec, Ratio: 1.5}, "policies: window budget: ratio 1.5, want 0 to 1"},
		{WindowBudgetConfig{Length: sec, Ratio: math.NaN()}, "ratio NaN, want 0 to 1"},
		{WindowBudgetConfig{Length: sec, Ratio: 1e-10}, "ratio 1e-10, want at most 9 decimals"},
		{WindowBudgetConfig{Length: sec, MinRPS: -1}, "policies: window budget: min rps -1, want 0 to 1e9"},
		{WindowBudgetConfig{Length: sec, MinRPS: math.Inf(1)}, "min rps +Inf, want 0 to 1e9"},
		{WindowBudgetConfig{Length: sec, MinRPS: 1.0 / 3}, "min rps 0.3333333333333333, want at most 9 decimals"},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		_, err := NewWindowBudget(test.cfg, nil)
		checkError(t, err, test.want)
	}
}

// A row comes at an instant, makes requests, asks for retries until one is
// refused, and names what the window then holds.
func TestWindowBudgetTimeLine(t *testing.T) {
	clock := newHandClock()
	b := must(NewWindowBudget(WindowBudgetConfig{Length: 10 * sec, Ratio: 0.2, MinRPS: 0.1}, clock))
	for _, row := range []struct {
		name              string
		at                time.Duration
		requests, granted int
		wantTotal, wantRe int
	}{
		{"10 s at 0.1/s are one", 0, 0, 1, 0, 1},
		{"4 requests are 0.8", sec, 4, 0, 4, 1},
		{"5 are one more", 2 * sec, 1, 1, 5, 2},
		{"the first retry is still there", 10*sec - 1, 0, 0, 5, 2},
		{"and leaves at the age of 10 s", 10 * sec, 0, 1, 5, 2},
		{"the 4 requests leave: 0.2", 11 * sec, 0, 0, 1, 2},
		{"all but one retry has left", 12 * sec, 0, 0, 0, 1},
		{"a clock that goes back stands still", 3 * sec, 5, 1, 5, 2},
		{"nothing is left", 100 * sec, 0, 1, 0, 1},
		{"20 requests are 4", 100 * sec, 20, 4, 20, 5},
	} {
		clock.at(row.at)
		for range row.requests {
			b.Request()
		}
		granted := 0
		for b.TryRetry(granted > 0) {
			granted++
			b.WaitDone()
			b.Done(true, true) // gives nothing back
		}
		requests, retries := b.Counts()
		if granted != row.granted || requests != row.wantTotal || retries != row.wantRe {
			t.Errorf("%s: granted %d, holds %d and %d, want %d, %d and %d",
				row.name, granted, requests, retries, row.granted, row.wantTotal, row.wantRe)
		}
	}
}

// A total outage at two rates, up to 3 attempts and 20 % plus 10/s: at 5/s
// the demand of 10 retries/s is below the 11/s that are allowed.
func TestWindowBudgetInAnOutage(t *testing.T) {
	for rps, want := range map[int]float64{5: 3, 500: 1.22} {
		clock := newHandClock()
		b := must(NewWindowBudget(WindowBudgetConfig{Length: 10 * sec, Ratio: 0.2, MinRPS: 10, Unshared: true}, clock))
		r := must(NewRetry(RetryConfig{Attempts: 3}, b))
		attempts, requests := 0, 600*rps
		for i := range requests {
			clock.at(time.Duration(i) * sec / time.Duration(rps))
			r.Start()
			for n := 1; ; n++ {
				attempts++
				if !r.Decide(Attempt{Number: n, Outcome: failed}).Retry {
					break
				}
			}
		}
		if got := float64(attempts) / float64(requests); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d/s: amplification %v, want %v", rps, got, want)
		}
	}
}

// The budget agrees with a recount of everything that ever happened.
func TestWindowBudgetAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := WindowBudgetConfig{
			Length:   time.Duration(rapid.Int64Range(1, 40).Draw(t, "length")),
			Ratio:    rapid.SampledFrom([]float64{0, 0.07, 0.1, 0.3, 0.5, 1}).Draw(t, "ratio"),
			MinRPS:   rapid.SampledFrom([]float64{0, 0.000000001, 1e6, 12_500_000.7, 1e8, 999_999_999}).Draw(t, "min rps"),
			Unshared: rapid.Bool().Draw(t, "unshared"),
		}
		clock := newHandClock()
		b := must(NewWindowBudget(cfg, clock))
		ratio, rps := must(decimal(cfg.Ratio)), must(decimal(cfg.MinRPS))
		floor := new(big.Rat).Mul(big.NewRat(rps.num, rps.den), big.NewRat(int64(cfg.Length), 1e9))
		var now time.Duration
		var requests, retries []time.Duration
		within := func(times []time.Duration) (n int64) {
			for _, at := range times {
				if now-at < cfg.Length {
					n++
				}
			}
			return n
		}
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 3).Draw(t, "pause"))
			clock.at(now)
			if rapid.Bool().Draw(t, "request") {
				b.Request()
				requests = append(requests, now)
			} else {
				limit := new(big.Rat).Mul(big.NewRat(ratio.num, ratio.den), big.NewRat(within(requests), 1))
				limit.Add(limit, floor)
				want := big.NewRat(within(retries)+1, 1).Cmp(limit) <= 0
				if want {
					retries = append(retries, now)
				}
				if got := b.TryRetry(false); got != want {
					t.Fatalf("step %d: %v, want %v", i, got, want)
				}
			}
			if gotRequests, gotRetries := b.Counts(); int64(gotRequests) != within(requests) || int64(gotRetries) != within(retries) {
				t.Fatalf("step %d: counts %d and %d, want %d and %d", i, gotRequests, gotRetries, within(requests), within(retries))
			}
		}
	})
}

func TestWindowBudgetIsExactWhenShared(t *testing.T) {
	b := must(NewWindowBudget(WindowBudgetConfig{Length: time.Hour, Ratio: 0.5}, newHandClock()))
	var granted atomic.Int64
	together(8, func(int) {
		for range 1000 {
			b.Request()
			if b.TryRetry(false) {
				granted.Add(1)
			}
		}
	})
	for b.TryRetry(false) {
		granted.Add(1)
	}
	if requests, retries := b.Counts(); requests != 8000 || retries != 4000 || granted.Load() != 4000 {
		t.Errorf("%d of %d retries, %d granted, want 4000 of 8000", retries, requests, granted.Load())
	}
}

// The rings grow to what a window holds and no further.
func TestWindowBudgetDoesNotAllocateInTheLongRun(t *testing.T) {
	clock := newHandClock()
	b := must(NewWindowBudget(WindowBudgetConfig{Length: sec, Ratio: 1}, clock))
	step := func() {
		clock.add(ms)
		b.Request()
		b.TryRetry(false)
	}
	for range 2000 {
		step()
	}
	if got := testing.AllocsPerRun(5000, step); got != 0 {
		t.Errorf("%v allocations per request, want none", got)
	}
	if places := len(b.requests.ring); places != 1024 {
		t.Errorf("%d places for 1,000 requests, want 1,024", places)
	}
}
