package sim

import (
	"slices"
	"testing"
)

// FuzzQueue reads a program from its input: each byte schedules an event, or
// fires some, or cancels one. The events must fire in the order of a list that
// a stable sort keeps.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0xff, 0, 0, 0xff})
	f.Add([]byte("events due at the same instant run in the order they were scheduled"))
	descending := make([]byte, 0, 500)
	for i := range 500 {
		descending = append(descending, byte(0xbf-i*0xbf/500))
	}
	f.Add(append(descending, 0xff, 0xff, 0xff, 0x3f, 0xd0, 0xff))
	f.Fuzz(func(t *testing.T, program []byte) {
		type due struct {
			t     Time
			id    uint64
			timer Timer
		}
		var want []due
		var got []uint64
		e := New()
		lane := e.Lane(64)
		h := act(func(_ *Engine, ev Event) { got = append(got, ev.Arg) })
		for i, op := range program {
			id := uint64(i)
			switch {
			case op < 0xb0: // a delay of 3 significant bits
				d := Time(op&7) << (op >> 3)
				want = append(want, due{e.Now() + d, id, e.At(e.Now()+d, h, Event{Arg: id})})
			case op < 0xc0:
				want = append(want, due{e.Now() + 64, id, lane.After(h, Event{Arg: id})})
			case op < 0xd0:
				if len(want) > 0 {
					j := int(op&15) % len(want)
					if !e.Cancel(want[j].timer) {
						t.Fatalf("event %d was not pending", want[j].id)
					}
					want = slices.Delete(want, j, j+1)
				}
			default:
				slices.SortStableFunc(want, func(x, y due) int { return int(min(1, max(-1, x.t-y.t))) })
				for range min(int(op-0xcf), len(want)) {
					next, _ := e.Next()
					if next != want[0].t || !e.Step() || got[len(got)-1] != want[0].id || e.Now() != want[0].t {
						t.Fatalf("fired %d at %d, next was %d, want %d at %d",
							got[len(got)-1], e.Now(), next, want[0].id, want[0].t)
					}
					want = want[1:]
				}
			}
			if e.Pending() != len(want) {
				t.Fatalf("%d pending, want %d", e.Pending(), len(want))
			}
		}
		checkEngine(t, e)
	})
}
