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
	OpenTime                           time.Duration // of its breakers in the interval
}

// Series returns what was recorded in each Interval that has ended.
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
	d := Interval{Start: s.intervalStart(len(s.intervals)), End: s.e.Now()}
	for i, n := range v.Nodes {
		if was.Nodes != nil {
			p := was.Nodes[i]
			n.Attempts -= p.Attempts
			n.Succeeded -= p.Succeeded
			n.Failed -= p.Failed
			n.Rejected -= p.Rejected
			n.Abandoned -= p.Abandoned
		}
		d.Nodes = append(d.Nodes, n)
	}
	for i, c := range v.Clients {
		if was.Clients != nil {
			p := was.Clients[i]
			c.Requests -= p.Requests
			c.Succeeded -= p.Succeeded
			c.Failed -= p.Failed
		}
		d.Clients = append(d.Clients, c)
	}
	for i, c := range v.Calls {
		if was.Calls != nil {
			p := was.Calls[i]
			c.Attempts -= p.Attempts
			c.Retries -= p.Retries
			c.Denied -= p.Denied
			c.Refused -= p.Refused
			c.OpenTime -= p.OpenTime
		}
		d.Calls = append(d.Calls, c)
	}
	s.intervals = append(s.intervals, d)
	s.previous = v
}

// totals counts from the beginning.
func (s *System) totals() Interval {
	var v Interval
	for i := range s.nodes[:s.serving] {
		n := &s.nodes[i]
		l := &n.ledger
		v.Nodes = append(v.Nodes, NodeInterval{l.Attempts, l.Succeeded, l.Failed, l.Rejected, l.Abandoned, n.queued, n.serving})
	}
	for i := range s.clients {
		l := &s.clients[i].ledger
		v.Clients = append(v.Clients, ClientInterval{Requests: l.Requests, Succeeded: l.Succeeded, Failed: l.Failed})
	}
	for _, h := range s.hops {
		l := &h.ledger
		_, open := h.openings()
		v.Calls = append(v.Calls, CallInterval{l.Attempts, l.Retries, l.Denied, l.Refused, open})
	}
	return v
}
