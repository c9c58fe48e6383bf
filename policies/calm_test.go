package policies

import (
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A breaker whose successes bypass the lock decides as one without a lock, and
// keeps the same books. Nobody looks in between, since to look settles.
func TestBypassChangesNothing(t *testing.T) {
	crew := newCrew(4)
	defer crew.dismiss()
	bypassed := map[WindowKind]int{}
	program := func(t *rapid.T) {
		cfg := drawBreaker(t)
		cfg.InFlightSlow = false
		if cfg.Rule.Window.Kind != CountWindow {
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
				breakers[0].crowdForTest()
				before := breakers[0].stats.Recorded
				crew.do(rapid.IntRange(0, 3).Draw(t, "goroutine"), func() {
					breakers[0].Record(flying[0][0], outcomeOf(class, latency))
				})
				if class != Ignored && breakers[0].stats.Recorded == before {
					bypassed[cfg.Rule.Window.Kind]++
				}
				breakers[1].Record(flying[0][1], outcomeOf(class, latency))
				flying = flying[1:]
			}
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
	}
	rapid.Check(t, program)
	if testing.Short() {
		return // too few programs to ask how many outcomes took which way
	}
	scarce := func() bool {
		return slices.ContainsFunc(benchWindows, func(w WindowConfig) bool { return bypassed[w.Kind] < 100 })
	}
	for more := 0; scarce() && more < 9; more++ { // programs differ a lot in how many do
		rapid.Check(t, program)
	}
	for _, window := range benchWindows {
		if bypassed[window.Kind] < 100 {
			t.Errorf("%s: %d successes bypassed the lock, want many", window.Kind, bypassed[window.Kind])
		}
	}
}

// crowdForTest makes a breaker believe that there is a crowd at its lock.
func (b *Breaker) crowdForTest() {
	if !b.unshared {
		b.lock()
		b.crowded()
		b.unlock()
	}
}

// A crew is some goroutines with stacks of their own, for which others work.
type crew []chan func()

func newCrew(n int) crew {
	c := make(crew, n)
	for i := range c {
		c[i] = make(chan func())
		go func() {
			for work := range c[i] {
				work()
				c[i] <- nil
			}
		}()
	}
	return c
}

// do has goroutine i do some work and waits until it is done.
func (c crew) do(i int, work func()) {
	c[i] <- work
	<-c[i]
}

func (c crew) dismiss() {
	for _, goroutine := range c {
		close(goroutine)
	}
}

// Many outcomes at once leave the window as if they had come one by one.
func TestRecordTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := RuleConfig{
			Window:   WindowConfig{Kind: CountWindow, Calls: rapid.IntRange(1, 200).Draw(t, "calls")},
			MinCalls: 1, FailureRate: 1,
		}
		buckets := rapid.Bool().Draw(t, "buckets")
		if buckets {
			c.Window = WindowConfig{Kind: BucketWindow, Length: 100, Buckets: 10}
		}
		var windows [2]tallyWindow
		for i := range windows {
			r, err := NewRule(c)
			if err != nil {
				t.Fatal(err)
			}
			windows[i] = r.window.(tallyWindow)
		}
		now := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, 0, 1, 10, 55, 200}).Draw(t, "pause")
			for _, w := range windows {
				w.counts(now)
			}
			e := entry(rapid.IntRange(0, entryMask).Draw(t, "entry"))
			if n := rapid.SampledFrom([]int{0, 0, 1, 2, 31, 32, 33, 64, 500}).Draw(t, "tally"); n > 0 {
				if !buckets {
					e = 0 // the order of bad ones would matter
				}
				windows[0].recordTally(Counts{n, n * e.failed(), n * e.slow()})
				for range n {
					windows[1].record(now, e)
				}
			} else {
				for _, w := range windows {
					w.record(now, e)
				}
			}
			if a, b := windows[0].counts(now), windows[1].counts(now); a != b {
				t.Fatalf("at %d: %+v at once, %+v one by one", now, a, b)
			}
		}
	})
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
		{Kind: TimeWindow, Length: 24 * hour},
		{Kind: TimeWindow, Length: 10 * ms},
	} {
		const goroutines, each, badEvery = 4, 50_000, 40
		b := mustBreaker(t, BreakerConfig{
			Rule:    RuleConfig{Window: window, MinCalls: 10, FailureRate: 1},
			OpenFor: hour, Probes: 1,
		}, nil)
		b.crowdForTest()
		attempt(t, b, good)
		var group sync.WaitGroup
		for range goroutines {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range each {
					if i%1000 == 0 {
						b.crowdForTest()
					}
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
		if window.Length > 0 && window.Length < hour {
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
