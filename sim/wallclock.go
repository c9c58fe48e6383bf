package sim

import (
	"math"
	"reflect"
	"time"

	"github.com/benbjohnson/clock"
)

// Clock shows an engine's virtual time as a clock.Clock of
// github.com/benbjohnson/clock, for code that is also used outside simulations.
// Time 0 is 2000-01-01T00:00:00Z.
//
// Now, Since, Until, After, AfterFunc, Timer with its Stop, WithDeadline and
// WithTimeout work on virtual time; they wake nothing but events of the
// engine. A timer is due in scheduling order among the events of its instant,
// a delay of 0 or less at the present instant after the running handler.
// AfterFunc runs its function inside the engine's loop, not in a goroutine.
//
// What a callback engine cannot do panics:
//   - Sleep, since the handler that sleeps would keep time from moving.
//   - Ticker and Tick, whose Stop and Reset cannot be seen from here. Schedule
//     the next tick from a handler.
//   - Timer.Reset, which the library does not let a foreign clock define. Stop
//     the timer and make a new one. A Reset before the timer is due panics at
//     the instant for which it was first set, inside the engine's loop. A later
//     one can only end the process from a goroutine, when the new delay has
//     passed in real time; if the process ends before, it goes unnoticed. In
//     neither case is anything delivered.
//
// A stopped timer delivers nothing, but its event stays in the engine until the
// instant for which it was set: Pending counts it, and Run moves time to it.
// The methods belong to the goroutine that runs the engine, as all of it does.
type Clock Engine

var _ clock.Clock = (*Clock)(nil)

// The wall clock's instant for time 0 of the engine, and the whole seconds
// about it that a Time can tell.
const (
	epochUnix  = 946684800
	maxSeconds = math.MaxInt64/1_000_000_000 - 1
)

var epoch = time.Unix(epochUnix, 0).UTC()

// Clock returns the engine's clock, the same in each call.
func (e *Engine) Clock() *Clock { return (*Clock)(e) }

func (c *Clock) engine() *Engine { return (*Engine)(c) }

// TimeOf returns the engine's time at an instant of its clock.
func TimeOf(t time.Time) Time { return Time(t.Sub(epoch)) }

// Now returns the engine's present instant, in UTC.
func (c *Clock) Now() time.Time { return epoch.Add(time.Duration(c.engine().Now())) }

// Since returns the virtual time elapsed since t.
func (c *Clock) Since(t time.Time) time.Duration {
	s := t.Unix() - epochUnix
	if s < -maxSeconds || s > maxSeconds {
		return c.Now().Sub(t)
	}
	return c.engine().Now().Sub(Time(s*1e9 + int64(t.Nanosecond())))
}

// Until returns the virtual time that is left until t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// After returns a channel that receives the instant at which d has passed.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 1)
	c.schedule(d, func() { ch <- c.Now() })
	return ch
}

// AfterFunc runs f when d has passed, unless the timer is stopped first. The
// timer has no channel.
func (c *Clock) AfterFunc(d time.Duration, f func()) *clock.Timer {
	return c.timer(d, nil, f)
}

// Timer returns a timer that sends the instant at which d has passed on its
// channel, unless it is stopped first.
func (c *Clock) Timer(d time.Duration) *clock.Timer {
	ch := make(chan time.Time, 1)
	return c.timer(d, ch, func() { ch <- c.Now() })
}

// Sleep panics: a handler cannot wait for later events.
func (c *Clock) Sleep(d time.Duration) {
	panic("sim: Clock.Sleep(" + d.String() + ") inside the engine would never return; continue in an AfterFunc")
}

// Tick panics, see Clock.
func (c *Clock) Tick(d time.Duration) <-chan time.Time {
	panic("sim: Clock.Tick(" + d.String() + ") is not supported; schedule each tick from the one before with AfterFunc")
}

// Ticker panics, see Clock.
func (c *Clock) Ticker(d time.Duration) *clock.Ticker {
	panic("sim: Clock.Ticker(" + d.String() + ") is not supported; schedule each tick from the one before with AfterFunc")
}

func (c *Clock) schedule(d time.Duration, f func()) Timer {
	e := c.engine()
	return e.AtFunc(e.Now().Add(max(d, 0)), f)
}

// timer returns a clock.Timer on virtual time. All its fields but C are
// private, so it starts as a copy of armed, and shows at the due instant what
// happened to it: it is still a copy, or else it was stopped, or it was Reset
// and is armed.
func (c *Clock) timer(d time.Duration, ch <-chan time.Time, fire func()) *clock.Timer {
	t := new(clock.Timer)
	*t = armed
	t.C = ch
	c.schedule(d, func() {
		if sameButChannel(t, &armed) {
			t.Stop()
			fire()
		}
		if t.Stop() { // armed after all, by a Reset before now or in fire
			panic(resetMessage)
		}
		*t = spent
		t.C = ch
	})
	return t
}

// armed is a timer of a mock clock that never moves, so it never fires on its
// own; the delay is one that no caller of Reset asks for.
var armed = *clock.NewMock().AfterFunc(math.MinInt64, nil)

// spent is a timer of the real clock that is stopped. Stop reports false, as
// it must after a timer has fired, and Reset ends in the panic.
var spent = func() clock.Timer {
	t := clock.New().AfterFunc(math.MaxInt64, func() { panic(resetMessage) })
	t.Stop()
	return *t
}()

// sameButChannel compares two timers, save the channel C and what Go cannot
// compare.
func sameButChannel(a, b *clock.Timer) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for _, i := range timerFields {
		if !x.Field(i).Equal(y.Field(i)) {
			return false
		}
	}
	return true
}

// timerFields are the fields that sameButChannel looks at.
var timerFields = func() (index []int) {
	t := reflect.TypeFor[clock.Timer]()
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "C" && f.Type.Comparable() {
			index = append(index, i)
		}
	}
	return index
}()

const resetMessage = "sim: Timer.Reset is not supported on an engine's clock; stop the timer and make a new one"
