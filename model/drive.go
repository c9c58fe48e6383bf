package model

import (
	"fmt"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// OpenDriver sends a request through a hop at each arrival before until: the open
// loop, in which nobody waits for an earlier answer.
type OpenDriver struct {
	Arrivals Source
	Hop      *Hop
	Until    sim.Time
	MaxCalls uint64 // stop after this many requests; 0 means no limit

	sent uint64
}

// Start schedules the first arrival.
func (o *OpenDriver) Start(e *sim.Engine) { o.schedule(e) }

// Handle sends the request that is due and schedules the next arrival.
func (o *OpenDriver) Handle(e *sim.Engine, _ sim.Event) {
	client := o.sent
	o.sent++
	o.schedule(e)
	o.Hop.Send(e, client)
}

func (o *OpenDriver) schedule(e *sim.Engine) {
	if o.MaxCalls > 0 && o.sent >= o.MaxCalls {
		return
	}
	if t, ok := o.Arrivals.Next(); ok && t < o.Until {
		e.At(t, o, sim.Event{})
	}
}

// ClosedDriver drives a closed loop: each client sends, waits for the end of its request,
// thinks, and sends again, until the horizon.
type ClosedDriver struct {
	Loop  ClosedLoop
	Hop   *Hop
	Start func(client uint64) sim.Time // first request of a client; nil means 0
	Until sim.Time                     // requests are sent before it

	// RefusedPause is how long a client waits after a refusal, on top of its
	// think time; without it a refused client without think time would ask
	// again at the same instant, for ever.
	RefusedPause time.Duration
	Think        sim.Draws // draw (client, request) of the think time

	requests []uint64
}

// Begin schedules every client's first request and takes over the hop's Done.
func (c *ClosedDriver) Begin(e *sim.Engine) error {
	if err := c.Loop.Validate(); err != nil {
		return err
	}
	if c.Hop.Guard != nil && c.RefusedPause <= 0 {
		return fmt.Errorf("model: closed loop: pause after a refusal %v, want more than 0", c.RefusedPause)
	}
	c.requests = make([]uint64, c.Loop.Clients)
	c.Hop.Done = c.ended
	for i := range c.requests {
		var t sim.Time
		if c.Start != nil {
			t = c.Start(uint64(i))
		}
		c.send(e, t, uint64(i))
	}
	return nil
}

// Handle sends the request of client ev.Arg.
func (c *ClosedDriver) Handle(e *sim.Engine, ev sim.Event) {
	c.requests[ev.Arg]++
	c.Hop.Send(e, ev.Arg)
}

func (c *ClosedDriver) ended(e *sim.Engine, client uint64, refused bool) {
	pause := c.Loop.Think.Quantile(c.Think.Float64(client, c.requests[client]))
	if refused {
		pause += c.RefusedPause
	}
	c.send(e, e.Now().Add(pause), client)
}

func (c *ClosedDriver) send(e *sim.Engine, t sim.Time, client uint64) {
	if t < c.Until {
		e.At(t, c, sim.Event{Arg: client})
	}
}
