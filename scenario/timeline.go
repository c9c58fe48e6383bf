package scenario

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

// The number of intervals of a timeline. Each is a second long, unless the
// horizon asks for shorter or longer ones.
const (
	fewestIntervals = 50
	mostIntervals   = 2000
)

// timelineStep is the length of the intervals: a second, or 1, 2 or 5 times
// some power of ten.
func timelineStep(horizon time.Duration) time.Duration {
	step := time.Second
	for k := 0; step > 1 && horizon/step < fewestIntervals; k++ {
		if k%3 == 1 {
			step = step / 5 * 2
		} else {
			step /= 2
		}
	}
	for k := 0; (horizon-1)/step >= mostIntervals; k++ {
		if k%3 == 1 {
			step = step / 2 * 5
		} else {
			step *= 2
		}
	}
	return step
}

// The kinds of rows of a timeline.
const (
	kindFault  = "fault"
	kindClient = "client"
	kindNode   = "node"
	kindLink   = "link"
)

func timelineKeys() []table.Column {
	return []table.Column{
		{Name: "scenario"}, {Name: "variant"}, {Name: "seed"},
		{Name: "kind", Doc: "client, node, link, or fault: what is wrong with a node"},
		{Name: "name", Doc: "of the client, node or link; of the node of a fault"},
		{Name: "fault", Doc: "what is wrong; empty in other rows"},
		{Name: "start_s", Doc: "begin of the interval or of the fault"},
	}
}

// The values of a timeline, in the order of their columns.
const (
	valueEnd = iota
	valueRequests
	valueSucceeded
	valueFailed
	valueCalls
	valueGood
	valueErrors
	valueRejected
	valueAbandoned
	valueQueued
	valueServing
	valueInFlight
	valueAttempts
	valueRetries
	valueDenied
	valueRefused
	valueOpenings
	valueBreakers
	valueOpen
	valueHalfOpen
	valueOpenRatio
	valueHalfOpenRatio
	values
)

func timelineValues() []table.Column {
	c := make([]table.Column, values)
	c[valueEnd] = table.Column{Name: "end_s", Doc: "end of the interval, which it does not hold, or of the fault"}
	c[valueRequests] = table.Column{Name: "requests_count", Doc: "clients: original requests made"}
	c[valueSucceeded] = table.Column{Name: "succeeded_count", Doc: "clients: requests answered well, by the instant of their end"}
	c[valueFailed] = table.Column{Name: "failed_count", Doc: "clients: requests that failed, by the instant of their end"}
	c[valueCalls] = table.Column{Name: "calls_count", Doc: "nodes: attempts that reached it"}
	c[valueGood] = table.Column{Name: "good_count", Doc: "nodes: attempts answered well"}
	c[valueErrors] = table.Column{Name: "errors_count", Doc: "nodes: attempts served and answered with an error"}
	c[valueRejected] = table.Column{Name: "rejected_count", Doc: "nodes: attempts turned away: shed, queue full, expired, crashed"}
	c[valueAbandoned] = table.Column{Name: "abandoned_count", Doc: "nodes: attempts that ended when their caller had gone"}
	c[valueQueued] = table.Column{Name: "queued_count", Doc: "nodes: calls that wait for a worker, at the end of the interval"}
	c[valueServing] = table.Column{Name: "serving_count", Doc: "nodes: calls in service, at the end of the interval"}
	c[valueInFlight] = table.Column{Name: "in_flight_count", Doc: "nodes: these, and calls that wait for the node's own, at the end of the interval"}
	c[valueAttempts] = table.Column{Name: "attempts_count", Doc: "links: attempts sent"}
	c[valueRetries] = table.Column{Name: "retries_count", Doc: "links: retries granted"}
	c[valueDenied] = table.Column{Name: "denied_count", Doc: "links: retries that a budget refused"}
	c[valueRefused] = table.Column{Name: "refused_count", Doc: "links: attempts that a breaker refused"}
	c[valueOpenings] = table.Column{Name: "openings_count", Doc: "links: openings of breakers"}
	c[valueBreakers] = table.Column{Name: "breakers_count", Doc: "links: breakers, of all instances of the caller"}
	c[valueOpen] = table.Column{Name: "open_count", Doc: "links: those of them that are open at the end of the interval"}
	c[valueHalfOpen] = table.Column{Name: "half_open_count", Doc: "links: those of them that are half-open at the end of the interval"}
	c[valueOpenRatio] = table.Column{Name: "open_ratio", Doc: "links: share of the interval that breakers were open, their mean"}
	c[valueHalfOpenRatio] = table.Column{Name: "half_open_ratio", Doc: "links: share of the interval that breakers were half-open, their mean"}
	return c
}

