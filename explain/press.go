package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// press is the load on a node while every call of it times out: that which
// lasts of open loops, that of closed ones, and the peak of open ones without
// retries.
type press struct {
	open, loops Load
	peak        float64
}

// loopRate is how many calls a second the clients of a closed loop make if each
// of their requests leads to so many and ends after a share of t seconds.
func (x *explainer) loopRate(client int, calls, t, share float64) float64 {
	c := &x.c.Clients[client]
	if end := cmp.Or(c.End, x.c.Horizon); math.IsInf(t, 1) || min(end, x.c.Horizon)-c.Start < x.c.Horizon/2 {
		return 0 // they wait for ever, or are not there for long
	}
	return float64(c.Loop.Clients) * calls / (c.Loop.Think.MeanDuration().Seconds() + c.FailurePause.Seconds() + share*t)
}

// pressOn works out the load on a node. Where a queue without bound leaves it to
// timeouts to end calls there are as many attempts as these leave time for, and
// repeat; a node that turns calls away may have all.
func (x *explainer) pressOn(i int) (p press) {
	n := &x.c.Nodes[i]
	t, touched := x.stuck(i)
	turns := n.Queue.Limit.Known || n.Shed.InFlight > 0 || n.Shed.RateRPS > 0 || !x.overloadFails(n)
	attempts := func(l *link, k int) (most, bound float64) {
		if most = x.mostAttempts(l, k); turns || !touched[l.to] {
			return most, x.budgetBound(l, k)
		}
		r := l.layers[k].Retry
		each, code := x.pass(l, k+1, l.call.Request.MeanDuration().Seconds()+t[l.to]+l.call.Response.MeanDuration().Seconds(), true)
		most = math.Min(most, attemptsWithin(r, each, math.Min(l.deadline(k), limitOf(r)), code, 0.5).started)
		return most, x.grants(l, k, each)
	}
	factor := func(budgets bool) func(*link) float64 {
		return func(l *link) float64 {
			n := 1.0
			for k := range l.layers {
				if l.layers[k].Retry == nil {
					continue
				}
				a, bound := attempts(l, k)
				if budgets {
					a = math.Min(a, bound)
				}
				n *= a
			}
			return n
		}
	}
	for k, r := range x.rates {
		n := x.meant[k][i]
		if n == 0 {
			continue
		}
		most := x.spread(k, factor(false))[i]
		bound := math.Min(x.spread(k, factor(true))[i], most)
		if !r.closed {
			p.open.plus(r.lasting, n, most, bound)
			p.peak += r.rps * n
			continue
		}
		its := t[len(x.c.Nodes)+k]
		p.loops.plus(1, 0, x.loopRate(k, most, its, 1), x.loopRate(k, bound, its, ratio(bound, most)))
	}
	return p
}

// stuck is how long everything takes if a node never answers and everybody
// retries: calls of nodes and requests of clients; and whether it fails then.
func (x *explainer) stuck(node int) (t []float64, touched []bool) {
	t = make([]float64, len(x.below))
	for i := range x.c.Nodes {
		t[i] = x.took[i]
	}
	touched = make([]bool, len(x.below))
	t[node], touched[node] = never, true
	steps := func(thing int) {
		if thing == node {
			return
		}
		sum, step, at := 0.0, -1, 0.0
		for _, l := range x.below[thing] {
			if l.step != step {
				if sum += at; touched[thing] {
					break // it fails there
				}
				at, step = 0, l.step
			}
			its, _ := x.pass(l, 0, l.call.Request.MeanDuration().Seconds()+t[l.to]+l.call.Response.MeanDuration().Seconds(), touched[l.to])
			touched[thing] = touched[thing] || touched[l.to]
			at = math.Max(at, its)
		}
		if t[thing] = sum + at; thing < len(x.c.Nodes) {
			t[thing] += x.service(thing)
		}
	}
	for _, i := range slices.Backward(x.order) {
		steps(i)
	}
	for k := range x.c.Clients {
		steps(len(x.c.Nodes) + k)
	}
	return t, touched
}

func peak(p press, d Load) float64 { return p.peak / d.Capacity }

// attempts writes the load with the retries that budgets grant.
func (p press) attempts(all float64) string {
	text := fmt.Sprintf("%s × %s attempts", perSecond(p.open.Rate), number(ratio(p.open.Bounded, p.open.Rate)))
	switch {
	case p.loops.Bounded == 0:
		return fmt.Sprintf("%s = %s", text, perSecond(all))
	case p.open.Rate == 0:
		return fmt.Sprintf("%s of closed loops whose calls all time out", perSecond(all))
	}
	return fmt.Sprintf("%s + %s of closed loops whose calls all time out = %s", text, perSecond(p.loops.Bounded), perSecond(all))
}
