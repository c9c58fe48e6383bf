package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Wait is the longest time that a client waits for the end of a request, or a
// caller for that of a call.
type Wait struct {
	Place string // a client, or a link
	Link  bool
	// Modelled is the time in seconds if the nodes do as they are described,
	// Hanging that if those without calls of their own never answer; +Inf if
	// there is no bound.
	Modelled, Hanging float64
	Reason            string // for Hanging
}

// A longest is a time with the reason for it.
type longest struct {
	t   float64
	why string
}

// reach is the longest times of all links, and by thing those of its steps.
type reach struct {
	links map[*link]longest
	steps []longest
}

// waits bounds the waiting of all callers and clients.
func (x *explainer) waits() {
	modelled, hanging := x.reach(false), x.reach(true)
	for i := range x.c.Clients {
		thing := len(x.c.Nodes) + i
		w, h := modelled.steps[thing], hanging.steps[thing]
		x.Waits = append(x.Waits, Wait{x.c.Clients[i].Name, false, w.t, h.t, h.why})
		if math.IsInf(w.t, 1) {
			x.find(Warning, "unbounded-wait", x.thing(thing), "a request may wait without bound: "+w.why, "")
		}
	}
	for _, l := range x.links {
		h := hanging.links[l]
		x.Waits = append(x.Waits, Wait{l.name, true, modelled.links[l].t, h.t, h.why})
		if l.deadline(len(l.layers)) == never {
			x.find(Note, "no-timeout", l.place, "no timeout: a call waits as long as the callee likes", "")
		}
	}
	x.outlives(hanging)
}

// reach goes from the last nodes up to the clients.
func (x *explainer) reach(hang bool) reach {
	r := reach{make(map[*link]longest, len(x.links)), make([]longest, len(x.below))}
	nodes := make([]longest, len(x.c.Nodes))
	of := func(thing int) {
		for _, l := range x.below[thing] {
			r.links[l] = x.longestCall(l, nodes[l.to])
		}
		r.steps[thing] = longestSteps(x.below[thing], r.links)
	}
	for _, i := range slices.Backward(x.order) {
		of(i)
		if hang && len(x.below[i]) == 0 {
			nodes[i] = longest{never, fmt.Sprintf("%s may hang, and no timeout ends that", x.thing(i))}
			continue
		}
		nodes[i] = x.longestAt(i, r.steps[i])
	}
	for i := range x.c.Clients {
		of(len(x.c.Nodes) + i)
	}
	return r
}

// outlives warns of nodes that go on calling others for longer than anybody
// waits for their answers.
func (x *explainer) outlives(r reach) {
	patience := make([]float64, len(x.c.Nodes)) // the longest that a caller waits
	pass := func(from int, p float64) {
		for _, l := range x.below[from] {
			d := p
			for k := range l.layers {
				if t := l.layers[k].Timeout; t > 0 {
					d = math.Min(d, t.Seconds())
				}
			}
			patience[l.to] = math.Max(patience[l.to], d)
		}
	}
	for i := range x.c.Clients {
		pass(len(x.c.Nodes)+i, never)
	}
	for _, i := range x.order {
		if patience[i] == 0 {
			continue // nobody calls it
		}
		pass(i, patience[i])
		w := r.steps[i]
		if w.t > patience[i] && w.t < never && !x.c.Nodes[i].Cancel {
			x.find(Warning, "outlives-callers", x.thing(i), fmt.Sprintf("its own calls may go on for %s, and nobody waits for it longer than %s", seconds(w.t), seconds(patience[i])), w.why)
		}
	}
}

// longestSteps is the sum over the steps of the longest call of each.
func longestSteps(below []*link, links map[*link]longest) longest {
	var sum, most longest
	step := 0
	for _, l := range below {
		if l.step != step {
			sum, most, step = sum.then(most), longest{}, l.step
		}
		if w := links[l]; w.t > most.t || most.why == "" {
			most = w
		}
	}
	return sum.then(most)
}

func (w longest) then(v longest) longest {
	why := w.why
	switch {
	case math.IsInf(w.t, 1) || v.why == "":
	case math.IsInf(v.t, 1) || why == "":
		why = v.why
	default:
		why += " + " + v.why
		if len(why) > 200 {
			why = "sum over the steps"
		}
	}
	return longest{w.t + v.t, why}
}

