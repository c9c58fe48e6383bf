package explain

import (
	"cmp"
	"math"
	"slices"
)

// A stream is a sequence of instants, in seconds, with so many calls of a link
// or retries of them each. They are evenly spaced; where no more than a burst of
// them are under way at a time they come in bursts, which begin a period apart.
type stream struct {
	size, first   float64
	rps           float64 // instants per second
	burst, period float64 // burst 0 for any number
	total         float64 // instants in all, 0 for any number
	client        int
	cut
	finish
}

// A cut is what budgets refuse: after so many seconds a share of the calls.
type cut struct{ until, refused float64 }

// and is one cut on top of another.
func (c cut) and(o cut) cut {
	switch {
	case c.refused == 0:
		return o
	case o.refused == 0:
		return c
	}
	return cut{math.Min(c.until, o.until), 1 - (1-c.refused)*(1-o.refused)}
}

// mean is the cut of two numbers of calls together.
func (c cut) mean(n float64, o cut, m float64) cut {
	switch {
	case c.refused == 0:
		c.until = o.until
	case o.refused > 0:
		c.until = math.Min(c.until, o.until)
	}
	return cut{c.until, (n*c.refused + m*o.refused) / (n + m)}
}

// A finish is how a call ends: so many seconds after it began, with a failure for
// a breaker, with nothing if lost, otherwise well.
type finish struct {
	takes     float64
	bad, lost bool
}

// later is the same some seconds later.
func (s stream) later(t float64) stream {
	s.first += t
	return s
}

// at is the i-th instant, counted from 0.
func (s *stream) at(i float64) float64 {
	if s.total > 0 && i >= s.total {
		return never
	}
	if s.burst == 0 {
		return s.first + i/s.rps
	}
	bursts := math.Floor(i / s.burst)
	if bursts == 0 {
		return s.first + i/s.rps
	}
	return s.first + bursts*s.period + (i-bursts*s.burst)/s.rps
}

// count is how many calls there are up to t.
func (s *stream) count(t float64) float64 {
	n := s.instants(t)
	if s.refused > 0 {
		n -= s.refused * math.Max(n-s.instants(s.first+s.until), 0)
	}
	return s.size * n
}

// instants is how many instants there are up to t.
func (s *stream) instants(t float64) float64 {
	if n := s.endless(t); s.total == 0 || n < s.total {
		return n
	}
	return s.total
}

// endless is instants without their end.
func (s *stream) endless(t float64) float64 {
	t -= s.first
	if t < -tiny {
		return 0
	}
	bursts := 0.0
	if s.burst > 0 {
		bursts = wholes(t / s.period)
	}
	if bursts == 0 {
		return s.most(wholes(s.rps*t) + 1)
	}
	return bursts*s.burst + s.most(wholes(s.rps*math.Max(t-bursts*s.period, 0))+1)
}

func (s *stream) most(n float64) float64 {
	if s.burst > 0 {
		return math.Min(n, s.burst)
	}
	return n
}

// lasting is the rate of calls in the long run, 0 if they come to an end.
func (s *stream) lasting() float64 {
	if s.total > 0 {
		return 0
	}
	rps := s.rps
	if s.burst > 0 {
		rps = math.Min(rps, s.burst/s.period)
	}
	return s.size * rps * (1 - s.refused)
}

const tiny = 1e-9 // a time and a number that roundings may make

// wholes is the whole part of x, which may be a little too small.
func wholes(x float64) float64 { return math.Floor(x + tiny + 1e-14*math.Abs(x)) }

// A feed is several streams at a time.
type feed []stream

const mostStreams = 256

// tidy joins the streams that are at the same instants, moves the first instant to 0, and
// joins neighbours at the earlier one of their beginnings if there are too many.
func (f feed) tidy() feed {
	slices.SortStableFunc(f, func(a, b stream) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.takes, b.takes)) })
	f = f.join(func(a, b stream) bool {
		return b.first-a.first <= tiny && a.finish == b.finish && a.cut == b.cut && a.rps == b.rps && a.burst == b.burst && a.period == b.period &&
			a.total == b.total && a.client == b.client
	})
	f = f.atMost(mostStreams)
	if len(f) > 0 {
		zero := f[0].first
		for i := range f {
			f[i].first -= zero
		}
	}
	return f
}

