package policies

import "time"

// Stats are totals since the breaker was made. Every permit that came back is
// in exactly one of Recorded, Ignored, Cancelled and Late. The breakers of
// package presets have no Late: what their library drops is in Recorded too.
type Stats struct {
	Recorded  uint64 // outcomes that counted
	Ignored   uint64 // outcomes of class Ignored
	Cancelled uint64 // permits given back by Cancel
	Late      uint64 // permits that came back in a later state, dropped

	Refused   uint64 // calls that Allow refused
	Probes    uint64 // permits handed out in half-open
	EarlySlow uint64 // calls counted as slow while in flight (InFlightSlow)

	Openings   uint64 // changes to open, from closed and from half-open
	Reopenings uint64 // those of them from half-open
	Closings   uint64 // changes from half-open to closed

	OpenTime     time.Duration // time spent open, until now
	HalfOpenTime time.Duration // time spent half-open, until now
}

// Count adds a change after a stay in the state it leaves.
func (s *Stats) Count(c Change, stay time.Duration) {
	s.Stay(c.From, stay)
	switch c.To {
	case Open:
		s.Openings++
		if c.From == HalfOpen {
			s.Reopenings++
		}
	case Closed:
		s.Closings++
	}
}

// Stay adds a stay in a state, which may not be over.
func (s *Stats) Stay(in State, d time.Duration) {
	switch in {
	case Open:
		s.OpenTime += d
	case HalfOpen:
		s.HalfOpenTime += d
	}
}
