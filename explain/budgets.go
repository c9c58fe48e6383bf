package explain

import (
	"fmt"
	"math"
	"strconv"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
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
	// outage, Demand+1 if the budget never refuses. It holds at Rate and above.
	Bound float64
	// BindsAbove is the rate per instance from which on it refuses something:
	// 0 if at any, +Inf if at none.
	BindsAbove float64
	Formula    string
}

// An allowance is what a budget lets through in the long run.
type allowance struct {
	kind  string
	ratio float64 // retries for each call
	rps   float64 // retries a second beside that
	// slots are retries in progress, and shareOf the share of calls in progress
	// that takes their place if it is more.
	slots, shareOf float64
	active         policies.ActiveRule
	burst          float64 // retries once, at first
	empty          bool    // nothing at first
	none           bool    // does not bound anything
	formula        string
}

// allow reads a budget, of which an outage costs demand retries for each call.
func allow(c *policies.BudgetConfig, demand float64) allowance {
	switch c.Kind {
	case policies.BudgetEmpty:
		return allowance{kind: "empty", formula: "no retries"}
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		t := c.Tokens
		a := allowance{kind: "tokens", ratio: t.Ratio, burst: float64(t.Initial), empty: t.Initial == 0, formula: fmt.Sprintf("1 + %s", number(t.Ratio))}
		if t.Credit == policies.CreditSuccess {
			a.ratio, a.formula = 0, "1: nothing succeeds that could earn tokens"
		}
		return a
	case policies.BudgetCounter:
		k := c.Counter
		grace := 0.0
		if k.Grace > 0 {
			grace = float64(k.Grace) * demand / float64(k.ResetAt)
		}
		return allowance{kind: "counter", ratio: math.Max(k.Ratio, grace), burst: grace * float64(k.ResetAt),
			formula: fmt.Sprintf("1 + max(%s, %d × %s / %d)", number(k.Ratio), k.Grace, number(demand), k.ResetAt)}
	case policies.BudgetShare:
		return allowance{kind: "share", slots: float64(c.Share.Floor), shareOf: c.Share.Share, active: c.Share.Active}
	case policies.BudgetConcurrent:
		return allowance{kind: "concurrent", slots: float64(c.Concurrent)}
	case policies.BudgetThrottle:
		return throttle(float64(c.Throttle.MaxTokens), c.Throttle.Ratio, demand)
	case policies.BudgetWindow:
		return allowance{kind: "window", ratio: c.Window.Ratio, rps: c.Window.MinRPS}
	case policies.BudgetPreset:
		return allowPreset(c.Preset, demand)
	}
	return allowance{kind: "unlimited", none: true}
}

// throttle is a bucket that failures empty: of k failures that are enough for
// that, the last is not retried, nor are those of last attempts.
func throttle(tokens, ratio, demand float64) allowance {
	k := math.Ceil(tokens/2) - 1
	burst := k
	if !math.IsInf(demand, 1) {
		burst -= math.Floor(k / (demand + 1))
	}
	return allowance{kind: "throttle", burst: burst,
		formula: fmt.Sprintf("1, after %s retries in all; off where more than %s/(1 + %s) = %s of the attempts fail",
			number(burst), number(ratio), number(ratio), share(ratio/(1+ratio)))}
}

func allowPreset(p policies.BudgetMaker, demand float64) allowance {
	switch p := p.(type) {
	case presets.FinagleConfig:
		return allowance{kind: "finagle", ratio: p.PercentCanRetry, rps: float64(p.MinRetriesPerSec)}
	case presets.TowerConfig:
		return allowance{kind: "tower", ratio: decimal32(p.PercentCanRetry), rps: float64(p.MinRetriesPerSec)}
	case presets.GRPCThrottleConfig:
		a := throttle(p.MaxTokens, p.TokenRatio, demand)
		a.kind = "grpc-throttle"
		return a
	case presets.AWSQuotaConfig:
		n := math.Floor(float64(p.Tokens) / float64(p.RetryCost))
		return allowance{kind: "aws-quota", burst: n, formula: fmt.Sprintf("1, after %d / %d = %s retries in all", p.Tokens, p.RetryCost, number(n))}
	case presets.FailsafeBudgetConfig:
		return allowance{kind: "failsafe", slots: float64(p.MinConcurrency), shareOf: p.MaxRate}
	}
	return allowance{kind: fmt.Sprintf("%T", p), none: true, formula: "not worked out"}
}

// perCall is how many retries for each call a budget allows if calls come at a
// rate, each takes t seconds, and a retry waits w before. Both count in what is
// in progress.
func (a *allowance) perCall(rps, t, w float64) float64 {
	if a.none {
		return never
	}
	if a.slots == 0 && a.shareOf == 0 {
		if a.rps == 0 {
			return a.ratio
		}
		return a.ratio + a.rps/rps
	}
	hold := t + w
	if hold == 0 {
		return never // nothing is ever in progress
	}
	return math.Max(a.slots/(hold*rps), a.shareBound(t, w))
}

// shareBound solves R = share·(what is in progress), which the retries R are
// part of.
func (a *allowance) shareBound(t, w float64) float64 {
	if a.shareOf == 0 {
		return 0
	}
	rest := (1 - a.shareOf) * (t + w)
	if a.active == policies.ActiveAttempts || a.active == policies.ActiveOthers {
		rest = t + w - a.shareOf*t
	}
	if rest <= 0 {
		return never
	}
	return a.shareOf * t / rest
}

