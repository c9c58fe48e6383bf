package explain

import (
	"math"
	"slices"
)

// An opening is what a breaker sees of an outage: the calls that it lets pass,
// after good ones or none.
type opening struct {
	trip  *trip
	calls feed
	// The good outcomes before the first call of the outage: one takes goodTakes
	// seconds; goodRPS is 0 if there are none.
	goodRPS, goodTakes float64
	goodMore           float64 // that come together at worst, beside even ones

	seen   feed // when outcomes enter the window
	ended  feed // when those that are there already turn out as failures
	failed []bool
	slow   []bool
	out    []float64 // those of seen that have left the window again
}

// watch works out what is seen of the calls.
func (o *opening) watch() {
	o.seen, o.ended, o.failed, o.slow = nil, nil, nil, nil
	for _, s := range o.calls {
		slow := o.trip.isSlow(s.finish)
		enters := s.takes
		if early := slow && o.trip.early; early {
			enters = o.trip.slowAfter
		} else if s.lost {
			continue
		}
		if math.IsInf(enters, 1) {
			continue
		}
		o.seen = append(o.seen, s.later(enters))
		end := s.later(s.takes)
		if math.IsInf(s.takes, 1) {
			end = s.later(enters)
		}
		o.ended = append(o.ended, end)
		o.failed = append(o.failed, s.bad && !math.IsInf(s.takes, 1))
		o.slow = append(o.slow, slow)
	}
	o.out = make([]float64, len(o.seen))
}

// isSlow reports whether a call that ends so is slow.
func (t *trip) isSlow(f finish) bool { return t.slow > 0 && f.takes > t.slowAfter }

// at is when the breaker opens, +Inf for never, with the number of failures in
// the window then.
func (o *opening) at() (at, failures float64) {
	t := o.trip
	if t.throttle || t.unknown || t.off != "" {
		return never, 0
	}
	if o.watch(); !slices.Contains(o.failed, true) && !slices.Contains(o.slow, true) {
		return never, 0
	}
	least := 1.0
	if o.goodRPS == 0 {
		least = math.Max(t.minimum, 1)
	}
	if at = o.search(least); math.IsInf(at, 1) {
		return at, 0
	}
	_, failures, _ = o.holding(at)
	return at, failures
}

const mostSteps = 1_000_000 // that are taken one by one, for all streams together

// search looks for the first event that opens the breaker, the least-th outcome
// or a later one.
func (o *opening) search(least float64) float64 {
	events := append(append(feed(nil), o.seen...), o.ended...)
	end := o.settles()
	at := o.seen.kth(least)
	if o.trip.begun {
		at = o.seen.kth(1)
	}
	for range mostSteps / (len(events) + 1) {
		switch {
		case math.IsInf(at, 1):
			return never
		case o.opens(at):
			return at
		case at > end:
			return never
		}
		at = events.next(at)
	}
	// Further on the share only grows but for the roundings of the windows.
	if math.IsInf(end, 1) || !o.opens(end) {
		return never
	}
	for range 80 {
		if mid := at + (end-at)/2; o.opens(mid) {
			end = mid
		} else {
			at = mid
		}
	}
	return events.next(at)
}

// settles is a time after which the window holds no more failures than before.
func (o *opening) settles() float64 {
	t, end := o.trip, 0.0
	if !math.IsInf(t.window, 1) {
		end = math.Max(o.seen.settled(), o.ended.settled()) + t.window + o.goodTakes
	}
	if !math.IsInf(t.calls, 1) {
		end = math.Max(end, o.seen.kth(t.calls+t.minimum))
		end = math.Max(end, o.ended.kth(t.calls+t.minimum))
	}
	if end == 0 {
		return never
	}
	return end
}

// opens reports whether the window's outcomes at a time open the breaker.
func (o *opening) opens(at float64) bool {
	t := o.trip
	total, failures, slow := o.holding(at)
	if total < math.Max(t.minimum, 1) {
		return false
	}
	return t.tooMany(total, failures) || t.slow > 0 && slow > 0 && slow >= t.slow*total-tiny
}

// tooMany reports whether so many failures open it.
func (t *trip) tooMany(total, failures float64) bool {
	switch {
	case !t.byFailures() || failures < math.Max(math.Max(t.number, t.consecutive), 1):
		return false
	case t.failures == 0:
		return true
	case t.strict:
		return failures > t.failures*total+tiny
	}
	return failures >= t.failures*total-tiny
}

// byFailures reports whether failures open it at all.
func (t *trip) byFailures() bool { return t.failures > 0 || t.number > 0 || t.consecutive > 0 }

// holding is what the window holds at a time.
func (o *opening) holding(at float64) (total, failures, slow float64) {
	entered := o.seen.count(at)
	n := entered - o.leave(at, entered)
	for i := range o.seen {
		if o.slow[i] {
			slow += o.seen[i].count(at) - o.out[i]
		}
		if o.failed[i] {
			failures += math.Max(o.ended[i].count(at)-o.out[i], 0)
		}
	}
	if o.trip.begun {
		n = o.calls.count(at) - o.calls.count(at-o.trip.window)
	}
	return n + math.Min(o.goods(at), o.trip.calls-n), failures, slow
}

// leave works out how many outcomes of each stream have left the window, and
// returns how many those are.
func (o *opening) leave(at, entered float64) (left float64) {
	by := at - o.trip.window
	for i := range o.seen {
		o.out[i] = 0
		if !math.IsInf(by, -1) {
			o.out[i] = o.seen[i].count(by)
		}
		left += o.out[i]
	}
	most := entered - o.trip.calls
	if !(most > left) {
		return left
	}
	// The oldest ones, some of those of an instant.
	by = o.seen.kth(most)
	left = 0
	for i := range o.seen {
		o.out[i] = o.seen[i].count(by - 2*tiny)
		left += o.out[i]
	}
	for i := range o.seen {
		more := math.Min(o.seen[i].count(by)-o.out[i], most-left)
		o.out[i] += more
		left += more
	}
	return left
}

// goods is how many of the good outcomes are young enough for the window.
func (o *opening) goods(at float64) float64 {
	switch {
	case o.goodRPS == 0:
		return 0
	case math.IsInf(o.trip.window, 1):
		return never
	}
	// The j-th last one was known 1/rps after the one before it.
	return math.Max(math.Ceil(o.goodRPS*(o.goodTakes-at+o.trip.window)-tiny)-1+o.goodMore, 0)
}
