package explain

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// An entering is how many calls a second enter each layer of the links in a total
// outage in which the budgets of all retries outside grant what they can in the
// long run.
type entering struct {
	links  map[*link][]float64
	shared map[string]float64 // of all links with the budget of a name
}

// entering works out the calls from the clients on. What shares a budget may
// stand one below the other, so it takes some rounds.
func (x *explainer) entering() *entering {
	if x.enter != nil {
		return x.enter
	}
	x.enter = &entering{links: make(map[*link][]float64, len(x.links))}
	for range mostRounds {
		shared := make(map[string]float64)
		things := make([]float64, len(x.below))
		down := func(thing int) {
			for _, l := range x.below[thing] {
				r, in := times(things[thing], l.times), make([]float64, len(l.layers))
				for k := range l.layers {
					in[k] = r
					if y := l.layers[k].Retry; y != nil {
						if y.Share != "" {
							shared[y.Share] += r
						}
						r = times(r, math.Min(x.mostAttempts(l, k), x.allowed(l, k, r)))
					}
				}
				x.enter.links[l] = in
				things[l.to] += r
			}
		}
		for k := range x.c.Clients {
			things[len(x.c.Nodes)+k] = x.rates[k].rps
			down(len(x.c.Nodes) + k)
		}
		for _, i := range x.order {
			down(i)
		}
		before := x.enter.shared
		x.enter.shared = shared
		if near(before, shared) {
			break
		}
	}
	return x.enter
}

// near reports whether two sets of rates are the same but for rounding.
func near(a, b map[string]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range b {
		if w := a[name]; v != w && math.Abs(v-w) > 1e-9*v {
			return false
		}
	}
	return true
}

// allowed is the most attempts for each call that the budget of a retry layer
// grants in the long run if so many calls a second of the link enter it.
func (x *explainer) allowed(l *link, k int, rps float64) float64 {
	r := l.layers[k].Retry
	if r.Budget == nil || r.Attempts == 1 || rps == 0 {
		return never
	}
	demand := x.mostAttempts(l, k) - 1
	a := x.allowOf(l, k, demand)
	rps /= x.instances(l)
	if r.Share != "" {
		if all, known := x.enter.shared[r.Share]; known {
			rps = all
		}
	}
	t := x.try(l, k)
	return 1 + math.Min(demand, a.perCall(rps, t.fast, t.wait))
}

// trying is how long the attempts of a retry layer take in seconds that fail: at
// the soonest, in the mean of good ones, and if the callee hangs; and the mean
// wait before its first retry. Demand is how many retries follow one that hangs.
type trying struct{ fast, mean, hang, wait, demand float64 }

func (x *explainer) try(l *link, k int) (t trying) {
	t.wait = newWaits(l.layers[k].Retry, 0.5).after(1)
	t.mean, _ = x.pass(l, k+1, x.linkTime(l), true)
	t.fast = t.mean
	if f := x.fastest(l); f < x.linkTime(l) {
		t.fast, _ = x.pass(l, k+1, f, true)
	}
	hang, code := x.pass(l, k+1, never, true)
	r := l.layers[k].Retry
	t.hang = hang
	t.demand = attemptsWithin(r, hang, math.Min(l.deadline(k), limitOf(r)), code, 0.5).started - 1
	return t
}

// fastest is after how many seconds an attempt of a link may have failed, as the
// faults are described: the mean of a good one if none of them answers at once.
func (x *explainer) fastest(l *link) float64 {
	if x.soonest == nil {
		x.soonest = make([]float64, len(x.c.Nodes))
		for k := len(x.order) - 1; k >= 0; k-- {
			i := x.order[k]
			x.soonest[i] = x.failsFast(i)
		}
	}
	return l.call.Request.MeanDuration().Seconds() + x.soonest[l.to] + l.call.Response.MeanDuration().Seconds()
}

func (x *explainer) failsFast(i int) float64 {
	for _, f := range x.c.Nodes[i].Faults {
		if f.Kind == model.FaultError && f.Fast || f.Kind == model.FaultLimit || f.Kind == model.FaultCrash && !f.Silent {
			return 0
		}
	}
	soonest := x.took[i]
	for _, l := range x.below[i] {
		if f := x.fastest(l); f < x.linkTime(l) {
			t, _ := x.pass(l, 0, f, false)
			soonest = math.Min(soonest, x.service(i)+x.stepsBefore(i, l.step)+t)
		}
	}
	return soonest
}
