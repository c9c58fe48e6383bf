package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// An allowance is what a budget lets through in the long run.
type allowance struct {
	kind  string
	ratio float64 // retries for each call
	// rps are retries a second beside that, at least, and most at most.
	rps, most float64
	// slots are retries in progress, and shareOf the share of calls in progress
	// that takes their place if it is more.
	slots, shareOf float64
	active         policies.ActiveRule
	// afterWait says that it is asked after the wait, twice that a retry counts
	// as two of what is in progress, and beyond how many may be above the share.
	afterWait, twice bool
	beyond           float64
	burst            float64 // retries at once when it is full, beside what follows
	// length is that of the window of rps and of the ratio while all goes well,
	// the retries of which can be had at once.
	length  time.Duration
	saves   float64
	empty   bool // nothing at first
	nothing bool // nor later
	none    bool // does not bound anything
	formula string
}

// allow reads a budget, of which an outage costs demand retries for each call.
func allow(c *policies.BudgetConfig, demand float64) allowance {
	switch c.Kind {
	case policies.BudgetEmpty:
		return allowance{kind: "empty", formula: "no retries"}
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		t := c.Tokens
		a := allowance{kind: "tokens", ratio: t.Ratio, burst: float64(t.Cap), empty: t.Initial == 0, formula: fmt.Sprintf("1 + %s", number(t.Ratio))}
		if t.Ratio == 0 {
			a.burst, a.nothing = float64(t.Initial), t.Initial == 0
		}
		if t.Credit == policies.CreditSuccess {
			a.ratio, a.formula = 0, "1: nothing succeeds that could earn tokens"
		}
		return a
	case policies.BudgetCounter:
		// Of each count, the requests up to the grace and the one that emptied
		// the counters before are repeated as often as is wanted.
		k := c.Counter
		most, first := math.Floor(k.Ratio*float64(k.ResetAt-1)+1e-9)+1, times(float64(k.Grace)+1, demand)
		return allowance{kind: "counter", ratio: math.Max(most, first) / float64(k.ResetAt), burst: most + first,
			formula: fmt.Sprintf("1 + max(%s, %d × %s) / %d", number(most), k.Grace+1, number(demand), k.ResetAt)}
	case policies.BudgetShare:
		return allowance{kind: "share", slots: float64(c.Share.Floor), shareOf: c.Share.Share, active: c.Share.Active}
	case policies.BudgetConcurrent:
		return allowance{kind: "concurrent", slots: float64(c.Concurrent)}
	case policies.BudgetThrottle:
		return throttle(float64(c.Throttle.MaxTokens), c.Throttle.Ratio)
	case policies.BudgetWindow:
		return allowance{kind: "window", ratio: c.Window.Ratio, saves: c.Window.Ratio, rps: c.Window.MinRPS, most: c.Window.MinRPS, length: c.Window.Length}
	case policies.BudgetPreset:
		return allowPreset(c.Preset, demand)
	}
	return allowance{kind: "unlimited", none: true}
}

// throttle is a bucket that failures empty: of k failures that are enough for
// that, the last is not retried. Fewer retries are granted if the others are
// failures of last attempts.
func throttle(tokens, ratio float64) allowance {
	burst := math.Max(math.Ceil(tokens/2)-1, 0)
	return allowance{kind: "throttle", burst: burst,
		formula: fmt.Sprintf("1, after at most %s retries in all; off where more than %s/(1 + %s) = %s of the attempts fail",
			number(burst), number(ratio), number(ratio), share(ratio/(1+ratio)))}
}

func allowPreset(p policies.BudgetMaker, demand float64) allowance {
	switch p := p.(type) {
	case presets.FinagleConfig:
		ratio, rps := perWhole(1000, 1000/p.PercentCanRetry), float64(p.MinRetriesPerSec)
		return allowance{kind: "finagle", ratio: ratio, saves: ratio, rps: rps, most: rps, length: p.TTL}
	case presets.TowerConfig:
		deposit := float32(1)
		if p.PercentCanRetry > 1 {
			deposit = 1000
		}
		ratio, rps := perWhole(float64(deposit), float64(deposit/p.PercentCanRetry)), float64(p.MinRetriesPerSec)
		// A slot that the next call exceeds by a little passes as two, so the
		// window may be over after half of its length.
		a := allowance{kind: "tower", ratio: ratio, saves: ratio, rps: rps, most: 2 * rps, length: p.TTL}
		if p.DepositOn == presets.TowerDepositFinal {
			a.ratio = 0 // what fails earns nothing
		}
		return a
	case presets.GRPCThrottleConfig:
		a := throttle(p.MaxTokens, p.TokenRatio)
		a.kind = "grpc-throttle"
		return a
	case presets.AWSQuotaConfig:
		return awsQuota(p, p.RetryCost)
	case presets.FailsafeBudgetConfig:
		return allowance{kind: "failsafe", slots: float64(p.MinConcurrency), shareOf: p.MaxRate, afterWait: true, twice: true, beyond: 1}
	}
	return allowance{kind: fmt.Sprintf("%T", p), none: true, formula: "not worked out"}
}

