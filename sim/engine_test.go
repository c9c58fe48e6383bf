package sim

import (
	"math"
	"slices"
	"testing"
	"time"
)

// record appends the argument of each event to a list.
type record struct{ got []uint64 }

func (r *record) Handle(_ *Engine, ev Event) { r.got = append(r.got, ev.Arg) }

func (r *record) want(t *testing.T, want ...uint64) {
	t.Helper()
	if !slices.Equal(r.got, want) {
		t.Errorf("fired %v, want %v", r.got, want)
	}
}

// act is a handler that calls itself.
type act func(e *Engine, ev Event)

func (f act) Handle(e *Engine, ev Event) { f(e, ev) }

func TestTiesRunInScheduleOrder(t *testing.T) {
	e, r := New(), new(record)
	e.At(10, r, Event{Arg: 0}) // before there is a lane
	ten, four := e.Lane(10), e.Lane(4)
	e.After(10, r, Event{Arg: 1})
	ten.After(r, Event{Arg: 2})
	e.At(10, r, Event{Arg: 3})
	ten.After(r, Event{Arg: 4})
	e.At(6, act(func(e *Engine, _ Event) {
		four.After(r, Event{Arg: 6})
		e.After(4, r, Event{Arg: 7})
		four.After(r, Event{Arg: 8})
	}), Event{})
	e.At(10, r, Event{Arg: 5})
	e.Run()
	r.want(t, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	if e.Now() != 10 || e.Events() != 10 {
		t.Errorf("now %v, %d events", e.Now(), e.Events())
	}
}

// Many ties pass through every part of the queue: front, spilled front, heap.
func TestManyTies(t *testing.T) {
	const n = 1000
	e, r := New(), new(record)
	lane := e.Lane(1 << 20)
	var want []uint64
	for i := range uint64(n) {
		if i%7 == 0 {
			lane.After(r, Event{Arg: i})
		} else {
			e.At(1<<20, r, Event{Arg: i})
		}
		want = append(want, i)
		e.At(Time(n-i), r, Event{Arg: math.MaxUint64 - i})
	}
	e.RunUntil(1 << 20)
	r.got = nil
	e.Run()
	r.want(t, want...)
}

func TestZeroDelayRunsAfterWhatIsDue(t *testing.T) {
	e, r := New(), new(record)
	zero := e.Lane(0)
	e.At(5, act(func(e *Engine, _ Event) {
		e.After(0, r, Event{Arg: 3})
		zero.After(r, Event{Arg: 4})
		e.At(5, r, Event{Arg: 5})
	}), Event{})
	e.At(5, r, Event{Arg: 1})
	e.At(5, r, Event{Arg: 2})
	e.At(6, r, Event{Arg: 6})
	e.Run()
	r.want(t, 1, 2, 3, 4, 5, 6)
}

func TestRunUntilIsHalfOpen(t *testing.T) {
	e, r := New(), new(record)
	lane := e.Lane(20)
	for _, at := range []Time{0, 19, 20, 21} {
		e.At(at, r, Event{Arg: uint64(at)})
	}
	lane.After(r, Event{Arg: 2000})
	e.RunUntil(0)
	r.want(t)
	e.RunUntil(20)
	r.want(t, 0, 19)
	if e.Now() != 20 {
		t.Errorf("now %v, want the end", e.Now())
	}
	e.RunUntil(20)
	r.want(t, 0, 19)
	e.At(20, r, Event{Arg: 2001})
	e.RunUntil(21)
	r.want(t, 0, 19, 20, 2000, 2001)
	e.RunUntil(1000)
	if e.Now() != 1000 || e.Pending() != 0 {
		t.Errorf("now %v, %d pending", e.Now(), e.Pending())
	}
}

// After RunUntil, events may be scheduled from its end on although the queue
// has looked beyond: for few events and for many.
func TestScheduleBeforeWhatIsNext(t *testing.T) {
	for _, n := range []int{1, 20, 500} {
		e, r := New(), new(record)
		for i := range n {
			e.At(1<<30+Time(i), r, Event{Arg: uint64(i)})
		}
		for end := Time(1); end < 1<<30; end *= 3 {
			e.RunUntil(end)
			if next, _ := e.Next(); next != 1<<30 {
				t.Fatalf("next %v", next)
			}
			r.got = nil
			e.At(end+1, r, Event{Arg: 2})
			e.At(end, r, Event{Arg: 1})
			e.RunUntil(end + 2)
			r.want(t, 1, 2)
		}
		r.got = nil
		e.Run()
		if len(r.got) != n || !slices.IsSorted(r.got) {
			t.Errorf("%d events: fired %v", n, r.got)
		}
	}
}

func TestStop(t *testing.T) {
	e, r := New(), new(record)
	stop := act(func(e *Engine, _ Event) { e.Stop() })
	e.At(1, r, Event{Arg: 1})
	e.At(2, stop, Event{})
	e.At(2, r, Event{Arg: 2})
	e.Lane(3).After(stop, Event{})
	e.At(4, r, Event{Arg: 4})
	e.RunUntil(10)
	r.want(t, 1)
	if e.Now() != 2 {
		t.Errorf("stopped at %v", e.Now())
	}
	e.Run()
	r.want(t, 1, 2)
	if e.Now() != 3 {
		t.Errorf("stopped at %v", e.Now())
	}
	e.Stop() // outside of a run: nothing
	e.RunUntil(10)
	r.want(t, 1, 2, 4)
	if e.Now() != 10 {
		t.Errorf("now %v", e.Now())
	}
}

func TestStep(t *testing.T) {
	e, r := New(), new(record)
	dead := e.At(1, r, Event{Arg: 1})
	e.At(2, r, Event{Arg: 2})
	e.Lane(2).After(r, Event{Arg: 3})
	e.At(MaxTime, r, Event{Arg: 4})
	e.Cancel(dead)
	for _, want := range []bool{true, true, false, false} {
		if got := e.Step(); got != want {
			t.Errorf("Step at %v: %v", e.Now(), got)
		}
	}
	r.want(t, 2, 3)
	if e.Now() != 2 {
		t.Errorf("now %v", e.Now())
	}
}

func TestNever(t *testing.T) {
	e, r := New(), new(record)
	e.RunUntil(100)
	timers := []Timer{
		e.At(MaxTime, r, Event{}),
		e.After(math.MaxInt64, r, Event{}),
		e.After(math.MaxInt64-99, r, Event{}),
		e.Lane(math.MaxInt64).After(r, Event{}),
	}
	e.After(math.MaxInt64-101, r, Event{Arg: 1}) // just before never
	if next, ok := e.Next(); next != MaxTime-1 || !ok {
		t.Errorf("next %d, %v", next, ok)
	}
	e.Run()
	r.want(t, 1)
	if next, ok := e.Next(); next != MaxTime || !ok || e.Pending() != 4 {
		t.Errorf("next %v, %v, %d pending", next, ok, e.Pending())
	}
	for _, timer := range timers {
		if !e.Cancel(timer) || e.Cancel(timer) {
			t.Errorf("cancel of %v", timer)
		}
	}
	e.RunUntil(MaxTime)
	if _, ok := e.Next(); ok || e.Pending() != 0 || e.Now() != MaxTime {
		t.Errorf("now %v, %d pending", e.Now(), e.Pending())
	}
	e.At(MaxTime, r, Event{})
	e.After(1, r, Event{})
	if e.Step() {
		t.Error("something fired at MaxTime")
	}
}

func TestMisuse(t *testing.T) {
	e := New()
	e.RunUntil(Time(15 * time.Second))
	checkPanic(t, "sim: At(12s) before Now (15s)", func() {
		e.At(Time(12*time.Second), nil, Event{})
	})
	checkPanic(t, "sim: At(-1ns) before Now (15s)", func() { e.At(-1, nil, Event{}) })
	checkPanic(t, "sim: At(14s) before Now (15s)", func() { e.After(-time.Second, nil, Event{}) })
	checkPanic(t, "sim: At(12s) before Now (15s)", func() {
		e.AtFunc(Time(12*time.Second), func() {})
	})
	checkPanic(t, "sim: RunUntil(14s) before Now (15s)", func() { e.RunUntil(Time(14 * time.Second)) })
	checkPanic(t, "sim: Lane(-1s), want at least 0s", func() { e.Lane(-time.Second) })
	if e.Pending() != 0 || e.Now() != Time(15*time.Second) {
		t.Errorf("a refused call left %d events, now %v", e.Pending(), e.Now())
	}
}

func TestAtFunc(t *testing.T) {
	e := New()
	var got []Time
	var tick func()
	tick = func() {
		got = append(got, e.Now())
		e.AtFunc(e.Now()+3, tick)
	}
	e.AtFunc(1, tick)
	e.RunUntil(8)
	if !slices.Equal(got, []Time{1, 4, 7}) {
		t.Errorf("ticks at %v", got)
	}
}

// A handler that runs the engine itself finds it at the new instant, and so
// does the run it is part of. Stop ends the inner run only.
func TestNestedRun(t *testing.T) {
	e, r := New(), new(record)
	e.At(1, act(func(e *Engine, _ Event) {
		e.RunUntil(5)
		e.At(5, r, Event{Arg: 5})
		e.RunUntil(9)
		if e.Now() != 7 {
			t.Errorf("inner run stopped at %v", e.Now())
		}
		e.Step()
		e.At(8, r, Event{Arg: 9})
	}), Event{})
	e.At(2, r, Event{Arg: 2})
	e.At(4, r, Event{Arg: 4})
	e.At(7, act(func(e *Engine, _ Event) { e.Stop() }), Event{})
	e.At(8, r, Event{Arg: 8})
	e.RunUntil(10)
	r.want(t, 2, 4, 5, 8, 9)
	if e.Now() != 10 {
		t.Errorf("outer run ended at %v", e.Now())
	}
}

func TestNestedRunBeyondOuterEnd(t *testing.T) {
	e, r := New(), new(record)
	e.At(1, act(func(e *Engine, _ Event) { e.RunUntil(20) }), Event{})
	e.At(15, r, Event{Arg: 15})
	e.At(25, r, Event{Arg: 25})
	e.RunUntil(10)
	r.want(t, 15)
	if e.Now() != 20 {
		t.Errorf("now %v, want where the inner run left it", e.Now())
	}
}

func TestReset(t *testing.T) {
	e, r := New(), new(record)
	lane := e.Lane(7)
	old := []Timer{lane.After(r, Event{}), e.At(MaxTime, r, Event{})}
	for i := range Time(500) {
		old = append(old, e.At(1000*i*i, r, Event{}))
	}
	e.RunUntil(100_000)
	e.Reset()
	r.got = nil
	if _, ok := e.Next(); ok || e.Now() != 0 || e.Events() != 0 || e.Pending() != 0 {
		t.Errorf("after Reset: now %v, %d fired, %d pending", e.Now(), e.Events(), e.Pending())
	}
	if e.Lane(7) != lane {
		t.Error("Reset lost the lane")
	}
	lane.After(r, Event{Arg: 7})
	e.At(3, r, Event{Arg: 3})
	for _, timer := range old {
		if e.Cancel(timer) {
			t.Errorf("timer %v from before Reset cancelled something", timer)
		}
	}
	e.Run()
	r.want(t, 3, 7)
}

func TestResetInHandler(t *testing.T) {
	e, r := New(), new(record)
	e.At(1, act(func(e *Engine, _ Event) {
		e.Reset()
		e.At(0, r, Event{Arg: 1})
	}), Event{})
	e.At(2, r, Event{Arg: 2})
	e.RunUntil(10)
	r.want(t)
	if e.Now() != 0 || e.Pending() != 1 {
		t.Errorf("now %v, %d pending", e.Now(), e.Pending())
	}
	e.Run()
	r.want(t, 1)
}