// bindsAbove is the rate from which on less is allowed than demanded.
func (a *allowance) bindsAbove(demand, t, w float64) float64 {
	if a.none {
		return never
	}
	if a.slots == 0 && a.shareOf == 0 {
		switch {
		case demand <= a.ratio:
			return never
		case math.IsInf(demand, 1):
			return 0
		}
		return a.rps / (demand - a.ratio)
	}
	if hold := t + w; hold > 0 && demand > a.shareBound(t, w) {
		return a.slots / (hold * demand)
	}
	return never
}

// formulaAt writes the bound with its numbers.
func (a *allowance) formulaAt(rps, t, w float64) string {
	switch {
	case a.formula != "":
		return a.formula
	case a.none:
		return "no bound"
	case a.slots == 0 && a.shareOf == 0:
		return fmt.Sprintf("1 + %s + %s / %s", number(a.ratio), perSecond(a.rps), perSecond(rps))
	case a.shareOf == 0:
		return fmt.Sprintf("1 + %s / (%s × %s)", number(a.slots), perSecond(rps), seconds(t+w))
	}
	return fmt.Sprintf("1 + max(%s / (%s × %s), %s): %s of what is in progress", number(a.slots), perSecond(rps), seconds(t+w),
		number(a.shareBound(t, w)), share(a.shareOf))
}

// decimal32 is a float32 as it was written.
func decimal32(x float32) float64 {
	d, _ := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	return d
}

// budgetOf works out the budget of a retry layer; false if there is none.
func (x *explainer) budgetOf(l *link, k int) (Budget, allowance, bool) {
	r := l.layers[k].Retry
	if r == nil || r.Budget == nil || r.Attempts == 1 {
		return Budget{}, allowance{}, false
	}
	demand := x.mostAttempts(l, k) - 1
	a := allow(r.Budget, demand)
	rps, instances := x.callRate(l, nil).rps, x.instances(l)
	outage := x.callRate(l, x.worst()).rps * x.outside(l, k)
	if r.Share != "" {
		all := x.sharedCalls(r.Share)
		rps, outage, instances = all.good, all.outage, 1
	}
	t, w := x.try(l, k)
	b := Budget{
		Place: l.layers[k].place, Link: l.label(k), Kind: a.kind, Instances: instances, Rate: rps / instances, Outage: outage / instances, Demand: demand,
		BindsAbove: a.bindsAbove(demand, t, w), Formula: a.formulaAt(rps/instances, t, w),
	}
	if rps == 0 {
		return b, a, false // nobody calls
	}
	b.Bound = 1 + math.Min(demand, a.perCall(b.Rate, t, w))
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

// try is how long an attempt of a retry layer takes, and the mean wait before
// its first retry.
func (x *explainer) try(l *link, k int) (t, wait float64) {
	t, _ = x.pass(l, k+1, x.linkTime(l), true)
	return t, newWaits(l.layers[k].Retry, 0.5).after(1)
}

// budgetBound is the most attempts for each call that a layer's budget allows
// in the long run.
func (x *explainer) budgetBound(l *link, k int) float64 {
	y := &l.layers[k]
	if y.bound == 0 {
		y.bound = never
		if b, _, ok := x.budgetOf(l, k); ok {
			y.bound = b.Bound
		}
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
			t, w := x.try(l, k)
			x.ofBudget(b, a, x.callRate(l, nil), t+w)
			x.ofCap(b, a, t, w)
		}
	}
}

func (x *explainer) ofBudget(b Budget, a allowance, r rate, hold float64) {
	switch {
	case a.none:
	case math.IsInf(b.BindsAbove, 1):
		if b.Demand > 0 {
			x.find(Warning, "budget-never-binds", b.Place, fmt.Sprintf("the %s budget allows as many retries as a total outage asks for, at any rate", b.Kind),
				fmt.Sprintf("%s retries for each call wanted", number(b.Demand)))
		}
	case b.Outage <= b.BindsAbove && !r.closed: // clients of a closed loop may come together
		never := "never refuses"
		if r.random {
			never = "seldom refuses"
		}
		x.find(Warning, "budget-never-binds", b.Place,
			fmt.Sprintf("the %s budget %s a retry at %s: it begins to above %s", b.Kind, never, perSecond(b.Outage), perSecond(b.BindsAbove)), bindsFormula(b, a, hold))
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

func bindsFormula(b Budget, a allowance, hold float64) string {
	if a.slots == 0 && a.shareOf == 0 {
		return fmt.Sprintf("%s λ > %s + %s λ, that is λ > %s", number(b.Demand), number(a.rps), number(a.ratio), perSecond(b.BindsAbove))
	}
	return fmt.Sprintf("%s λ × %s > %s, that is λ > %s", number(b.Demand), seconds(hold), number(a.slots), perSecond(b.BindsAbove))
}

// ofCap says what a cap on retries at a time means in retries a second.
func (x *explainer) ofCap(b Budget, a allowance, t, w float64) {
	if a.slots == 0 || t+w == 0 || b.Outage <= b.BindsAbove {
		return
	}
	x.find(Note, "retry-cap", b.Place, fmt.Sprintf("%s retries at a time are at most %s per instance", number(a.slots), perSecond(a.slots/(t+w))),
		fmt.Sprintf("%s / (%s + %s back-off); wanted %s", number(a.slots), seconds(t), seconds(w), perSecond(b.Outage*b.Demand)))
}
