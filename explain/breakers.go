package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/policies"
)

// Breaker is what can be expected of a breaker, or of each of its instances.
type Breaker struct {
	Place, Link string
	Kind        string
	Instances   float64
	// Rate is that of its outcomes in calls per second and instance if all is
	// well, Outage with the retries of a total outage that budgets grant in the
	// long run.
	Rate, Outage float64
	// Holds is the most outcomes that its window holds, in an outage or if all is
	// well, Minimum what it needs before it looks at them.
	Holds, Minimum float64
	CanOpen        bool
	// First is how long an outcome takes to come in, in seconds: a call that the
	// callee fails after its mean time; Hanging that of a call that is never
	// answered, +Inf without a timeout.
	First, Hanging float64
	// Fresh and Healthy are the times from the first failing call of a total
	// outage to the opening, with retries after their mean waits: with an empty
	// window and the budgets of the start, and with a window full of good outcomes
	// and full budgets. Latest is the later of the two without retries, if all
	// clients but the first come as late as they can; all are +Inf for never.
	// Failures are those in the window at Healthy. Calls that take long enough
	// count as slow too.
	Fresh, Healthy, Latest float64
	Failures               float64
	// FreshHanging and HealthyHanging are the same as Fresh and Healthy if the
	// callee hangs.
	FreshHanging, HealthyHanging float64
	// SlowEarliest is the earliest opening by slow calls: those that are answered
	// in the mean time of the callee or, if that is not slow, as soon as they
	// count as slow; +Inf if no call is slow.
	SlowEarliest float64
	// Lag is how much later it may open because it looks at its figures from time
	// to time only; Latest alone has it in.
	Lag float64
	// Rough says that these times are not exact: arrivals or waits are random, and
	// even calls and mean waits stand for them; several clients come in any phase;
	// a budget refuses retries, and a share stands for them; it looks from time to
	// time; or there are more retries than are gone through.
	Rough   bool
	Formula string
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
// how calls ended if all is well, and the links and layers that are told.
func (x *explainer) outcomes(l *link, k int) (good rate, instances float64, places []place) {
	name := l.layers[k].Breaker.Share
	if name == "" {
		return x.callRate(l, nil), x.instances(l), []place{{l, k}}
	}
	for _, other := range x.links {
		for j := range other.layers {
			if b := other.layers[j].Breaker; b == nil || b.Share != name {
				continue
			}
			r := x.callRate(other, nil)
			good.rps += r.rps
			good.random, good.closed = good.random || r.random, good.closed || r.closed
			places = append(places, place{other, j})
		}
	}
	return good, 1, places
}

// A place is a layer of a link.
type place struct {
	l *link
	k int
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

// A sight is what a breaker sees: of a callee that fails or hangs, with the
// retries that budgets grant at the start or after good times and, if it fails,
// of the calls alone.
type sight struct {
	trip
	*explainer
	l              *link
	layer          int
	instances      float64
	places         []place
	fail, hang     opening // with an empty window and the budgets of the start
	full, fullHang opening // with a window of good outcomes and full budgets
	alone, well    feed    // without retries: in an outage, and if all is well
	goodTakes      float64
	goodLate       bool // a mean answer comes too late
	hangCode       policies.ErrorCode
	rough          bool // the times are not exact
	turns          turn // what is turned away if the callee hangs
}

func (x *explainer) breaker(l *link, k int) {
	good, instances, places := x.outcomes(l, k)
	if good.rps == 0 {
		return // nobody calls, which the model notes
	}
	s := x.sight(l, k, instances, places, good.rps/instances)
	s.rough = s.rough || good.random
	t := &s.trip
	b := Breaker{
		Place: l.layers[k].place, Link: l.label(k), Kind: t.kind, Instances: instances, Rate: good.rps / instances,
		First: s.fail.calls[0].takes, Hanging: s.hang.calls[0].takes, Rough: s.rough, Lag: t.lag,
		Fresh: never, Healthy: never, Latest: never, FreshHanging: never, HealthyHanging: never, SlowEarliest: never,
	}
	b.Outage = math.Max(s.fail.calls.lasting(), b.Rate)
	if b.Hanging < never {
		b.Outage = math.Max(b.Outage, s.hang.calls.lasting())
	}
	b.Minimum = math.Max(math.Max(t.minimum, t.number), math.Max(t.consecutive, 1))
	for _, calls := range []feed{s.well, s.fail.calls, s.full.calls, s.hang.calls, s.fullHang.calls} {
		b.Holds = math.Max(b.Holds, math.Floor(t.holds(calls)+tiny))
	}
	b.CanOpen = b.Holds >= b.Minimum && !t.throttle && !t.unknown && t.off == ""
	if b.CanOpen {
		s.delays(&b)
	}
	x.Breakers = append(x.Breakers, b)
	if n := len(places); n > 1 {
		x.find(Note, "shared-breaker", b.Place, fmt.Sprintf("one breaker for %d calls: a failure of one counts for all of them, and refuses all of them", n),
			fmt.Sprintf("%s together", perSecond(b.Rate)))
	}
	x.ofOpening(l, &b, s, good)
	x.ofProbes(&b, t)
	x.ofRetries(l, k, &b, t)
}

// sight works out what a breaker sees in an outage; outcomes come at a rate if
// all is well.
func (x *explainer) sight(l *link, k int, instances float64, places []place, rps float64) *sight {
	s := &sight{trip: tripOf(l.layers[k].Breaker), explainer: x, l: l, layer: k, instances: instances, places: places}
	_, s.hangCode = x.pass(l, k+1, never, true)
	var code policies.ErrorCode
	s.goodTakes, code = x.pass(l, k+1, x.linkTime(l), false)
	s.goodLate = code != unavailable || s.goodTakes >= l.deadline(k)
	s.turns = s.turn()
	s.fail, s.hang = s.opening(s.feed(-1, true, false)), s.opening(s.hanging(false))
	s.full, s.fullHang = s.opening(s.feed(-1, true, true)), s.opening(s.hanging(true))
	for _, o := range []*opening{&s.full, &s.fullHang} {
		o.goodRPS, o.goodTakes = rps, s.goodTakes
	}
	s.alone = s.feed(-1, false, false)
	s.well = slices.Clone(s.alone)
	clients := make(map[int]bool)
	for i := range s.well {
		s.well[i].burst, s.well[i].period = 0, 0
		s.well[i].finish = finish{takes: s.goodTakes}
		clients[s.well[i].client] = true
	}
	s.rough = s.rough || s.lag > 0 || s.begun && s.window < never || len(clients) > 1
	return s
}

// feed is when the calls of the places come whose callees are out, the first at 0:
// an attempt takes so many seconds, or its mean time if that is below 0.
func (s *sight) feed(takes float64, retries, saved bool) (f feed) {
	for _, p := range s.places {
		t := takes
		if t < 0 {
			t = s.linkTime(p.l)
		}
		o := s.outage(p.l, t)
		o.retries, o.saved = retries, saved
		f = append(f, o.feed(p.k, s.instances, s.class)...)
		s.rough = s.rough || o.rough
	}
	return f.tidy()
}

// opening is that by calls after none.
func (s *sight) opening(calls feed) opening { return opening{trip: &s.trip, calls: calls} }

// holds is the most outcomes in a window: of even calls those younger than it,
// of which the first has no age.
func (t *trip) holds(calls feed) float64 {
	if math.IsInf(t.window, 1) {
		return t.calls
	}
	return math.Min(t.calls, calls.within(t.window))
}

// delays works out when a breaker that can open does.
func (s *sight) delays(b *Breaker) {
	b.Fresh, _ = s.fail.at()
	b.Healthy, b.Failures = s.full.at()
	if b.Healthy == never && s.byFailures() {
		b.Failures = never
	}
	b.Latest = s.latest()
	b.FreshHanging, _ = s.hang.at()
	b.HealthyHanging, _ = s.fullHang.at()
	if b.Fresh < never {
		b.Formula = "fresh " + formula(b.Minimum, s.fail.calls, b.Fresh-b.First, b.First)
		if b.Healthy < never {
			b.Formula += ", healthy " + formula(b.Failures, s.full.calls, b.Healthy-b.First, b.First)
		}
		if s.lag > 0 {
			b.Formula += fmt.Sprintf(", with up to %s more until it looks", seconds(s.lag))
		}
	}
	if s.trip.slow > 0 {
		b.SlowEarliest = s.slowest(b)
	}
}

const mostFirsts = 8 // clients of which each is taken for the first

// latest is when it opens at the latest if nothing is repeated: whatever client
// is the first, the others come as late as they can.
func (s *sight) latest() float64 {
	last := 0.0
	firsts := make(map[int]bool)
	for i := range s.alone {
		firsts[s.alone[i].client] = true
	}
	several := len(firsts) > 1
	if len(firsts) > mostFirsts {
		firsts = map[int]bool{-1: true} // all of them late is later
	}
	for first := range firsts {
		calls := slices.Clone(s.alone)
		for i := range calls {
			if calls[i].client != first {
				calls[i].first += 1 / calls[i].rps
			}
		}
		o := s.opening(calls)
		fresh, _ := o.at()
		o.goodRPS, o.goodTakes = s.full.goodRPS, s.goodTakes
		if several {
			for _, c := range calls {
				o.goodMore += c.size
			}
		}
		full, _ := o.at()
		last = math.Max(last, math.Max(fresh, full))
	}
	return last + s.lag
}

// formula says when the k-th outcome is known: after its call began at a time.
func formula(k float64, calls feed, begins, takes float64) string {
	if len(calls) == 1 && calls[0].burst == 0 && calls[0].size == 1 {
		return fmt.Sprintf("(%s - 1) / %s + %s", number(k), perSecond(calls[0].rps), seconds(takes))
	}
	return fmt.Sprintf("call %s, sent at %s, + %s", number(k), seconds(math.Max(begins, 0)), seconds(takes))
}
