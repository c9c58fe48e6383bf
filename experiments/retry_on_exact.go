package experiments

import (
	"math"

	"github.com/stormglass/stormglass/policies"
)

// A retryFlow is retry-on in the long run, where shares are probabilities.
type retryFlow struct {
	attempts              int     // most of a request
	permanent, transient  float64 // shares of requests, and of the other attempts
	onLimit, onPermanent  float64 // 1 if the error is retried, otherwise 0
	onTransient           float64
	budget                float64 // retries per request; +Inf for no bound
	load                  float64 // offered load ÷ limit; 0 for no limit
	limited               float64 // share of the attempts that the limit refuses
	all, good             float64 // attempts per request, and per request that can succeed
	success, retrySuccess float64 // per request: successes, and those by a retry
}

func newRetryFlow(c Cell) retryFlow {
	f := retryFlow{attempts: 1, permanent: c.Float("permanent_ratio"), transient: c.Float("transient_ratio"), budget: math.Inf(1)}
	if limit := c.Float("limit_rps"); limit > 0 {
		f.load = c.Float("rate_rps") / limit
	}
	if l := retryOnLayer(c); l != nil {
		f.attempts = l.Attempts
		retried, err := l.Errors.Func()
		if err != nil {
			panic(err) // was validated
		}
		on := func(code policies.ErrorCode) float64 {
			if retried(policies.Outcome{Err: code}) {
				return 1
			}
			return 0
		}
		f.onLimit, f.onPermanent, f.onTransient = on(limitCode), on(permanentCode), on(transientCodes[c.Text("transient")])
		if b := l.Budget; b != nil {
			f.budget = b.Tokens.Ratio + b.Counter.Ratio // one of them is set
		}
	}
	return f
}

// flow works out the attempts if the limit refuses a share q of them and the
// budget grants a share g of the retries that are wanted.
func (f *retryFlow) flow(q, g float64) {
	pass := 1 - q
	again := g * (q*f.onLimit + pass*f.transient*f.onTransient)
	f.good = geometric(again, f.attempts)
	bad := geometric(g*(q*f.onLimit+pass*f.onPermanent), f.attempts)
	f.all = (1-f.permanent)*f.good + f.permanent*bad
	f.limited = q
	well := (1 - f.permanent) * pass * (1 - f.transient)
	f.success, f.retrySuccess = well*f.good, well*(f.good-1)
}

// geometric is 1 + c + … + c^(n-1).
func geometric(c float64, n int) float64 {
	if 1-c < 1e-9 {
		return float64(n)
	}
	return (1 - math.Pow(c, float64(n))) / (1 - c)
}

// keepBudget is flow with the largest g at which the budget is kept.
func (f *retryFlow) keepBudget(q float64) {
	if f.flow(q, 1); f.all-1 <= f.budget {
		return
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		g := (lo + hi) / 2
		if f.flow(q, g); f.all-1 > f.budget {
			hi = g
		} else {
			lo = g
		}
	}
	f.flow(q, lo)
}

// solve finds the share of attempts that the limit refuses. More of them make
// more retries, if they are retried, and these more of them: from none on, the
// shares rise to the least that agrees with itself.
func (f *retryFlow) solve() {
	q := 0.0
	for range 10_000 {
		f.keepBudget(q)
		if f.load == 0 {
			return
		}
		next := max(0, 1-1/(f.load*f.all))
		if math.Abs(next-q) < 1e-12 {
			return
		}
		q = next
	}
}

// near is the range, around the point at which a limit or a budget begins to
// bind, in which chance decides more than the long run.
const nearLow, nearHigh = 0.8, 1.25

// exactRetryOn is the long run, away from the points at which the limit or the
// budget begins to bind.
func exactRetryOn(c Cell, metric string, _ int) (float64, bool) {
	f := newRetryFlow(c)
	f.solve()
	near := func(share float64) bool { return share > nearLow && share < nearHigh }
	free := f
	free.flow(f.limited, 1)
	if near(f.load*f.all) || near((free.all-1)/f.budget) {
		return 0, false
	}
	switch metric {
	case "amplification_ratio":
		return f.all, true
	case "success_ratio":
		return f.success, true
	case "good_success_ratio":
		return quotient(f.success, 1-f.permanent), f.permanent < 1
	case "wasted_ratio":
		return (f.all - 1 - f.retrySuccess) / f.all, true
	case "limited_ratio":
		return f.limited, true
	}
	return 0, false
}
