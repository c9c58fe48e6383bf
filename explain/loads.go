package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
)

// Load is the load of a node against its capacity, all replicas together.
type Load struct {
	Node string
	// Rate is that of the calls at the busiest time without retries, per second;
	// Held how many seconds a worker is held by a call; Capacity how many calls
	// a second the workers can take, +Inf for any number.
	Rate, Held, Capacity float64
	Rho                  float64 // Rate / Capacity
	// Worst is the rate if every call of the node fails, Bounded with the
	// budgets in the long run. Burst is how many attempts the budgets grant
	// beside that at once, when all was well before.
	Worst, Bounded, Burst float64
}

// loads compares the load of the nodes with their capacity.
func (x *explainer) loads() {
	bounded := make([][]float64, len(x.c.Clients))
	for i := range x.c.Clients {
		bounded[i] = x.spread(i, x.boundedFactor)
	}
	worst, bursts := x.worst(), x.bursts()
	for i := range x.c.Nodes {
		d := Load{Node: x.c.Nodes[i].Name, Held: x.service(i), Burst: bursts[i]}
		if !x.c.Nodes[i].Async {
			d.Held = x.took[i]
		}
		for k, r := range x.rates {
			if n := x.meant[k][i]; n > 0 {
				d.plus(r.rps, n, worst[k][i], math.Min(bounded[k][i], worst[k][i]))
			}
		}
		if d.Rate == 0 {
			continue
		}
		d.Capacity = capacity(&x.c.Nodes[i], d.Held)
		if d.Capacity < never {
			d.Rho = d.Rate / d.Capacity
		}
		x.Loads = append(x.Loads, d)
		if d.Capacity < never {
			x.ofLoad(i, d, x.pressOn(i))
		}
		x.ofShed(i, d)
	}
}

// plus adds the load of a client.
func (d *Load) plus(rps, meant, worst, bounded float64) {
	d.Rate += rps * meant
	d.Worst += rps * worst
	d.Bounded += rps * bounded
}

// capacity is how many calls a second a node can take that hold a worker for so
// long.
func capacity(n *model.Node, held float64) float64 {
	replicas := float64(max(n.Replicas, 1))
	c := never
	if n.Workers != model.Unlimited && held > 0 {
		c = replicas * float64(n.Workers) / held
	}
	if each := n.ServicePerInFlight.Seconds(); each > 0 {
		c = math.Min(c, replicas/each)
	}
	if n.Shed.RateRPS > 0 {
		c = math.Min(c, replicas*n.Shed.RateRPS)
	}
	return c
}

