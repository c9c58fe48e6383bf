package policies

import (
	"sync"
	"testing"
	"time"
)

// Without a crowd time windows take the lock for each outcome; when it has gone
// they do so again.
func TestCrowdComesAndGoes(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
			MinCalls: 10, FailureRate: 0.5,
		},
		OpenFor: sec, Probes: 1,
	}, clock)
	for range 100 {
		attempt(t, b, good)
	}
	if b.crowd != nil || b.calm {
		t.Error("a crowd of one")
	}
	b.crowdForTest()
	if b.crowd == nil || !b.calm {
		t.Error("no calm in the crowd")
	}
	noted := 0
	for ; b.crowdLeft > 0; noted++ {
		attempt(t, b, good)
		if noted > 100*noteTimed {
			t.Fatal("the crowd is never forgotten")
		}
	}
	if want := crowdLasts * noteTimed / 2; noted != want { // gathered when half full
		t.Errorf("forgotten after %d outcomes, want %d", noted, want)
	}
	wantCounts(t, b, Counts{100 + noted, 0, 0})
	if b.calm {
		t.Error("calm without a crowd")
	}
}

// crowdIn returns a breaker whose closed epoch is calm in a crowd.
func crowdIn(t *testing.T, length time.Duration, clock *handClock) *Breaker {
	t.Helper()
	b := mustBreaker(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: length},
			MinCalls: 2, FailureRate: 0.5,
		},
		OpenFor: sec, Probes: 2,
	}, clock)
	makeCrowd(t, b)
	return b
}

func makeCrowd(t *testing.T, b *Breaker) {
	t.Helper()
	for range crowdAfter {
		attempt(t, b, good)
	}
	b.crowdForTest()
	if e := b.epoch.Load(); !b.calm || e.crowd.Load() == nil {
		t.Fatal("no calm in the crowd")
	}
}

// What was admitted in an earlier calm is not noted in this one, even if its
// stripe has joined.
func TestLateOutcomeInACrowd(t *testing.T) {
	clock := newHandClock()
	b := crowdIn(t, hour, clock)
	late := mustAllow(t, b)
	attempt(t, b, good)
	for b.State() == Closed {
		attempt(t, b, bad)
	}
	clock.add(sec)
	attempt(t, b, good)
	attempt(t, b, good)
	wantState(t, b, Closed)
	makeCrowd(t, b)
	attempt(t, b, good) // joins
	before := b.Stats()
	makeCrowd(t, b)
	attempt(t, b, good)
	b.Record(late, good)
	after := b.Stats()
	if after.Late != before.Late+1 || after.Recorded != before.Recorded+crowdAfter+1 {
		t.Errorf("%d late and %d recorded more, want 1 and %d",
			after.Late-before.Late, after.Recorded-before.Recorded, crowdAfter+1)
	}
}

// Probes are not noted apart, however crowded it is.
func TestProbesInACrowd(t *testing.T) {
	clock := newHandClock()
	b := crowdIn(t, hour, clock)
	for b.State() == Closed {
		attempt(t, b, bad)
	}
	clock.add(sec)
	first, second := mustAllow(t, b), mustAllow(t, b)
	b.crowdForTest()
	b.Record(first, good)
	b.crowdForTest()
	b.Record(second, good)
	wantState(t, b, Closed)
}

// A stripe takes no outcome at the end of the calm or later, and none for which
// it has no room.
func TestStripeRefuses(t *testing.T) {
	clock := newHandClock()
	b := crowdIn(t, hour, clock)
	e, c := b.epoch.Load(), b.crowd
	e.calmUntil.Store(100)
	if !b.bypassCrowd(c, e, 99, 0) {
		t.Error("refused before the end of the calm")
	}
	if b.bypassCrowd(c, e, 100, 0) {
		t.Error("noted at the end of the calm")
	}
	for i := range c.stripes {
		c.stripes[i].held.Calls = noteTimed
	}
	if b.bypassCrowd(c, e, 99, 0) {
		t.Error("noted without room")
	}
}

// In a crowd, too, outcomes cost no allocation once the stripes are in use.
func TestNoAllocationsInACrowd(t *testing.T) {
	for _, window := range benchWindows {
		b := mustBreaker(t, BreakerConfig{
			Rule:    RuleConfig{Window: window, MinCalls: 10, FailureRate: 0.5},
			OpenFor: sec, Probes: 1,
		}, new(stepClock))
		i := 0
		step := func() {
			if i++; i%100 == 0 {
				b.crowdForTest()
			}
			attempt(t, b, good)
		}
		many := func() {
			for range 10_000 {
				step()
			}
		}
		many()
		if got := testing.AllocsPerRun(3, many); got != 0 {
			t.Errorf("%s: %v allocations", window.Kind, got)
		}
	}
}

