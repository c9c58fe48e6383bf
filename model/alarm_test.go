package model

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// dueAt is a Deadliner with given deadlines.
type dueAt struct {
	e        *sim.Engine
	due      []sim.Time
	advanced []sim.Time
}

func (d *dueAt) Advance() {
	d.advanced = append(d.advanced, d.e.Now())
	d.due = d.due[1:]
}

func (d *dueAt) NextDeadline() (time.Time, bool) {
	if len(d.due) == 0 {
		return time.Time{}, false
	}
	return d.e.Clock().Now().Add(d.due[0].Sub(d.e.Now())), true
}

func TestAlarmRingsAtEveryDeadline(t *testing.T) {
	e := sim.New()
	d := &dueAt{e: e, due: []sim.Time{30, 70}}
	a := Alarm{Of: d}
	a.Set(e)
	e.RunUntil(10)
	d.due = []sim.Time{20, 30, 70} // an earlier one has come up
	a.Set(e)
	a.Set(e) // setting it again changes nothing
	e.Run()
	if len(d.advanced) != 3 || d.advanced[0] != 20 || d.advanced[1] != 30 || d.advanced[2] != 70 {
		t.Errorf("advanced at %v, want 20, 30 and 70", d.advanced)
	}
}
