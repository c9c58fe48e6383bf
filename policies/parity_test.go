package policies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
)

// A scriptLine is one action of a script that every clock plays alike.
type scriptLine struct {
	pause  time.Duration
	action string // "allow", "good", "bad", "slow", "look"; the oldest permit comes back
}

var parityScript = []scriptLine{
	{0, "allow"}, {0, "good"}, {sec, "allow"}, {100 * ms, "bad"}, {0, "allow"}, {0, "allow"},
	{500 * ms, "bad"}, {ms, "bad"}, // opens
	{0, "allow"}, {2 * sec, "allow"}, {3*sec - 2*ms, "allow"}, {ms, "allow"}, {ms, "allow"},
	{0, "allow"}, {300 * ms, "good"}, {0, "bad"}, // reopens
	{4999 * ms, "allow"}, {ms, "allow"}, {10 * ms, "good"}, {0, "allow"}, {ms, "good"}, // closes
	{9 * sec, "allow"}, {0, "allow"}, {0, "allow"}, {2 * sec, "look"}, {1, "look"}, // slow in flight: opens
	{0, "allow"}, {sec, "slow"}, {0, "slow"}, {0, "good"}, {4 * sec, "allow"}, {30 * sec, "look"}, {0, "allow"},
	{5 * sec, "allow"}, {0, "allow"}, {0, "good"}, {0, "good"}, {0, "good"}, {0, "look"},
}

// play runs the script and notes what can be seen after each line.
func play(t *testing.T, c Clock, pause func(time.Duration)) (notes []string) {
	t.Helper()
	b := mustBreaker(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
			MinCalls: 3, FailureRate: 0.5, SlowRate: 0.9, SlowAfter: 2 * sec,
		},
		OpenFor: 5 * sec, Probes: 2, HalfOpenFor: 20 * sec, InFlightSlow: true,
	}, c)
	var permits []Permit
	for _, line := range parityScript {
		pause(line.pause)
		ok := true
		switch line.action {
		case "allow":
			var p Permit
			if p, ok = b.Allow(); ok {
				permits = append(permits, p)
			}
		case "look":
			b.Advance()
		default:
			if len(permits) > 0 {
				o := map[string]Outcome{"good": good, "bad": bad, "slow": {Latency: 3 * sec}}[line.action]
				b.Record(permits[0], o)
				permits = permits[1:]
			}
		}
		notes = append(notes, fmt.Sprint(line.action, ok, b.State(), b.Counts(), b.Stats()))
	}
	return notes
}

// The same script gives the same decisions on a hand-held clock, on the mock
// clock of a library, and in real time.
func TestParityOfClocks(t *testing.T) {
	hand := newHandClock()
	want := play(t, hand, hand.add)
	for _, state := range []State{Closed, Open, HalfOpen} {
		if !slices.ContainsFunc(want, func(n string) bool { return strings.Contains(n, state.String()) }) {
			t.Errorf("the script never gets to %v", state)
		}
	}
	check := func(name string, got []string) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s, line %d: %s, want %s", name, i, got[i], want[i])
				return
			}
		}
	}
	since := &sinceClock{handClock: *newHandClock()}
	check("clock with Since", play(t, since, since.add))

	mock := clock.NewMock()
	check("mock clock", play(t, mock, func(d time.Duration) {
		if d > 0 { // each step costs a millisecond
			mock.Add(d)
		}
	}))
	synctest.Test(t, func(t *testing.T) {
		check("real time", play(t, nil, time.Sleep))
	})
}

// A production host that looks at every deadline with time.AfterFunc sees a
// hanging callee at the instant the calls become slow.
func TestHostWithTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var opened time.Duration
		cfg := inFlightConfig(hundredCalls)
		cfg.OnChange = func(c Change) {
			opened = time.Since(start)
			if at := c.At.Sub(start); at != opened {
				t.Errorf("opened at %v, told at %v", at, opened)
			}
		}
		b := mustBreaker(t, cfg, nil)
		var timer *time.Timer
		watch := func() {
			if at, ok := b.NextDeadline(); ok {
				timer.Reset(time.Until(at))
			}
		}
		timer = time.AfterFunc(time.Hour, func() { b.Advance(); watch() })
		defer timer.Stop()
		for range 4 {
			mustAllow(t, b)
			watch()
			time.Sleep(100 * ms)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := 300*ms + slowAfter + 1; opened != want {
			t.Errorf("opened at %v, want %v", opened, want)
		}
	})
}
