package model

import (
	"time"

	"github.com/stormglass/stormglass/sim"
)

// An Interval is what happened in [Start, End).
type Interval struct {
	Start, End sim.Time
	Nodes      []NodeInterval   // in the order of Config.Nodes
	Clients    []ClientInterval // in the order of Config.Clients
	Calls      []CallInterval   // in the order of Ledger.Calls
}

// A NodeInterval counts attempts at a node.
type NodeInterval struct {
	Attempts, Succeeded, Failed, Rejected, Abandoned uint64
	Queued, Serving                                  uint64 // at the end of the interval
	InFlight                                         uint64 // at the end: those, and calls that wait for the node's own
}

// A ClientInterval counts requests. StartedSucceeded are those of the requests
// started in the interval that have succeeded up to now; StartedFailed those
// that failed.
type ClientInterval struct {
	Requests, Succeeded, Failed     uint64
	StartedSucceeded, StartedFailed uint64
}

// A CallInterval counts what the policies of a link did.
type CallInterval struct {
	Attempts, Retries, Denied, Refused uint64
	Openings                           uint64        // of its breakers in the interval
	OpenTime, HalfOpenTime             time.Duration // of them, each for itself, in the interval
}

// Series returns what was recorded in each Interval that has ended. The slices
// belong to the system; a later call brings StartedSucceeded and StartedFailed
// up to date in them.
func (s *System) Series() []Interval {
	for i := range s.intervals {
		for k := range s.clients {
			started := s.clients[k].started[i]
			c := &s.intervals[i].Clients[k]
			c.StartedSucceeded, c.StartedFailed = started[0], started[1]
		}
	}
	return s.intervals
}

func (s *System) intervalStart(i int) sim.Time {
	return sim.Time(0).Add(time.Duration(i) * s.config.Interval)
}

// closeInterval records the difference to the totals of the one before.
func (s *System) closeInterval() {
	v := s.totals()
	was := &s.previous
	s.intervals = append(s.intervals, Interval{
		Start: s.intervalStart(len(s.intervals)), End: s.e.Now(),
		Nodes:   differences(v.Nodes, was.Nodes, NodeInterval.less),
		Clients: differences(v.Clients, was.Clients, ClientInterval.less),
		Calls:   differences(v.Calls, was.Calls, CallInterval.less),
	})
	s.previous = v
}

// differences subtracts earlier totals, of which there may be none yet.
func differences[T any](now, before []T, less func(a, b T) T) []T {
	d := make([]T, len(now))
	for i := range now {
		d[i] = now[i]
		if before != nil {
			d[i] = less(now[i], before[i])
		}
	}
	return d
}

func (n NodeInterval) less(p NodeInterval) NodeInterval {
	n.Attempts -= p.Attempts
	n.Succeeded -= p.Succeeded
	n.Failed -= p.Failed
	n.Rejected -= p.Rejected
	n.Abandoned -= p.Abandoned
	return n
}

func (c ClientInterval) less(p ClientInterval) ClientInterval {
	c.Requests -= p.Requests
	c.Succeeded -= p.Succeeded
	c.Failed -= p.Failed
	return c
}

func (c CallInterval) less(p CallInterval) CallInterval {
	c.Attempts -= p.Attempts
	c.Retries -= p.Retries
	c.Denied -= p.Denied
	c.Refused -= p.Refused
	c.Openings -= p.Openings
	c.OpenTime -= p.OpenTime
	c.HalfOpenTime -= p.HalfOpenTime
	return c
}

// totals counts from the beginning.
func (s *System) totals() Interval {
	var v Interval
	for i := range s.nodes[:s.serving] {
		n := &s.nodes[i]
		l := &n.ledger
		v.Nodes = append(v.Nodes, NodeInterval{l.Attempts, l.Succeeded, l.Failed, l.Rejected, l.Abandoned, n.queued, n.serving, n.present})
	}
	for i := range s.clients {
		l := &s.clients[i].ledger
		v.Clients = append(v.Clients, ClientInterval{Requests: l.Requests, Succeeded: l.Succeeded, Failed: l.Failed})
	}
	for _, h := range s.hops {
		l := &h.ledger
		c := CallInterval{Attempts: l.Attempts, Retries: l.Retries, Denied: l.Denied, Refused: l.Refused}
		h.breakers(&c)
		v.Calls = append(v.Calls, c)
	}
	return v
}

// breakers adds what the breakers of a link did. It does not ask for their
// state, since that moves the windows of some libraries on.
func (h *hop) breakers(c *CallInterval) {
	for i := range h.layers {
		for _, b := range h.layers[i].breakers {
			st := b.Stats()
			c.Openings += st.Openings
			c.OpenTime = addTime(c.OpenTime, st.OpenTime)
			c.HalfOpenTime = addTime(c.HalfOpenTime, st.HalfOpenTime)
		}
	}
}
