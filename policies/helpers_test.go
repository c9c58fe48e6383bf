package policies

import (
	"errors"
	"testing"
	"time"
)

// The test clocks start on a whole Unix second that day and hour divide.
var testStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

var errCall = errors.New("call failed")

// A handClock stands still until it is moved. It counts how often it is read.
type handClock struct {
	now   time.Time
	reads int
}

func newHandClock() *handClock { return &handClock{now: testStart} }

func (c *handClock) Now() time.Time {
	c.reads++
	return c.now
}

func (c *handClock) add(d time.Duration) { c.now = c.now.Add(d) }

// at moves the clock to an instant after the start.
func (c *handClock) at(d time.Duration) { c.now = testStart.Add(d) }

// A sinceClock is a handClock with the cheap method.
type sinceClock struct {
	handClock
	sinces int
}

func (c *sinceClock) Since(t time.Time) time.Duration {
	c.sinces++
	return c.now.Sub(t)
}

// mustBreaker makes a breaker or ends the test.
func mustBreaker(t testing.TB, cfg BreakerConfig, c Clock) *Breaker {
	t.Helper()
	b, err := NewBreaker(cfg, c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustRule(t testing.TB, cfg RuleConfig) *Rule {
	t.Helper()
	r, err := NewRule(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustAllow takes a permit or ends the test.
func mustAllow(t testing.TB, b *Breaker) Permit {
	t.Helper()
	p, ok := b.Allow()
	if !ok {
		t.Fatalf("refused while %v, want a permit", b.State())
	}
	return p
}

func mustRefuse(t testing.TB, b *Breaker) {
	t.Helper()
	if _, ok := b.Allow(); ok {
		t.Fatalf("allowed, now %v, want a refusal", b.State())
	}
}

func wantState(t testing.TB, b *Breaker, want State) {
	t.Helper()
	if got := b.State(); got != want {
		t.Fatalf("state %v, want %v", got, want)
	}
}

func wantCounts(t testing.TB, b *Breaker, want Counts) {
	t.Helper()
	if got := b.Counts(); got != want {
		t.Fatalf("counts %+v, want %+v", got, want)
	}
}

var (
	good = Outcome{Latency: time.Millisecond}
	bad  = Outcome{Latency: time.Millisecond, Err: errCall}
)

// attempt allows and records one call at once.
func attempt(t testing.TB, b *Breaker, o Outcome) {
	t.Helper()
	b.Record(mustAllow(t, b), o)
}

// countRule trips at half of size calls.
func countRule(size int) RuleConfig {
	return RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: size}, MinCalls: size, FailureRate: 0.5}
}

// changeLog collects the changes of a breaker.
type changeLog []Change

func (l *changeLog) add(c Change) { *l = append(*l, c) }

// A step of a change log without its figures.
type wantChange struct {
	from, to State
	at       time.Duration
}

func (l changeLog) check(t *testing.T, want ...wantChange) {
	t.Helper()
	for i := range max(len(l), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("change %d: %v to %v at %v, want none", i, l[i].From, l[i].To, l[i].At.Sub(testStart))
		case i >= len(l):
			t.Errorf("change %d: none, want %v to %v at %v", i, want[i].from, want[i].to, want[i].at)
		default:
			got := wantChange{l[i].From, l[i].To, l[i].At.Sub(testStart)}
			if got != want[i] {
				t.Errorf("change %d: %v to %v at %v, want %v to %v at %v", i,
					got.from, got.to, got.at, want[i].from, want[i].to, want[i].at)
			}
		}
	}
}
