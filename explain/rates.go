package explain

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// A rate is that of calls.
type rate struct {
	rps float64 // at the busiest time
	// lasting is the rate in the long run, 0 of a client that is there for less
	// than half of the run.
	lasting float64
	random  bool // not evenly spaced
	closed  bool // from the number of clients, who wait for answers
}

// rateOf is how many requests a second a client makes.
func (s *system) rateOf(i int) rate {
	c := &s.c.Clients[i]
	r := s.openRate(c)
	if c.Arrivals == (model.Arrivals{}) && len(c.Rates) == 0 {
		cycle := c.Loop.Think.MeanDuration().Seconds() + s.stepsTake(len(s.c.Nodes)+i)
		r.rps = float64(c.Loop.Clients) / cycle
		r = rate{rps: r.rps, lasting: r.rps, random: !s.steady(i), closed: true}
	}
	end := s.c.Horizon
	if c.End > 0 {
		end = min(end, c.End)
	}
	if end-c.Start < s.c.Horizon/2 {
		r.lasting = 0
	}
	return r
}

func (s *system) openRate(c *model.Client) (r rate) {
	if len(c.Rates) > 0 {
		sum, length := 0.0, 0.0
		for _, g := range c.Rates {
			r.rps = math.Max(r.rps, g.RateRPS.Value)
			sum += g.RateRPS.Value * (g.End - g.Start).Seconds()
			length += (g.End - g.Start).Seconds()
		}
		r.lasting, r.random = sum/length, c.RatesRandom
		return r
	}
	a := &c.Arrivals
	r = rate{rps: math.Max(a.RateRPS, math.Max(a.ToRPS, a.OffRPS)), lasting: a.RateRPS, random: a.Random || a.Kind == model.Poisson}
	switch a.Kind {
	case model.Ramp:
		r.lasting = a.ToRPS
	case model.Bursts:
		on, off := a.On.Seconds(), a.Off.Seconds()
		r.lasting = (a.RateRPS*on + a.OffRPS*off) / (on + off)
	}
	return r
}

// steady reports whether every cycle of a closed loop takes the same time.
func (s *system) steady(client int) bool {
	even := func(l *model.Law) bool { return l.Kind == "" || l.Kind == model.Constant }
	for i := range s.c.Nodes {
		n := &s.c.Nodes[i]
		if s.meant[client][i] > 0 && (!even(&n.Service) || n.ServicePerInFlight > 0 || n.Workers != model.Unlimited || len(n.Script)+len(n.Trace) > 0) {
			return false
		}
	}
	for _, l := range s.links {
		if !even(&l.call.Request) || !even(&l.call.Response) {
			return false
		}
	}
	return even(&s.c.Clients[client].Loop.Think)
}
