package policies

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A breaker whose successes bypass the lock decides as one without a lock, and
// keeps the same books. Nobody looks in between, since to look settles.
func TestBypassChangesNothing(t *testing.T) {
	bypassed := 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawBreaker(t)
		cfg.InFlightSlow = false
		if cfg.Rule.Window.Kind == BucketWindow {
			cfg.Rule.Window.Length *= 10
		}
		clock := newHandClock()
		var logs [2]changeLog
		var breakers [2]*Breaker
		for i, unshared := range []bool{false, true} {
			cfg.Unshared, cfg.OnChange = unshared, logs[i].add
			b, err := NewBreaker(cfg, clock)
			if err != nil {
				t.Fatal(err)
			}
			breakers[i] = b
		}
		flying := [][2]Permit{}
		badShare := rapid.SampledFrom([]int{0, 5, 20, 50}).Draw(t, "bad %")
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			clock.add(rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 2, 10, 30}).Draw(t, "pause"))
			var p [2]Permit
			var ok [2]bool
			for i, b := range breakers {
				p[i], ok[i] = b.Allow()
			}
			if ok[0] != ok[1] {
				t.Fatalf("shared %v, unshared %v", ok[0], ok[1])
			}
			if ok[0] {
				flying = append(flying, p)
			}
			if len(flying) > rapid.IntRange(0, 3).Draw(t, "in flight") {
				class, latency := Success, time.Duration(0)
				if rapid.IntRange(0, 99).Draw(t, "bad") < badShare {
					class = rapid.SampledFrom([]Class{Success, Failure, Ignored}).Draw(t, "class")
					latency = 20
				}
				for i, b := range breakers {
					b.Record(flying[0][i], outcomeOf(class, latency))
				}
				flying = flying[1:]
			}
			bypassed += int(breakers[0].epoch.Load().good.Load() &^ calmBit)
		}
		if !reflect.DeepEqual(logs[0], logs[1]) {
			t.Fatalf("shared %v, unshared %v", logs[0], logs[1])
		}
		if s, u := breakers[0].Counts(), breakers[1].Counts(); s != u {
			t.Fatalf("shared %+v, unshared %+v", s, u)
		}
		if s, u := breakers[0].Stats(), breakers[1].Stats(); s != u {
			t.Fatalf("shared %+v, unshared %+v", s, u)
		}
	})
	if bypassed == 0 {
		t.Error("no success ever bypassed the lock")
	}
}

// Many good outcomes at once leave the window as if they had come one by one.
func TestRecordGood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := RuleConfig{
			Window:   WindowConfig{Kind: CountWindow, Calls: rapid.IntRange(1, 200).Draw(t, "calls")},
			MinCalls: 1, FailureRate: 1,
		}
		if rapid.Bool().Draw(t, "buckets") {
			c.Window = WindowConfig{Kind: BucketWindow, Length: 100, Buckets: 10}
		}
		var windows [2]calmWindow
		for i := range windows {
			r, err := NewRule(c)
			if err != nil {
				t.Fatal(err)
			}
			windows[i] = r.window.(calmWindow)
		}
		now := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, 0, 1, 10, 55, 200}).Draw(t, "pause")
			for _, w := range windows {
				w.counts(now)
			}
			if n := rapid.SampledFrom([]uint64{0, 0, 1, 2, 31, 32, 33, 64, 500}).Draw(t, "good"); n > 0 {
				windows[0].recordGood(n)
				for range n {
					windows[1].record(now, 0)
				}
			} else {
				e := entry(rapid.IntRange(0, entryMask).Draw(t, "entry"))
				for _, w := range windows {
					w.record(now, e)
				}
			}
			if a, b := windows[0].counts(now), windows[1].counts(now); a != b {
				t.Fatalf("at %d: %+v at once, %+v one by one", now, a, b)
			}
			if a, b := windows[0].calmUntil(), windows[1].calmUntil(); a != b {
				t.Fatalf("at %d: calm until %d, want %d", now, a, b)
			}
		}
	})
}

