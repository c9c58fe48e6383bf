package explain

import (
	"cmp"
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// sent is how many calls have been sent by a time, the first one at 0.
func sent(rps, t float64) float64 { return math.Floor(rps*t+1e-9) + 1 }

// ofOpening says what keeps a breaker from opening, or lets it open late.
func (x *explainer) ofOpening(l *link, b *Breaker, s *sight, r rate) {
	t := &s.trip
	horizon := x.c.Horizon.Seconds()
	switch {
	case t.unknown:
		x.find(Note, "not-worked-out", b.Place, fmt.Sprintf("when a breaker of kind %s opens is not worked out here", t.kind), "")
		return
	case t.off != "":
		x.find(Problem, "breaker-never-opens", b.Place, "the breaker never opens: "+t.off, "")
		return
	case t.throttle:
		if b.Holds < b.Minimum {
			x.find(Problem, "breaker-never-opens", b.Place, "the throttle never refuses: its history holds too few calls at this rate", holdsFormula(b, t))
		}
		return
	case b.Holds < b.Minimum && (t.consecutive == b.Minimum || t.failures == 1) && math.IsInf(t.calls, 1):
		x.find(chance(b, t, r), "failures-expire", b.Place, fmt.Sprintf("%s failures in a row never add up: the first ones are forgotten before", number(b.Minimum)),
			fmt.Sprintf("(%s - 1) / %s = %s, not below the window of %s", number(b.Minimum), perSecond(b.Outage), seconds((b.Minimum-1)/b.Outage), seconds(t.window)))
		return
	case b.Holds < b.Minimum:
		text := fmt.Sprintf("the breaker can not open at this rate: the window holds %s outcomes at most, and %s are the minimum", number(b.Holds), number(b.Minimum))
		if r.random {
			text = fmt.Sprintf("the breaker opens by chance alone at this rate: the window holds %s outcomes in the mean, and %s are the minimum", number(b.Outage*t.window), number(b.Minimum))
		}
		x.find(chance(b, t, r), "breaker-never-opens", b.Place, text, holdsFormula(b, t))
		return
	}
	if full := t.holds(s.well); b.Rate < b.Outage && full < b.Minimum {
		x.find(Warning, "breaker-needs-retries", b.Place, fmt.Sprintf("the window reaches its minimum of %s with retries alone: without them it holds %s", number(b.Minimum), number(full)),
			fmt.Sprintf("%s × %s against %s × %s", perSecond(b.Rate), seconds(t.window), perSecond(b.Outage), seconds(t.window)))
	}
	if t.capped != "" {
		x.find(Warning, "minimum-above-window", b.Place, t.capped, "")
	}
	if at := math.Min(math.Min(b.Fresh, b.Healthy), b.SlowEarliest); at >= horizon && at < never {
		x.find(Warning, "breaker-late", b.Place, fmt.Sprintf("the breaker does not open before %s, and the run ends at %s", seconds(at), seconds(horizon)), b.Formula)
	}
	x.ofErrors(l, b, s)
	if t.failures == 1 && b.Healthy > 2*b.Fresh && b.Healthy < never {
		x.find(Warning, "one-success-holds", b.Place, fmt.Sprintf("a share of 100 %%: a single good outcome keeps it closed until it has left the window, for up to %s failures", number(b.Failures)), b.Formula)
	}
	if b.Fresh < never && math.IsInf(b.Healthy, 1) && math.IsInf(t.calls, 1) && math.IsInf(t.window, 1) {
		x.find(Warning, "history-grows", b.Place, "outcomes count until the state changes: the longer all goes well, the later it opens", "")
	}
	x.ofHanging(b, s)
	x.ofSlow(b, s)
}

// ofErrors says which errors do not open a breaker.
func (x *explainer) ofErrors(l *link, b *Breaker, s *sight) {
	t := &s.trip
	if !t.byFailures() {
		if !(b.First > t.slowAfter) {
			x.find(Warning, "failures-ignored", b.Place, fmt.Sprintf("it looks at slow calls alone: an outage in which calls fail within %s does not open it", seconds(t.slowAfter)), "")
		}
		return
	}
	codes := []policies.ErrorCode{unavailable}
	for _, f := range x.c.Nodes[l.to].Faults {
		if f.Kind == model.FaultError || f.Kind == model.FaultLimit {
			codes = append(codes, cmp.Or(f.Code, unavailable))
		}
	}
	for _, code := range codes {
		if _, code := x.passOf(l, s.layer+1, x.linkTime(l), true, code); t.class(code) != policies.Failure {
			x.find(Warning, "errors-not-counted", b.Place, fmt.Sprintf("an outage in which calls end with %v does not open it by failures: it counts them as %s", code, counted(t.class(code))), "")
		}
	}
}

// counted says what a breaker takes outcomes for.
func counted(c policies.Class) string {
	if c == policies.Success {
		return "successes"
	}
	return "nothing"
}

// ofHanging says what a breaker makes of a callee that hangs.
func (x *explainer) ofHanging(b *Breaker, s *sight) {
	t := &s.trip
	if at := b.FreshHanging; at < never {
		if b.Hanging > b.First || t.early {
			x.find(Note, "breaker-hanging", b.Place, fmt.Sprintf("if the callee hangs, it opens after %s, with %s calls sent by then", s.earliest(at), number(s.hang.calls.count(at))), s.hangingFormula(b))
		}
		return
	}
	switch {
	case math.IsInf(b.Hanging, 1) && t.early && b.Hanging > t.slowAfter:
		x.find(Warning, "breaker-blind", b.Place, fmt.Sprintf("if the callee hangs, %s calls are under way and no more begin: too few for the minimum of %s", number(s.hang.calls.count(1e9)), number(b.Minimum)), "")
	case math.IsInf(b.Hanging, 1):
		x.find(Warning, "breaker-blind", b.Place, "no timeout inside the breaker: calls that hang have no outcome and never open it", "")
	case t.byFailures() && !s.hang.calls[0].bad:
		x.find(Warning, "errors-not-counted", b.Place, fmt.Sprintf("if the callee hangs, calls end with %v: it counts them as %s", s.hangCode, counted(t.class(s.hangCode))), "")
	case t.byFailures():
		x.find(Warning, "breaker-hanging", b.Place, fmt.Sprintf("if the callee hangs, it never opens: calls take %s each, and too few of them are under way at a time", seconds(b.Hanging)), "")
	}
}

// earliest writes a time that is a bound, or one that chance moves.
func (s *sight) earliest(t float64) string {
	if s.rough {
		return "about " + seconds(t)
	}
	return seconds(t) + " at the earliest"
}

// hangingFormula is how the opening of a callee that hangs comes about.
func (s *sight) hangingFormula(b *Breaker) string {
	o, at := &s.hang, b.FreshHanging-s.trip.lag
	if s.turnedAway {
		return fmt.Sprintf("the callee or a cap turns away what is more than %s calls", number(s.room))
	}
	after := b.Hanging
	if s.early && s.isSlow(o.calls[0].finish) {
		after = s.slowAfter
	}
	return s.formula(b.Minimum, b.Outage, o.calls, at-after, after)
}

// chance is how bad it is that a window is too small for its minimum: of random
// calls more may come than that.
func chance(b *Breaker, t *trip, r rate) Severity {
	mean := b.Outage * t.window
	if r.random && mean+5*math.Sqrt(mean) >= b.Minimum {
		return Warning
	}
	return Problem
}

func holdsFormula(b *Breaker, t *trip) string {
	return fmt.Sprintf("λ W = %s × %s = %s < %s; it takes %s", perSecond(b.Outage), seconds(t.window), number(b.Outage*t.window), number(b.Minimum),
		perSecond(b.Minimum/t.window))
}

// ofSlow says how slow calls are seen.
func (x *explainer) ofSlow(b *Breaker, s *sight) {
	t := &s.trip
	switch {
	case t.slow == 0:
	case !math.IsInf(b.Hanging, 1) && b.Hanging <= t.slowAfter:
		x.find(Warning, "slow-never", b.Place, fmt.Sprintf("no call counts as slow: a timeout ends it after %s, and slow is longer than %s", seconds(b.Hanging), seconds(t.slowAfter)), "")
	case b.SlowEarliest < never && !t.early && s.slow.calls[0].takes == s.goodTakes:
		x.find(Warning, "slow-late", b.Place, fmt.Sprintf("slow calls count when they return: the breaker opens at %s at the earliest, not at %s", seconds(b.SlowEarliest), seconds(t.slowAfter)),
			fmt.Sprintf("%s; %s calls are sent by then", s.formula(math.Max(t.minimum, 1), s.slow.calls.lasting(), s.slow.calls, b.SlowEarliest-t.lag-s.slow.calls[0].takes, s.slow.calls[0].takes), number(s.slow.calls.count(b.SlowEarliest))))
	}
}

// ofProbes warns of a half-open state that lets everything pass.
func (x *explainer) ofProbes(b *Breaker, t *trip) {
	if t.throttle || t.unknown || t.kind == "envoy outlier detection" {
		return
	}
	until := b.First
	if b.Hanging < never {
		until = b.Hanging
	}
	if n := sent(b.Rate, until); math.IsInf(t.probes, 1) || t.probes > 100 && t.probes > n {
		x.find(Warning, "probes-unlimited", b.Place, fmt.Sprintf("in half-open every call passes until an outcome is known: %s for each time it tries a callee that hangs", number(n)),
			fmt.Sprintf("%s × %s", perSecond(b.Rate), seconds(until)))
	}
}

// ofRetries says what a breaker counts where there are retries around it.
func (x *explainer) ofRetries(l *link, k int, b *Breaker, t *trip) {
	if !b.CanOpen || t.throttle {
		return
	}
	inside := 1.0
	for j := k + 1; j < len(l.layers); j++ {
		if l.layers[j].Retry != nil {
			inside *= x.mostAttempts(l, j)
		}
	}
	outside := x.outside(l, k)
	if outside > 1 {
		x.find(Note, "breaker-counts-attempts", b.Place, fmt.Sprintf("the breaker stands inside retries: every attempt counts, and in an outage %s outcomes come from %s calls",
			number(b.Minimum), number(math.Ceil(b.Minimum/outside))), fmt.Sprintf("⌈%s / %s⌉", number(b.Minimum), number(outside)))
	}
	if inside > 1 {
		x.find(Note, "breaker-counts-calls", b.Place, fmt.Sprintf("the breaker stands around retries: a call counts once, and in an outage %s outcomes cost %s attempts",
			number(b.Minimum), number(b.Minimum*inside)), fmt.Sprintf("%s × %s", number(b.Minimum), number(inside)))
	}
}
