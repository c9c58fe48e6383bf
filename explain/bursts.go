package explain

import (
	"fmt"
	"math"
)

// loopers is how many calls of a link the clients of closed loops may make
// together.
func (x *explainer) loopers(l *link) float64 {
	n := 0.0
	for i, r := range x.rates {
		if r.closed {
			n += float64(x.c.Clients[i].Loop.Clients) * x.reaches(l, i, x.meant[i])
		}
	}
	return n
}

// bursts is by node how many attempts all budgets grant at once beside those of
// the long run, each multiplied by what the layers inside it and the links below
// it make of a call.
func (x *explainer) bursts() []float64 {
	n := make([]float64, len(x.c.Nodes))
	down := func(from int, before float64) {
		for _, l := range x.below[from] {
			b := before * l.times
			for k := range l.layers {
				if l.layers[k].Retry == nil {
					continue
				}
				b = times(b, math.Min(x.mostAttempts(l, k), x.budgetBound(l, k)))
				if budget, _, ok := x.budgetOf(l, k); ok {
					b += times(budget.Burst, budget.Instances)
				}
			}
			n[l.to] += b
		}
	}
	for i := range x.c.Clients {
		down(len(x.c.Nodes)+i, 0)
	}
	for _, i := range x.order {
		down(i, n[i])
	}
	return n
}

// ofBurst says what a full budget grants beside the long run.
func (x *explainer) ofBurst(b Budget, a allowance) {
	if b.Burst < 1 || a.slots > 0 || a.shareOf > 0 || math.IsInf(b.Burst, 1) {
		return
	}
	from := "what it has saved"
	if a.length > 0 {
		from = fmt.Sprintf("the share of %s", seconds(a.length.Seconds()))
	}
	x.find(Note, "budget-burst", b.Place, fmt.Sprintf("at the begin of an outage up to %s retries per instance come at once, %s; the %s attempts for each call hold in the long run", number(b.Burst), from, number(b.Bound)), "")
}
