package explain

import (
	"cmp"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// never is a time that does not come, or a number without bound.
var never = math.Inf(1)

const (
	unavailable policies.ErrorCode = 503
	late        policies.ErrorCode = 504
)

// pass is how long a call is in the layers of a link from the i-th on inwards,
// where an attempt takes t seconds at the node, and with what error it ends
// then. A failing one is repeated as often as the layers do that; if all is
// well there is one attempt.
func (s *system) pass(l *link, i int, t float64, failing bool) (float64, policies.ErrorCode) {
	return s.passOf(l, i, t, failing, unavailable)
}

// passOf is pass where a failing attempt ends with an error at the node.
func (s *system) passOf(l *link, i int, t float64, failing bool, code policies.ErrorCode) (float64, policies.ErrorCode) {
	for k := len(l.layers) - 1; k >= i; k-- {
		y := &l.layers[k]
		switch {
		case y.Timeout > 0 && t >= y.Timeout.Seconds()-halfTick:
			t, code = y.Timeout.Seconds(), policies.ErrTimeout
		case y.Retry != nil && failing:
			// The retry's own deadline forbids starts and ends nothing; a timeout
			// outside ends a wait as well.
			n := attemptsWithin(y.Retry, t, limitOf(y.Retry), code, 0.5)
			if last := y.Retry.Deadline.Seconds(); last > 0 && math.IsInf(n.started, 1) {
				t += last
			} else if math.IsInf(n.started, 1) {
				t = never
			} else {
				t += n.lastAt
			}
			if d := l.deadline(k); t > d {
				t, code = d, policies.ErrTimeout
			}
		}
		if y.sidecar && (k == 0 || !l.layers[k-1].sidecar) && code == policies.ErrTimeout {
			code = late
		}
	}
	return t, code
}

// deadline is the shortest timeout in seconds that stands outside the i-th layer
// of a link, or the deadline that the caller is told.
func (l *link) deadline(i int) float64 {
	d := l.told
	for k := range i {
		if t := l.layers[k].Timeout; t > 0 {
			d = math.Min(d, t.Seconds())
		}
	}
	return d
}

// limitOf is a retry's own deadline in seconds.
func limitOf(r *model.RetryLayer) float64 {
	if r.Deadline > 0 {
		return r.Deadline.Seconds()
	}
	return never
}

// repeats reports whether a retry layer repeats an attempt that ended so.
func repeats(r *model.RetryLayer, code policies.ErrorCode) bool {
	if r.Attempts <= 1 {
		return false
	}
	on := r.RetryOn
	if on == nil {
		f, err := r.Errors.Func()
		if err != nil {
			return true
		}
		on = f
	}
	return on(policies.Outcome{Err: code})
}

// repeatsAny reports whether there is an error of an attempt at the node that the
// i-th layer of a link, a retry, repeats.
func (s *system) repeatsAny(l *link, i int) bool {
	return s.repeatsOf(l, i, func(code policies.ErrorCode) bool {
		return code != policies.ErrBreakerOpen && code != policies.ErrLimit
	})
}

// repeatsEver reports whether there is any error that it repeats.
func (s *system) repeatsEver(l *link, i int) bool {
	return s.repeatsOf(l, i, func(policies.ErrorCode) bool { return true })
}

// repeatsOf reports whether it repeats one of the errors that come to it from
// inside.
func (s *system) repeatsOf(l *link, i int, is func(policies.ErrorCode) bool) bool {
	r := l.layers[i].Retry
	for code := policies.ErrorCode(100); code < 600; code++ { // may come from any node
		if repeats(r, code) {
			return true
		}
	}
	for code := range l.inside(i+1, s.anyEnds(l)) {
		if code != good && is(code) && repeats(r, code) {
			return true
		}
	}
	return false
}

// anyEnds are ways in which an attempt of a link may end at the node, at any
// time.
func (s *system) anyEnds(l *link) ends {
	any := end{0, never, ""}
	n := &s.c.Nodes[l.to]
	e := ends{good: any, policies.ErrOther: any, policies.ErrConnect: any, policies.ErrConnectTimeout: any, policies.ErrReset: any, unavailable: any}
	for _, code := range codesOf(n) {
		e[code] = any
	}
	return e
}

// codesOf are the errors that are described at a node.
func codesOf(n *model.Node) (codes []policies.ErrorCode) {
	for _, f := range n.Faults {
		switch f.Kind {
		case model.FaultError, model.FaultLimit:
			codes = append(codes, cmp.Or(f.Code, unavailable))
		case model.FaultCrash:
			if !f.Silent {
				codes = append(codes, policies.ErrConnect, policies.ErrReset)
			}
		}
	}
	for _, a := range n.Script {
		if a.Code != 0 {
			codes = append(codes, a.Code)
		}
	}
	if n.Shed.Code != 0 {
		codes = append(codes, n.Shed.Code)
	}
	return codes
}

// waitsOf are the waits before the retries of a layer in seconds, for one share
// u of what the rule leaves open.
type waitsOf struct {
	delays   policies.Delays
	memory   policies.MemoryDelays
	u        float64
	previous time.Duration
	state    float64
	// paths are several of these in place of one, of which the mean is taken;
	// at is the mean of the last wait, for the one in the middle.
	paths []waitsOf
	at    float64
}

// middle is the share that stands for the mean wait.
const middle = 0.5

const (
	mostPaths = 64 // a power of 2
	mostMean  = 32 // waits of which the mean is worked out
)

func newWaits(r *model.RetryLayer, u float64) *waitsOf {
	w := &waitsOf{delays: r.Delays, u: u}
	if w.delays == nil {
		b, err := policies.NewBackoff(r.Backoff)
		if err != nil {
			return w
		}
		w.delays = b
	}
	w.memory, _ = w.delays.(policies.MemoryDelays)
	if u == middle {
		w.paths = make([]waitsOf, mostPaths)
		for i := range w.paths {
			w.paths[i] = waitsOf{delays: w.delays, memory: w.memory}
		}
	}
	return w
}

// after is the wait after so many attempts, to be asked in order.
func (w *waitsOf) after(attempts int) float64 {
	if w.delays == nil {
		return 0
	}
	wait := w.next(attempts)
	if w.paths == nil {
		return wait
	}
	if attempts > mostMean {
		return wait * w.at // as it was in relation to the one in the middle
	}
	// All shares come once, in another order after each attempt.
	var mean, rest time.Duration
	for i := range w.paths {
		p := &w.paths[i]
		p.u = (float64(i*(2*attempts-1)%mostPaths) + 0.5) / mostPaths
		p.next(attempts)
		mean += max(p.previous, 0) / mostPaths
		rest += max(p.previous, 0) % mostPaths
	}
	mean += rest / mostPaths
	if w.at = 1; wait > 0 {
		w.at = mean.Seconds() / wait
	}
	return mean.Seconds()
}

func (w *waitsOf) next(attempts int) float64 {
	if w.memory != nil {
		w.previous, w.state = w.memory.DelayFrom(attempts, w.state, w.u)
	} else {
		w.previous = w.delays.Delay(attempts, w.previous, w.u)
	}
	return math.Max(w.previous.Seconds(), 0)
}

// A tally says how the attempts of a request fit into a time.
type tally struct {
	started float64 // attempts that begin before the end
	full    float64 // those of them that end by then
	lastAt  float64 // when the last one begins
	ends    float64 // when all is over, at the latest at the end
	waited  float64 // sum of the waits
}

const mostCounted = 10_000 // attempts that are gone through one by one

// attemptsWithin says how many attempts of t seconds a retry layer makes within
// a time if each ends in the same error, with its waits at the share u.
func attemptsWithin(r *model.RetryLayer, t, within float64, code policies.ErrorCode, u float64) tally {
	most := 1
	if repeats(r, code) {
		most = r.Attempts
	}
	w := newWaits(r, u)
	var n tally
	for at := 0.0; ; {
		n.started++
		n.lastAt = at
		n.ends = math.Min(at+t, within)
		if at+t <= within {
			n.full++
		}
		if n.started >= float64(most) || at+t >= within-halfTick {
			return n
		}
		wait := w.after(int(n.started))
		if at+t+wait >= within-halfTick {
			return n // there is no time to begin another
		}
		n.waited += wait
		at += t + wait
		if n.started == mostCounted {
			break
		}
	}
	// The rest goes on as it went so far.
	each := n.lastAt / n.started
	more := float64(most) - n.started
	if most == policies.Unlimited {
		more = never
	}
	if each > 0 {
		more = math.Min(more, math.Floor((within-n.lastAt)/each))
		n.lastAt += more * each
		n.ends = math.Min(n.lastAt+t, within)
		n.waited += more * (each - t)
	}
	n.started += more
	n.full += more
	return n
}

// mostAttempts is the most attempts that a retry layer of a link makes of one
// call: of those that fail at once and wait as little as possible.
func (s *system) mostAttempts(l *link, i int) float64 {
	y := &l.layers[i]
	if y.most == 0 {
		y.most = 1
		if s.repeatsAny(l, i) {
			y.most = mostAttempts(l, i)
		}
	}
	return y.most
}

func mostAttempts(l *link, i int) float64 {
	r := l.layers[i].Retry
	within := math.Min(limitOf(r), l.deadline(i))
	any := model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: r.Attempts, Backoff: r.Backoff, Delays: r.Delays}}
	return attemptsWithin(&any, 0, within, unavailable, 0).started
}

// outside is the most attempts that the retries outside the i-th layer of a
// link make of a call together.
func (s *system) outside(l *link, i int) float64 {
	n := 1.0
	for k := range i {
		if l.layers[k].Retry != nil {
			n *= s.mostAttempts(l, k)
		}
	}
	return n
}
