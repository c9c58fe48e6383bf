package explain

import (
	"cmp"
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

// reach is the ways in which all links may end, by thing what its steps take
// at most, and how they may fail.
type reach struct {
	links map[*link]ends
	steps []longest
	fails []ends
}

// waits bounds the waiting of all callers and clients.
func (x *explainer) waits() {
	modelled, hanging := x.reach(false), x.reach(true)
	for i := range x.c.Clients {
		thing := len(x.c.Nodes) + i
		w, h := modelled.steps[thing], hanging.steps[thing]
		x.Waits = append(x.Waits, Wait{x.c.Clients[i].Name, false, w.t, h.t, h.why})
		if math.IsInf(w.t, 1) {
			x.find(Warning, "unbounded-wait", x.thing(thing), "no bound is known for the wait of a request: "+w.why, "")
		}
	}
	var open several
	for _, l := range x.links {
		w, h := modelled.links[l].longest(nil), hanging.links[l].longest(nil)
		x.Waits = append(x.Waits, Wait{l.name, true, w.t, h.t, h.why})
		if l.deadline(len(l.layers)) == never {
			open.add(l.place, l.name)
		}
	}
	open.find(x, Note, "no-timeout", "no timeout: a call waits as long as the callee likes")
	x.outlives(hanging)
}

// reach goes from the last nodes up to the clients.
func (x *explainer) reach(hang bool) reach {
	r := reach{make(map[*link]ends, len(x.links)), make([]longest, len(x.below)), make([]ends, len(x.below))}
	nodes := make([]ends, len(x.c.Nodes))
	of := func(thing int) {
		for _, l := range x.below[thing] {
			r.links[l] = x.callEnds(l, nodes[l.to])
		}
		r.steps[thing], r.fails[thing] = stepsEnds(x.below[thing], r.links)
	}
	for _, i := range slices.Backward(x.order) {
		of(i)
		if hang && len(x.below[i]) == 0 {
			nodes[i] = ends{good: {never, never, fmt.Sprintf("%s may hang, and no timeout ends that", x.thing(i))}}
			continue
		}
		nodes[i] = x.nodeEnds(i, r.steps[i], r.fails[i])
	}
	for i := range x.c.Clients {
		of(len(x.c.Nodes) + i)
	}
	return r
}

// outlives warns of nodes that go on calling others for longer than anybody
// waits for their answers.
func (x *explainer) outlives(r reach) {
	for _, i := range x.order {
		p, w := x.patience()[i].longest, r.steps[i]
		if w.t > p && w.t < never && !x.c.Nodes[i].Cancel && p > 0 {
			x.find(Warning, "outlives-callers", x.thing(i), fmt.Sprintf("its own calls may go on for %s, and nobody waits for it longer than %s", seconds(w.t), seconds(p)), w.why)
		}
	}
}

// A patience is how long the callers of a node wait for a call, or their own
// callers for them: the longest and the shortest time, 0 if there is no caller
// and +Inf if one has no timeout.
type patience struct{ longest, shortest float64 }

// patience is that of all nodes.
func (x *explainer) patience() []patience {
	if x.waited != nil {
		return x.waited
	}
	x.waited = make([]patience, len(x.c.Nodes))
	pass := func(from int, p patience) {
		for _, l := range x.below[from] {
			d := never
			for k := range l.layers {
				if t := l.layers[k].Timeout; t > 0 {
					d = math.Min(d, t.Seconds())
				}
			}
			w := &x.waited[l.to]
			if w.longest == 0 {
				w.shortest = never
			}
			w.longest = math.Max(w.longest, math.Min(p.longest, d))
			w.shortest = math.Min(w.shortest, math.Min(p.shortest, d))
		}
	}
	for i := range x.c.Clients {
		pass(len(x.c.Nodes)+i, patience{never, never})
	}
	for _, i := range x.order {
		if x.waited[i].longest > 0 {
			pass(i, x.waited[i])
		}
	}
	return x.waited
}

// stepsEnds is what the steps take at most, one after the other, each as long as
// its longest call; and the errors in which they may end.
func stepsEnds(below []*link, links map[*link]ends) (sum longest, fails ends) {
	fails = make(ends)
	for len(below) > 0 {
		n := 1
		for n < len(below) && below[n].step == below[0].step {
			n++
		}
		step := below[:n]
		below = below[n:]
		if w, ok := sureEnd(step, links); ok {
			sum = sum.then(w)
			continue
		}
		var most, on longest // of the step, and if the next one follows
		for _, l := range step {
			e := links[l]
			for _, code := range e.sorted() {
				if v := e[code]; code != good {
					w := sum.then(longest{v.most, v.why})
					fails.add(answerCode(code), end{v.least, w.t, w.why})
				}
			}
			most.max(e.longest(nil))
			on.max(e.longest(func(code policies.ErrorCode) bool { return code == good || l.need > 0 }))
		}
		if len(below) == 0 {
			on = most
		}
		sum = sum.then(on)
	}
	return longestOf(sum, fails), fails
}

// sureEnd is when as many calls of a step as it needs have been answered well at
// the latest; false if there are not so many that never fail.
func sureEnd(step []*link, links map[*link]ends) (longest, bool) {
	need := float64(step[0].need)
	if need == 0 {
		return longest{}, false
	}
	var sure []*link
	for _, l := range step {
		if _, ok := links[l][good]; ok && len(links[l]) == 1 {
			sure = append(sure, l)
		}
	}
	slices.SortStableFunc(sure, func(a, b *link) int { return cmp.Compare(links[a][good].most, links[b][good].most) })
	for _, l := range sure {
		if need -= l.times; need <= 0 {
			return links[l].longest(nil), true
		}
	}
	return longest{}, false
}

// longestOf is a time or that of an end that is longer.
func longestOf(w longest, e ends) longest {
	w.max(e.longest(nil))
	return w
}

// max takes over a longer time, or one with a reason.
func (w *longest) max(v longest) {
	if v.t > w.t || w.why == "" {
		*w = v
	}
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

// callEnds is how a call of a link may end, given how the node answers.
func (x *explainer) callEnds(l *link, node ends) ends {
	there, back := longestLaw(&l.call.Request, "the way of "+l.name), longestLaw(&l.call.Response, "the way back of "+l.name)
	e := make(ends, len(node)+2)
	for code, v := range node {
		w := there.then(longest{v.most, v.why}).then(back)
		e[code] = end{v.least, w.t, w.why}
	}
	e = l.inside(0, e)
	e.cut(l.told, false, fmt.Sprintf("the deadline that %s is told", x.thing(l.from)))
	return e
}