// Goroutines that meet at one stripe guess anew, but not for ever.
func TestGuessAnew(t *testing.T) {
	c, s := new(crowd), new(stripe)
	for range guessAfter - 1 {
		c.met(s)
	}
	if got := c.guess.Load(); got != 0 {
		t.Errorf("guess %d before goroutines met often, want 0", got)
	}
	guesses := map[int]bool{c.mine(): true}
	for range 2 * mostGuesses {
		s.met = max(s.met, guessAfter-1)
		c.met(s)
		guesses[c.mine()] = true
	}
	if got := c.guess.Load(); got < 1 || got > mostGuesses {
		t.Errorf("guess %d, want 1 to %d", got, mostGuesses)
	}
	if len(guesses) < 3 {
		t.Errorf("%d different stripes, want several", len(guesses))
	}
}

// Breakers that need only the number of good outcomes go back from stripes to
// counting.
func TestCrowdOfACountWindow(t *testing.T) {
	b := mustBreaker(t, BreakerConfig{Rule: countRule(10), OpenFor: sec, Probes: 1}, newHandClock())
	for range crowdAfter {
		attempt(t, b, good)
	}
	b.crowdForTest()
	for range 100 - crowdAfter {
		attempt(t, b, good)
	}
	e := b.epoch.Load()
	if e.crowd.Load() == nil {
		t.Error("no stripes in the crowd")
	}
	for range crowdLasts {
		b.Stats()
	}
	if got := b.Stats().Recorded; got != 100 {
		t.Errorf("%d recorded, want 100", got)
	}
	if e.crowd.Load() != nil {
		t.Error("stripes without a crowd")
	}
	for range 100 {
		attempt(t, b, good)
	}
	if got := b.Stats().Recorded; got != 200 {
		t.Errorf("%d recorded, want 200", got)
	}
}

// Stripes of several goroutines are merged in the order of time, whether the
// calm ends or goes on.
func TestGatherInOrder(t *testing.T) {
	for _, end := range []bool{false, true} {
		clock := newHandClock()
		b := mustBreaker(t, BreakerConfig{
			Rule: RuleConfig{
				Window:   WindowConfig{Kind: TimeWindow, Length: 100 * sec},
				MinCalls: 100, FailureRate: 1,
			},
			OpenFor: sec, Probes: 1,
		}, clock)
		b.goodRun = crowdAfter
		b.crowdForTest()
		e := b.epoch.Load()
		b.mu.Lock()
		for i, times := range [][]int64{{5, 9, 9, 30}, {}, {1, 10}, {7}} {
			e.joined.Or(1 << (3 * i))
			s := &b.crowd.stripes[3*i]
			s.epoch = e
			for _, now := range times {
				s.add(now, entry(now%2), true)
			}
		}
		b.gather(e, end)
		w := b.window.(*timeWindow)
		for i, want := range []int64{1, 5, 7, 9, 9, 10, 30} {
			packed := w.ring[i]
			if got := w.base + packed>>entryBits; got != want || packed&entryMask != want%2 {
				t.Errorf("outcome %d: %b at %d, want %b at %d", i, packed&entryMask, got, want%2, want)
			}
		}
		for i := range b.crowd.stripes {
			s := &b.crowd.stripes[i]
			if joined := i%3 == 0 && i <= 9 && !end; s.held != (Counts{}) || (s.epoch == e) != joined {
				t.Errorf("end %v: stripe %d with %+v, joined %v", end, i, s.held, s.epoch == e)
			}
		}
		b.unlock()
		if got := b.Stats().Recorded; got != 7 {
			t.Errorf("%d recorded, want 7", got)
		}
	}
}

// A crowd that hammers a breaker meets the same rule: with nothing but good
// outcomes it never opens, and the first bad ones open it when they must.
func TestCrowdThenFailures(t *testing.T) {
	for range 20 {
		b := mustBreaker(t, BreakerConfig{
			Rule: RuleConfig{
				Window:   WindowConfig{Kind: TimeWindow, Length: hour},
				MinCalls: 100, FailureRate: 0.5,
			},
			OpenFor: hour, Probes: 1,
		}, nil)
		const goroutines, each = 4, 300
		var group sync.WaitGroup
		for range goroutines {
			group.Add(1)
			go func() {
				defer group.Done()
				b.crowdForTest()
				for range each {
					attemptInside(b, good)
				}
			}()
		}
		group.Wait()
		for n := 1; n <= goroutines*each; n++ {
			wantState(t, b, Closed)
			attempt(t, b, bad)
		}
		wantState(t, b, Open)
		if got := b.Stats().Recorded; got != 2*goroutines*each {
			t.Fatalf("%d recorded, want %d", got, 2*goroutines*each)
		}
	}
}