// awsQuota is a bucket from which each retry takes so many tokens.
func awsQuota(p presets.AWSQuotaConfig, cost int) allowance {
	n := math.Floor(float64(p.Tokens) / float64(cost))
	return allowance{kind: "aws-quota", burst: n, formula: fmt.Sprintf("1, after at most %d / %d = %s retries in all", p.Tokens, cost, number(n))}
}

// allowOf is allow for a retry layer, with what a retry costs at least after an
// error that is described at the callee.
func (x *explainer) allowOf(l *link, k int, demand float64) allowance {
	b := l.layers[k].Retry.Budget
	a := allow(b, demand)
	p, ok := b.Preset.(presets.AWSQuotaConfig)
	if codes := codesOf(&x.c.Nodes[l.to]); ok && len(codes) > 0 {
		cost := math.MaxInt
		for _, code := range codes {
			if code == 429 && p.ThrottleCost > 0 {
				cost = min(cost, p.ThrottleCost)
			} else {
				cost = min(cost, p.RetryCost)
			}
		}
		a = awsQuota(p, cost)
	}
	return a
}

// perCall is how many retries for each call a budget allows if calls come at a
// rate, each takes t seconds, and a retry waits w before. Both count in what is
// in progress.
func (a *allowance) perCall(rps, t, w float64) float64 {
	if a.none {
		return never
	}
	if a.slots == 0 && a.shareOf == 0 {
		if a.most == 0 {
			return a.ratio
		}
		return a.ratio + a.most/rps
	}
	hold := a.hold(t, w)
	if hold == 0 {
		return never // nothing is ever in progress
	}
	if math.IsInf(rps, 1) {
		return a.shareBound(t, w)
	}
	return a.places(rps, t, w) / (hold * rps)
}

// hold is how long a retry holds its place.
func (a *allowance) hold(t, w float64) float64 {
	if a.afterWait {
		return t
	}
	return t + w
}

// shareBound solves R = share·(what is in progress), which the retries R are
// part of.
func (a *allowance) shareBound(t, w float64) float64 {
	if a.shareOf == 0 {
		return 0
	}
	rest, of := (1-a.shareOf)*(t+w), t
	if a.twice {
		rest, of = (1-2*a.shareOf)*t, t+w
	}
	if a.active == policies.ActiveAttempts || a.active == policies.ActiveOthers {
		rest = t + w - a.shareOf*t
	}
	if rest <= 0 {
		return never
	}
	return a.shareOf * of / rest
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
	if hold, bound := a.hold(t, w), a.shareBound(t, w); hold > 0 && demand > bound {
		return math.Max(a.slots/(hold*demand), a.beyond/(hold*(demand-bound)))
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
		return fmt.Sprintf("1 + %s + %s / %s", number(a.ratio), perSecond(a.most), perSecond(rps))
	case a.shareOf == 0:
		return fmt.Sprintf("1 + %s / (%s × %s)", number(a.slots), perSecond(rps), seconds(a.hold(t, w)))
	}
	return fmt.Sprintf("1 + max(%s, %s) / (%s × %s): %s of what is in progress", number(a.slots), number(a.shared(rps, t, w)), perSecond(rps),
		seconds(a.hold(t, w)), share(a.shareOf))
}

// perWhole is the ratio of a deposit to the price of a retry, which is cut to a
// whole number; a price without bound is that of no retry.
func perWhole(deposit, price float64) float64 { return deposit / math.Floor(price) }

// atOnce is how many retries are granted at once by a full budget, beside those
// of the long run; calls come at a rate and take t seconds.
func (a *allowance) atOnce(rps, t, w float64) float64 {
	switch {
	case a.none:
		return never
	case a.slots > 0 || a.shareOf > 0:
		return math.Floor(a.places(rps, t, w))
	case a.length == 0:
		return a.burst
	}
	return math.Floor((times(a.saves, rps) + a.rps) * a.length.Seconds())
}

// times is a product in which 0 of any number is 0.
func times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}

// shared is how many retries may be in progress as a share of what is.
func (a *allowance) shared(rps, t, w float64) float64 {
	return a.beyond + times(times(a.shareBound(t, w), rps), a.hold(t, w))
}

// places is how many retries may be in progress.
func (a *allowance) places(rps, t, w float64) float64 { return math.Max(a.slots, a.shared(rps, t, w)) }
