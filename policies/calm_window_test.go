package policies

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWidest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := float64(rapid.IntRange(1, 1000).Draw(t, "rate")) / 1000
		threshold := makeThreshold(rate)
		k := rapid.IntRange(0, 2000).Draw(t, "k")
		n := threshold.widest(k)
		if k == 0 {
			if n != 0 {
				t.Fatalf("none of %d, want 0", n)
			}
			return
		}
		if n > 0 && !threshold.met(k, n) || threshold.met(k, n+1) {
			t.Fatalf("%d of %d meet %v: %v; of %d: %v", k, n, rate, threshold.met(k, n), n+1, threshold.met(k, n+1))
		}
	})
	if got := makeThreshold(0).widest(5); got != 0 {
		t.Errorf("a threshold that is off: %d, want 0", got)
	}
	if got := makeThreshold(1e-300).widest(1); got != maxCount {
		t.Errorf("a tiny threshold: %d, want the most", got)
	}
}

// The spare bad outcomes do not reach a limit, and one or two more would.
func TestSpare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := float64(rapid.IntRange(1, 1000).Draw(t, "rate")) / 1000
		threshold := makeThreshold(rate)
		n := rapid.OneOf(rapid.IntRange(0, 50), rapid.IntRange(0, maxCalls)).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		if n == 0 || threshold.met(k, n) {
			return
		}
		x := threshold.spare(k, n)
		if x < 0 || x > n || x > 0 && threshold.met(k+x, n+x) {
			t.Fatalf("%d of %d at %v: %d to spare", k, n, rate, x)
		}
		if x < n && !threshold.met(k+x+2, n+x+2) {
			t.Fatalf("%d of %d at %v: %d to spare, but %d of %d do not meet it", k, n, rate, x, k+x+2, n+x+2)
		}
	})
	if got := makeThreshold(0).spare(5, 10); got != 10 {
		t.Errorf("a threshold that is off: %d to spare, want 10", got)
	}
}

// As long as a window says that it is calm, outcomes do not trip it, however
// they are spread, if there are not more bad ones than it allowed for.
func TestCalm(t *testing.T) {
	calm, ends, allowed := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := RuleConfig{
			Window: rapid.SampledFrom([]WindowConfig{
				{Kind: TimeWindow, Length: 50},
				{Kind: TimeWindow, Length: 50},
				{Kind: TimeWindow, Length: 50, MaxCalls: 5},
				{Kind: TimeWindow, Length: 50, MaxCalls: 20},
				{Kind: BucketWindow, Length: 50, Buckets: 5},
				{Kind: CountWindow, Calls: 10},
			}).Draw(t, "window"),
			MinCalls:    rapid.IntRange(1, 5).Draw(t, "minimum"),
			FailureRate: rapid.SampledFrom([]float64{0, 0.1, 0.3, 0.5, 0.8, 1}).Draw(t, "failure rate"),
			SlowRate:    rapid.SampledFrom([]float64{0.2, 0.5, 0.8, 1}).Draw(t, "slow rate"),
			SlowAfter:   1,
		}
		r, err := NewRule(c)
		if err != nil {
			t.Fatal(err)
		}
		now := int64(0)
		oneIn := rapid.SampledFrom([]int{2, 4, 20}).Draw(t, "one bad in")
		for range rapid.IntRange(0, 60).Draw(t, "outcomes") {
			now += rapid.Int64Range(0, 3).Draw(t, "pause")
			e := entry(0)
			if rapid.IntRange(1, oneIn).Draw(t, "bad") == 1 {
				e = entry(rapid.IntRange(1, entryMask).Draw(t, "entry"))
			}
			r.window.record(now, e)
		}
		until, bad := r.window.(calmWindow).calm()
		if until == 0 {
			return
		}
		calm++
		if until != neverEnds {
			ends++
		}
		if bad > 0 {
			allowed++
		}
		for range rapid.IntRange(1, 60).Draw(t, "outcomes in the calm") {
			now += rapid.SampledFrom([]int64{0, 1, 10, 40, 49, 50, 1000}).Draw(t, "pause")
			if rapid.Bool().Draw(t, "at the last moment") {
				now = max(now, min(until, now+1000)-1)
			}
			if now >= until {
				return
			}
			e := entry(0)
			if bad > 0 && rapid.IntRange(0, 3).Draw(t, "good") > 0 {
				e, bad = entry(rapid.IntRange(1, entryMask).Draw(t, "entry")), bad-1
			}
			if r.window.record(now, e) {
				t.Fatalf("calm until %d, but outcome %b trips at %d", until, e, now)
			}
		}
	})
	if testing.Short() {
		return // too few windows to ask how many were calm
	}
	if calm < 30 || ends < 15 || allowed < 10 {
		t.Errorf("%d windows were calm, %d for some time, %d with bad outcomes, want more", calm, ends, allowed)
	}
}

// A window that is bounded cannot make up for bad outcomes by more good ones.
func TestCalmOfABoundedWindow(t *testing.T) {
	r := mustRule(t, RuleConfig{
		Window:   WindowConfig{Kind: TimeWindow, Length: hour, MaxCalls: 20},
		MinCalls: 1, FailureRate: 0.8,
	})
	for i := range 20 {
		r.Observe(0, i >= 8, false)
	}
	// 12 of 20; four more failures push out four successes, and 16 of 20 trip.
	if _, bad := r.window.(calmWindow).calm(); bad != 2 {
		t.Errorf("calm with %d bad outcomes, want 2", bad)
	}
	for i := range 4 {
		if got, want := r.Observe(0, true, false), i == 3; got != want {
			t.Errorf("failure %d trips: %v, want %v", i+1, got, want)
		}
	}
}

// Without room for bad outcomes the calm of a time window ends exactly where a
// good one trips the rule.
func TestCalmOfATimeWindowEnds(t *testing.T) {
	const end = 3*sec + 10*sec // the third outcome leaves: 1 of 2 then, with the good one
	r := mustRule(t, RuleConfig{
		Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
		MinCalls: 1, FailureRate: 0.5,
	})
	for i := 1; i <= 3; i++ {
		r.Observe(time.Duration(i)*sec, false, false)
	}
	r.Observe(4*sec, true, false)
	if until, bad := r.window.(calmWindow).calm(); until != int64(end) || bad != 0 {
		t.Errorf("calm until %v with %d bad outcomes, want %v with 0", time.Duration(until), bad, end)
	}
	if !r.Observe(end, false, false) {
		t.Error("does not trip at the end of the calm")
	}
}
