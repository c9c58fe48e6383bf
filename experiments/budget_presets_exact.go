package experiments

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/theory"
)

// exactBudgetPresets knows what a budget grants in the second half of an
// outage, and under steady errors where nothing or a cap on the retries in
// progress bounds them. What a window of slices grants is no such number: see
// windowRule.
func exactBudgetPresets(c Cell, metric string, _ int) (float64, bool) {
	b := c.budget().Config
	switch c.Text("load") {
	case loadOutage:
		if metric == "late_retry_ratio" {
			return lateBudget(c, b)
		}
	case loadSteady:
		return steadyBudget(c, b, metric)
	}
	return 0, false
}

// lateBudget is the number of retries per request in an outage that lasts.
func lateBudget(c Cell, b policies.BudgetConfig) (float64, bool) {
	wanted, rate, half := c.Float("attempts")-1, c.Float("rate_rps"), c.Float("outage_s")/2
	if longestRequest(c) > half/4 || rate*half < 1000 {
		return 0, false
	}
	switch b.Kind {
	case "", policies.BudgetUnlimited:
		return wanted, true
	case policies.BudgetEmpty:
		return 0, true
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		if b.Tokens.Credit == policies.CreditSuccess {
			return 0, true
		}
		return min(wanted, b.Tokens.Ratio), float64(b.Tokens.Cap) < rate*half/10 // soon empty
	}
	if places, ok := capOnRetries(c, b); ok {
		return lossRetries(c, places, 1)
	}
	return 0, onlySuccessPays(b)
}

// onlySuccessPays reports whether nothing but a good answer earns retries.
func onlySuccessPays(b policies.BudgetConfig) bool {
	switch b.Kind {
	case policies.BudgetThrottle:
		return true
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		return b.Tokens.Credit == policies.CreditSuccess
	}
	switch b.Preset.(type) {
	case presets.AWSQuotaConfig, presets.GRPCThrottleConfig:
		return true
	}
	return false
}

// A windowRule is what a budget of a window says of itself: retries for each
// request, and per second beside them, both over a time.
type windowRule struct {
	share     float64
	perSecond float64
	length    time.Duration
	slots     bool // of tower
}

// ruleOf returns the rule of a budget when every attempt fails.
func ruleOf(b policies.BudgetConfig) (windowRule, bool) {
	if b.Kind == policies.BudgetWindow {
		return windowRule{b.Window.Ratio, b.Window.MinRPS, b.Window.Length, false}, true
	}
	switch p := b.Preset.(type) {
	case presets.FinagleConfig:
		return windowRule{finagleShare(p), float64(p.MinRetriesPerSec), p.TTL, false}, true
	case presets.TowerConfig:
		return windowRule{towerShare(p), float64(p.MinRetriesPerSec), p.TTL, true}, true
	}
	return windowRule{}, false
}

// retries is what the rule allows per request at a rate.
func (w windowRule) retries(c Cell) float64 {
	return min(c.Float("attempts")-1, w.share+w.perSecond/c.Float("rate_rps"))
}

// finagleShare is how many retries a request pays for.
func finagleShare(c presets.FinagleConfig) float64 {
	if c.PercentCanRetry == 0 {
		return 0
	}
	return 1000 / math.Trunc(1000/c.PercentCanRetry)
}

// towerShare is the same; in an outage Linkerd's requests pay for nothing.
func towerShare(c presets.TowerConfig) float64 {
	switch p := c.PercentCanRetry; {
	case p == 0 || c.DepositOn == presets.TowerDepositFinal:
		return 0
	case p <= 1:
		return 1 / math.Trunc(float64(1/p))
	default:
		return 1000 / math.Trunc(float64(1000/p))
	}
}

// longestRequest is the longest time that a request may take, s.
func longestRequest(c Cell) float64 {
	n := c.Float("attempts")
	return n*c.Float("service_s") + c.Float("base_s")*(math.Pow(2, n-1)-1)
}

// capOnRetries is the number of places of a budget that caps the retries in
// progress; of a share, if that is hardly ever above its floor.
func capOnRetries(c Cell, b policies.BudgetConfig) (int, bool) {
	switch b.Kind {
	case policies.BudgetConcurrent:
		return b.Concurrent, b.Concurrent <= 1e6 // no more than may be in progress
	case policies.BudgetShare:
		s := b.Share
		active := c.Float("rate_rps")*c.Float("service_s") + float64(s.Floor)
		if s.Active == "" || s.Active == policies.ActiveRequests {
			return 0, false
		}
		return s.Floor, s.Share*(active+4*math.Sqrt(active)) < float64(s.Floor)+1
	}
	return 0, false
}

// lossRetries is the number of retries per request with so many places, if a
// share of the attempts fails: a request keeps its place until it is done.
func lossRetries(c Cell, places int, failure float64) (float64, bool) {
	blocked, each, ok := lossSystem(c, places, failure)
	return failure * (1 - blocked) * each, ok
}

// lossSystem is the share of the requests that want a retry and find no place,
// and the number of retries of one that does. Poisson arrivals that fail at
// random, after a constant time, are still Poisson, and the time that a place
// is held may have any law (Erlang B).
func lossSystem(c Cell, places int, failure float64) (blocked, each float64, ok bool) {
	if c.Text("arrivals") != "poisson" || places < 1 || c.Float("attempts") < 2 {
		return 0, 0, false
	}
	held, wait, goesOn := 0.0, 0.0, 1.0
	if b := budgetBackoff(c); b.Kind != "" {
		wait = float64(b.Base) / float64(time.Second) / 2
	}
	for range int(c.Float("attempts")) - 1 {
		held += goesOn * (wait + c.Float("service_s"))
		each += goesOn
		wait *= 2
		goesOn *= failure
	}
	blocked, err := theory.ErlangB(places, c.Float("rate_rps")*failure*held)
	return blocked, each, err == nil
}

// steadyBudget is what becomes of steady errors.
func steadyBudget(c Cell, b policies.BudgetConfig, metric string) (float64, bool) {
	p, n := c.Float("error_ratio"), c.Float("attempts")
	if longestRequest(c) > c.Float("length_s")/100 {
		return 0, false // too many are under way at the end
	}
	blocked, each := 0.0, wanted(p, int(n))-1
	switch {
	case b.Kind == "" || b.Kind == policies.BudgetUnlimited:
	case b.Kind == policies.BudgetEmpty:
		blocked = 1
	default:
		places, ok := capOnRetries(c, b)
		if !ok || p == 0 {
			return 0, false
		}
		var retries float64
		if blocked, retries, ok = lossSystem(c, places, p); !ok {
			return 0, false
		}
		each = p * retries
	}
	retries := (1 - blocked) * each
	switch metric {
	case "amplification_ratio":
		return 1 + retries, true
	case "success_ratio":
		return (1 - p) * (1 + retries), true
	case "denied_ratio":
		if p == 0 || n == 1 {
			return 0, false
		}
		return p * blocked / (p*blocked + retries), true
	}
	return 0, false
}

// isFailsafe reports whether a budget asks after the wait.
func isFailsafe(b policies.BudgetConfig) bool {
	_, ok := b.Preset.(presets.FailsafeBudgetConfig)
	return ok
}
