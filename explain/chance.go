package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
)

// mostByChance is the share of calls that may be lost by chance while all is
// well before that is a finding.
const mostByChance = 0.01

// beyond is the share of a law that is above a time in seconds.
func beyond(l *model.Law, t float64) float64 {
	low, high := 0.0, math.Nextafter(1, 0)
	if l.Quantile(0).Seconds() > t {
		return 1
	}
	if l.Quantile(high).Seconds() <= t {
		return 0
	}
	for range 40 {
		if mid := (low + high) / 2; l.Quantile(mid).Seconds() <= t {
			low = mid
		} else {
			high = mid
		}
	}
	return 1 - low
}

// tails looks for timeouts that end a part of the good answers: those of
// services that take longer, where all else takes its mean time.
func (x *explainer) tails() {
	for _, l := range x.links {
		n := &x.c.Nodes[l.to]
		if n.ScriptRepeat && len(n.Script) > 0 || len(n.Trace) > 0 {
			continue
		}
		shortest, at := never, 0
		for k := range l.layers {
			if t := l.layers[k].Timeout.Seconds(); t > 0 && t < shortest {
				shortest, at = t, k
			}
		}
		if shortest == never {
			continue
		}
		left := shortest - (x.linkTime(l) - n.Service.MeanDuration().Seconds())
		if s := beyond(&n.Service, left); s > mostByChance && s < 1 {
			x.find(Warning, "timeout-in-tail", l.layers[at].place, fmt.Sprintf("%s of the attempts take longer than the timeout though nothing fails", share(s)),
				fmt.Sprintf("P(service > %s)", seconds(left)))
		}
	}
}

// ofRooms warns of a node that has so few places that calls are turned away by
// chance.
func (x *explainer) ofRooms(i int, d Load) {
	n := &x.c.Nodes[i]
	_, present := rooms(n, never)
	if math.IsInf(present, 1) || d.Rho >= 1 {
		return
	}
	random := n.Service.Kind != "" && n.Service.Kind != model.Constant
	for k, r := range x.rates {
		if n := x.meant[k][i]; n > 0 {
			if r.closed {
				return // they are few, and wait
			}
			random = random || r.random
		}
	}
	if workers := float64(n.Workers); random {
		if n.Workers == model.Unlimited {
			workers = present
		}
		if p := blocked(d.Rate*d.Held/float64(max(n.Replicas, 1)), workers, present); p > mostByChance {
			x.find(Warning, "turned-away", x.thing(i), fmt.Sprintf("about %s of the calls at most are turned away though nothing fails: they come by chance when all places are taken", share(p)),
				fmt.Sprintf("as M/M/%s/%s", number(workers), number(present)))
		}
	}
}

// blocked is the share of calls that an M/M/c/K queue turns away whose load is a.
func blocked(a, c, k float64) float64 {
	p := 1.0 // of a system with n places: that all are taken
	for n := 1.0; n <= k && n <= mostCounted; n++ {
		p = a * p / (math.Min(n, c) + a*p)
	}
	return p
}

// capped reports whether a cap on a link leaves some of its caller's workers for
// other calls.
func (l *link) capped(workers int) bool {
	return slices.ContainsFunc(l.layers, func(y layer) bool { return y.Limit != nil && y.Limit.InFlight < workers })
}

// ofWorkers warns of a node whose workers all wait for a callee that hangs.
func (x *explainer) ofWorkers(i int, d Load) {
	n := &x.c.Nodes[i]
	if n.Async || n.Workers == model.Unlimited {
		return
	}
	rps := 0.0
	for k, r := range x.rates {
		if !r.closed {
			rps += r.lasting * x.meant[k][i]
		}
	}
	least, held, callee := rps, 0.0, -1
	for _, l := range x.below[i] {
		if f := x.hang(l.to); f.fails[i] && !l.capped(n.Workers) {
			if c := capacity(n, f.t[i]); c < least && c < d.Capacity {
				least, held, callee = c, f.t[i], l.to
			}
		}
	}
	if callee >= 0 {
		x.find(Warning, "workers-used-up", x.thing(i), fmt.Sprintf("if %s hangs, all its workers wait for that: a call holds one for %s, and they serve %s of %s",
			x.thing(callee), bound(held), perSecond(least), perSecond(rps)), fmt.Sprintf("%s / %s", number(float64(n.Workers)*float64(max(n.Replicas, 1))), bound(held)))
	}
}

// hang is the flow while a node hangs, as far as budgets let it be.
func (x *explainer) hang(node int) *flow {
	f := x.hangs[node]
	if f == nil {
		f = x.flow(node, false, true)
		x.hangs[node] = f
	}
	return f
}
