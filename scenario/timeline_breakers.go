package scenario

import (
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/sim"
)

// A breakerGroup is the breakers of a link, or one that links share.
type breakerGroup struct {
	name     string // of the link, or the shared one
	link     int    // the first
	shared   bool
	breakers int // how many
	initial  stateCount
}

// breakers lists the breakers that have states, and returns a copy of the model
// in which they tell of their changes, by their index in the list.
func (c *Case) breakers(tell func(breaker int, ch policies.Change)) (model.Config, []breakerGroup) {
	config := watched(c.Config, nil) // its layers are copies
	var groups []breakerGroup
	link := 0
	steps := func(list []model.Step, instances int) {
		for _, s := range list {
			for i := range s.Calls {
				for _, stack := range []model.Stack{s.Calls[i].Stack, s.Calls[i].Sidecar} {
					for k := range stack {
						b := stack[k].Breaker
						if b == nil || stateless(b) {
							continue
						}
						g := breakerGroup{name: c.world.links[link], link: link, breakers: max(1, instances)}
						if b.Share != "" {
							g = breakerGroup{name: b.Share, link: link, shared: true, breakers: 1}
							if slices.Contains(c.world.links, b.Share) {
								g.name += " (shared)"
							}
						}
						g.initial.count(firstState(b), g.breakers)
						at := slices.IndexFunc(groups, func(h breakerGroup) bool { return h.name == g.name })
						switch {
						case at < 0:
							at = len(groups)
							groups = append(groups, g)
						case !g.shared: // the link has several
							groups[at].breakers += g.breakers
							groups[at].initial.add(g.initial)
						}
						b.OnChange = func(ch policies.Change) { tell(at, ch) }
					}
				}
				link++
			}
		}
	}
	for i := range config.Nodes {
		steps(config.Nodes[i].Steps, config.Nodes[i].Replicas)
	}
	for i := range config.Clients {
		steps(config.Clients[i].Steps, config.Clients[i].Instances)
	}
	return config, groups
}

// stateless reports whether a breaker is a throttle, which refuses at random
// and is closed all the time.
func stateless(b *model.BreakerLayer) bool {
	switch b.Preset.(type) {
	case presets.GoogleSREConfig, presets.AegisConfig, presets.FailsafeThrottlerConfig:
		return true
	}
	return false
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