// longestLaw is the upper end of a law.
func longestLaw(l *model.Law, what string) longest {
	switch l.Kind {
	case model.Exponential, model.Lognormal, model.Gamma:
		return longest{never, fmt.Sprintf("%s has no upper bound (%s)", what, l.Kind)}
	}
	return longest{l.Quantile(math.Nextafter(1, 0)).Seconds(), ""}
}

// longestAt is the longest time from an attempt's arrival at a node to its
// answer.
func (x *explainer) longestAt(i int, calls longest) longest {
	n := &x.c.Nodes[i]
	thing := x.thing(i)
	for _, f := range n.Faults {
		switch {
		case f.Kind == model.FaultStall || f.Kind == model.FaultPause, f.Kind == model.FaultCapacity && f.Factor == 0:
			return longest{never, fmt.Sprintf("%s may stand still (%s)", thing, f.Kind)}
		case f.Kind == model.FaultCrash && f.Silent:
			return longest{never, fmt.Sprintf("%s may never answer (%s)", thing, f.Kind)}
		case f.Kind == model.FaultCapacity || f.Kind == model.FaultSlow:
			return longest{never, fmt.Sprintf("%s may be slow (%s)", thing, f.Kind)}
		}
	}
	if len(n.Trace) > 0 {
		return longest{never, thing + " follows a trace"}
	}
	service := longestLaw(&n.Service, "the service of "+thing)
	for _, a := range n.Script {
		service.t = math.Max(service.t, a.Service.Seconds())
	}
	w := service.then(calls)
	switch {
	case math.IsInf(w.t, 1) || n.Workers == model.Unlimited && n.ServicePerInFlight == 0:
	case !n.Queue.Limit.Known || n.Async && len(n.Steps) > 0 || n.ServicePerInFlight > 0 || n.Workers == model.Unlimited:
		return longest{never, "the queue of " + thing + " has no bound"}
	case n.Queue.Order == model.LIFO && n.Queue.Limit.Value > 0:
		return longest{never, "the last come is served first at " + thing}
	default:
		turns := 1 + math.Ceil(float64(n.Queue.Limit.Value)/float64(n.Workers))
		w.t *= turns
	}
	if w.why == "" {
		w.why = fmt.Sprintf("%s at %s", seconds(w.t), thing)
	}
	return w
}

// longestCall is the longest time in the layers of a link.
func (x *explainer) longestCall(l *link, node longest) longest {
	w := longestLaw(&l.call.Request, "the way of "+l.name).then(node).then(longestLaw(&l.call.Response, "the way back of "+l.name))
	for k := len(l.layers) - 1; k >= 0; k-- {
		y := &l.layers[k]
		switch {
		case y.Timeout > 0:
			if t := y.Timeout.Seconds(); w.t >= t {
				w = longest{t, fmt.Sprintf("timeout %s of %s", seconds(t), l.label(k))}
			}
		case y.Retry != nil && y.Retry.Attempts > 1 && repeatsAny(y.Retry):
			w = x.longestRetry(l, k, w)
		}
	}
	if w.t > l.told {
		w = longest{l.told, fmt.Sprintf("the deadline that %s is told", x.thing(l.from))}
	}
	return w
}

func (x *explainer) longestRetry(l *link, k int, w longest) longest {
	r := l.layers[k].Retry
	if math.IsInf(w.t, 1) {
		return w // the first attempt already
	}
	free := model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: r.Attempts, Backoff: r.Backoff, Delays: r.Delays}}
	n := attemptsWithin(&free, w.t, never, unavailable, 1)
	t := n.lastAt + w.t
	if d := r.Deadline.Seconds(); d > 0 && (!(t <= d+w.t) || r.Attempts == policies.Unlimited) {
		return longest{d + w.t, fmt.Sprintf("deadline %s and a last attempt of %s at %s", seconds(d), seconds(w.t), l.label(k))}
	}
	why := fmt.Sprintf("%s of %s at %s", attemptsText(n.started), seconds(w.t), l.label(k))
	if n.waited > 0 {
		why += fmt.Sprintf(" and %s of back-off", seconds(n.waited))
	}
	return longest{t, why}
}
