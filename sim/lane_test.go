package sim

import (
	"testing"
	"time"
)

func TestLaneIsOnePerDelay(t *testing.T) {
	e := New()
	lanes := make(map[*Lane]time.Duration)
	for d := range time.Duration(20) {
		lanes[e.Lane(d)] = d
	}
	if len(lanes) != 20 {
		t.Errorf("%d lanes for 20 delays", len(lanes))
	}
	for l, d := range lanes {
		if e.Lane(d) != l {
			t.Errorf("another lane for %v", d)
		}
	}
}

// The earliest of many lanes is always found, while heads come and go.
func TestManyLanes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 33} {
		e := New()
		r := Stream(1, uint64(n), "lanes")
		var last Time
		fired := 0
		var timers []Timer
		h := act(func(e *Engine, ev Event) {
			if e.Now() < last || e.Now() != Time(ev.Arg) {
				t.Fatalf("%d lanes: event of %d at %d after %d", n, ev.Arg, e.Now(), last)
			}
			last = e.Now()
			fired++
		})
		for range 3000 {
			d := time.Duration(r.IntN(n)) * 10
			timers = append(timers, e.Lane(d).After(h, Event{Arg: uint64(e.Now().Add(d))}))
			switch r.IntN(3) {
			case 0:
				e.Step()
			case 1:
				e.Cancel(timers[r.IntN(len(timers))])
			}
		}
		checkEngine(t, e)
		pending := e.Pending()
		fired = 0
		e.Run()
		if fired != pending || e.Pending() != 0 {
			t.Errorf("%d lanes: fired %d of %d", n, fired, pending)
		}
	}
}

// The ring of a lane grows around its end and keeps the order.
func TestLaneGrowsInTheMiddle(t *testing.T) {
	e, r := New(), new(record)
	lane := e.Lane(10)
	var want []uint64
	next := uint64(0)
	add := func(n int) {
		for range n {
			lane.After(r, Event{Arg: next})
			want = append(want, next)
			next++
		}
	}
	add(50)
	e.RunUntil(5)
	add(10)
	e.RunUntil(11) // the first 50 are gone
	add(300)
	e.RunUntil(20)
	add(1)
	e.Run()
	r.want(t, want...)
}

// Cancelled timeouts take no lasting room in a lane, although the oldest one
// stays pending.
func TestLaneIsBounded(t *testing.T) {
	e, r := New(), new(record)
	lane := e.Lane(time.Hour)
	lane.After(r, Event{Arg: 7})
	for i := range Time(100_000) {
		e.RunUntil(i)
		e.Cancel(lane.After(r, Event{}))
	}
	if len(lane.ring) > 512 || len(e.slots.s) > 512 {
		t.Errorf("ring of %d, %d slots for one live event", len(lane.ring), len(e.slots.s))
	}
	e.Run()
	r.want(t, 7)
}
