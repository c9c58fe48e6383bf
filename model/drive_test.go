package model

import (
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// refuser refuses everything.
type refuser struct{}

func (refuser) Allow() (policies.Permit, bool)           { return policies.Permit{}, false }
func (refuser) Record(policies.Permit, policies.Outcome) {}

func TestClosedLoopWaitsAndThinks(t *testing.T) {
	e := sim.New()
	var sent []sim.Time
	hop := &Hop{
		Callee: func(uint64, sim.Time) Answer { return Answer{Latency: 2 * time.Second} },
		OnSend: func(at sim.Time, _ uint64) { sent = append(sent, at) },
	}
	loop := ClosedDriver{
		Loop:  ClosedLoop{Clients: 1, Think: Law{Kind: Constant, Mean: 3 * time.Second}},
		Hop:   hop,
		Start: func(uint64) sim.Time { return sim.Time(time.Second) },
		Until: sim.Time(12 * time.Second),
	}
	if err := loop.Begin(e); err != nil {
		t.Fatal(err)
	}
	e.Run()
	// 1 s, then every 2 s of service + 3 s of thought, before 12 s.
	want := []sim.Time{sim.Time(time.Second), sim.Time(6 * time.Second), sim.Time(11 * time.Second)}
	if len(sent) != 3 || sent[0] != want[0] || sent[1] != want[1] || sent[2] != want[2] {
		t.Errorf("sent at %v, want %v", sent, want)
	}
	if hop.InFlight() != 0 {
		t.Errorf("%d calls in flight after all have ended", hop.InFlight())
	}
}

// A refused client pauses, or it would ask for ever at one instant.
func TestClosedLoopPausesWhenRefused(t *testing.T) {
	hop := &Hop{Guard: refuser{}}
	loop := ClosedDriver{Loop: ClosedLoop{Clients: 2}, Hop: hop, Until: sim.Time(time.Second)}
	if err := loop.Begin(sim.New()); err == nil || !strings.Contains(err.Error(), "pause after a refusal 0s") {
		t.Errorf("error %v, want one that names the pause", err)
	}
	loop.RefusedPause = 100 * time.Millisecond
	e := sim.New()
	if err := loop.Begin(e); err != nil {
		t.Fatal(err)
	}
	e.Run()
	if hop.Refused != 2*10 || hop.Sent != 0 {
		t.Errorf("%d refusals and %d calls, want 20 and 0", hop.Refused, hop.Sent)
	}
}

// A call that takes exactly the timeout is answered.
func TestHopTimeout(t *testing.T) {
	for latency, fails := range map[time.Duration]bool{time.Second - 1: false, time.Second: false, time.Second + 1: true} {
		var got policies.Outcome
		hop := &Hop{
			Callee:  func(uint64, sim.Time) Answer { return Answer{Latency: latency} },
			Timeout: time.Second,
			Guard:   recorder{&got},
		}
		e := sim.New()
		hop.Send(e, 0)
		e.Run()
		if (got.Err == ErrTimeout) != fails || got.Latency != min(latency, time.Second) {
			t.Errorf("latency %v: outcome %+v, want a timeout: %v", latency, got, fails)
		}
	}
}

type recorder struct{ last *policies.Outcome }

func (recorder) Allow() (policies.Permit, bool)                 { return policies.Permit{}, true }
func (r recorder) Record(_ policies.Permit, o policies.Outcome) { *r.last = o }

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
