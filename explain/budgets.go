package explain

import (
	"fmt"
	"math"
)

// Budget is what bounds the retries of a layer.
type Budget struct {
	Place, Link string
	Kind        string  // in a word
	Instances   float64 // budgets of this kind that there are, each with its share of the load
	// Rate is that of the calls per instance, Outage that with all the retries
	// of those who call, Demand the retries for each call that are wanted in a
	// total outage.
	Rate, Outage, Demand float64
	// Bound is the most attempts for each call in the long run of a total
	// outage, Demand+1 if the budget never refuses. It is that of the calls which
	// come if the budgets outside grant what they can, and of attempts that fail
	// as soon as they may.
	Bound float64
	// BindsAbove is the rate per instance from which on it refuses something, in
	// the worst of outages: 0 if at any, +Inf if at none.
	BindsAbove float64
	// Burst is how many retries a full budget grants at once beside those of
	// the long run, after a time without failures; +Inf if any number.
	Burst   float64
	Formula string
}

// budgetOf works out the budget of a retry layer; false if there is none.
func (x *explainer) budgetOf(l *link, k int) (Budget, allowance, bool) {
	r := l.layers[k].Retry
	if r == nil || r.Budget == nil || r.Attempts == 1 {
		return Budget{}, allowance{}, false
	}
	demand := x.mostAttempts(l, k) - 1
	a := x.allowOf(l, k, demand)
	rps, instances := x.callRate(l, nil).rps, x.instances(l)
	outage := x.callRate(l, x.worst()).rps * x.outside(l, k)
	entering := x.entering().links[l][k]
	if r.Share != "" {
		all := x.sharedCalls(r.Share)
		rps, outage, instances, entering = all.good, all.outage, 1, x.entering().shared[r.Share]
	}
	t := x.try(l, k)
	b := Budget{
		Place: l.layers[k].place, Link: l.label(k), Kind: a.kind, Instances: instances, Rate: rps / instances, Outage: outage / instances, Demand: demand,
		Formula: a.formulaAt(entering/instances, t.fast, t.wait),
	}
	if rps == 0 {
		return b, a, false // nobody calls
	}
	// The longer an attempt takes the sooner a cap refuses one.
	if b.BindsAbove = a.bindsAbove(demand, t.mean, t.wait); t.hang < never && t.demand > 0 {
		b.BindsAbove = math.Min(b.BindsAbove, a.bindsAbove(t.demand, t.hang, t.wait))
	}
	b.Bound = x.budgetBound(l, k)
	if b.Burst = a.atOnce(entering/instances, t.fast, t.wait); b.Bound == 1+demand {
		b.Burst = 0 // nothing is beside all that is wanted
	}
	return b, a, true
}

// callRates are the calls of a budget in a second, without and with retries.
type callRates struct{ good, outage float64 }

// sharedCalls adds up the calls of all links with the budget of a name.
func (x *explainer) sharedCalls(name string) callRates {
	if x.shared == nil {
		x.shared = make(map[string]callRates)
		for _, l := range x.links {
			for k := range l.layers {
				if r := l.layers[k].Retry; r != nil && r.Share != "" {
					sum := x.shared[r.Share]
					sum.good += x.callRate(l, nil).rps
					sum.outage += x.callRate(l, x.worst()).rps * x.outside(l, k)
					x.shared[r.Share] = sum
				}
			}
		}
	}
	return x.shared[name]
}

// budgetBound is the most attempts for each call that a layer's budget allows
// in the long run.
func (x *explainer) budgetBound(l *link, k int) float64 {
	y := &l.layers[k]
	if y.bound == 0 {
		y.bound = x.allowed(l, k, x.entering().links[l][k])
	}
	return y.bound
}

// budgets lists the budgets and says which of them bind.
func (x *explainer) budgets() {
	for _, l := range x.links {
		for k := range l.layers {
			b, a, ok := x.budgetOf(l, k)
			if !ok {
				continue
			}
			x.Budgets = append(x.Budgets, b)
			t := x.try(l, k)
			x.ofBudget(b, a, x.callRate(l, nil), t)
			x.ofCap(b, a, x.callRate(l, nil), x.loopers(l)/b.Instances, t.fast, t.wait)
			x.ofBurst(b, a)
		}
	}
}

