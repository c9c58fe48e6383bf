package explain

import (
	"fmt"
	"math"
)

// Breaker is what can be expected of a breaker, or of each of its instances.
type Breaker struct {
	Place, Link string
	Kind        string
	Instances   float64
	// Rate is that of its outcomes in calls per second and instance if all is
	// well, Outage with all the retries of a total outage that no budget refuses.
	Rate, Outage float64
	// Holds is the most outcomes that its window holds at the rate of an
	// outage, Minimum what it needs before it looks at them.
	Holds, Minimum float64
	CanOpen        bool
	// First is how long an outcome takes to come in, in seconds: a call that the
	// callee fails after its mean time; Hanging that of a call that is never
	// answered, +Inf without a timeout.
	First, Hanging float64
	// Fresh and Healthy are the times from the first failing call of a total
	// outage to the opening, with all retries: with an empty window, and with
	// one full of good outcomes. Latest is the later of the two without retries;
	// all are +Inf for never. Failures are those of Healthy.
	Fresh, Healthy, Latest float64
	Failures               float64
	// SlowEarliest is the earliest opening by slow calls, all of which are
	// answered in the mean time of the callee; +Inf if that is not slow.
	SlowEarliest float64
	Formula      string
}

// breakers lists the breakers, those that are shared once.
func (x *explainer) breakers() {
	shared := make(map[string]bool)
	for _, l := range x.links {
		for k := range l.layers {
			b := l.layers[k].Breaker
			if b == nil || b.Share != "" && shared[b.Share] {
				continue
			}
			if b.Share != "" {
				shared[b.Share] = true
			}
			x.breaker(l, k)
		}
	}
}

// outcomes is the rate at which a breaker layer, or all of its name, is told
// how calls ended: without retries, and with those of an outage.
func (x *explainer) outcomes(l *link, k int) (good, outage rate, instances float64, places int) {
	name := l.layers[k].Breaker.Share
	if name == "" {
		good = x.callRate(l, nil)
		outage = good
		outage.rps = x.callRate(l, x.worst()).rps * x.outside(l, k)
		return good, outage, x.instances(l), 1
	}
	for _, other := range x.links {
		for j := range other.layers {
			if b := other.layers[j].Breaker; b == nil || b.Share != name {
				continue
			}
			r := x.callRate(other, nil)
			good.rps += r.rps
			good.random, good.closed = good.random || r.random, good.closed || r.closed
			outage.rps += x.callRate(other, x.worst()).rps * x.outside(other, j)
			places++
		}
	}
	outage.random, outage.closed = good.random, good.closed
	return good, outage, 1, places
}

// worst is how often a request leads to calls of the nodes if everybody
// retries.
func (s *system) worst() [][]float64 {
	if s.most == nil {
		for i := range s.c.Clients {
			s.most = append(s.most, s.spread(i, func(l *link) float64 { return s.outside(l, len(l.layers)) }))
		}
	}
	return s.most
}

func (x *explainer) breaker(l *link, k int) {
	t := tripOf(l.layers[k].Breaker)
	good, outage, instances, places := x.outcomes(l, k)
	if good.rps == 0 {
		return // nobody calls, which the model notes
	}
	b := Breaker{
		Place: l.layers[k].place, Link: l.label(k), Kind: t.kind, Instances: instances, Rate: good.rps / instances, Outage: outage.rps / instances,
		Fresh: never, Healthy: never, Latest: never, SlowEarliest: never,
	}
	b.First, _ = x.pass(l, k+1, x.linkTime(l), true)
	b.Hanging, _ = x.pass(l, k+1, never, true)
	b.Minimum = math.Max(math.Max(t.minimum, t.number), math.Max(t.consecutive, 1))
	b.Holds = t.holds(b.Outage)
	b.CanOpen = b.Holds >= b.Minimum && !t.throttle && !t.unknown && t.off == ""
	if b.CanOpen {
		t.delays(&b)
	}
	x.Breakers = append(x.Breakers, b)
	if places > 1 {
		x.find(Note, "shared-breaker", b.Place, fmt.Sprintf("one breaker for %d calls: a failure of one counts for all of them, and refuses all of them", places),
			fmt.Sprintf("%s together", perSecond(b.Rate)))
	}
	x.ofOpening(l, k, &b, &t, good)
	x.ofProbes(&b, &t)
	x.ofRetries(l, k, &b, &t)
}

// holds is the most outcomes in a window at a rate: of even calls those younger
// than it, of which the first has no age.
func (t *trip) holds(rps float64) float64 {
	n := t.calls
	if !math.IsInf(t.window, 1) {
		n = math.Min(n, math.Ceil(rps*t.window-1e-9))
	}
	return n
}

// failuresFull is how many failures open a breaker whose window is full of n
// outcomes, all good at first.
func (t *trip) failuresFull(n float64) float64 {
	k := math.Max(t.number, math.Max(t.consecutive, 1))
	switch {
	case t.failures == 0:
		return k
	case t.strict:
		return math.Max(k, math.Floor(t.failures*n+1e-9)+1)
	}
	return math.Max(k, math.Ceil(t.failures*n-1e-9))
}

