package traffic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

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

	// Openings are the changes to open, from closed and from half-open, as
	// everywhere; Reopenings those of them from half-open, and Outside those of
	// them at an instant outside of all stretches of failures.
	Openings, Reopenings, Outside int

	// OpenTime is how long it was open up to the end of the recording.
	OpenTime time.Duration

	Trips []Trip
}

// A Trip lasts from a change from closed to open until the breaker is closed
// again.
type Trip struct {
	At       time.Duration
	Closed   model.Optional[time.Duration] // unknown if not by the end of the recording
	Stretch  int                           // of failures in which it opened; -1 if in none
	Reopened int                           // from half-open
	Refused  int
	Good     int // of the refused would have succeeded
}

// CanPlay reports why a replay of the traffic is not possible, if it is not:
// no failures were recorded, no rates, or too many calls to draw.
func (t *Traffic) CanPlay() error {
	path := t.Node
	if n := len(t.Report.Files); n > 0 {
		path = t.Report.Files[n-1].Path
	}
	if t.blind {
		return shown(fmt.Errorf("%s: no failures were recorded, only rates: want the errors as well", path))
	}
	if len(t.Calls) > 0 {
		return nil
	}
	expected := 0.0
	for _, s := range t.Segments {
		if !s.RateRPS.Known {
			return shown(fmt.Errorf("%s: the interval from %s states no rate of calls, want one in a column rate_rps, or the option rate", path, t.At(s.Start)))
		}
		expected += s.RateRPS.Value * (s.End - s.Start).Seconds()
	}
	if expected > defaultMaxCalls {
		return shown(fmt.Errorf("%s: %.3g calls to draw, want at most %d: a part of the record", path, expected, defaultMaxCalls))
	}
	return nil
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
//
// The replay ends at End of the traffic. A drawn call that ends later is one in
// flight.
func (t *Traffic) Play(ctx context.Context, breakers []Breaker, o PlayOptions) (*Replay, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(breakers) == 0 {
		return nil, errors.New("traffic: no breakers, want at least one")
	}
	for _, b := range breakers {
		if err := b.Maker.Validate(); err != nil {
			return nil, fmt.Errorf("breaker %s: %w", b.Name, err)
		}
	}
	if err := t.CanPlay(); err != nil {
		return nil, err
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
				return nil, fmt.Errorf("breaker %s: %w", breakers[i].Name, err)
			}
		}
	}
	return r, nil
}