func (x *explainer) ofBudget(b Budget, a allowance, r rate, t trying) {
	switch {
	case a.none:
	case math.IsInf(b.BindsAbove, 1):
		if b.Demand > 0 {
			x.find(Warning, "budget-never-binds", b.Place, fmt.Sprintf("the %s budget allows as many retries as a total outage asks for, at any rate", b.Kind),
				fmt.Sprintf("%s retries for each call wanted", number(b.Demand)))
		}
	case b.Outage <= b.BindsAbove && !r.closed && (!r.random || a.withMargin(b, t)): // clients of a closed loop may come together
		never := "never refuses"
		if r.random {
			never = "seldom refuses"
		}
		x.find(Warning, "budget-never-binds", b.Place,
			fmt.Sprintf("the %s budget %s a retry at %s: it begins to above %s", b.Kind, never, perSecond(b.Outage), perSecond(b.BindsAbove)), bindsFormula(b, a, t))
	}
	if a.nothing {
		x.find(Warning, "budget-grants-nothing", b.Place, fmt.Sprintf("the %s budget never grants a retry: it has none at first and earns none", b.Kind), "")
	}
	if a.empty && a.ratio > 0 {
		x.find(Note, "budget-empty", b.Place, "the budget is empty at first", fmt.Sprintf("1 / %s = %s calls before the first retry", number(a.ratio), number(math.Ceil(1/a.ratio))))
	}
	if b.Instances > 1 && (a.slots > 0 || a.rps > 0 || a.burst > 0) {
		all := ""
		switch {
		case a.slots > 0:
			all = fmt.Sprintf("%s × %s = %s retries at a time", number(b.Instances), number(a.slots), number(b.Instances*a.slots))
		case a.rps > 0:
			all = fmt.Sprintf("%s × %s = %s retries beside the share", number(b.Instances), perSecond(a.rps), perSecond(b.Instances*a.rps))
		default:
			all = fmt.Sprintf("%s × %s = %s retries at first", number(b.Instances), number(a.burst), number(b.Instances*a.burst))
		}
		x.find(Note, "budget-per-instance", b.Place, fmt.Sprintf("each of %s instances has a budget of its own", number(b.Instances)), all)
	}
}

// withMargin reports whether even many more calls than in the mean, by three
// standard deviations, get all that they want: in the window of a budget, or in
// progress at a time.
func (a *allowance) withMargin(b Budget, t trying) bool {
	mean, most := b.Outage*a.length.Seconds(), b.BindsAbove*a.length.Seconds()
	if a.slots > 0 || a.shareOf > 0 {
		hold := a.hold(t.mean, t.wait)
		if t.hang < never {
			hold = a.hold(t.hang, t.wait)
		}
		mean, most = b.Outage*b.Demand*hold, b.BindsAbove*b.Demand*hold
	}
	return mean+3*math.Sqrt(mean) <= most
}

func bindsFormula(b Budget, a allowance, t trying) string {
	if a.slots == 0 && a.shareOf == 0 {
		return fmt.Sprintf("%s λ > %s + %s λ, that is λ > %s", number(b.Demand), number(a.rps), number(a.ratio), perSecond(b.BindsAbove))
	}
	demand, hold := b.Demand, a.hold(t.mean, t.wait)
	if t.hang < never && t.demand > 0 && t.demand*a.hold(t.hang, t.wait) > demand*hold {
		demand, hold = t.demand, a.hold(t.hang, t.wait)
	}
	return fmt.Sprintf("%s λ × %s > %s, that is λ > %s", number(demand), seconds(hold), number(a.slots), perSecond(b.BindsAbove))
}

// ofCap says what a cap on retries at a time means in retries a second, or to
// clients who come together.
func (x *explainer) ofCap(b Budget, a allowance, r rate, clients, t, w float64) {
	if a.slots == 0 && a.shareOf == 0 {
		return
	}
	if s := math.Max(a.slots, 1); r.closed && a.shareOf == 0 && clients > s {
		x.find(Note, "retry-cap", b.Place, fmt.Sprintf("of the calls of %s clients of a closed loop that fail together only %s are repeated", number(clients), number(a.slots)),
			fmt.Sprintf("(%s + %s) / %s = %s attempts for each", number(clients), number(a.slots), number(clients), number((clients+a.slots)/clients)))
	}
	hold := a.hold(t, w)
	if hold == 0 || b.Outage <= b.BindsAbove {
		return
	}
	places := a.places(b.Outage, t, w)
	what := fmt.Sprintf("%s retries at a time are at most %s per instance", number(places), perSecond(places/hold))
	from := number(places)
	if a.shareOf > 0 {
		what = fmt.Sprintf("retries may be %s of what is in progress, or %s if that is more: at most %s a second per instance", share(a.shareOf), number(a.slots), number(places/hold))
		from = fmt.Sprintf("max(%s, %s)", number(a.slots), number(a.shared(b.Outage, t, w)))
	}
	x.find(Note, "retry-cap", b.Place, what, fmt.Sprintf("%s / (%s + %s back-off); wanted %s", from, seconds(t), seconds(hold-t), perSecond(b.Outage*b.Demand)))
}
