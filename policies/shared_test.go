package policies

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many goroutines use a breaker at once, with every feature on. Whatever the
// order, each permit ends up in one figure, and the states follow the diagram.
func TestManyGoroutines(t *testing.T) {
	for _, window := range benchWindows {
		for _, inFlight := range []bool{false, true} {
			var allowed, refused, lost atomic.Uint64
			b := mustBreaker(t, BreakerConfig{
				Rule: RuleConfig{
					Window: window, MinCalls: 10, FailureRate: 0.5,
					SlowRate: 0.5, SlowAfter: 50 * time.Microsecond,
				},
				OpenFor: 100 * time.Microsecond, Probes: 5, HalfOpenFor: 10 * ms,
				InFlightSlow: inFlight, Classify: classifyByError,
				OnChange: func(c Change) {
					if !legal(c) {
						t.Errorf("%v to %v is not in the state diagram", c.From, c.To)
					}
				},
			}, nil)
			var group sync.WaitGroup
			for g := range 8 {
				group.Add(1)
				go func() {
					defer group.Done()
					for i := range 3000 {
						p, ok := b.Allow()
						if !ok {
							refused.Add(1)
							continue
						}
						allowed.Add(1)
						class := Success
						if i/500%2 == 0 { // phases of trouble
							class = Failure
						}
						switch (i + g) % 16 {
						case 0:
							b.Cancel(p)
						case 1:
							b.Record(p, outcomeOf(Ignored, 0))
						case 2:
							lost.Add(1)
						case 3:
							b.Record(p, outcomeOf(class, ms))
						case 4:
							b.State()
							b.Counts()
							b.NextDeadline()
							fallthrough
						default:
							b.Record(p, outcomeOf(class, 0))
						}
					}
				}()
			}
			group.Wait()
			s := b.Stats()
			back := s.Recorded + s.Ignored + s.Cancelled + s.Late
			if back+lost.Load() != allowed.Load() || s.Refused != refused.Load() {
				t.Errorf("%s, in flight %v: %d back and %d lost of %d allowed; %d refused, want %d\n%+v",
					window.Kind, inFlight, back, lost.Load(), allowed.Load(), s.Refused, refused.Load(), s)
			}
			if s.Openings == 0 {
				t.Errorf("%s, in flight %v: never opened", window.Kind, inFlight)
			}
		}
	}
}

// Successes from many goroutines are all counted, and the first failures after
// them open the breaker when they must, not earlier or later.
func TestSharedCountsAreExact(t *testing.T) {
	for _, window := range []WindowConfig{
		{Kind: CountWindow, Calls: 100},
		{Kind: TimeWindow, Length: time.Hour},
		{Kind: BucketWindow, Length: time.Hour, Buckets: 10},
	} {
		const goroutines, each = 8, 2000
		b := mustBreaker(t, BreakerConfig{
			Rule:    RuleConfig{Window: window, MinCalls: 100, FailureRate: 0.5},
			OpenFor: time.Hour, Probes: 1,
		}, nil)
		var group sync.WaitGroup
		for range goroutines {
			group.Add(1)
			go func() {
				defer group.Done()
				for range each {
					attemptInside(b, good)
				}
			}()
		}
		group.Wait()
		calls := goroutines * each
		if window.Kind == CountWindow {
			calls = window.Calls
		}
		wantCounts(t, b, Counts{calls, 0, 0})
		for n := 1; b.State() == Closed; n++ {
			attempt(t, b, bad)
			want := n >= calls // of a window that grows
			if window.Kind == CountWindow {
				want = 2*n >= calls
			}
			if opened := b.State() == Open; opened != want {
				t.Fatalf("%s: %d failures after %d successes: open %v, want %v", window.Kind, n, calls, opened, want)
			}
		}
	}
}

// No outcome costs an allocation once the windows have their size.
func TestNoAllocations(t *testing.T) {
	for _, window := range benchWindows {
		for _, unshared := range []bool{false, true} {
			for _, inFlight := range []bool{false, true} {
				clock := &stepClock{}
				b := mustBreaker(t, BreakerConfig{
					Rule: RuleConfig{
						Window: window, MinCalls: 10, FailureRate: 0.5, SlowRate: 1, SlowAfter: hour,
					},
					OpenFor: sec, Probes: 1, Unshared: unshared, InFlightSlow: inFlight,
				}, clock)
				i := 0
				step := func() {
					p, ok := b.Allow()
					if i++; ok && i%1000 < 400 {
						b.Record(p, good)
					} else if ok {
						b.Record(p, bad) // opens, is refused, probes and opens again
					}
				}
				for range 10_000 {
					step()
				}
				if got := testing.AllocsPerRun(5000, step); got != 0 {
					t.Errorf("%s, unshared %v, in flight %v: %v allocations", window.Kind, unshared, inFlight, got)
				}
				if b.Stats().Openings == 0 {
					t.Error("never opened")
				}
			}
		}
		r := mustRule(t, RuleConfig{Window: window, MinCalls: 10, FailureRate: 0.5})
		now := time.Duration(0)
		observe := func() {
			now += 20 * ms
			r.Observe(now, now%sec == 0, false)
		}
		for range 10_000 {
			observe()
		}
		if got := testing.AllocsPerRun(5000, observe); got != 0 {
			t.Errorf("%s rule: %v allocations", window.Kind, got)
		}
	}
}
