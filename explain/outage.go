package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// An outage is that of the callee of a link: its calls take so long, or never
// end, and all of them fail.
type outage struct {
	*explainer
	l       *link
	takes   float64   // seconds of an attempt of the link; +Inf if it hangs
	fails   []float64 // by node: how long a call of it takes that fails for this, 0 if it does not
	retries bool
	saved   bool // budgets are full, as after good times; otherwise as at the start
	rough   bool // waits are of chance, budgets refuse some, or there are more retries than are gone through
}

func (x *explainer) outage(l *link, takes float64) *outage {
	o := &outage{explainer: x, l: l, takes: takes, fails: make([]float64, len(x.c.Nodes)), retries: true}
	for k := len(x.order) - 1; k >= 0; k-- {
		i := x.order[k]
		o.fails[i] = o.failing(i)
	}
	return o
}

// failing is how long a call of a node or a request of a client takes until it
// has failed, 0 if it does not lead to the link.
func (o *outage) failing(thing int) float64 {
	before := 0.0
	if thing < len(o.c.Nodes) {
		before = o.service(thing)
	}
	for _, m := range o.below[thing] {
		if t, ok := o.attempt(m); ok {
			t, _ = o.pass(m, 0, t, true)
			return math.Max(before+t, math.SmallestNonzeroFloat64)
		}
	}
	return 0
}

// attempt is how long an attempt of a link takes, and whether it fails.
func (o *outage) attempt(m *link) (float64, bool) {
	if m == o.l {
		return o.takes, true
	}
	if t := o.fails[m.to]; t > 0 {
		return m.call.Request.MeanDuration().Seconds() + t + m.call.Response.MeanDuration().Seconds(), true
	}
	return 0, false
}

// A start is when calls begin, after the request that leads to them, and how
// they end.
type start struct {
	after, times float64
	cut          cut     // of times
	takes        float64 // until they come to an end, or are cut
	code         policies.ErrorCode
}

// feed is when the calls come to the i-th layer of the link in one of the
// instances, and how they end for a breaker there.
func (o *outage) feed(i int, instances float64, class func(policies.ErrorCode) policies.Class) feed {
	var f feed
	for c := range o.c.Clients {
		nodes := make([][]start, len(o.c.Nodes))
		own := []start{{times: 1}}
		pass := func(thing int, own []start) {
			for _, m := range o.below[thing] {
				if _, leads := o.attempt(m); !leads {
					continue
				}
				upTo := len(m.layers)
				if m == o.l {
					upTo = i
				}
				starts := o.through(m, upTo, own)
				if m == o.l {
					f = append(f, o.streams(c, i, starts, instances, class)...)
				}
				nodes[m.to] = fewer(append(nodes[m.to], starts...), mostStreams)
			}
		}
		pass(len(o.c.Nodes)+c, own)
		for _, n := range o.order {
			if len(nodes[n]) > 0 {
				pass(n, nodes[n])
			}
		}
	}
	return f
}

// streams are the calls of a client that come so to the i-th layer.
func (o *outage) streams(client, i int, starts []start, instances float64, class func(policies.ErrorCode) policies.Class) (f feed) {
	r := &o.rates[client]
	c := &o.c.Clients[client]
	room := o.underWay(client, i, instances)
	if room.refuses && len(starts) > 1 {
		starts = room.oneStart(starts, r.rps/instances)
		o.rough = true
	}
	for _, s := range starts {
		t := stream{size: s.times, first: s.after, rps: math.Min(r.rps/instances, 1/tiny), cut: s.cut, client: client}
		if t.rps == 0 {
			continue
		}
		class := class(s.code)
		t.finish = finish{s.takes, class == policies.Failure, class == policies.Ignored}
		together := o.together(client, instances)
		switch {
		case together > 1 && together <= room.most:
			// Clients of a closed loop, who begin together, go on so.
			t.size, t.rps, t.burst, t.period = s.times*together, t.rps/together, 1, math.Max(room.holds, tiny)
		case room.refuses && room.most < room.holds*t.rps*t.size:
			t.size, t.rps = 1, t.rps*t.size
			t.burst, t.period = room.most, math.Ceil(room.holds*t.rps-tiny)/t.rps
		case !room.refuses && room.most/t.rps < room.holds:
			t.burst, t.period = room.most, room.holds
		}
		if c.Requests > 0 {
			t.total = math.Ceil(float64(c.Requests) / (instances * together))
		}
		if c.End > 0 && c.End < o.c.Horizon {
			if n := math.Ceil((c.End-c.Start).Seconds()*t.rps - tiny); t.total == 0 || n < t.total {
				t.total = n
			}
		}
		f = append(f, t)
	}
	return f
}

// together is how many clients of a closed loop make their requests to an
// instance at the same time, because nothing is left to chance.
func (o *outage) together(client int, instances float64) float64 {
	c := &o.c.Clients[client]
	if !o.rates[client].closed {
		return 1
	}
	if n := float64(c.Loop.Clients) / instances; !o.rates[client].random && c.Spread == 0 && n == math.Floor(n) {
		return n
	}
	o.rough = true
	return 1
}

// A room is how many calls may be under way at a time, +Inf for any number, and
// how long each of them stays; the others wait or are refused.
type room struct {
	most, holds float64
	refuses     bool
}

// oneStart is what a room lets through of attempts that come at a rate of calls,
// if it has no place for all of them: first ones and others alike.
func (r room) oneStart(starts []start, rps float64) []start {
	all := 0.0
	for _, s := range starts {
		all += s.times
	}
	if rps*all*r.holds <= r.most {
		return starts
	}
	one := starts[0]
	if rps*one.times*r.holds <= r.most {
		one.times = all
	}
	return []start{one}
}

