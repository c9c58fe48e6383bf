package model

import (
	"context"
	"fmt"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A System is a Config at work in one replication.
type System struct {
	config  Config
	e       *sim.Engine
	instant *sim.Lane // of events at the present instant

	horizon, warmup   sim.Time
	seed, replication uint64

	nodes   []node // those of the config, then one for each client
	serving int    // number of the former
	servers []*server
	hops    []*hop
	clients []client

	requests pool[request]
	jobs     pool[job]

	observe func(*Try)
	try     Try

	intervals []Interval
	previous  Interval // totals at the end of the last one

	ctx    context.Context
	events uint32
	stuck  uint32
	last   sim.Time
	err    error
}

// The kinds of event. Those of flights carry the number of the hop above
// opBits.
const (
	opRequest  uint32 = iota // a request of an open loop
	opLoop                   // a request of a closed loop
	opArrived                // an attempt reaches its node
	opServed                 // a service ends
	opReturned               // an answer reaches its caller
	opTimeout
	opDeadline
	opRetry // a back-off ends
	opFault
	opTrace

	opBits = 8
)

// Handle does what is due.
func (s *System) Handle(_ *sim.Engine, ev sim.Event) {
	if s.events++; s.events%watchEvery == 0 {
		s.watch()
	}
	switch ev.Kind & (1<<opBits - 1) {
	case opServed:
		s.served(s.jobs.at(uint32(ev.Arg)))
	case opArrived:
		s.arrive(s.jobs.at(uint32(ev.Arg)))
	case opReturned:
		s.deliver(s.jobs.at(uint32(ev.Arg)))
	case opRequest:
		c := &s.clients[ev.Arg]
		s.start(c, 0)
		s.next(c)
	case opLoop:
		s.start(&s.clients[uint32(ev.Arg)], uint32(ev.Arg>>32))
	case opTimeout:
		s.expire(s.flight(ev), int(ev.Arg>>32))
	case opRetry:
		s.retry(s.flight(ev), int(ev.Arg>>32))
	case opDeadline:
		s.overdue(s.flight(ev))
	case opFault:
		s.watch() // a fault may concern a great many calls
		s.assess(s.servers[ev.Arg])
	case opTrace:
		s.follow(&s.nodes[ev.Arg])
	}
}

func (s *System) flight(ev sim.Event) *flight {
	return s.hops[ev.Kind>>opBits].flights.at(uint32(ev.Arg))
}

const (
	watchEvery = 1 << 12
	watchStuck = 1 << 11 // 8 million events at one instant
)

// watch looks now and then whether the run should go on.
func (s *System) watch() {
	if s.ctx.Err() != nil {
		s.e.Stop()
	}
	if now := s.e.Now(); now != s.last {
		s.last, s.stuck = now, 0
	} else if s.stuck++; s.stuck == watchStuck {
		s.err = fmt.Errorf("model: time stands still at %v after %d events: a retry without back-off or a closed loop without think time never ends",
			now, watchEvery*watchStuck)
		s.e.Stop()
	}
}

// Run runs the system to its horizon and checks the ledger. It returns early
// with the context's error when that ends.
func (s *System) Run(ctx context.Context) error { return s.RunUntil(ctx, s.horizon) }

// RunUntil runs what is due before t, for those who look at the ledger in
// between. A t before Now does nothing, one after the horizon means the
// horizon.
func (s *System) RunUntil(ctx context.Context, t sim.Time) error {
	s.ctx = ctx
	t = min(t, s.horizon)
	for s.err == nil && s.e.Now() < t {
		end := t
		if every := s.config.Interval; every > 0 {
			end = min(end, s.intervalStart(len(s.intervals)+1))
		}
		s.e.RunUntil(end)
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.err == nil && s.config.Interval > 0 && (end == s.horizon || end == s.intervalStart(len(s.intervals)+1)) {
			s.closeInterval()
		}
	}
	if s.err != nil {
		return s.err
	}
	if err := s.Ledger().Check(); err != nil {
		s.err = fmt.Errorf("%w (seed %d, replication %d, at %v)", err, s.seed, s.replication, s.e.Now())
	}
	return s.err
}

// Now is the present instant.
func (s *System) Now() sim.Time { return s.e.Now() }

// Events is the number of events so far.
func (s *System) Events() uint64 { return s.e.Events() }

// LatencyQuantile returns the shortest latency that a share q of a client's ended
// requests does not exceed, of those that started from Warmup on. It is one that
// occurred, at most 1 % too long: the longest of its cell in a histogram. It is
// 0 if there are none, and panics if there is no such client.
func (s *System) LatencyQuantile(client string, q float64) time.Duration {
	return s.latencies(client).at(q)
}

func (s *System) latencies(client string) *quantiles {
	for i := range s.clients {
		if c := &s.clients[i]; c.config.Name == client {
			return c.latency
		}
	}
	panic("model: no client " + client)
}

// WaitQuantile is the same of the waits at a node with Waits.
func (s *System) WaitQuantile(name string, q float64) time.Duration {
	for i := range s.nodes[:s.serving] {
		if n := &s.nodes[i]; n.config.Name == name && n.waits != nil {
			return n.waits.at(q)
		}
	}
	panic("model: no node " + name + " with waits")
}
