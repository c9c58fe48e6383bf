package model

import (
	"fmt"
	"math"
	"time"
)

// Check reports the first balance that does not come out even:
//
//	requests = succeeded + failed + in flight
//	attempts = succeeded + failed + rejected + abandoned + in flight
//	calls    = succeeded + failed + left + in flight
//	busy     = useful + abandoned + duplicate + rejected work + unended
//
// What is in flight and unended was counted by looking at what there is, not
// as the rest. An error means that the simulator is wrong.
func (l *Ledger) Check() error {
	if err := l.checkRange(); err != nil {
		return err
	}
	for _, c := range l.Clients {
		if sum := c.Succeeded + c.Failed + c.InFlight; sum != c.Requests {
			return fmt.Errorf("model: internal error: client %q: %d requests, but %d succeeded + %d failed + %d in flight = %d",
				c.Name, c.Requests, c.Succeeded, c.Failed, c.InFlight, sum)
		}
	}
	for _, n := range l.Nodes {
		if sum := n.Succeeded + n.Failed + n.Rejected + n.Abandoned + n.InFlight; sum != n.Attempts {
			return fmt.Errorf("model: internal error: node %q: %d attempts, but %d succeeded + %d failed + %d rejected + %d abandoned + %d in flight = %d",
				n.Name, n.Attempts, n.Succeeded, n.Failed, n.Rejected, n.Abandoned, n.InFlight, sum)
		}
		if sum := n.Useful + n.AbandonedWork + n.Duplicate + n.RejectedWork + n.Unended; sum != n.Busy {
			return fmt.Errorf("model: internal error: node %q: busy %v, but %v useful + %v abandoned + %v duplicate + %v rejected + %v unended = %v",
				n.Name, n.Busy, n.Useful, n.AbandonedWork, n.Duplicate, n.RejectedWork, n.Unended, sum)
		}
	}
	for _, c := range l.Calls {
		if sum := c.Succeeded + c.Failed + c.Left + c.InFlight; sum != c.Calls {
			return fmt.Errorf("model: internal error: calls from %q to %q: %d, but %d succeeded + %d failed + %d left + %d in flight = %d",
				c.From, c.To, c.Calls, c.Succeeded, c.Failed, c.Left, c.InFlight, sum)
		}
	}
	return nil
}

// checkRange reports the first sum of times that is too long for a Duration.
func (l *Ledger) checkRange() error {
	const most = math.MaxInt64 / 2
	for _, c := range l.Clients {
		if c.Latency > most {
			return fmt.Errorf("model: client %q: latencies of more than %d years in all, more than can be counted: shorten the run", c.Name, 146)
		}
	}
	for _, n := range l.Nodes {
		if max(n.Busy, n.Held, n.Wait, n.Sojourn, n.PresentTime) > most {
			return fmt.Errorf("model: node %q: waits or services of more than %d years in all, more than can be counted: shorten the run or bound the queue", n.Name, 146)
		}
	}
	return nil
}

// Ledger returns the counts up to now.
func (s *System) Ledger() *Ledger {
	now := s.e.Now()
	for i := range s.servers {
		s.servers[i].tick(now)
	}
	l := &Ledger{}
	for i := range s.clients {
		c := &s.clients[i]
		v := c.ledger
		v.ByCode = c.byCode()
		l.Clients = append(l.Clients, v)
	}
	for i := range s.nodes[:s.serving] {
		n := &s.nodes[i]
		s.present(n, 0)
		l.Nodes = append(l.Nodes, n.ledger)
	}
	for _, h := range s.hops {
		v := h.ledger
		v.Openings, v.OpenTime = h.openings()
		v.Tries = v.Attempts + v.Refused + v.Limited
		v.MostAttempts = max(v.MostAttempts, min(v.Tries, 1))
		l.Calls = append(l.Calls, v)
	}
	s.jobs.all(func(j *job) {
		if j.state == jobFree || j.state == jobSent {
			return
		}
		if j.node.client != nil {
			l.Clients[j.request.client].InFlight++
			return
		}
		n := &l.Nodes[j.node.index]
		if j.counted {
			return
		}
		n.InFlight++
		n.Unended += j.worked
		if j.state == jobServing && !j.server.now.paused {
			n.Unended -= j.due.Sub(now)
		}
	})
	for i, h := range s.hops {
		h.flights.all(func(f *flight) {
			if f.job != nil {
				l.Calls[i].InFlight++
			}
		})
	}
	return l
}

// openings adds up how often and how long the breakers of a hop were open.
func (h *hop) openings() (n uint64, open time.Duration) {
	for i := range h.layers {
		for _, b := range h.layers[i].breakers {
			st := b.Stats()
			n += st.Openings
			open = addTime(open, st.OpenTime)
		}
	}
	return n, open
}
