package explain

import (
	"math"

	"github.com/stormglass/stormglass/policies"
)

// granted is what the budget of a retry layer refuses of so many retries for
// each call, whose attempts take so many seconds each: what it allows in the long
// run is left, after what it has saved or has at the start.
func (x *explainer) granted(l *link, k int, each, demand float64, saved bool) cut {
	b, a, ok := x.budgetOf(l, k)
	if !ok || demand == 0 {
		return cut{}
	}
	w := x.try(l, k).wait
	allowed := a.perCall(b.Rate, each, w)
	if allowed >= demand {
		return cut{}
	}
	c := cut{refused: 1 - allowed/demand}
	if math.IsInf(b.Outage, 1) || math.IsInf(demand, 1) {
		return c
	}
	if a.slots > 0 || a.shareOf > 0 {
		c.until = a.atOnce(b.Outage, each, w) / (b.Outage * demand)
		return c
	}
	burst := a.atOnce(b.Outage, each, w)
	if !saved {
		burst = a.atStart(l.layers[k].Retry.Budget, burst)
	}
	c.until = burst / (b.Outage * (demand - allowed))
	return c
}

// atStart is how many of the retries of a full budget can be had at the start of
// a run.
func (a *allowance) atStart(c *policies.BudgetConfig, full float64) float64 {
	switch {
	case c.Kind == policies.BudgetTokens || c.Kind == policies.BudgetFloatTokens:
		return math.Min(full, float64(c.Tokens.Initial))
	case a.length > 0:
		return math.Floor(a.rps * a.length.Seconds())
	}
	return full
}
