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
	// or closes, and zero when an open one starts probing. The breakers of
	// package presets leave them zero.
	Counts Counts
}
