package traffic

import (
	"context"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A player shows calls to one breaker.
type player struct {
	ctx       context.Context
	calls     []Call
	order     []int32 // by start
	stretches []Stretch
	base      time.Time // of time 0
	end       time.Duration

	now      time.Duration
	breaker  policies.CircuitBreaker
	classify func(policies.Outcome) policies.Class
	permits  map[int32]policies.Permit // of calls in flight
	play     Play
	open     bool // since the last of the trips
}

// Now implements policies.Clock.
func (p *player) Now() time.Time { return p.base.Add(p.now) }

// Since is the faster way to read the clock.
func (p *player) Since(t time.Time) time.Duration { return p.Now().Sub(t) }

func (p *player) run(b Breaker, random *sim.Rand) error {
	var err error
	p.classify = b.Classify
	p.breaker, err = b.Maker.NewCircuitBreaker(policies.Host{Clock: p, Uniform: policies.NewUniform(random), Classify: b.Classify, OnChange: p.change})
	if err != nil {
		return err
	}
	p.permits = make(map[int32]policies.Permit)
	next := 0 // of the order
	for i := 0; next < len(p.order) || i < len(p.calls); {
		if (next+i)%(1<<16) == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		switch {
		case i < len(p.calls) && p.calls[i].Latency == 0:
			i++ // it ends as it starts
		case next < len(p.order) && (i == len(p.calls) || p.calls[p.order[next]].Start() < p.calls[i].End):
			p.start(p.order[next])
			next++
		case p.calls[i].End > p.end:
			i++ // in flight at the end
		default:
			p.finish(int32(i))
			i++
		}
	}
	p.until(p.end)
	s := p.breaker.Stats()
	p.play.Openings, p.play.Reopenings, p.play.OpenTime = int(s.Openings), int(s.Reopenings), s.OpenTime
	return nil
}

// until lets time pass, with what is due by itself.
func (p *player) until(t time.Duration) {
	for {
		due, ok := p.breaker.NextDeadline()
		at := due.Sub(p.base)
		if !ok || at > t || at < p.now {
			break
		}
		p.now = at
		p.breaker.Advance()
		if again, ok := p.breaker.NextDeadline(); ok && !again.After(due) {
			break
		}
	}
	p.now = max(p.now, t)
}

func (p *player) start(i int32) {
	c := p.calls[i]
	p.until(c.Start())
	if c.Failed {
		p.play.Failed++
	}
	permit, ok := p.breaker.Allow()
	switch {
	case !ok:
		p.refuse(c)
	case c.Latency == 0:
		p.breaker.Record(permit, p.outcome(c))
	default:
		p.permits[i] = permit
	}
}

func (p *player) finish(i int32) {
	if permit, ok := p.permits[i]; ok {
		p.until(p.calls[i].End)
		delete(p.permits, i)
		p.breaker.Record(permit, p.outcome(p.calls[i]))
	}
}

// outcome is what a breaker is told of a call. One that did not fail is a
// success, unless the rules of the breaker ignore its status.
func (p *player) outcome(c Call) policies.Outcome {
	o := policies.Outcome{Latency: c.Latency}
	if c.Failed || c.Code != 0 {
		o.Err = c.Code
	}
	if !c.Failed && (p.classify == nil || p.classify(o) != policies.Ignored) {
		o.Err = nil
	}
	return o
}

func (p *player) refuse(c Call) {
	good := 0
	if !c.Failed {
		good = 1
	}
	p.play.Refused++
	p.play.Good += good
	if p.open {
		last := &p.play.Trips[len(p.play.Trips)-1]
		last.Refused++
		last.Good += good
	}
}

// change notes what the breaker does.
func (p *player) change(c policies.Change) {
	at := c.At.Sub(p.base)
	stretch := stretchAt(p.stretches, at)
	if c.To == policies.Open && stretch < 0 {
		p.play.Outside++
	}
	switch {
	case c.To == policies.Open && !p.open:
		p.open = true
		p.play.Trips = append(p.play.Trips, Trip{At: at, Stretch: stretch})
	case c.To == policies.Open:
		p.play.Trips[len(p.play.Trips)-1].Reopened++
	case c.To == policies.Closed && p.open:
		p.open = false
		p.play.Trips[len(p.play.Trips)-1].Closed = model.Known(at)
	}
}
