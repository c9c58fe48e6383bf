package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// nodeEnds is how an attempt at a node may end, from its arrival to its answer:
// at once at the door, after its turn and its service, or with the node's own
// calls, which take what is given and fail as is given.
func (x *explainer) nodeEnds(i int, calls longest, fails ends) ends {
	n := &x.c.Nodes[i]
	wait, service := x.turn(i, calls)
	served := wait.then(service)
	all := served.then(calls)
	if all.why == "" {
		all.why = fmt.Sprintf("%s at %s", seconds(all.t), x.thing(i))
	}
	e := ends{good: {0, all.t, all.why}}
	for _, code := range fails.sorted() {
		v := fails[code]
		w := served.then(longest{v.most, v.why})
		e.add(code, end{v.least, w.t, w.why})
	}
	if served.why == "" {
		served.why = fmt.Sprintf("%s at %s", seconds(served.t), x.thing(i))
	}
	slow := func(code policies.ErrorCode) { e.add(code, end{0, served.t, served.why}) }
	atOnce := func(code policies.ErrorCode) { e.add(cmp.Or(code, unavailable), end{}) }
	for _, a := range n.Script {
		if a.Code != 0 {
			slow(a.Code)
		}
	}
	if len(n.Trace) > 0 {
		slow(unavailable)
	}
	if n.Queue.Limit.Known {
		atOnce(unavailable)
	}
	if n.Queue.DropExpired {
		slow(late)
	}
	if n.Shed.InFlight > 0 || n.Shed.RateRPS > 0 {
		atOnce(n.Shed.Code)
	}
	for _, f := range n.Faults {
		switch {
		case f.Kind == model.FaultError && !f.Fast:
			slow(cmp.Or(f.Code, unavailable))
		case f.Kind == model.FaultError || f.Kind == model.FaultLimit:
			atOnce(f.Code)
		case f.Kind == model.FaultCrash && !f.Silent:
			e.add(policies.ErrConnect, end{})
			e.add(policies.ErrReset, end{0, all.t, all.why})
		}
	}
	return e
}

// turn is the longest time that an attempt waits at a node for a worker, and
// the longest of its service.
func (x *explainer) turn(i int, calls longest) (wait, service longest) {
	n := &x.c.Nodes[i]
	thing := x.thing(i)
	pause, why := x.stands(n)
	if why != "" {
		return longest{never, thing + why}, longest{}
	}
	if n.Script == nil || !n.ScriptRepeat {
		service = longestLaw(&n.Service, "the service of "+thing)
	}
	for _, a := range n.Script {
		service.t = math.Max(service.t, a.Service.Seconds())
	}
	queue, present := rooms(n, x.crowd(i))
	if each := n.ServicePerInFlight.Seconds(); each > 0 {
		if math.IsInf(present, 1) {
			return longest{never, "the more calls are at " + thing + " the longer each takes, and their number has no bound"}, service
		}
		service.t += each * (present - 1)
	}
	for _, f := range n.Faults {
		if f.Kind == model.FaultSlow && f.Factor > 1 {
			service.t *= f.Factor
		}
	}
	workers, slower := left(n)
	service.t /= slower
	if pause > 0 {
		wait = longest{pause, fmt.Sprintf("%s in which %s stands still", seconds(pause), thing)}
	}
	switch {
	case queue == 0:
		return wait, service
	case math.IsInf(queue, 1):
		return longest{never, "the queue of " + thing + " has no bound"}, service
	case n.Queue.Order == model.LIFO:
		return longest{never, "the last come is served first at " + thing}, service
	}
	held := service
	if !n.Async {
		held = service.then(calls)
	}
	if math.IsInf(held.t, 1) {
		return held, service
	}
	turns := math.Ceil((queue + float64(n.Workers) - workers) / workers)
	if held.t > 0 {
		wait = wait.then(longest{turns * held.t, fmt.Sprintf("%s turns of %s at %s", number(turns), seconds(held.t), thing)})
	}
	return wait, service
}

// crowd is the most calls of a node at a time, if all come from closed loops
// whose calls go one by one and are never left: +Inf otherwise.
func (x *explainer) crowd(i int) float64 {
	n := 0.0
	for k, r := range x.rates {
		if x.meant[k][i] > 0 && !r.closed {
			return never
		}
		n += float64(x.c.Clients[k].Loop.Clients) * x.meant[k][i]
	}
	for _, l := range x.links {
		for k := range l.layers {
			if l.layers[k].Timeout > 0 {
				return never
			}
		}
		if alone := slices.IndexFunc(x.below[l.from], func(o *link) bool { return o != l && o.step == l.step }) < 0; !alone || l.times > 1 {
			return never // the first failure leaves the others
		}
	}
	return n
}

// rooms is the most calls that may wait for a worker of a server, and the most
// that may be at it, if there are no more of the node than a crowd.
func rooms(n *model.Node, crowd float64) (queue, present float64) {
	shed := crowd
	if n.Shed.InFlight > 0 {
		shed = math.Min(shed, float64(n.Shed.InFlight))
	}
	if n.Workers == model.Unlimited {
		return 0, shed
	}
	queue = math.Max(shed-float64(n.Workers), 0)
	if n.Queue.Limit.Known {
		queue = math.Min(queue, float64(n.Queue.Limit.Value))
	}
	if present = float64(n.Workers) + queue; n.Async && len(n.Steps) > 0 {
		present = never // workers are free while their calls go on
	}
	return queue, math.Min(present, shed)
}

// stands is how long a node may stand still in all, or why it may take longer
// than any bound that is known.
func (x *explainer) stands(n *model.Node) (pause float64, why string) {
	slowed := 0
	for _, f := range n.Faults {
		still := f.Kind == model.FaultStall || f.Kind == model.FaultPause || f.Kind == model.FaultCapacity && f.Factor == 0
		switch {
		case still && f.End > 0 && f.End < x.c.Horizon:
			pause += (f.End - f.Start).Seconds()
		case still:
			return 0, fmt.Sprintf(" may stand still (%s)", f.Kind)
		case f.Kind == model.FaultCrash && f.Silent:
			return 0, fmt.Sprintf(" may never answer (%s)", f.Kind)
		case f.Kind == model.FaultCapacity && n.Workers != model.Unlimited:
			if slowed++; slowed > 1 {
				return 0, fmt.Sprintf(" may be slow (%s)", f.Kind) // they may overlap
			}
		}
	}
	if len(n.Trace) > 0 {
		return 0, " follows a trace"
	}
	return pause, ""
}

// left is how many workers of a server a fault leaves, and the share of their
// speed.
func left(n *model.Node) (workers, speed float64) {
	workers, speed = float64(n.Workers), 1
	for _, f := range n.Faults {
		if f.Kind == model.FaultCapacity && n.Workers != model.Unlimited && f.Factor > 0 && f.Factor < 1 {
			share := f.Factor * float64(n.Workers)
			workers = math.Max(1, math.Ceil(share-1e-9))
			speed = share / workers
		}
	}
	return workers, speed
}
