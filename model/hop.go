package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// Outcomes that a hop's caller sees.
var (
	ErrFailed  = errors.New("model: call failed")
	ErrTimeout = errors.New("model: call timed out")
)

// A Guard decides whether a call may start and learns how it ended; a breaker
// is one.
type Guard interface {
	Allow() (policies.Permit, bool)
	Record(policies.Permit, policies.Outcome)
}

// An Answer is what the callee gives to one call.
type Answer struct {
	Latency time.Duration // from send to answer
	Err     error         // nil on success
}

// A Hop is one caller that sends requests to one callee through a guard, with
// a timeout. The callee has no queue: its answer depends on the instant and on
// the number of the call only.
type Hop struct {
	// Callee answers the k-th call (from 0) that reaches it, sent at t.
	Callee func(k uint64, t sim.Time) Answer

	// Timeout is how long the caller waits for one call; 0 means for ever. A
	// call that would take exactly the timeout is answered.
	Timeout time.Duration

	// Guard may refuse calls; nil lets all pass.
	Guard Guard

	// OnSend, if not nil, sees each call that reaches the callee.
	OnSend func(t sim.Time, k uint64)

	// Done, if not nil, is called when a request has ended, refused or not; a
	// closed loop sends the client's next request.
	Done func(e *sim.Engine, client uint64, refused bool)

	Sent    uint64 // calls that reached the callee
	Refused uint64 // requests that the guard refused

	flights slab[hopFlight]
}

type hopFlight struct {
	permit  policies.Permit
	client  uint64
	outcome policies.Outcome
}

// Handle ends the call whose flight is ev.Arg.
func (h *Hop) Handle(e *sim.Engine, ev sim.Event) {
	f := h.flights.take(ev.Arg)
	if h.Guard != nil {
		h.Guard.Record(f.permit, f.outcome)
	}
	h.done(e, f.client, false)
}

// Send makes one request for the given client now.
func (h *Hop) Send(e *sim.Engine, client uint64) {
	var permit policies.Permit
	if h.Guard != nil {
		var ok bool
		if permit, ok = h.Guard.Allow(); !ok {
			h.Refused++
			h.done(e, client, true)
			return
		}
	}
	k := h.Sent
	h.Sent++
	if h.OnSend != nil {
		h.OnSend(e.Now(), k)
	}
	a := h.Callee(k, e.Now())
	if a.Latency < 0 {
		panic(fmt.Sprintf("model: hop: call %d has latency %v, want at least 0", k, a.Latency))
	}
	o := policies.Outcome(a)
	if h.Timeout > 0 && o.Latency > h.Timeout {
		o = policies.Outcome{Latency: h.Timeout, Err: ErrTimeout}
	}
	e.After(o.Latency, h, sim.Event{Arg: h.flights.put(hopFlight{permit, client, o})})
}

// InFlight is the number of calls that have been sent and have not ended.
func (h *Hop) InFlight() int { return h.flights.held() }

func (h *Hop) done(e *sim.Engine, client uint64, refused bool) {
	if h.Done != nil {
		h.Done(e, client, refused)
	}
}
