package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A flow is how many calls a second there are, and how long they take, while all
// those of one node fail: at once if it refuses them, else when a timeout ends
// them. The clients of closed loops make as many requests as that leaves time
// for; budgets, caps and the workers of callers bound what goes on.
type flow struct {
	*explainer
	node             int
	refused, budgets bool
	fails            []bool    // by thing: it fails with the node
	t                []float64 // by thing: seconds of a call of it, or of a request
	calls            []calls   // by thing
	links            map[*link]passage
	shared           map[string]float64 // calls a second of the budget of a name
	inCap            map[string]float64 // calls in progress that a cap of a name would have to hold
}

// calls are calls a second, those of open and those of closed loops.
type calls struct{ open, loops float64 }

func (c calls) all() float64                 { return c.open + c.loops }
func (c calls) plus(d calls) calls           { return calls{c.open + d.open, c.loops + d.loops} }
func (c calls) times(n float64) calls        { return calls{times(c.open, n), times(c.loops, n)} }
func (c calls) mix(d calls, p float64) calls { return c.times(1 - p).plus(d.times(p)) }

// most is no more of the calls than n in all.
func (c calls) most(n float64) calls {
	if all := c.all(); all > n {
		return c.times(n / all)
	}
	return c
}

// A passage is what becomes of the calls of a link that fail, by layer.
type passage []passed

type passed struct {
	in    float64 // calls a second that enter it
	each  float64 // seconds that what is inside takes, and how it ends
	code  policies.ErrorCode
	fit   tally   // the attempts of a retry layer that fit
	tried float64 // those that are granted, 1 of another layer
}

const (
	mostRounds = 200 // in which rates and times are brought together
	mostTried  = 1e6 // attempts that stand for any number
)

func (x *explainer) flow(node int, refused, budgets bool) *flow {
	f := &flow{explainer: x, node: node, refused: refused, budgets: budgets, fails: make([]bool, len(x.below)), t: make([]float64, len(x.below)),
		calls: make([]calls, len(x.below)), links: make(map[*link]passage)}
	f.fails[node] = true
	for _, i := range slices.Backward(x.order) {
		f.fails[i] = f.fails[i] || f.failsAt(i) < never
	}
	for _, l := range x.links {
		if f.fails[l.to] {
			f.links[l] = make(passage, len(l.layers))
		}
	}
	for range mostRounds {
		before := f.calls[node].all()
		f.takes()
		f.passes()
		if now := f.calls[node].all(); math.Abs(now-before) <= 1e-9*now {
			break
		}
	}
	return f
}

// failsAt is the number of the step in which a thing fails, +Inf if in none: it
// does in the first that lacks more calls than it can do without.
func (f *flow) failsAt(thing int) float64 {
	step, left := -1, 0.0
	for _, l := range f.below[thing] {
		if l.step != step {
			step, left = l.step, 0
			if l.need > 0 {
				for _, o := range f.below[thing] {
					if o.step == step {
						left += o.times
					}
				}
				left -= float64(l.need)
			}
		}
		if f.fails[l.to] {
			if left -= l.times; left < 0 {
				return float64(step)
			}
		}
	}
	return never
}

// takes works out the times, from the node up to the clients.
func (f *flow) takes() {
	f.together()
	for _, i := range slices.Backward(f.order) {
		switch {
		case i != f.node:
			f.t[i] = f.service(i) + f.steps(i)
		case f.refused:
			f.t[i] = 0
		default:
			f.t[i] = never
		}
	}
	for k := range f.c.Clients {
		thing := len(f.c.Nodes) + k
		f.t[thing] = f.steps(thing)
	}
}

// steps is how long the steps of a thing take, up to that in which it fails:
// there the first call that does ends it.
func (f *flow) steps(thing int) float64 {
	at, last := f.failsAt(thing), never
	for _, l := range f.below[thing] {
		if f.fails[l.to] && float64(l.step) <= at {
			if t := f.call(l); float64(l.step) == at {
				last = math.Min(last, t)
			}
		}
	}
	if at == never {
		return f.stepsTake(thing)
	}
	return f.stepsBefore(thing, int(at)) + last
}

// together adds up what the policies see that are shared.
func (f *flow) together() {
	f.shared, f.inCap = make(map[string]float64), make(map[string]float64)
	for _, l := range f.explainer.links {
		for k, p := range f.links[l] {
			if r, m := l.layers[k].Retry, l.layers[k].Limit; r != nil && r.Share != "" {
				f.shared[r.Share] += p.in
			} else if m != nil && m.Share != "" {
				f.inCap[m.Share] += times(p.in, p.each)
			}
		}
	}
}

