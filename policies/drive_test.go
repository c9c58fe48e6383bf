package policies

import (
	"sort"
	"testing"
	"time"
)

// A load is a stream of evenly spaced calls: call k arrives at k*gap, counted
// from 0, and takes and ends as answer says. In a closed loop it starts when
// the one before has ended, and gap is only the pause after a refusal.
type load struct {
	calls  int
	gap    time.Duration
	until  time.Duration // end of the run; 0 means after the last call
	answer func(k int) (time.Duration, error)
}

// always answers every call alike.
func always(latency time.Duration, err error) func(int) (time.Duration, error) {
	return func(int) (time.Duration, error) { return latency, err }
}

// A flight is a call on its way back.
type flight struct {
	permit Permit
	sent   time.Duration
	lands  time.Duration
	err    error
}

// A logbook is what a load met.
type logbook struct {
	sent    int   // calls that reached the callee
	numbers []int // their numbers
	changes changeLog
}

// sentBefore counts the calls sent before an instant.
func (l *logbook) sentBefore(at, gap time.Duration) (n int) {
	for _, k := range l.numbers {
		if time.Duration(k)*gap < at {
			n++
		}
	}
	return n
}

// first returns the instant of the first opening, or -1.
func (l *logbook) first() time.Duration {
	for _, c := range l.changes {
		if c.To == Open {
			return c.At.Sub(testStart)
		}
	}
	return -1
}

// drive runs a load through a breaker under a hand clock. At the same instant
// calls land before others start, and deadlines of the breaker come last.
func drive(t *testing.T, cfg BreakerConfig, l load) (*Breaker, *logbook) {
	t.Helper()
	book := new(logbook)
	cfg.OnChange = book.changes.add
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	var flying []flight
	land := func(until time.Duration) {
		for len(flying) > 0 && flying[0].lands <= until {
			f := flying[0]
			flying = flying[1:]
			clock.at(f.lands)
			b.Record(f.permit, Outcome{Latency: f.lands - f.sent, Err: f.err})
		}
	}
	for k := range l.calls {
		at := time.Duration(k) * l.gap
		if l.until > 0 && at > l.until {
			break
		}
		land(at)
		clock.at(at)
		p, ok := b.Allow()
		if !ok {
			continue
		}
		book.sent++
		book.numbers = append(book.numbers, k)
		latency, err := l.answer(k)
		f := flight{p, at, at + latency, err}
		i := sort.Search(len(flying), func(i int) bool { return flying[i].lands > f.lands })
		flying = append(flying[:i], append([]flight{f}, flying[i:]...)...)
	}
	end := l.until
	if end == 0 {
		end = 1<<63 - 1
	}
	land(end)
	return b, book
}
