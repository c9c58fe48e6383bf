package sim

import (
	"math"
	"runtime"
	"testing"
	"time"
	"weak"
)

func TestCancel(t *testing.T) {
	e, r := New(), new(record)
	lane := e.Lane(3)
	timers := []Timer{
		e.At(3, r, Event{Arg: 0}),
		lane.After(r, Event{Arg: 1}),
		e.At(3, r, Event{Arg: 2}),
		lane.After(r, Event{Arg: 3}),
		lane.After(r, Event{Arg: 4}),
		e.At(1<<50, r, Event{Arg: 5}),
	}
	for _, i := range []int{1, 2, 4, 5} {
		if !e.Cancel(timers[i]) {
			t.Errorf("event %d was not pending", i)
		}
	}
	if e.Pending() != 2 {
		t.Errorf("%d pending", e.Pending())
	}
	e.Run()
	r.want(t, 0, 3)
	if e.Now() != 3 {
		t.Errorf("now %v: a cancelled event moved the clock", e.Now())
	}
	for i, timer := range timers {
		if e.Cancel(timer) {
			t.Errorf("event %d cancelled although fired or cancelled", i)
		}
	}
}

func TestCancelInert(t *testing.T) {
	other := New()
	for range 200 {
		other.At(1, new(record), Event{})
	}
	foreign := other.At(1, new(record), Event{})
	e := New()
	if e.Cancel(Timer{}) || e.Cancel(foreign) {
		t.Error("cancelled something in an unused engine")
	}
	e.At(1, new(record), Event{})
	if e.Cancel(Timer{}) || e.Cancel(foreign) || e.Pending() != 1 {
		t.Error("cancelled something it does not know")
	}
}

// In its own handler an event is no longer pending, and its slot may be in use
// again by then.
func TestCancelInOwnHandler(t *testing.T) {
	e := New()
	var own, next Timer
	own = e.At(1, act(func(e *Engine, _ Event) {
		next = e.After(1, new(record), Event{})
		if e.Cancel(own) {
			t.Error("cancelled the running event")
		}
	}), Event{})
	e.RunUntil(2)
	if uint32(own.id) != uint32(next.id) {
		t.Error("the test expects the slot to be used again")
	}
	if e.Cancel(own) || !e.Cancel(next) {
		t.Error("old and new timer confused")
	}
}

// A cancelled earliest event does not let the clock pass what comes after it:
// events may still be scheduled before its instant.
func TestCancelEarliestOfMany(t *testing.T) {
	for _, n := range []int{1, 10, 100, 1000} {
		e, r := New(), new(record)
		timers := make([]Timer, n)
		for i := range timers {
			timers[i] = e.At(Time(1000+i), r, Event{})
		}
		e.At(MaxTime, r, Event{})
		for _, timer := range timers {
			e.Cancel(timer)
		}
		e.Run()
		e.Step()
		if next, _ := e.Next(); e.Now() != 0 || next != MaxTime {
			t.Errorf("now %v, next %v", e.Now(), next)
		}
		e.At(5, r, Event{Arg: 5})
		e.At(2000, r, Event{Arg: 2000})
		e.At(1, r, Event{Arg: 1})
		e.Run()
		r.want(t, 1, 5, 2000)
	}
}

// Next looks past cancelled events, wherever they are.
func TestNextSkipsCancelled(t *testing.T) {
	for _, n := range []int{3, 40, 2000} {
		e, r := New(), new(record)
		timers := make([]Timer, n)
		for i := range timers {
			timers[i] = e.At(1<<20+Time(i), r, Event{})
		}
		for i, timer := range timers {
			if next, ok := e.Next(); next != 1<<20+Time(i) || !ok {
				t.Fatalf("next %v, %v; want event %d of %d", next, ok, i, n)
			}
			e.Cancel(timer)
		}
		if _, ok := e.Next(); ok {
			t.Error("an empty queue has a next event")
		}
	}
}

// A slot whose generations are used up is given up, so that a timer from its
// first event cannot meet an equal one.
func TestGenerationsEnd(t *testing.T) {
	e, r := New(), new(record)
	first := e.At(1, r, Event{Arg: 1})
	i := uint32(first.id)
	e.Run()
	e.slots.s[i].gen = math.MaxUint32 // as after 4294967294 more events
	last := e.At(2, r, Event{Arg: 2})
	if uint32(last.id) != i {
		t.Fatal("the test expects the slot to be used again")
	}
	e.Run()
	for range 3 * firstSlots {
		if next := e.At(3, r, Event{}); uint32(next.id) == i {
			t.Fatal("the slot is in use again")
		}
	}
	if e.Cancel(first) || e.Cancel(last) {
		t.Error("an old timer cancelled something")
	}
	r.want(t, 1, 2)
	e.Reset()
	e.At(1, r, Event{Arg: 3})
	e.Run()
	r.want(t, 1, 2, 3)
}

// heavy is a handler with something to collect.
type heavy struct{ payload [1 << 10]byte }

func (*heavy) Handle(*Engine, Event) {}

// Once an event fired or was cancelled, the engine keeps its handler no longer.
func TestHandlersAreReleased(t *testing.T) {
	e := New()
	lane := e.Lane(time.Second)
	var seen []weak.Pointer[heavy]
	fresh := func() *heavy {
		h := new(heavy)
		seen = append(seen, weak.Make(h))
		return h
	}
	for i := range Time(100) {
		e.At(i, fresh(), Event{})
		e.Cancel(e.At(1<<40+i, fresh(), Event{}))
		e.Cancel(e.At(MaxTime, fresh(), Event{}))
		lane.After(fresh(), Event{})
		e.Cancel(lane.After(fresh(), Event{}))
	}
	e.Run()
	e.At(1<<50, fresh(), Event{})
	lane.After(fresh(), Event{})
	e.Reset()
	runtime.GC()
	for i, p := range seen {
		if p.Value() != nil {
			t.Fatalf("handler %d of %d is still kept", i, len(seen))
		}
	}
	runtime.KeepAlive(e)
}
