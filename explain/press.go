package explain

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
)

// A press is the load on a node while its calls fail because it is too busy: in
// the long run, with all retries and with those that budgets grant.
type press struct {
	lasting, peak  float64 // of open loops, without retries
	worst, granted calls
}

// pressOn works out the load on a node that serves so many calls a second.
func (x *explainer) pressOn(i int, serves float64) (p press) {
	for k, r := range x.rates {
		if n := x.meant[k][i]; n > 0 && !r.closed {
			p.lasting += r.lasting * n
			p.peak += r.rps * n
		}
	}
	p.worst = x.crowding(i, serves, false)
	p.granted = x.crowding(i, serves, true)
	return p
}

// crowding is the load on a node whose queue is so long that calls time out in
// it; what finds a queue of limited length full is refused. Where nothing times
// out it is that of an outage in which all calls fail at once.
func (x *explainer) crowding(i int, serves float64, budgets bool) calls {
	n := &x.c.Nodes[i]
	if math.IsInf(x.patience()[i].shortest, 1) {
		return x.flow(i, true, budgets).calls[i]
	}
	f := x.hang(i)
	if !budgets {
		f = x.flow(i, false, false)
	}
	late := f.calls[i]
	if !n.Queue.Limit.Known && n.Shed.InFlight == 0 {
		return late
	}
	refused := x.flow(i, true, budgets).calls[i]
	share := 1.0 // of refused ones
	for range mostRounds {
		now := math.Max(0, 1-serves/late.mix(refused, share).all())
		if math.Abs(now-share) < 1e-9 {
			break
		}
		share = now
	}
	return late.mix(refused, share)
}

// staysBusy reports whether a node whose queue has become as long as it can get
// serves calls that nobody waits for any more, and nothing else, while so many
// come in a second. Late says that calls are dropped when their time is over:
// those that are not begin shortly before that.
func (x *explainer) staysBusy(i int, d Load, rps float64) (busy, late bool) {
	n := &x.c.Nodes[i]
	switch {
	case n.Queue.Order == model.LIFO:
		return false, false
	case n.Workers == model.Unlimited:
		return true, false // the more calls are at it the longer each takes
	case x.longestTurn(i, d) < x.patience()[i].shortest:
		return false, false
	}
	// The oldest calls are so far from their end that all may go that come.
	left := float64(max(n.Replicas, 1)) / rps
	switch {
	case n.Cancel:
		left *= float64(n.Workers)
	case !n.Queue.DropExpired || !x.toldByAll(i):
		return true, false
	}
	inTime := 1 - beyond(&n.Service, littleMore*left-(d.Held-n.Service.MeanDuration().Seconds()))
	return inTime < mostInTime, true
}

// longestTurn is how long a call takes that finds the queue as long as it can
// get, +Inf if that has no bound.
func (x *explainer) longestTurn(i int, d Load) float64 {
	n := &x.c.Nodes[i]
	if n.Workers == model.Unlimited {
		return never // the more calls are at it the longer each takes
	}
	queue, _ := rooms(n, never)
	return queue/float64(n.Workers)*d.Held + d.Held
}

// mostInTime is the share of the calls that are served in time from which on a
// node recovers that drops the rest.
const mostInTime = 0.05

// littleMore is the factor by which chance may help or harm.
const littleMore = 1.25

// toldByAll reports whether a node knows until when its callers wait.
func (x *explainer) toldByAll(i int) bool {
	for _, l := range x.links {
		if l.to == i && (!l.call.PropagateDeadline || l.deadline(len(l.layers)) == never) {
			return false
		}
	}
	return true
}

// mayOpen reports whether there is a breaker on the way to a node.
func (x *explainer) mayOpen(i int) bool {
	on := make([]bool, len(x.below))
	on[i] = true
	var found bool
	mark := func(thing int) {
		for _, l := range x.below[thing] {
			if !on[l.to] {
				continue
			}
			on[thing] = true
			for k := range l.layers {
				found = found || l.layers[k].Breaker != nil
			}
		}
	}
	for k := len(x.order) - 1; k >= 0; k-- {
		mark(x.order[k])
	}
	for k := range x.c.Clients {
		mark(len(x.c.Nodes) + k)
	}
	return found
}

// longestResponse is how long calls of a node take, waiting included, if closed
// loops ask for more than it serves a second: until their clients are slow
// enough. It is 0 if they do not.
func (x *explainer) longestResponse(i int, d Load, serves float64) float64 {
	asked := func(wait float64) (sum float64) {
		for k, r := range x.rates {
			n := x.meant[k][i]
			switch {
			case n == 0:
			case r.closed:
				sum += n / (1/r.rps + n*wait/float64(x.c.Clients[k].Loop.Clients))
			default:
				sum += n * r.lasting
			}
		}
		return sum
	}
	if asked(0) <= serves {
		return 0
	}
	low, high := 0.0, 1.0
	for ; asked(high) > serves; high *= 2 {
		if high > 1e9 {
			return 0 // the open loops alone are too many
		}
	}
	for range 100 {
		if mid := (low + high) / 2; asked(mid) > serves {
			low = mid
		} else {
			high = mid
		}
	}
	return d.Held + high
}

// text writes the load.
func (p press) text(c calls) string {
	open := fmt.Sprintf("%s × %s attempts", perSecond(p.lasting), number(c.open/p.lasting))
	switch {
	case c.loops == 0:
		return fmt.Sprintf("%s = %s", open, perSecond(c.open))
	case p.lasting == 0:
		return fmt.Sprintf("%s of closed loops whose calls all time out", perSecond(c.loops))
	}
	return fmt.Sprintf("%s + %s of closed loops whose calls all time out = %s", open, perSecond(c.loops), perSecond(c.all()))
}
