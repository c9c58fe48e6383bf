package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Breaker is what can be expected of a breaker, or of each of its instances.
type Breaker struct {
	Place, Link string
	Kind        string
	Instances   float64
	// Rate is that of its outcomes in calls per second and instance if all is
	// well, Outage with all the retries of a total outage that no budget refuses.
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
	// outage to the opening, with all retries after their mean waits: with an
	// empty window, and with one full of good outcomes. Latest is the later of
	// the two without retries; all are +Inf for never. Failures are those in
	// the window at Healthy. Calls that take long enough count as slow too.
	Fresh, Healthy, Latest float64
	Failures               float64
	// FreshHanging is the earliest opening if the callee hangs, from the first
	// call that does, with an empty window: +Inf for never.
	FreshHanging float64
	// SlowEarliest is the earliest opening by slow calls: those that are answered
	// in the mean time of the callee or, if that is not slow, calls that hang;
	// +Inf if these are not slow either or have no end.
	SlowEarliest float64
	// Rough says that chance moves these times: arrivals or waits are random, and
	// even calls and mean waits stand for them; or that there are more retries
	// than are gone through, the later of which are counted too early.
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
// retries and, if it fails, of the calls alone.
type sight struct {
	trip
	layer            int
	fail, hang, slow opening
	alone, well      feed // without retries: in an outage, and if all is well
	goodTakes        float64
	hangCode         policies.ErrorCode
	room             float64 // calls that the callee and the caps take in if it hangs, +Inf for any number
	rough            bool    // mean waits stand for random ones, or many retries for more
	turnedAway       bool    // the rest comes back before the timeouts
}

func (x *explainer) breaker(l *link, k int) {
	good, instances, places := x.outcomes(l, k)
	if good.rps == 0 {
		return // nobody calls, which the model notes
	}
	s := x.sight(l, k, instances, places)
	s.rough = s.rough || good.random
	t := &s.trip
	b := Breaker{
		Place: l.layers[k].place, Link: l.label(k), Kind: t.kind, Instances: instances, Rate: good.rps / instances,
		First: s.fail.calls[0].takes, Hanging: s.hang.calls[0].takes, Rough: s.rough,
		Fresh: never, Healthy: never, Latest: never, FreshHanging: never, SlowEarliest: never,
	}
	b.Outage = math.Max(s.fail.calls.lasting(), b.Rate)
	if b.Hanging < never {
		b.Outage = math.Max(b.Outage, s.hang.calls.lasting())
	}
	b.Minimum = math.Max(math.Max(t.minimum, t.number), math.Max(t.consecutive, 1))
	b.Holds = math.Max(t.holds(s.well), math.Max(t.holds(s.fail.calls), t.holds(s.hang.calls)))
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

// sight works out what a breaker sees in an outage.
func (x *explainer) sight(l *link, k int, instances float64, places []place) *sight {
	s := &sight{trip: tripOf(l.layers[k].Breaker), layer: k, room: x.room(l, k, instances)}
	s.fail = s.opening(x.feed(s, places, instances, false, true))
	s.hang = s.opening(x.feed(s, places, instances, true, true))
	_, s.hangCode = x.pass(l, k+1, never, true)
	s.alone = x.feed(s, places, instances, false, false)
	s.well = slices.Clone(s.alone)
	for i := range s.well {
		s.well[i].burst, s.well[i].period = 0, 0
	}
	t, code := x.pass(l, k+1, x.linkTime(l), false)
	s.goodTakes = t
	good := finish{takes: t}
	switch {
	case code != unavailable || t >= l.deadline(k): // the mean answer comes too late
		s.slow = s.fail
	case s.isSlow(good):
		calls := slices.Clone(s.well)
		for i := range calls {
			calls[i].finish = good
		}
		s.slow = s.opening(calls)
	default:
		s.slow = s.hang
	}
	return s
}

// feed is when the calls of places come whose callees are out, the first at 0.
func (x *explainer) feed(s *sight, places []place, instances float64, hangs, retries bool) (f feed) {
	for _, p := range places {
		takes := x.linkTime(p.l)
		if hangs {
			takes = never
		}
		o := x.outage(p.l, takes)
		f = append(f, o.feed(p.k, instances, retries, s.class)...)
		s.rough = s.rough || o.rough
	}
	return f.tidy()
}

// opening is that by calls after none.
func (s *sight) opening(calls feed) opening { return opening{trip: &s.trip, calls: calls} }

// room is how many calls of an instance are taken in behind a layer if the
// callee hangs; the next ones come back at once.
func (x *explainer) room(l *link, k int, instances float64) float64 {
	n := &x.c.Nodes[l.to]
	room := never
	if n.Queue.Limit.Known && n.Workers != model.Unlimited {
		room = float64(n.Queue.Limit.Value)
	}
	if n.Shed.InFlight > 0 {
		room = math.Min(room, float64(n.Shed.InFlight))
	}
	room *= float64(max(n.Replicas, 1)) / instances
	for _, y := range l.layers[k+1:] {
		if y.Limit != nil {
			room = math.Min(room, float64(y.Limit.InFlight))
		}
	}
	return math.Floor(room)
}

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
	healthy := s.fail
	healthy.goodRPS, healthy.goodTakes = b.Rate, s.goodTakes
	b.Fresh, _ = s.fail.at()
	b.Healthy, b.Failures = healthy.at()
	if b.Healthy == never && s.byFailures() {
		b.Failures = never
	}
	fresh := s.fail
	fresh.calls, healthy.calls = s.alone, s.alone
	alone, _ := fresh.at()
	full, _ := healthy.at()
	b.Latest = math.Max(alone, full)
	b.FreshHanging, _ = s.hang.at()
	if early := s.turned(b); early < b.FreshHanging {
		b.FreshHanging, s.turnedAway = early, true
	}
	if b.Fresh < never {
		b.Formula = "fresh " + s.formula(b.Minimum, b.Outage, s.fail.calls, b.Fresh-s.lag-b.First, b.First)
		if b.Healthy < never {
			b.Formula += ", healthy " + s.formula(b.Failures, b.Outage, s.fail.calls, b.Healthy-s.lag-b.First, b.First)
		}
		if s.lag > 0 {
			b.Formula += fmt.Sprintf(", with up to %s more until it looks", seconds(s.lag))
		}
	}
	if s.trip.slow > 0 {
		only := s.trip
		only.failures, only.number, only.consecutive = 0, 0, 0
		slow := s.slow
		slow.trip = &only
		b.SlowEarliest, _ = slow.at()
	}
}

// turned is the earliest time at which a breaker may open because calls of a
// callee that hangs are turned away at once.
func (s *sight) turned(b *Breaker) float64 {
	if math.IsInf(s.room, 1) || !s.byFailures() {
		return never
	}
	return s.hang.calls.kth(s.room+b.Minimum) + s.lag
}

// formula says when the k-th outcome is known: after its call began at a time.
func (s *sight) formula(k, rps float64, calls feed, begins, takes float64) string {
	if len(calls) == 1 && calls[0].burst == 0 && calls[0].size == 1 {
		return fmt.Sprintf("(%s - 1) / %s + %s", number(k), perSecond(rps), seconds(takes))
	}
	return fmt.Sprintf("call %s, sent at %s, + %s", number(k), seconds(math.Max(begins, 0)), seconds(takes))
}
