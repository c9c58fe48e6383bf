package sim

import (
	"reflect"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
)

func TestClockNow(t *testing.T) {
	e := New()
	c := e.Clock()
	if c != e.Clock() {
		t.Error("Clock gives another pointer each time")
	}
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Duration{0, 1, time.Second - 1, time.Second, 36 * time.Hour, 200 * 365 * 24 * time.Hour} {
		e.RunUntil(Time(at))
		if got := c.Now(); got != start.Add(at) {
			t.Errorf("at %v: Now is %v, want %v", at, got, start.Add(at))
		}
		if got := c.Since(start); got != at {
			t.Errorf("at %v: Since(start) is %v", at, got)
		}
		if got := c.Until(start.Add(time.Hour)); got != time.Hour-at {
			t.Errorf("at %v: Until(one hour after start) is %v", at, got)
		}
	}
}

// Since is computed on a path of its own; it agrees with Now.Sub everywhere,
// at the ends of what a duration can hold as well.
// Timers and plain events share one order: by instant, then as scheduled.
func TestClockOrder(t *testing.T) {
	e := New()
	c := e.Clock()
	var got []string
	note := func(name string) func() {
		return func() { got = append(got, name+" at "+e.Now().String()) }
	}
	c.AfterFunc(2*time.Second, note("d"))
	e.AtFunc(Time(2*time.Second), note("e"))
	c.AfterFunc(time.Second, note("b"))
	c.AfterFunc(2*time.Second, note("f"))
	e.AtFunc(Time(time.Second), func() {
		note("c")()
		c.AfterFunc(time.Second, note("g"))
	})
	c.AfterFunc(0, note("a1"))
	c.AfterFunc(-time.Hour, note("a2"))
	if len(got) > 0 {
		t.Errorf("ran before the engine did: %v", got)
	}
	e.Run()
	want := []string{"a1 at 0s", "a2 at 0s", "b at 1s", "c at 1s", "d at 2s", "e at 2s", "f at 2s", "g at 2s"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A delay of 0 set by a handler is due at the same instant, after the handler
// and after what is already due then.
func TestClockZeroDelayInHandler(t *testing.T) {
	e := New()
	c := e.Clock()
	var got []string
	e.AtFunc(5, func() {
		c.AfterFunc(0, func() { got = append(got, "timer") })
		got = append(got, "handler")
	})
	e.AtFunc(5, func() { got = append(got, "event") })
	e.Run()
	if want := []string{"handler", "event", "timer"}; !reflect.DeepEqual(got, want) || e.Now() != 5 {
		t.Errorf("got %v at %v, want %v at 5ns", got, e.Now(), want)
	}
}

func TestClockChannels(t *testing.T) {
	e := New()
	c := e.Clock()
	after, timer := c.After(time.Second), c.Timer(2*time.Second)
	expect := func(name string, ch <-chan time.Time, want string) {
		t.Helper()
		got := "nothing"
		select {
		case at := <-ch:
			got = at.Format(time.RFC3339Nano)
		default:
		}
		if got != want {
			t.Errorf("at %v: %s has %s, want %s", e.Now(), name, got, want)
		}
	}
	e.RunUntil(Time(time.Second)) // half-open: what is due at 1s has not run
	expect("After", after, "nothing")
	e.RunUntil(Time(time.Second + 1))
	expect("After", after, "2000-01-01T00:00:01Z")
	expect("Timer", timer.C, "nothing")
	e.RunUntil(Time(time.Minute))
	expect("Timer", timer.C, "2000-01-01T00:00:02Z")
	expect("After", after, "nothing")
	if timer.Stop() {
		t.Error("Stop after expiry returned true")
	}
	if c.AfterFunc(1, func() {}).C != nil {
		t.Error("a timer of AfterFunc has a channel")
	}
}

// What a timer does and what its Stop says, on a time line: the timer is due
// at 10s.
func TestClockTimerStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		stops []time.Duration
		want  []bool
		fires bool
	}{
		{"never stopped", nil, nil, true},
		{"at once", []time.Duration{0}, []bool{true}, false},
		{"just before", []time.Duration{10*time.Second - 1}, []bool{true}, false},
		{"twice before", []time.Duration{3 * time.Second, 4 * time.Second}, []bool{true, false}, false},
		{"before and after", []time.Duration{3 * time.Second, 11 * time.Second}, []bool{true, false}, false},
		{"at the instant, before it in order", []time.Duration{10 * time.Second}, []bool{true}, false},
		{"just after", []time.Duration{10*time.Second + 1}, []bool{false}, true},
		{"twice after", []time.Duration{11 * time.Second, 12 * time.Second}, []bool{false, false}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New()
			var timer, channel *clock.Timer
			var got, gotChannel []bool
			for _, at := range c.stops {
				e.AtFunc(Time(at), func() {
					got = append(got, timer.Stop())
					gotChannel = append(gotChannel, channel.Stop())
				})
			}
			fired := false
			timer = e.Clock().AfterFunc(10*time.Second, func() { fired = true })
			channel = e.Clock().Timer(10 * time.Second)
			e.Run()
			if !reflect.DeepEqual(got, c.want) || !reflect.DeepEqual(gotChannel, c.want) {
				t.Errorf("Stop returned %v and %v, want %v", got, gotChannel, c.want)
			}
			if fired != c.fires || len(channel.C) == 1 != c.fires {
				t.Errorf("fired %v, sent %v, want %v", fired, len(channel.C) == 1, c.fires)
			}
			if e.Pending() != 0 {
				t.Errorf("%d events left", e.Pending())
			}
		})
	}
}

func TestClockStopInsideCallback(t *testing.T) {
	e := New()
	runs := 0
	var timer *clock.Timer
	timer = e.Clock().AfterFunc(time.Second, func() {
		runs++
		if timer.Stop() {
			t.Error("Stop inside the callback returned true")
		}
	})
	e.Run()
	if runs != 1 {
		t.Errorf("ran %d times, want once", runs)
	}
}

// Any set of timers, some of them stopped, gives the sorted list of those that
// were not stopped in time.
// The adapter agrees with the library's own mock on when timers fire.
// Clocks of several engines share nothing that goroutines could race for.
// checkGoroutines checks that the number of goroutines is back to before,
// allowing those that are ending some time to do so.
func TestClockAllocations(t *testing.T) {
	c := New().Clock()
	start := c.Now()
	if n := testing.AllocsPerRun(100, func() { c.Since(start); c.Now(); c.Until(start) }); n != 0 {
		t.Errorf("%g allocations in Now, Since and Until", n)
	}
}

func BenchmarkClock(b *testing.B) {
	e := New()
	c := e.Clock()
	b.Run("Now", func(b *testing.B) {
		var last time.Time
		for range b.N {
			last = c.Now()
		}
		keep(b, float64(last.Nanosecond()))
	})
	b.Run("Since", func(b *testing.B) {
		start := c.Now()
		var sum time.Duration
		for range b.N {
			sum += c.Since(start)
		}
		keep(b, sum.Seconds())
	})
	b.Run("AfterFunc", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			c.AfterFunc(time.Millisecond, func() {})
			e.Step()
		}
	})
}
