package model

import (
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A Deadliner changes state by the passing of time alone: a breaker that
// counts calls in flight as slow. NextDeadline says when, Advance does it.
type Deadliner interface {
	Advance()
	NextDeadline() (time.Time, bool)
}

// An Alarm wakes a Deadliner at its deadlines, as a timer would in production.
// Call Set whenever the deadline may have come nearer: after a call was sent.
type Alarm struct {
	Of Deadliner

	at    sim.Time
	timer sim.Timer
	set   bool
}

// Set schedules the next deadline, if there is one.
func (a *Alarm) Set(e *sim.Engine) {
	deadline, ok := a.Of.NextDeadline()
	if !ok {
		return
	}
	t := e.Now().Add(max(0, deadline.Sub(e.Clock().Now())))
	if a.set && a.at <= t {
		return // it rings before, and looks again
	}
	if a.set {
		e.Cancel(a.timer)
	}
	a.at, a.set = t, true
	a.timer = e.At(t, a, sim.Event{})
}

// Handle brings the Deadliner up to date and sets the next alarm.
func (a *Alarm) Handle(e *sim.Engine, _ sim.Event) {
	a.set = false
	a.Of.Advance()
	a.Set(e)
}
