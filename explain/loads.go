package explain

import (
	"fmt"
	"math"

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
			x.ofLoad(i, d)
		}
		x.ofNode(i, d)
		x.ofRooms(i, d)
		x.ofWorkers(i, d)
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
func (x *explainer) ofLoad(i int, d Load) {
	n := &x.c.Nodes[i]
	place := x.thing(i)
	serves := d.Capacity // what workers do, who see what is let in
	if door := n.Shed.RateRPS * float64(max(n.Replicas, 1)); door > 0 {
		all := *n
		all.Shed.RateRPS = 0
		if serves = capacity(&all, d.Held); serves >= door {
			serves = never
		}
	}
	p := x.pressOn(i, serves)
	rho := p.lasting / d.Capacity
	load := fmt.Sprintf("%s / %s = %s", perSecond(p.lasting), perSecond(d.Capacity), number(rho))
	patience, longest := x.patience()[i].shortest, x.patience()[i].longest
	busy, _ := x.staysBusy(i, d, p.granted.all())
	response, down := x.longestResponse(i, d, serves), p.granted.all()
	if patience == never {
		down = p.granted.open // clients of closed loops wait
	}
	switch {
	case rho >= 1:
		s := Problem
		if rho == 1 {
			s = Warning
		}
		x.find(s, "overload", place, "the load reaches the capacity without any retry", load)
		return
	case busy && response > 0 && response >= longest*(1-1e-9):
		x.find(Problem, "overload", place, "calls time out without any outage: the clients of closed loops ask for more than it serves, so that a call takes longer than anybody waits",
			fmt.Sprintf("%s at %s ≥ %s", seconds(response), perSecond(serves), seconds(longest)))
		return
	case down > serves && (busy || patience == never):
		x.staysDown(i, d, p, serves)
	case p.peak >= d.Capacity:
		x.find(Warning, "overload", place, "the load reaches the capacity for a time without any retry", fmt.Sprintf("%s / %s = %s", perSecond(p.peak), perSecond(d.Capacity), number(p.peak/d.Capacity)))
	case rho > 0.8:
		x.find(Warning, "little-headroom", place, "there is little capacity left", load)
	case d.Rate >= d.Capacity && serves < never:
		x.find(Note, "saturated", place, "the clients of closed loops can keep it busy without a pause: they wait for each other", fmt.Sprintf("%s / %s = %s",
			perSecond(d.Rate), perSecond(d.Capacity), number(d.Rho)))
	}
	if all := p.granted.all(); busy && patience < never && all <= serves && all > serves/1.1 && all > p.lasting*1.01 {
		text := fmt.Sprintf("after an outage it takes about %s for each second of it to work off what has come: the load with retries is little below the capacity", seconds(all/(serves-all)))
		if all > serves*(1-1e-9) {
			text = "after an outage nothing of what has come is worked off: the load with retries is the capacity"
		}
		x.find(Warning, "slow-recovery", place, text, fmt.Sprintf("%s / (%s - %s)", perSecond(all), perSecond(serves), perSecond(all)))
	}
	if busy && patience < never && p.granted.all() <= serves && p.worst.all() > serves {
		x.find(Note, "budget-keeps-up", place, "the budgets alone keep the load with retries below the capacity in the long run",
			fmt.Sprintf("%s ≤ %s; without them %s", p.text(p.granted), perSecond(serves), perSecond(p.worst.all())))
	}
}

// staysDown says that a node does not recover from an outage, or not before its
// end.
func (x *explainer) staysDown(i int, d Load, p press, serves float64) {
	busy, late := x.staysBusy(i, d, p.granted.all())
	retries := "all retries"
	if p.worst.all() > p.granted.all()*(1+1e-6) {
		retries = "the retries that the budgets grant in the long run"
	}
	s, text := Problem, "the node can stay down after the trigger is gone: the load with "+retries+" is above its capacity"
	switch {
	case x.patience()[i].shortest == never:
		s, text = Note, "in an outage the load with "+retries+" is above the capacity; nothing fails of waiting alone, so it ends with the outage"
	case !busy:
		return // it serves what somebody still waits for
	case late:
		s = Warning
		text += ", and what is not dropped begins too late to end in time"
	}
	if turn := x.longestTurn(i, d); s == Problem && turn < never && (turn < littleMore*x.patience()[i].shortest || p.granted.all() < 1.1*serves) {
		s = Warning
		text += ", but by so little that chance may end it"
	}
	if s != Note && x.mayOpen(i) {
		s = Warning
		text += ", unless a breaker opens"
	}
	fit := ""
	if p.granted.loops == 0 {
		fit = fmt.Sprintf("; up to %s attempts would fit", number(serves/p.lasting))
	}
	x.find(s, "stays-down", x.thing(i), text, p.text(p.granted)+" > "+perSecond(serves)+fit)
}

// ofNode looks at what a node does under load.
func (x *explainer) ofNode(i int, d Load) {
	n := &x.c.Nodes[i]
	if n.ServicePerInFlight > 0 {
		x.find(Note, "slower-under-load", x.thing(i), fmt.Sprintf("the more calls are at the node the longer each takes, %s for each other one: the capacity is that of an empty node at most", n.ServicePerInFlight), "")
	}
	replicas := float64(max(n.Replicas, 1))
	if most := float64(n.Shed.InFlight) * replicas; most > 0 && d.Rate*d.Held > most {
		x.find(Warning, "limit-too-low", x.thing(i), "sheds load that is there without any failure",
			fmt.Sprintf("λ L = %s × %s = %s in flight > %s", perSecond(d.Rate), seconds(d.Held), number(d.Rate*d.Held), number(most)))
	}
	if most := n.Shed.RateRPS * replicas; most > 0 && d.Rate > most {
		x.find(Warning, "limit-too-low", x.thing(i), "sheds load that is there without any failure", fmt.Sprintf("%s > %s", perSecond(d.Rate), perSecond(most)))
	}
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