// Timeline runs replication 0 and returns what happened over time: a row for
// each interval and each client, node and link, after a row for each fault.
// Intervals are a second long, or such that there are 50 to 2,000 of them; a
// cell that does not belong to the kind of its row is empty.
func (c *Case) Timeline(ctx context.Context) (*table.Table, error) {
	timed := *c
	timed.Config.Interval = timelineStep(c.Config.Horizon)
	o, err := timed.start(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Title(), err)
	}
	states := newStateSeries(&timed)
	o.onChange = states.note
	if err := o.system.Run(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Title(), err)
	}
	t := timeline{table.New("timeline", timelineKeys(), timelineValues()), &timed}
	for _, f := range c.faults() {
		v := t.values(f.end)
		t.append(kindFault, f.node, f.what, f.start, v)
	}
	states.addUp()
	for k, i := range o.system.Series() {
		t.interval(&i, states.at[k])
	}
	return t.Table, nil
}

// A timeline is a table that is being filled.
type timeline struct {
	*table.Table
	of *Case
}

// values makes the values of a row, all but the end undefined.
func (t timeline) values(end time.Duration) []float64 {
	v := make([]float64, values)
	for i := range v {
		v[i] = math.NaN()
	}
	v[valueEnd] = end.Seconds()
	return v
}

func (t timeline) append(kind, name, fault string, start time.Duration, v []float64) {
	t.Append([]string{t.of.Name, t.of.Variant, fmt.Sprint(t.of.Seed), kind, name, fault, table.Format(start.Seconds())}, v...)
}

// interval adds the rows of an interval.
func (t timeline) interval(i *model.Interval, states []stateCount) {
	start, end := time.Duration(i.Start), time.Duration(i.End)
	set := func(v []float64, at int, counts ...uint64) {
		for k, n := range counts {
			v[at+k] = float64(n)
		}
	}
	w := t.of.world
	for k, n := range i.Clients {
		v := t.values(end)
		set(v, valueRequests, n.Requests, n.Succeeded, n.Failed)
		t.append(kindClient, w.clients[k], "", start, v)
	}
	for k, n := range i.Nodes {
		v := t.values(end)
		set(v, valueCalls, n.Attempts, n.Succeeded, n.Failed, n.Rejected, n.Abandoned, n.Queued, n.Serving, n.InFlight)
		t.append(kindNode, w.nodes[k], "", start, v)
	}
	for k, n := range i.Calls {
		v, s := t.values(end), states[k]
		set(v, valueAttempts, n.Attempts, n.Retries, n.Denied, n.Refused, n.Openings, s.breakers, s.open, s.halfOpen)
		if s.breakers > 0 {
			all := float64(s.breakers) * float64(end-start)
			v[valueOpenRatio], v[valueHalfOpenRatio] = float64(n.OpenTime)/all, float64(n.HalfOpenTime)/all
		}
		t.append(kindLink, w.links[k], "", start, v)
	}
}

// A stateCount says how many breakers a link has, and in which states.
type stateCount struct{ breakers, open, halfOpen uint64 }

// change counts a change of one of the breakers.
func (s *stateCount) change(c policies.Change) {
	count := func(state policies.State, by uint64) {
		switch state {
		case policies.Open:
			s.open += by
		case policies.HalfOpen:
			s.halfOpen += by
		}
	}
	count(c.To, 1)
	count(c.From, ^uint64(0)) // minus one
}

// A stateSeries is the states of all links at the end of each interval. It is
// made of the changes that breakers tell of: to ask them moves some on.
type stateSeries struct {
	of *Case
	at [][]stateCount // interval, link; changes in the interval, until addUp
}

func newStateSeries(c *Case) *stateSeries {
	s := &stateSeries{of: c, at: make([][]stateCount, (c.Config.Horizon-1)/c.Config.Interval+1)}
	for i := range s.at {
		s.at[i] = make([]stateCount, len(c.world.links))
	}
	return s
}

// note takes note of a change.
func (s *stateSeries) note(link int, c policies.Change) {
	s.at[time.Duration(sim.TimeOf(c.At))/s.of.Config.Interval][link].change(c)
}

// addUp turns the changes into states. Links that share breakers get those of
// the first.
func (s *stateSeries) addUp() {
	breakers := s.of.breakers()
	for i, now := range s.at {
		for link := range now {
			if i > 0 {
				now[link].open += s.at[i-1][link].open
				now[link].halfOpen += s.at[i-1][link].halfOpen
			}
		}
		for link, source := range s.of.world.source {
			now[link].open, now[link].halfOpen = now[source].open, now[source].halfOpen
			now[link].breakers = breakers[link]
		}
	}
}

// breakers is how many breakers each link has, all instances together.
func (c *Case) breakers() []uint64 {
	var list []uint64
	steps := func(of []model.Step, instances int) {
		for _, s := range of {
			for i := range s.Calls {
				n := 0
				for _, stack := range []model.Stack{s.Calls[i].Stack, s.Calls[i].Sidecar} {
					for _, l := range stack {
						switch {
						case l.Breaker == nil:
						case l.Breaker.Share != "":
							n++
						default:
							n += max(1, instances)
						}
					}
				}
				list = append(list, uint64(n))
			}
		}
	}
	for i := range c.Config.Nodes {
		steps(c.Config.Nodes[i].Steps, c.Config.Nodes[i].Replicas)
	}
	for i := range c.Config.Clients {
		steps(c.Config.Clients[i].Steps, c.Config.Clients[i].Instances)
	}
	return list
}