// ofLoad looks at the load that lasts and at the peak of it.
func (x *explainer) ofLoad(i int, d Load, p press) {
	n := &x.c.Nodes[i]
	place := x.thing(i)
	rho := p.open.Rate / d.Capacity
	load := fmt.Sprintf("%s / %s = %s", perSecond(p.open.Rate), perSecond(d.Capacity), number(rho))
	bounded, worst := p.open.Bounded+p.loops.Bounded, p.open.Worst+p.loops.Worst
	switch {
	case rho >= 1:
		s := Problem
		if rho == 1 {
			s = Warning
		}
		x.find(s, "overload", place, "the load reaches the capacity without any retry", load)
	case bounded > d.Capacity:
		retries := "all retries"
		if bounded < worst {
			retries = "the retries that the budgets grant in the long run"
		}
		s, text := Problem, "the node can stay down after the trigger is gone: the load with "+retries+" is above its capacity"
		switch {
		case !x.overloadFails(n):
			s, text = Note, "in an outage the load with "+retries+" is above the capacity; nothing fails of waiting alone, so it ends with the outage"
		case n.Cancel || n.Queue.Limit.Known || n.Shed.InFlight > 0:
			s = Warning // work that nobody waits for has an end
		}
		fit := ""
		if p.loops.Bounded == 0 {
			fit = fmt.Sprintf("; up to %s attempts would fit", number(d.Capacity/p.open.Rate))
		}
		x.find(s, "stays-down", place, text, p.attempts(bounded)+" > "+perSecond(d.Capacity)+fit)
	case peak(p, d) >= 1:
		x.find(Warning, "overload", place, "the load reaches the capacity for a time without any retry", fmt.Sprintf("%s / %s = %s", perSecond(p.peak), perSecond(d.Capacity), number(peak(p, d))))
	case rho > 0.8:
		x.find(Warning, "little-headroom", place, "there is little capacity left", load)
	case d.Rho >= 1:
		x.find(Note, "saturated", place, "the clients of closed loops can keep it busy without a pause: they wait for each other", fmt.Sprintf("%s / %s = %s",
			perSecond(d.Rate), perSecond(d.Capacity), number(d.Rho)))
	}
	if rho < 1 && bounded <= d.Capacity && worst > d.Capacity {
		x.find(Note, "budget-keeps-up", place, "the budgets alone keep the load with retries below the capacity in the long run",
			fmt.Sprintf("%s ≤ %s; without them %s", p.attempts(bounded), perSecond(d.Capacity), perSecond(worst)))
	}
	if n.ServicePerInFlight > 0 {
		x.find(Note, "slower-under-load", place, fmt.Sprintf("the more calls are at the node the longer each takes, %s for each other one: the capacity is that of an empty node at most", n.ServicePerInFlight), "")
	}
}

// ofShed looks at the limit of calls at a node.
func (x *explainer) ofShed(i int, d Load) {
	n := &x.c.Nodes[i]
	if most := float64(n.Shed.InFlight) * float64(max(n.Replicas, 1)); most > 0 && d.Rate*d.Held > most {
		x.find(Warning, "limit-too-low", x.thing(i), "sheds load that is there without any failure",
			fmt.Sprintf("λ L = %s × %s = %s in flight > %s", perSecond(d.Rate), seconds(d.Held), number(d.Rate*d.Held), number(most)))
	}
}

// ratio is a/b, 1 of two that have no bound.
func ratio(a, b float64) float64 {
	if math.IsInf(a, 1) && math.IsInf(b, 1) {
		return 1
	}
	return a / b
}

// overloadFails reports whether calls fail because a node is too busy.
func (x *explainer) overloadFails(n *model.Node) bool {
	return n.Queue.Limit.Known || n.Shed.InFlight > 0 || n.Shed.RateRPS > 0 || slices.ContainsFunc(x.links, func(l *link) bool {
		return slices.ContainsFunc(l.layers, func(y layer) bool { return y.Timeout > 0 })
	})
}

// limits compares the caps on calls in flight with what Little's law asks for.
func (x *explainer) limits() {
	shared := make(map[string]bool)
	for _, l := range x.links {
		for k := range l.layers {
			m := l.layers[k].Limit
			if m == nil || m.Share != "" && shared[m.Share] {
				continue
			}
			need, caps := x.inFlight(l, k), x.instances(l)
			if m.Share != "" {
				shared[m.Share] = true
				need, caps = 0, 1
				for _, other := range x.links {
					for j := range other.layers {
						if o := other.layers[j].Limit; o != nil && o.Share == m.Share {
							need += x.inFlight(other, j)
						}
					}
				}
			}
			if need/caps > float64(m.InFlight) {
				t, _ := x.pass(l, k+1, x.linkTime(l), false)
				x.find(Warning, "limit-too-low", l.layers[k].place, "the cap refuses calls though nothing fails",
					fmt.Sprintf("λ L = %s in flight per instance > %d, at %s a call", number(need/caps), m.InFlight, seconds(t)))
			}
		}
	}
}

// inFlight is the mean number of calls in a layer of a link if nothing fails.
func (x *explainer) inFlight(l *link, k int) float64 {
	t, _ := x.pass(l, k+1, x.linkTime(l), false)
	if t == 0 {
		return 0
	}
	return x.callRate(l, nil).rps * t
}
