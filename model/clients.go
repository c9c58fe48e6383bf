package model

import (
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// How clients make requests and what becomes of them.

// next schedules the next request of an open loop.
func (s *System) next(c *client) {
	if c.most > 0 && c.ledger.Requests >= c.most {
		return
	}
	t, ok := c.source.Next()
	if t = t.Add(c.config.Start); ok && t < c.end {
		s.e.At(t, s, sim.Event{Kind: opRequest, Arg: uint64(c.node.index - s.serving)})
	}
}

// again schedules the next request of one client of a closed loop at t.
func (s *System) again(c *client, loop uint32, t sim.Time) {
	if t < c.end {
		s.e.At(t, s, sim.Event{Kind: opLoop, Arg: uint64(loop)<<32 | uint64(c.node.index-s.serving)})
	}
}

// start makes a request.
func (s *System) start(c *client, loop uint32) {
	if c.most > 0 && c.ledger.Requests >= c.most {
		return
	}
	r := s.requests.get()
	at := uint32(c.node.index - s.serving)
	r.refs, r.client, r.loop, r.number, r.start = 1, at, loop, c.ledger.Requests, s.e.Now()
	r.key = r.number*uint64(len(s.clients)) + uint64(at)
	if c.rounds != nil {
		// The luck of a client does not depend on how the others fare.
		r.key = (c.rounds[loop]*uint64(len(c.rounds))+uint64(loop))*uint64(len(s.clients)) + uint64(at)
		c.rounds[loop]++
	}
	clear(r.counts)
	c.ledger.Requests++
	j := s.jobs.get()
	j.reset()
	j.state, j.node, j.request, j.caller, j.server, j.instance, j.path = jobCalling, c.node, r, nil, nil, 0, 0
	if n := uint64(max(1, c.config.Instances)); n > 1 {
		if c.rounds != nil {
			j.instance = uint32(uint64(loop) % n)
		} else {
			j.instance = uint32(r.number % n)
		}
	}
	s.nextStep(j)
}

// requestDone ends a request.
func (s *System) requestDone(j *job) {
	r := j.request
	c := &s.clients[r.client]
	now := s.e.Now()
	which := 0
	if j.failed {
		which = 1
		c.ledger.Failed++
		c.codes[j.code]++
	} else {
		c.ledger.Succeeded++
	}
	if c.started != nil {
		c.started[int64(r.start)/int64(s.config.Interval)][which]++
	}
	latency := now.Sub(r.start)
	if r.start >= s.warmup {
		c.ledger.Latency = addTime(c.ledger.Latency, latency)
		c.ledger.Measured++
		c.latency.record(latency)
	}
	if c.rounds != nil {
		think := c.law.draw(&c.think, uint64(r.loop), c.rounds[r.loop])
		if j.failed {
			think = addTime(think, c.config.FailurePause)
		}
		s.again(c, r.loop, now.Add(think))
	}
	s.free(j)
}

func (s *System) dropRequest(r *request) {
	if r.refs--; r.refs == 0 {
		s.requests.put(r.place)
	}
}

// byCode lists the codes that occurred.
func (c *client) byCode() map[policies.ErrorCode]uint64 {
	m := map[policies.ErrorCode]uint64{}
	for code, n := range c.codes {
		if n > 0 {
			m[policies.ErrorCode(code)] = n
		}
	}
	return m
}