// atMost joins neighbours in the later half until there are no more than n.
func (f feed) atMost(n int) feed {
	if len(f) <= n {
		return f
	}
	head, tail := f[:n/2:n/2], f[n/2:]
	for len(tail) > n-n/2 {
		odd := false
		tail = tail.join(func(a, b stream) bool { odd = !odd; return odd })
	}
	return append(head, tail...)
}

// join joins each stream with the one before where both are one.
func (f feed) join(one func(a, b stream) bool) feed {
	var to feed
	for _, s := range f {
		if k := len(to) - 1; k >= 0 && one(to[k], s) {
			to[k].add(s)
		} else {
			to = append(to, s)
		}
	}
	return to
}

// add takes the calls of another stream in: all of them come with the earlier
// ones, and end as the first that do.
func (s *stream) add(o stream) {
	more := o.size * o.rps / s.rps
	s.cut = s.cut.mean(s.size, o.cut, more)
	if s.size += more; o.total == 0 || s.total > 0 && o.total > s.total {
		s.total = o.total
	}
	if o.takes < s.takes {
		s.finish = o.finish
	}
	s.period = math.Min(s.period, o.period)
	if s.burst = math.Max(s.burst, o.burst); o.burst == 0 || s.period == 0 {
		s.burst, s.period = 0, 0
	}
}

// lasting is the rate in the long run.
func (f feed) lasting() float64 {
	sum := 0.0
	for i := range f {
		sum += f[i].lasting()
	}
	return sum
}

// count is how many calls there are up to t.
func (f feed) count(t float64) float64 {
	n := 0.0
	for i := range f {
		n += f[i].count(t)
	}
	return n
}

// next is the first instant after t, +Inf if there is none.
func (f feed) next(t float64) float64 {
	first := never
	for i := range f {
		first = math.Min(first, f[i].at(f[i].instants(t)))
	}
	return first
}

// kth is the instant of the k-th call of them all, counted from 1, +Inf if there are
// not as many.
func (f feed) kth(k float64) float64 {
	if len(f) == 0 || math.IsInf(k, 1) {
		return never
	}
	low, high := -1.0, 1.0
	for f.count(high) < k {
		if high *= 2; high > 1e12 {
			return never
		}
	}
	for range 80 {
		if mid := low + (high-low)/2; f.count(mid) < k {
			low = mid
		} else {
			high = mid
		}
	}
	return f.next(low)
}

// settled is when all streams have come and gone through a period.
func (f feed) settled() float64 {
	last := 0.0
	for i := range f {
		last = math.Max(last, f[i].first+f[i].until)
	}
	return last + 2*f.each()
}

// within is the most calls in a time without its end: once all streams have
// come, or before budgets refuse some and clients have made their last.
func (f feed) within(window float64) float64 {
	begin := f.settled() + window
	if math.IsInf(begin, 1) { // they end
		return f.count(math.MaxInt32)
	}
	each, most := f.each(), 0.0
	for i := range f {
		for _, t := range []float64{f[i].first + f[i].until, f[i].first + window - 2*tiny} {
			if f[i].refused > 0 || f[i].total > 0 {
				most = math.Max(most, f.count(t)-f.count(t-window))
			}
		}
	}
	for t, n := f.next(begin), 0; n < 10_000 && t <= begin+2*each; t, n = f.next(t), n+1 {
		most = math.Max(most, f.count(t)-f.count(t-window))
	}
	return most
}

// each is the longest time after which a stream repeats itself.
func (f feed) each() float64 {
	each := 0.0
	for i := range f {
		s := &f[i]
		each = math.Max(each, 1/s.rps)
		if s.burst > 0 {
			each = math.Max(each, s.period)
		}
	}
	return each
}