// underWay is how many calls an instance of the caller makes at a time, with
// those that come to the i-th layer of the link.
func (o *outage) underWay(client, i int, instances float64) room {
	r := room{most: never}
	atMost := func(n, t float64, refuses bool) {
		if n = math.Max(math.Floor(n/instances), 1); t > 0 && (math.IsInf(r.most, 1) || n/t < r.most/r.holds || math.IsInf(t, 1) && n < r.most) {
			r = room{n, t, refuses}
		}
	}
	if o.l.from < len(o.c.Nodes) {
		if n := &o.c.Nodes[o.l.from]; !n.Async && n.Workers != model.Unlimited {
			atMost(float64(n.Workers*max(n.Replicas, 1)), o.fails[o.l.from], false)
		}
	}
	if c := &o.c.Clients[client]; o.rates[client].closed {
		atMost(float64(c.Loop.Clients), o.failing(len(o.c.Nodes)+client)+c.Loop.Think.MeanDuration().Seconds()+c.FailurePause.Seconds(), false)
	}
	for j := range i {
		if m := o.l.layers[j].Limit; m != nil {
			n := float64(m.InFlight)
			if m.Share == "" {
				n *= instances
			}
			t, _ := o.pass(o.l, j+1, o.takes, true)
			atMost(n, t, true)
		}
	}
	return r
}

// through is when the attempts begin that come out of the first layers of a
// link, where its calls begin so.
func (o *outage) through(m *link, upTo int, own []start) []start {
	takes, failing := o.attempt(m)
	first := start{times: m.times}
	first.takes, first.code = o.pass(m, upTo, takes, true)
	list := []start{first}
	for j := upTo - 1; j >= 0 && failing; j-- {
		y := &m.layers[j]
		if y.Retry != nil && o.retries {
			each, code := o.pass(m, j+1, takes, true)
			ats, more := attemptStarts(y.Retry, each, math.Min(limitOf(y.Retry), m.deadline(j)), code)
			granted := o.granted(m, j, each, float64(len(ats)-1), o.saved)
			for k := range ats[1:] {
				ats[k+1].cut = granted
			}
			shortest := newWaits(y.Retry, 0).after(1)
			o.rough = o.rough || more || granted.refused > 0 || len(ats) > 1 && newWaits(y.Retry, 1).after(1) > shortest
			list = product(ats, list)
		}
		if y.Timeout > 0 {
			list = cutAt(list, y.Timeout.Seconds(), policies.ErrTimeout)
		}
	}
	if failing {
		list = cutAt(list, m.told, policies.ErrTimeout)
		if left := o.patience(m.from); left < never {
			list = cutAt(list, left, policies.ErrLeft)
		}
	}
	return product(own, list)
}

// cutAt leaves out what begins after a time and ends what is under way then.
func cutAt(list []start, t float64, code policies.ErrorCode) []start {
	n := 0
	for _, s := range list {
		if s.after >= t && s.after > 0 {
			continue
		}
		if s.after+s.takes >= t {
			s.takes, s.code = t-s.after, code
		}
		list[n] = s
		n++
	}
	return list[:n]
}

// patience is after how long the callers of a node have gone at the latest, if
// that ends its calls.
func (o *outage) patience(thing int) float64 {
	if thing >= len(o.c.Nodes) || !o.c.Nodes[thing].Cancel {
		return never
	}
	p := 0.0
	for _, m := range o.links {
		if m.to == thing {
			p = math.Max(p, m.deadline(len(m.layers)))
		}
	}
	return p
}

const mostProduct = 32 // of each of two lists of which both have many

// product is each of a list after each of another one.
func product(a, b []start) []start {
	if len(a) > 1 && len(b) > 1 && len(a)*len(b) > mostProduct*mostProduct {
		a, b = fewer(a, mostProduct), fewer(b, mostProduct)
	}
	p := make([]start, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			p = append(p, start{x.after + y.after, x.times * y.times, x.cut.and(y.cut), y.takes, y.code})
		}
	}
	return fewer(p, mostStreams)
}

// fewer joins starts if there are more than n: the later half, at the earlier
// one of neighbours.
func fewer(list []start, n int) []start {
	if len(list) <= n {
		return list
	}
	list = slices.SortedStableFunc(slices.Values(list), func(a, b start) int { return cmp.Compare(a.after, b.after) })
	head, tail := list[:n/2], list[n/2:]
	for len(tail) > n-n/2 {
		half := tail[:0]
		for i, s := range tail {
			if k := len(half) - 1; i%2 == 0 {
				half = append(half, s)
			} else {
				half[k].take(s)
			}
		}
		tail = half
	}
	return append(head, tail...)
}

// take joins other calls with these.
func (s *start) take(o start) {
	s.cut = s.cut.mean(s.times, o.cut, o.times)
	if s.times += o.times; o.takes < s.takes {
		s.takes, s.code = o.takes, o.code
	}
}

// attemptStarts is when the attempts of a retry layer begin that take so long
// and end in one error, with mean waits; cut if these are not all.
func attemptStarts(r *model.RetryLayer, takes, within float64, code policies.ErrorCode) (list []start, cut bool) {
	w := newWaits(r, 0.5)
	again := repeats(r, code) && !math.IsInf(takes, 1)
	for at := 0.0; at < within || at == 0; {
		list = append(list, start{after: at, times: 1})
		n := len(list)
		if !again || n >= r.Attempts || at+takes >= within {
			return list, false
		}
		if n == mostStreams {
			return list, true
		}
		at += takes + w.after(n)
	}
	return list, false
}
