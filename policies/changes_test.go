package policies

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// OnChange may use the breaker, and what it brings about is told after it has
// returned.
func TestOnChangeMayUseTheBreaker(t *testing.T) {
	for _, unshared := range []bool{false, true} {
		clock := newHandClock()
		var b *Breaker
		var told []Change
		depth := 0
		b = mustBreaker(t, BreakerConfig{
			Rule: countRule(1), OpenFor: sec, Probes: 1, Unshared: unshared,
			OnChange: func(c Change) {
				depth++
				defer func() { depth-- }()
				if depth > 1 {
					t.Error("told of a change while telling of another")
				}
				told = append(told, c)
				b.Stats()
				b.Counts()
				b.NextDeadline()
				b.State()
				if c.To == Open { // go straight on to half-open
					clock.add(sec)
					if p, ok := b.Allow(); !ok {
						t.Error("refused after the open interval")
					} else if len(told) < 5 {
						b.Cancel(p)
						attemptInside(b, bad)
					} else {
						b.Record(p, good)
					}
				}
			},
		}, clock)
		attempt(t, b, bad)
		wantState(t, b, Closed)
		var got []State
		for _, c := range told {
			got = append(got, c.To)
		}
		if want := []State{Open, HalfOpen, Open, HalfOpen, Open, HalfOpen, Closed}; !slices.Equal(got, want) {
			t.Errorf("told of %v, want %v", got, want)
		}
	}
}

func attemptInside(b *Breaker, o Outcome) {
	if p, ok := b.Allow(); ok {
		b.Record(p, o)
	}
}

// Many goroutines, one listener: changes come one at a time, and each begins
// where the one before ended.
func TestOnChangeInOrder(t *testing.T) {
	var busy atomic.Int32
	var last atomic.Uint32 // State
	var told atomic.Int64
	var lastAt atomic.Int64
	b := mustBreaker(t, BreakerConfig{
		Rule: countRule(2), OpenFor: 1, Probes: 2, HalfOpen: FirstFailure,
		OnChange: func(c Change) {
			if busy.Add(1) != 1 {
				t.Error("two changes at a time")
			}
			if got := State(last.Swap(uint32(c.To))); got != c.From {
				t.Errorf("from %v, but the last change was to %v", c.From, got)
			}
			if at := c.At.UnixNano(); lastAt.Swap(at) > at {
				t.Error("a change that is older than the one before")
			}
			told.Add(1)
			busy.Add(-1)
		},
	}, nil)
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 2000 {
				if p, ok := b.Allow(); ok {
					o := good
					if i%3 == 0 {
						o = bad
					}
					b.Record(p, o)
				}
			}
		}()
	}
	group.Wait()
	s := b.Stats()
	// Half-open begins once between two other changes.
	if got := told.Load(); got < int64(s.Openings+s.Closings) {
		t.Errorf("told of %d changes, want at least %d", got, s.Openings+s.Closings)
	}
	if got := State(last.Load()); got != b.State() {
		t.Errorf("told of %v last, state %v", got, b.State())
	}
}

// A listener that panics leaves a breaker that works, and later changes are
// told.
func TestOnChangePanics(t *testing.T) {
	clock := newHandClock()
	told := 0
	b := mustBreaker(t, BreakerConfig{
		Rule: countRule(1), OpenFor: sec, Probes: 1,
		OnChange: func(Change) {
			if told++; told == 1 {
				panic("listener")
			}
		},
	}, clock)
	func() {
		defer func() {
			if r := recover(); r != "listener" {
				t.Errorf("recovered %v, want the listener's panic", r)
			}
		}()
		attempt(t, b, bad)
	}()
	wantState(t, b, Open)
	clock.add(sec)
	attempt(t, b, good)
	wantState(t, b, Closed)
	if told != 3 {
		t.Errorf("told of %d changes, want 3", told)
	}
}

// A slow listener holds nobody up but the goroutine that tells it.
func TestOnChangeWithoutTheLock(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	b := mustBreaker(t, BreakerConfig{
		Rule: countRule(1), OpenFor: time.Hour, Probes: 1,
		OnChange: func(Change) {
			close(entered)
			<-leave
		},
	}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		attemptInside(b, bad)
	}()
	<-entered
	mustRefuse(t, b) // would wait for ever
	if got := b.Stats().Refused; got != 1 {
		t.Errorf("%d refusals, want 1", got)
	}
	close(leave)
	<-done
}

// The queue gives back what it was given, in order, and does not grow while it
// is never quite empty.
func TestChangeQueue(t *testing.T) {
	var q changes
	in, out := 0, 0
	add := func() {
		q.add(Change{Counts: Counts{Calls: in}})
		in++
	}
	take := func() {
		if got := q.next().Counts.Calls; got != out {
			t.Fatalf("change %d, want %d", got, out)
		}
		out++
	}
	for range 10 {
		add()
	}
	for range 10_000 {
		add()
		take()
	}
	if cap(q.queue) > 64 {
		t.Errorf("room for %d changes of which 10 are queued", cap(q.queue))
	}
	for out < in {
		take()
	}
	if len(q.queue) != 0 {
		t.Errorf("%d changes in a queue that was emptied", len(q.queue))
	}
}
