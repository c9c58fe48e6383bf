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
// horizon asks for shorter ones, or the table for longer ones: so many rows are
// still opened by a spreadsheet, and are some 20 MB.
const (
	fewestIntervals = 50
	mostRows        = 200_000
)

// timelineStep is the length of the intervals: a second, or 1, 2 or 5 times
// some power of ten, so that there are at most so many.
func timelineStep(horizon time.Duration, most int) time.Duration {
	step := time.Second
	for k := 0; step > 1 && horizon/step < fewestIntervals; k++ {
		if k%3 == 1 {
			step = step / 5 * 2
		} else {
			step /= 2
		}
	}
	for k := 0; (horizon-1)/step >= time.Duration(max(most, fewestIntervals)); k++ {
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
	kindFault   = "fault"
	kindClient  = "client"
	kindNode    = "node"
	kindLink    = "link"
	kindBreaker = "breaker"
)

func timelineKeys() []table.Column {
	return []table.Column{
		{Name: "scenario"}, {Name: "variant"}, {Name: "seed"},
		{Name: "kind", Doc: "client, node, link, breaker, or fault: what is wrong with a node"},
		{Name: "name", Doc: "of the client, node or link; of a breaker its link, or the name that it is shared by; of a fault its node"},
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
	valueGuarded
	valueRefused
	valueLimited
	valueTimedOut
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
	c[valueCalls] = table.Column{Name: "calls_count", Doc: "nodes: attempts that reached it; links: calls, however many attempts are made of each"}
	c[valueGood] = table.Column{Name: "good_count", Doc: "nodes: attempts answered well; links: calls that ended well"}
	c[valueErrors] = table.Column{Name: "errors_count", Doc: "nodes: attempts served and answered with an error; links: calls that failed in the end"}
	c[valueRejected] = table.Column{Name: "rejected_count", Doc: "nodes: attempts turned away: shed, queue full, expired, crashed"}
	c[valueAbandoned] = table.Column{Name: "abandoned_count", Doc: "nodes: attempts that ended when their caller had gone; links: calls given up by their caller"}
	c[valueQueued] = table.Column{Name: "queued_count", Doc: "nodes: calls that wait for a worker, at the end of the interval"}
	c[valueServing] = table.Column{Name: "serving_count", Doc: "nodes: calls in service, at the end of the interval"}
	c[valueInFlight] = table.Column{Name: "in_flight_count", Doc: "at the end of the interval; nodes: queued, in service, or waiting for the node's own calls; clients: requests; links: calls"}
	c[valueAttempts] = table.Column{Name: "attempts_count", Doc: "links: attempts sent"}
	c[valueRetries] = table.Column{Name: "retries_count", Doc: "links: retries granted"}
	c[valueDenied] = table.Column{Name: "denied_count", Doc: "links: retries that a budget refused"}
	c[valueGuarded] = table.Column{Name: "guarded_count", Doc: "links: retries that a guard refused: breaker not closed, call not idempotent"}
	c[valueRefused] = table.Column{Name: "refused_count", Doc: "links: attempts that a breaker or throttle refused"}
	c[valueLimited] = table.Column{Name: "limited_count", Doc: "links: attempts that a cap refused"}
	c[valueTimedOut] = table.Column{Name: "timed_out_count", Doc: "links: timeouts, of attempts and of calls"}
	c[valueOpenings] = table.Column{Name: "openings_count", Doc: "breakers: openings"}
	c[valueBreakers] = table.Column{Name: "breakers_count", Doc: "breakers: how many there are: one for each instance of the caller, or one that is shared"}
	c[valueOpen] = table.Column{Name: "open_count", Doc: "breakers: those that are open at the end of the interval"}
	c[valueHalfOpen] = table.Column{Name: "half_open_count", Doc: "breakers: those that are half-open at the end of the interval"}
	c[valueOpenRatio] = table.Column{Name: "open_ratio", Doc: "breakers: share of the interval that they were open, their mean"}
	c[valueHalfOpenRatio] = table.Column{Name: "half_open_ratio", Doc: "breakers: share of the interval that they were half-open, their mean"}
	return c
}

// Timeline runs replication 0 and returns what happened over time: a row for
// each interval and each client, node, link and breaker, after a row for each
// fault. Breakers are of a link, all its caller's instances together, or shared
// by several links under a name. Throttles have no states, and no rows: what
// they refuse is in their links'.
//
// Intervals are a second long, or shorter so that there are at least 50 of
// them, or longer so that the table has at most 200,000 rows; a cell that does
// not belong to the kind of its row is empty.
func (c *Case) Timeline(ctx context.Context) (*table.Table, error) {
	var states []*breakerSeries
	config, groups := c.breakers(func(breaker int, ch policies.Change) { states[breaker].note(ch) })
	step := timelineStep(config.Horizon, mostRows/(len(c.world.clients)+len(c.world.nodes)+len(c.world.links)+len(groups)))
	for _, g := range groups {
		states = append(states, newBreakerSeries(config.Horizon, step, g.initial))
	}
	config.Interval = step
	system, err := model.New(config, c.Seed, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Title(), err)
	}
	ledgers := []*model.Ledger{{Calls: make([]model.CallLedger, len(c.world.links))}}
	for now := sim.Time(0); now < sim.Time(config.Horizon); {
		now = now.Add(min(step, config.Horizon-time.Duration(now)))
		if err := system.RunUntil(ctx, now); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Title(), err)
		}
		l := system.Ledger()
		ledgers = append(ledgers, &model.Ledger{Clients: l.Clients, Calls: l.Calls})
	}
	t := timeline{table.New("timeline", timelineKeys(), timelineValues()), c}
	for _, f := range c.faults() {
		v := t.values(f.end)
		t.append(kindFault, f.node, f.what, f.start, v)
	}
	for k, i := range system.Series() {
		t.interval(&i, ledgers[k], ledgers[k+1])
		for g, b := range groups {
			t.breaker(&i, b, states[g].next())
		}
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

// set sets values from an index on.
func set(v []float64, at int, counts ...uint64) {
	for k, n := range counts {
		v[at+k] = float64(n)
	}
}

// interval adds the rows of clients, nodes and links for an interval, given the
// ledgers at its begin and end.
func (t timeline) interval(i *model.Interval, was, now *model.Ledger) {
	start, end := time.Duration(i.Start), time.Duration(i.End)
	w := t.of.world
	for k, n := range i.Clients {
		v := t.values(end)
		set(v, valueRequests, n.Requests, n.Succeeded, n.Failed)
		set(v, valueInFlight, now.Clients[k].InFlight)
		t.append(kindClient, w.clients[k], "", start, v)
	}
	for k, n := range i.Nodes {
		v := t.values(end)
		set(v, valueCalls, n.Attempts, n.Succeeded, n.Failed, n.Rejected, n.Abandoned, n.Queued, n.Serving, n.InFlight)
		t.append(kindNode, w.nodes[k], "", start, v)
	}
	for k := range now.Calls {
		v, a, b := t.values(end), &was.Calls[k], &now.Calls[k]
		set(v, valueCalls, b.Calls-a.Calls, b.Succeeded-a.Succeeded, b.Failed-a.Failed)
		set(v, valueAbandoned, b.Left-a.Left)
		set(v, valueInFlight, b.InFlight)
		set(v, valueAttempts, b.Attempts-a.Attempts, b.Retries-a.Retries, b.Denied-a.Denied,
			b.NotClosed+b.NotIdempotent-a.NotClosed-a.NotIdempotent, b.Refused-a.Refused, b.Limited-a.Limited, b.TimedOut-a.TimedOut)
		t.append(kindLink, w.links[k], "", start, v)
	}
}

// breaker adds the row of breakers for an interval.
func (t timeline) breaker(i *model.Interval, b breakerGroup, did breakerInterval) {
	start, end := time.Duration(i.Start), time.Duration(i.End)
	v := t.values(end)
	set(v, valueOpenings, did.openings, uint64(b.breakers), uint64(did.open), uint64(did.halfOpen))
	all := float64(b.breakers) * float64(end-start)
	v[valueOpenRatio], v[valueHalfOpenRatio] = did.openTime/all, did.halfOpenTime/all
	t.append(kindBreaker, b.name, "", start, v)
}
