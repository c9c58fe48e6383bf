package traffic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/sim"
)

// A Breaker is one to be asked what it would have done.
type Breaker struct {
	Name  string
	Maker policies.BreakerMaker
}

// Presets returns breakers of libraries by name, with their defaults; without
// names all of them. The error of an unknown name lists the known ones.
func Presets(names ...string) ([]Breaker, error) {
	if len(names) == 0 {
		names = presets.BreakerNames()
	}
	var list []Breaker
	for _, name := range names {
		p, err := presets.FindBreaker(name)
		if err != nil {
			return nil, err
		}
		list = append(list, Breaker{p.Name, p.Defaults()})
	}
	return list, nil
}

// PlayOptions say how to replay. The zero value is usable.
type PlayOptions struct {
	// Seed of what is drawn: calls of which only rates are known, and the
	// refusals of a breaker that refuses at random. Replications is how often
	// calls are drawn, 1 to 1000; 0 means 20.
	Seed         uint64
	Replications int

	// Share of failed calls, above 0 and below 1, above which a stretch of time
	// is one of failures; 0 means 0.1.
	Share float64

	Workers int // breakers asked at a time; 0 means 1. The result does not depend on it
}

// Validate reports the first option that makes no sense.
func (o PlayOptions) Validate() error {
	if o.Replications < 0 || o.Replications > 1000 {
		return fmt.Errorf("traffic: %d replications, want 1 to 1000", o.Replications)
	}
	if !(o.Share >= 0 && o.Share < 1) {
		return fmt.Errorf("traffic: share %v, want above 0 and below 1", o.Share)
	}
	return nil
}

// A Replay is what breakers would have done.
type Replay struct {
	Traffic   *Traffic
	Stretches []Stretch // of failures
	Drawn     int       // how often calls were drawn; 0 if they were recorded
	Seed      uint64
	Plays     []Play // by breaker, then by replication
}

// A Play is what one breaker would have done with the calls.
type Play struct {
	Breaker     string
	Replication int

	Calls, Failed int // as recorded or drawn
	Refused       int // by the breaker
	Good          int // of them would have succeeded
	OpenTime      time.Duration
	Openings      []Opening
}

// An Opening lasts from a change from closed to open until it is closed again.
type Opening struct {
	At       time.Duration
	Closed   model.Optional[time.Duration]
	Stretch  int // of failures in which it opened; -1 if in none
	Reopened int // from half-open
	Refused  int
	Good     int // of the refused would have succeeded
}

// Play shows the calls to breakers. Each is asked when a call starts, and told
// of its outcome when it ends, in the order of the events; at equal instants
// ends come first. What a breaker refuses would not have been made, so it is
// not told of its outcome: this is not the observing of a breaker that is made
// anew at each opening, as some experiments do. What the callee would have done
// with less load is not known; a call that was made keeps its outcome.
//
// If only rates were recorded, calls are drawn, Poisson at the rate of each
// segment and failing by its ratio, the same for all breakers.
func (t *Traffic) Play(ctx context.Context, breakers []Breaker, o PlayOptions) (*Replay, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(breakers) == 0 {
		return nil, errors.New("traffic: no breakers, want at least one")
	}
	for _, b := range breakers {
		if err := b.Maker.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	if t.blind {
		return nil, errors.New("traffic: no failures were recorded, only rates: want the errors as well")
	}
	if o.Share == 0 {
		o.Share = 0.1
	}
	r := &Replay{Traffic: t, Seed: o.Seed}
	replications := 1
	if len(t.Calls) == 0 {
		if replications = o.Replications; replications == 0 {
			replications = 20
		}
		r.Drawn = replications
		r.Stretches = badSegments(t.Segments, o.Share)
	} else {
		r.Stretches = badCalls(t.Calls, o.Share)
	}
	r.Plays = make([]Play, len(breakers)*replications)
	for k := range replications {
		calls := t.Calls
		if r.Drawn > 0 {
			var err error
			if calls, err = draw(t.Segments, o.Seed, uint64(k)); err != nil {
				return nil, err
			}
		}
		order := byStart(calls)
		failures := make([]error, len(breakers))
		turns := make(chan struct{}, max(1, o.Workers))
		var group sync.WaitGroup
		for i, b := range breakers {
			turns <- struct{}{}
			group.Go(func() {
				defer func() { <-turns }()
				p := &player{ctx: ctx, calls: calls, order: order, stretches: r.Stretches, base: t.Epoch, end: t.End()}
				if p.base.IsZero() {
					p.base = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
				}
				p.play = Play{Breaker: b.Name, Replication: k, Calls: len(calls)}
				failures[i] = p.run(b, sim.Stream(o.Seed, uint64(k), "refusals/"+b.Name))
				r.Plays[i*replications+k] = p.play
			})
		}
		group.Wait()
		for i, err := range failures {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", breakers[i].Name, err)
			}
		}
	}
	return r, nil
}

// A player shows calls to one breaker.
type player struct {
	ctx       context.Context
	calls     []Call
	order     []int32 // by start
	stretches []Stretch
	base      time.Time // of time 0
	end       time.Duration

	now     time.Duration
	breaker policies.CircuitBreaker
	permits map[int32]policies.Permit // of calls in flight
	play    Play
	open    bool // since the last of the openings
}

// Now implements policies.Clock.
func (p *player) Now() time.Time { return p.base.Add(p.now) }

// Since is the faster way to read the clock.
func (p *player) Since(t time.Time) time.Duration { return p.Now().Sub(t) }

func (p *player) run(b Breaker, random *sim.Rand) error {
	var err error
	p.breaker, err = b.Maker.NewCircuitBreaker(policies.Host{Clock: p, Uniform: policies.NewUniform(random), OnChange: p.change})
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
		default:
			p.finish(int32(i))
			i++
		}
	}
	p.until(p.end)
	p.play.OpenTime = p.breaker.Stats().OpenTime
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
		p.breaker.Record(permit, outcome(c))
	default:
		p.permits[i] = permit
	}
}

func (p *player) finish(i int32) {
	if permit, ok := p.permits[i]; ok {
		p.until(p.calls[i].End)
		delete(p.permits, i)
		p.breaker.Record(permit, outcome(p.calls[i]))
	}
}

func outcome(c Call) policies.Outcome {
	o := policies.Outcome{Latency: c.Latency}
	if c.Failed {
		o.Err = c.Code
	}
	return o
}

func (p *player) refuse(c Call) {
	p.play.Refused++
	good := 1 - asInt(c.Failed)
	p.play.Good += good
	if p.open {
		last := &p.play.Openings[len(p.play.Openings)-1]
		last.Refused++
		last.Good += good
	}
}

// change notes what the breaker does.
func (p *player) change(c policies.Change) {
	at := c.At.Sub(p.base)
	switch {
	case c.To == policies.Open && !p.open:
		p.open = true
		p.play.Openings = append(p.play.Openings, Opening{At: at, Stretch: stretchAt(p.stretches, at)})
	case c.To == policies.Open:
		p.play.Openings[len(p.play.Openings)-1].Reopened++
	case c.To == policies.Closed && p.open:
		p.open = false
		p.play.Openings[len(p.play.Openings)-1].Closed = model.Known(at)
	}
}