// A window is calm when no success can make the rule trip, and only then does
// it say so.
func TestCalm(t *testing.T) {
	for _, tt := range []struct {
		name string
		held Counts
		want bool
	}{
		{"nothing yet", Counts{}, true},
		{"nothing bad", Counts{3, 0, 0}, true},
		{"rates too high, too few calls: a success may complete them", Counts{9, 5, 0}, false},
		{"rates low, too few calls", Counts{9, 4, 0}, true},
		{"rates low", Counts{10, 4, 2}, true},
		{"failures at the limit since others left", Counts{10, 5, 0}, false},
		{"slow calls at the limit", Counts{10, 0, 3}, false},
	} {
		l := makeLimits(RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: sec},
			MinCalls: 10, FailureRate: 0.5, SlowRate: 0.3, SlowAfter: sec,
		})
		if got := l.calm(tt.held); got != tt.want {
			t.Errorf("%s, %+v: calm %v, want %v", tt.name, tt.held, got, tt.want)
		}
	}
}

// A success trips when a bucket with older successes has left, whoever noticed
// that first, so it must not bypass the rule.
func TestSuccessAfterABucketLeft(t *testing.T) {
	for _, look := range []bool{false, true} {
		clock := newHandClock()
		b := mustBreaker(t, BreakerConfig{
			Rule: RuleConfig{
				Window:   WindowConfig{Kind: BucketWindow, Length: 2 * sec, Buckets: 2},
				MinCalls: 3, FailureRate: 0.4,
			},
			OpenFor: sec, Probes: 1,
		}, clock)
		for range 5 {
			attempt(t, b, good)
		}
		clock.at(sec)
		for _, o := range []Outcome{bad, bad, good, good} { // 2 of 9 in the end
			attempt(t, b, o)
		}
		clock.at(2 * sec)
		if look {
			wantCounts(t, b, Counts{4, 2, 0}) // above the limit, but no outcome has counted since
		}
		wantState(t, b, Closed)
		attempt(t, b, good) // 2 of 5
		wantState(t, b, Open)
	}
}

// Good and bad outcomes from many goroutines: none is lost or counted twice,
// whether it bypassed the lock or not.
func TestBypassCountsExactly(t *testing.T) {
	for _, window := range []WindowConfig{
		{Kind: CountWindow, Calls: 1 << 20},
		{Kind: BucketWindow, Length: 24 * hour, Buckets: 24},
		{Kind: BucketWindow, Length: 240 * ms, Buckets: 24}, // slices end on the way
	} {
		const goroutines, each, badEvery = 4, 50_000, 40
		b := mustBreaker(t, BreakerConfig{
			Rule:    RuleConfig{Window: window, MinCalls: 10, FailureRate: 1},
			OpenFor: hour, Probes: 1,
		}, nil)
		attempt(t, b, good)
		var group sync.WaitGroup
		for range goroutines {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range each {
					if i%badEvery == 0 {
						attemptInside(b, bad)
					} else {
						attemptInside(b, good)
					}
				}
			}()
		}
		group.Wait()
		if got, want := b.Stats(), (Stats{Recorded: 1 + goroutines*each}); got != want {
			t.Errorf("%s: %+v, want %+v", window.Kind, got, want)
		}
		if window.Length == 240*ms {
			continue
		}
		wantCounts(t, b, Counts{1 + goroutines*each, goroutines * each / badEvery, 0})
	}
}

// The work that one caller has to catch up with is bounded.
func TestSettleEvery(t *testing.T) {
	b := mustBreaker(t, BreakerConfig{Rule: countRule(10), OpenFor: sec, Probes: 1}, newHandClock())
	most := uint64(0)
	for range 3 * settleEvery {
		attempt(t, b, good)
		most = max(most, b.epoch.Load().good.Load()&^calmBit)
	}
	if most != settleEvery-1 {
		t.Errorf("up to %d successes to settle, want %d", most, settleEvery-1)
	}
	if got := b.Stats().Recorded; got != 3*settleEvery {
		t.Errorf("%d recorded, want %d", got, 3*settleEvery)
	}
}

// A success of an epoch that is over finds no calm to be counted in.
func TestLateSuccessDoesNotBypass(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{Rule: countRule(2), OpenFor: sec, Probes: 1}, clock)
	late := mustAllow(t, b)
	for range 5 {
		attempt(t, b, good)
	}
	attempt(t, b, bad)
	wantState(t, b, Open)
	clock.add(sec)
	attempt(t, b, good)
	wantState(t, b, Closed)
	for range 5 {
		attempt(t, b, good) // the new epoch is calm
	}
	b.Record(late, good)
	want := Stats{Recorded: 12, Late: 1, Probes: 1, Openings: 1, Closings: 1, OpenTime: sec}
	if got := b.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
