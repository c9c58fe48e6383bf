package model

import (
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A Contention is a number of clients that each want to update the same row
// once, under optimistic concurrency: a client reads the row with its version,
// and writes on condition that the version is still the same. A write that
// comes too late is a conflict; the client waits and begins again with a read.
// All begin at 0. The row answers at once, and so do the clients: time passes
// on the network and while clients wait.
//
// It is the system of Brooker (2015), "Exponential Backoff And Jitter", AWS
// Architecture Blog.
type Contention struct {
	Clients int // 1 to 1e6
	Backoff policies.BackoffConfig

	// Each leg of the network, there or back, takes |N|, where N is normal
	// with this mean and standard deviation, both at least 0.
	LegMean, LegSD time.Duration
}

const maxContenders = 1_000_000

// Validate reports the first field that makes no sense.
func (c Contention) Validate() error {
	switch {
	case c.Clients < 1 || c.Clients > maxContenders:
		return fmt.Errorf("model: contention: clients %d, want 1 to %d", c.Clients, maxContenders)
	case c.LegMean < 0:
		return fmt.Errorf("model: contention: mean of a leg %v, want at least 0s", c.LegMean)
	case c.LegSD < 0:
		return fmt.Errorf("model: contention: standard deviation of a leg %v, want at least 0s", c.LegSD)
	}
	return c.Backoff.Validate()
}

// Contenders are a Contention at work in one replication. Every conflict of a
// client is due to the success of another since its read, so no client has
// more than Clients - 1 of them, and the run ends.
type Contenders struct {
	config  Contention
	backoff *policies.Backoff
	legs    sim.Draws // (client, 4*attempt + leg)
	jitter  sim.Draws // (client, attempt)

	clients []contender
	version uint32 // of the row: the number of writes that have succeeded

	// Calls is the number of writes so far, Conflicts that of those that came
	// too late. Last is when the last client so far was told of its success,
	// which is still to come if it is after Now.
	Calls, Conflicts uint64
	Last             sim.Time
}

// A contender is one client.
type contender struct {
	attempt uint32        // from 0
	seen    uint32        // the version it read last
	waited  time.Duration // the wait before this attempt
}

// The events of a client.
const (
	contenderReads  = iota // its read is at the row
	contenderWrites        // its write is
)

// The legs of an attempt, in order.
const (
	readRequest = iota
	readAnswer
	writeRequest
	writeAnswer
	legsPerAttempt
)

// NewContenders returns the clients before their first step, or the error of
// Validate. The random numbers of client i's attempt n depend on these two, the
// seed and the replication alone: under another back-off the same attempt has
// the same network.
func NewContenders(c Contention, seed, replication uint64) (*Contenders, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	backoff, err := policies.NewBackoff(c.Backoff)
	if err != nil {
		return nil, err
	}
	return &Contenders{
		config:  c,
		backoff: backoff,
		legs:    sim.NewDraws(seed, replication, "contention/legs"),
		jitter:  sim.NewDraws(seed, replication, "contention/jitter"),
		clients: make([]contender, c.Clients),
	}, nil
}

// Start sends every client's first read. The engine must be at time 0.
func (r *Contenders) Start(e *sim.Engine) {
	for i := range r.clients {
		e.At(e.Now().Add(r.leg(i, readRequest)), r, sim.Event{Kind: contenderReads, Arg: uint64(i)})
	}
}

// Succeeded is the number of clients whose write has succeeded.
func (r *Contenders) Succeeded() int { return int(r.version) }

// Handle lets a client's read or write reach the row. A time that does not fit
// is never: a client that has so long to wait does not succeed.
func (r *Contenders) Handle(e *sim.Engine, ev sim.Event) {
	i := int(ev.Arg)
	c := &r.clients[i]
	if ev.Kind == contenderReads {
		c.seen = r.version
		at := e.Now().Add(r.leg(i, readAnswer)).Add(r.leg(i, writeRequest))
		e.At(at, r, sim.Event{Kind: contenderWrites, Arg: ev.Arg})
		return
	}
	r.Calls++
	answered := e.Now().Add(r.leg(i, writeAnswer))
	if c.seen == r.version {
		r.version++
		r.Last = max(r.Last, answered)
		return
	}
	r.Conflicts++
	u := r.jitter.Float64(ev.Arg, uint64(c.attempt))
	c.attempt++
	c.waited = r.backoff.Delay(int(c.attempt), c.waited, u)
	at := answered.Add(c.waited).Add(r.leg(i, readRequest))
	e.At(at, r, sim.Event{Kind: contenderReads, Arg: ev.Arg})
}

// leg draws the length of a leg of a client's present attempt.
func (r *Contenders) leg(client, leg int) time.Duration {
	if r.config.LegSD == 0 {
		return r.config.LegMean
	}
	n := uint64(r.clients[client].attempt)*legsPerAttempt + uint64(leg)
	g := r.legs.Rand(uint64(client), n)
	return nanoseconds(math.Abs(float64(r.config.LegMean) + float64(float64(r.config.LegSD)*g.NormFloat64())))
}