// after is when the k-th outcome at a rate is known, where one takes first
// seconds.
func after(k, rps, first float64) float64 {
	if k <= 1 {
		return first
	}
	if math.IsInf(k, 1) {
		return never
	}
	return (k-1)/rps + first
}

// delays works out when a breaker that can open does.
func (t *trip) delays(b *Breaker) {
	if t.failures > 0 || t.number > 0 || t.consecutive > 0 {
		first := b.First + t.lag
		b.Fresh = after(b.Minimum, b.Outage, first)
		b.Failures = t.failuresFull(t.holds(b.Outage))
		b.Healthy = after(b.Failures, b.Outage, first)
		if full := t.holds(b.Rate); full >= b.Minimum {
			b.Latest = math.Max(after(b.Minimum, b.Rate, first), after(t.failuresFull(full), b.Rate, first))
		}
		b.Formula = fmt.Sprintf("fresh (%s - 1) / %s + %s", number(b.Minimum), perSecond(b.Outage), seconds(b.First))
		if b.Healthy < never {
			b.Formula += fmt.Sprintf(", healthy (%s - 1) / %s + %s", number(b.Failures), perSecond(b.Outage), seconds(b.First))
		}
		if t.lag > 0 {
			b.Formula += fmt.Sprintf(", with up to %s more until it looks", seconds(t.lag))
		}
	}
	if t.slow > 0 && b.First > t.slowAfter {
		at := b.First
		if t.early {
			at = t.slowAfter
		}
		b.SlowEarliest = after(t.minimum, b.Outage, at)
	}
}

// sent is how many calls have been sent by a time, the first one at 0.
func sent(rps, t float64) float64 { return math.Floor(rps*t+1e-9) + 1 }

func (x *explainer) ofOpening(l *link, k int, b *Breaker, t *trip, r rate) {
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
	if b.Rate < b.Outage && t.holds(b.Rate) < b.Minimum {
		x.find(Warning, "breaker-needs-retries", b.Place, fmt.Sprintf("the window reaches its minimum of %s with retries alone: without them it holds %s", number(b.Minimum), number(t.holds(b.Rate))),
			fmt.Sprintf("%s × %s against %s × %s", perSecond(b.Rate), seconds(t.window), perSecond(b.Outage), seconds(t.window)))
	}
	if t.capped != "" {
		x.find(Warning, "minimum-above-window", b.Place, t.capped, "")
	}
	if at := math.Min(math.Min(b.Fresh, b.Healthy), b.SlowEarliest); at >= horizon && at < never {
		x.find(Warning, "breaker-late", b.Place, fmt.Sprintf("the breaker does not open before %s, and the run ends at %s", seconds(at), seconds(horizon)), b.Formula)
	}
	if b.Fresh == never && b.SlowEarliest == never {
		x.find(Warning, "failures-ignored", b.Place, fmt.Sprintf("it looks at slow calls alone: an outage in which calls fail within %s does not open it", seconds(t.slowAfter)), "")
	}
	if t.failures == 1 && b.Healthy > 2*b.Fresh && b.Healthy < never {
		x.find(Warning, "one-success-holds", b.Place, fmt.Sprintf("a share of 100 %%: a single good outcome keeps it closed until it has left the window, for up to %s failures", number(b.Failures)), b.Formula)
	}
	if b.Fresh < never && math.IsInf(b.Healthy, 1) && math.IsInf(t.calls, 1) && math.IsInf(t.window, 1) {
		x.find(Warning, "history-grows", b.Place, "outcomes count until the state changes: the longer all goes well, the later it opens", "")
	}
	if math.IsInf(b.Hanging, 1) && !t.early {
		x.find(Warning, "breaker-blind", b.Place, "no timeout inside the breaker: calls that hang have no outcome and never open it", "")
	} else if b.Hanging > b.First && b.Hanging < never && !t.early {
		if at := after(b.Minimum, b.Outage, b.Hanging+t.lag); b.Fresh < never {
			x.find(Note, "breaker-hanging", b.Place, fmt.Sprintf("if the callee hangs, it opens after %s at the earliest, with %s calls sent by then", seconds(at), number(sent(b.Outage, at))),
				fmt.Sprintf("(%s - 1) / %s + %s", number(b.Minimum), perSecond(b.Outage), seconds(b.Hanging)))
		}
	}
	x.ofSlow(b, t)
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

func (x *explainer) ofSlow(b *Breaker, t *trip) {
	switch {
	case t.slow == 0:
	case !math.IsInf(b.Hanging, 1) && b.Hanging <= t.slowAfter && !t.early:
		x.find(Warning, "slow-never", b.Place, fmt.Sprintf("no call counts as slow: a timeout ends it after %s, and slow is longer than %s", seconds(b.Hanging), seconds(t.slowAfter)), "")
	case b.SlowEarliest < never && !t.early:
		x.find(Warning, "slow-late", b.Place, fmt.Sprintf("slow calls count when they return: the breaker opens at %s at the earliest, not at %s", seconds(b.SlowEarliest), seconds(t.slowAfter)),
			fmt.Sprintf("(%s - 1) / %s + %s; %s calls are sent by then", number(math.Max(t.minimum, 1)), perSecond(b.Outage), seconds(b.First), number(sent(b.Outage, b.SlowEarliest))))
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
