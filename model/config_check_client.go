package model

import (
	"strings"
)

func (k *check) checkClient(c *Client) {
	thing := clientThing(c.Name)
	if c.Instances < 0 {
		k.add(thing, "instances %d, want at least 1, or 0 for 1", c.Instances)
	}
	open := c.Arrivals != Arrivals{}
	closed := c.closed()
	switch {
	case open && closed:
		k.add(thing, "arrivals and a closed loop, want only one of them")
	case c.Rates != nil && (open || closed):
		k.add(thing, "rates beside arrivals or a closed loop, want only one of them")
	case !open && !closed && c.Rates == nil:
		k.add(thing, "no arrivals and no closed loop, want one of them")
	}
	if c.Rates != nil {
		if _, err := TraceArrivals(c.Rates, nil); err != nil {
			k.add(thing, "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
	if open {
		if err := c.Arrivals.Validate(); err != nil {
			k.add(thing, "%s", strings.TrimPrefix(err.Error(), "model: "))
		} else if t := c.Arrivals.ticks(); t != defaultTicks {
			k.add(thing, "arrivals %q: ticks per second %d, want 0: a system counts nanoseconds", c.Arrivals.Kind, t)
		}
	}
	if closed {
		if err := c.Loop.Validate(); err != nil {
			k.add(thing, "%s", strings.TrimPrefix(err.Error(), "model: "))
		} else if c.Loop.Clients > maxInstances {
			k.add(thing, "closed loop: clients %d, want at most %d", c.Loop.Clients, maxInstances)
		}
	}
	switch {
	case c.Spread < 0:
		k.add(thing, "spread %v, want at least 0s", c.Spread)
	case c.Spread > 0 && !closed:
		k.add(thing, "spread %v, only a closed loop has one", c.Spread)
	}
	switch {
	case c.FailurePause < 0:
		k.add(thing, "pause after a failure %v, want at least 0s", c.FailurePause)
	case c.FailurePause > 0 && !closed:
		k.add(thing, "pause after a failure %v, only a closed loop has one", c.FailurePause)
	}
	k.span(thing, c.Start, c.End)
	if c.Requests < 0 {
		k.add(thing, "requests %d, want at least 1, or 0 for no bound", c.Requests)
	}
	if len(c.Steps) == 0 {
		k.add(thing, "0 steps, want at least 1")
	}
	k.steps(thing, c.Steps)
}

// closed reports whether the closed loop is set.
func (c *Client) closed() bool {
	t := &c.Loop.Think
	return c.Loop.Clients != 0 || t.Kind != "" || t.Mean != 0 || t.CV != 0 || t.Low != 0 || t.High != 0 || len(t.Points) > 0 || len(t.Samples) > 0
}
