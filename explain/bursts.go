package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
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
// it make of a call. A budget that is shared grants them once, on whichever way
// makes the most of them.
func (x *explainer) bursts() []float64 {
	nodes := make([]map[string]float64, len(x.c.Nodes)) // by name of what is shared, "" for the rest
	down := func(from int, before map[string]float64) {
		for _, l := range x.below[from] {
			if nodes[l.to] == nil {
				nodes[l.to] = make(map[string]float64)
			}
			own := make(map[string]float64, len(before))
			for name, b := range before {
				own[name] = times(b, l.times)
			}
			for k := range l.layers {
				r := l.layers[k].Retry
				if r == nil {
					continue
				}
				for name, b := range own {
					own[name] = times(b, math.Min(x.mostAttempts(l, k), x.budgetBound(l, k)))
				}
				if budget, _, ok := x.budgetOf(l, k); ok {
					addBurst(own, r.Share, times(budget.Burst, budget.Instances))
				}
			}
			for name, b := range own {
				addBurst(nodes[l.to], name, b)
			}
		}
	}
	for i := range x.c.Clients {
		down(len(x.c.Nodes)+i, nil)
	}
	n := make([]float64, len(x.c.Nodes))
	for _, i := range x.order {
		down(i, nodes[i])
		for _, name := range slices.Sorted(maps.Keys(nodes[i])) {
			n[i] += nodes[i][name]
		}
	}
	return n
}

func addBurst(to map[string]float64, shared string, b float64) {
	if shared == "" {
		to[""] += b
	} else {
		to[shared] = math.Max(to[shared], b)
	}
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
