package scenario

import (
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A breakerGroup is the private breakers of a link, or one that links share.
type breakerGroup struct {
	name     string // of the link, or the shared one
	link     int    // the first
	shared   bool
	breakers int // how many
	initial  stateCount
}

// add adds the breakers of a layer, one for each instance, unless it is the one
// that is shared.
func (g *breakerGroup) add(instances int) {
	if g.shared {
		g.breakers = 1
	} else {
		g.breakers += instances
	}
}

// breakers lists the breakers that have states, and returns a copy of the model
// in which they tell of their changes, by their index in the list.
func (c *Case) breakers(tell watcher) (model.Config, []breakerGroup) {
	config := watched(c.Config, c.world, tell)
	groups := slices.Clone(c.world.breakers)
	for _, b := range breakerLayers(config) {
		own := c.world.subjects[c.world.owner(b)].own
		switch {
		case own < 0:
		case groups[own].shared:
			groups[own].initial = stateCount{}
			groups[own].initial.count(firstState(b.BreakerLayer), 1)
		default:
			groups[own].initial.count(firstState(b.BreakerLayer), b.instances)
		}
	}
	return config, groups
}

// firstState is the state in which a breaker begins: not all begin closed.
func firstState(b *model.BreakerLayer) policies.State {
	if b.Preset == nil {
		return policies.Closed
	}
	breaker, err := b.Preset.NewCircuitBreaker(policies.Host{Clock: sim.New().Clock()})
	if err != nil { // the model reports it
		return policies.Closed
	}
	return breaker.State()
}

// A stateCount says how many breakers are in which states.
type stateCount struct{ open, halfOpen int }

// count adds a number of breakers to those in a state.
func (s *stateCount) count(state policies.State, by int) {
	switch state {
	case policies.Open:
		s.open += by
	case policies.HalfOpen:
		s.halfOpen += by
	}
}

func (s *stateCount) add(t stateCount) {
	s.open += t.open
	s.halfOpen += t.halfOpen
}

// change counts a change of one of the breakers.
func (s *stateCount) change(c policies.Change) {
	s.count(c.To, 1)
	s.count(c.From, -1)
}

// A breakerInterval is what breakers did in an interval.
type breakerInterval struct {
	stateCount             // at its end
	openings               uint64
	openTime, halfOpenTime float64 // ns, of all breakers together
}

// A breakerSeries is what breakers did in each interval. It is made of the
// changes that they tell of: to ask them moves some on. A change may be told
// after its instant.
type breakerSeries struct {
	step, horizon time.Duration
	state         stateCount        // at the end of the interval that next has returned
	at            []breakerInterval // what changes in each
	returned      int
}

func newBreakerSeries(horizon, step time.Duration, initial stateCount) *breakerSeries {
	return &breakerSeries{step: step, horizon: horizon, state: initial, at: make([]breakerInterval, (horizon-1)/step+1)}
}

// end is the end of an interval.
func (s *breakerSeries) end(interval int) time.Duration {
	if interval == len(s.at)-1 {
		return s.horizon
	}
	return time.Duration(interval+1) * s.step
}

// note takes note of a change. One at the horizon is not in the run.
func (s *breakerSeries) note(c policies.Change) {
	t := time.Duration(sim.TimeOf(c.At))
	if t >= s.horizon {
		return
	}
	interval := int(t / s.step)
	i := &s.at[interval]
	var changed stateCount
	changed.change(c)
	i.add(changed)
	rest := float64(s.end(interval) - t)
	i.openTime += float64(changed.open) * rest
	i.halfOpenTime += float64(changed.halfOpen) * rest
	if c.To == policies.Open {
		i.openings++
	}
}

// next returns the next interval, once all changes in it are told.
func (s *breakerSeries) next() breakerInterval {
	i := s.at[s.returned]
	length := float64(s.end(s.returned) - time.Duration(s.returned)*s.step)
	i.openTime += float64(s.state.open) * length
	i.halfOpenTime += float64(s.state.halfOpen) * length
	i.add(s.state)
	s.state = i.stateCount
	s.returned++
	return i
}
