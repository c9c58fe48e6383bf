package policies

import (
	"fmt"
	"time"
)

// A State is the state of a breaker.
type State uint8

// The states of a breaker, and every way from one to another:
//
//	Closed    every call passes       → Open when the rule trips
//	Open      no call passes          → HalfOpen at the first Allow after OpenFor
//	HalfOpen  a few probes pass       → Closed or Open as HalfOpenRule says,
//	                                    Open when HalfOpenFor is over
const (
	Closed State = iota
	Open
	HalfOpen
)

// String returns "closed", "open" or "half-open".
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// A Change is a step of a breaker from one state to another.
type Change struct {
	From, To State
	At       time.Time
	// Counts are the figures that led to the change: those of the window when
	// a closed breaker opens, those of the probes when a half-open one opens
	// or closes, and zero when an open one starts probing.
	Counts Counts
}

// change moves the breaker to another state at now. Whatever was admitted
// before belongs to an earlier epoch from here on.
func (b *Breaker) change(to State, now int64, counts Counts) {
	c := Change{From: b.state, To: to, Counts: counts}
	b.stats.count(c, time.Duration(now-b.entered))
	if b.state == Closed {
		b.window.reset()
	}
	b.probes = probes{}
	b.calls.reset()
	b.enter(to, now)
	if b.onChange != nil {
		c.At = b.watch.time(now)
		b.changes.add(c)
	}
}

// enter begins an epoch. The gate is what callers see without the lock.
func (b *Breaker) enter(s State, now int64) {
	b.state, b.entered = s, now
	b.epoch++
	gate := b.epoch<<gateBits | uint64(s)
	if s == Closed && !b.inFlightSlow {
		gate |= gatePass
	}
	b.gate.Store(gate)
}

// The gate holds the epoch above the state and a bit that is set while every
// call passes without more ado.
const (
	gateState = 3
	gatePass  = 4
	gateBits  = 3
)
