package explain

import (
	"fmt"
	"math"

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
	case b.Holds < b.Minimum && s.ends() < b.Minimum:
		x.find(Problem, "breaker-never-opens", b.Place, fmt.Sprintf("the breaker can not open: the clients make no more than %s calls, and %s are the minimum", number(s.ends()), number(b.Minimum)), "")
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
			fmt.Sprintf("%s × %s against %s with retries", perSecond(b.Rate), seconds(t.window), number(b.Holds)))
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
	x.ofFalseTrips(b, s)
}

// ends is how many calls the clients make in an outage before they have made
// their last, with retries: +Inf if there is no last one.
func (s *sight) ends() float64 {
	n := 0.0
	for _, c := range s.full.calls {
		if c.total == 0 {
			return never
		}
		n += c.total * c.size
	}
	return n
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
	said := make(map[policies.ErrorCode]bool)
	for _, code := range append([]policies.ErrorCode{unavailable}, codesOf(&x.c.Nodes[l.to])...) {
		_, code := x.passOf(l, s.layer+1, x.linkTime(l), true, code)
		if !said[code] && t.class(code) != policies.Failure {
			x.find(Warning, "errors-not-counted", b.Place, fmt.Sprintf("an outage in which calls end with %v does not open it by failures: it counts them as %s", code, counted(t.class(code))), "")
		}
		said[code] = true
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
	if at := math.Min(b.FreshHanging, b.HealthyHanging); at < never {
		if b.Hanging > b.First || t.early {
			x.find(Note, "breaker-hanging", b.Place, s.hangingText(b), s.hangingFormula(b))
		}
		return
	}
	switch refused := s.turns.most < never && s.turns.class != policies.Failure; {
	case math.IsInf(b.Hanging, 1) && t.early && b.Hanging > t.slowAfter:
		x.find(Warning, "breaker-blind", b.Place, fmt.Sprintf("if the callee hangs, %s calls are under way and no more begin: too few for the minimum of %s", number(s.hang.calls.count(1e9)), number(b.Minimum)), "")
	case math.IsInf(b.Hanging, 1):
		x.find(Warning, "breaker-blind", b.Place, "no timeout inside the breaker: calls that hang have no outcome and never open it", "")
	case !s.hang.calls[0].bad && t.class(s.hangCode) != policies.Failure:
		x.find(Warning, "errors-not-counted", b.Place, fmt.Sprintf("if the callee hangs, it never opens: calls end with %v, which it counts as %s", s.hangCode, counted(t.class(s.hangCode))), "")
	case t.byFailures() && refused:
		x.find(Warning, "errors-not-counted", b.Place, fmt.Sprintf("if the callee hangs, it never opens: no more than %s calls are taken in, and it counts the refusal of the others as %s", number(s.turns.most), counted(s.turns.class)), "")
	case t.byFailures():
		x.find(Warning, "breaker-hanging", b.Place, fmt.Sprintf("if the callee hangs, it never opens: calls take %s each, and too few of them are under way at a time", seconds(b.Hanging)), "")
	}
}

// hangingText says when a breaker opens of a callee that hangs.
func (s *sight) hangingText(b *Breaker) string {
	opens := func(o *opening, at float64, window string) string {
		if math.IsInf(at, 1) {
			return "never opens with " + window
		}
		return fmt.Sprintf("opens after %s with %s, %s calls sent", s.roughly(at), window, number(math.Floor(o.calls.count(at))))
	}
	text := "if the callee hangs, it " + opens(&s.hang, b.FreshHanging, "an empty window") + ", and " + opens(&s.fullHang, b.HealthyHanging, "one full of good outcomes")
	if s.lag > 0 {
		text += fmt.Sprintf(", or up to %s later, when it looks", seconds(s.lag))
	}
	return text
}

// roughly writes a time that may not be exact.
func (s *sight) roughly(t float64) string {
	if s.rough {
		return "about " + seconds(t)
	}
	return seconds(t)
}

// hangingFormula is how the opening of a callee that hangs comes about.
func (s *sight) hangingFormula(b *Breaker) string {
	if s.turns.most < never {
		return fmt.Sprintf("what is more than %s calls is turned away at once", number(s.turns.most))
	}
	if math.IsInf(b.FreshHanging, 1) {
		return ""
	}
	after := b.Hanging
	if s.early && s.isSlow(s.hang.calls[0].finish) {
		after = s.slowAfter
	}
	return formula(b.Minimum, s.hang.calls, b.FreshHanging-after, after)
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
	case b.SlowEarliest < never && !t.early && s.goodIsSlow():
		x.find(Warning, "slow-late", b.Place, fmt.Sprintf("slow calls count when they return: the breaker opens at %s at the earliest, not at %s", seconds(b.SlowEarliest), seconds(t.slowAfter)),
			fmt.Sprintf("%s; %s calls are sent by then", formula(math.Max(t.minimum, 1), s.well, b.SlowEarliest-s.goodTakes, s.goodTakes), number(s.well.count(b.SlowEarliest))))
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