// call is how long a call of a link takes that fails.
func (f *flow) call(l *link) float64 {
	t, code := l.call.Request.MeanDuration().Seconds()+f.t[l.to]+l.call.Response.MeanDuration().Seconds(), unavailable
	for k := len(l.layers) - 1; k >= 0; k-- {
		y, p := &l.layers[k], &f.links[l][k]
		if t != p.each || code != p.code || p.tried == 0 {
			p.each, p.code, p.tried = t, code, 1
			if r := y.Retry; r != nil {
				p.fit = f.fit(r, t, math.Min(l.deadline(k), limitOf(r)), code)
			}
		}
		switch {
		case y.Timeout > 0 && t >= y.Timeout.Seconds()-halfTick:
			t, code = y.Timeout.Seconds(), policies.ErrTimeout
		case y.Retry != nil:
			t = f.retried(l, k, p)
			if d := l.deadline(k); t > d {
				t, code = d, policies.ErrTimeout
			}
		}
		if y.sidecar && (k == 0 || !l.layers[k-1].sidecar) && code == policies.ErrTimeout {
			code = late
		}
	}
	return t
}

// A fitting is a question of how many attempts of a retry layer fit into a time.
type fitting struct {
	r            *model.RetryLayer
	each, within float64
	code         policies.ErrorCode
}

// fit is attemptsWithin with mean waits, worked out once.
func (x *explainer) fit(r *model.RetryLayer, each, within float64, code policies.ErrorCode) tally {
	q := fitting{r, each, within, code}
	n, known := x.fits[q]
	if !known {
		n = attemptsWithin(r, each, within, code, middle)
		x.fits[q] = n
	}
	return n
}

// retried is how long a call is in a retry layer in the mean.
func (f *flow) retried(l *link, k int, p *passed) float64 {
	r := l.layers[k].Retry
	more := math.Min(p.fit.started, mostTried) - 1
	if more == 0 {
		return p.each
	}
	next := math.Min(p.fit.lastAt/more, l.deadline(0)) // from one attempt to the next
	granted := never
	if r.Budget != nil && f.budgets {
		rps := p.in / f.instances(l)
		if r.Share != "" {
			rps = f.shared[r.Share]
		}
		a := f.allowOf(l, k, more)
		granted = a.perCall(math.Max(rps, tiny), p.each, newWaits(r, 0.5).after(1))
	}
	if r.Guard != nil && r.Guard.Asks(policies.GuardIdempotent) {
		more *= 1 - l.call.UnsafeRatio
	}
	p.tried = 1 + math.Min(more, granted)
	return p.each + times(p.tried-1, next)
}

// passes works out the calls, from the clients on.
func (f *flow) passes() {
	clear(f.calls)
	for k, r := range f.rates {
		thing := len(f.c.Nodes) + k
		if !r.closed {
			f.calls[thing].open = r.lasting
		} else {
			f.calls[thing].loops = f.loopRate(k, f.t[thing])
		}
		f.down(thing)
	}
	for _, i := range f.order {
		if n := &f.c.Nodes[i]; i != f.node && f.fails[i] && !n.Async && n.Workers != model.Unlimited {
			f.calls[i] = f.calls[i].most(float64(n.Workers) * float64(max(n.Replicas, 1)) / f.t[i])
		}
		f.down(i)
	}
}

// down passes the calls of a thing on to those below it, up to the step in which
// it fails.
func (f *flow) down(thing int) {
	at := f.failsAt(thing)
	for _, l := range f.below[thing] {
		if float64(l.step) > at {
			return
		}
		c := f.calls[thing].times(l.times)
		for k := 0; k < len(l.layers) && f.fails[l.to]; k++ {
			p := &f.links[l][k]
			p.in = c.all()
			if m := l.layers[k].Limit; m != nil {
				c = c.most(f.room(l, m, p) / p.each)
			}
			c = c.times(p.tried)
		}
		f.calls[l.to] = f.calls[l.to].plus(c)
	}
}

// room is how many calls of a link a cap lets be in progress: its own, or a part
// of those of a cap that is shared.
func (f *flow) room(l *link, m *model.LimitLayer, p *passed) float64 {
	if m.Share == "" {
		return float64(m.InFlight) * f.instances(l)
	}
	if all := f.inCap[m.Share]; all > 0 && all < never {
		return float64(m.InFlight) * times(p.in, p.each) / all
	}
	return float64(m.InFlight)
}

// loopRate is how many requests a second the clients of a closed loop make if
// each ends after t seconds and fails.
func (f *flow) loopRate(client int, t float64) float64 {
	c := &f.c.Clients[client]
	if end := cmp.Or(c.End, f.c.Horizon); min(end, f.c.Horizon)-c.Start < f.c.Horizon/2 {
		return 0 // they are not there for long
	}
	return float64(c.Loop.Clients) / math.Max(c.Loop.Think.MeanDuration().Seconds()+c.FailurePause.Seconds()+t, tiny)
}
