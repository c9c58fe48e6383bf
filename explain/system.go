package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
)

// A system is a valid Config with its calls as a list, and the rates that
// follow from it.
type system struct {
	c     *model.Config
	node  map[string]int
	order []int // of nodes: each before those that it calls
	links []*link
	below [][]*link // by thing, nodes first, then clients: its calls in order
	took  []float64 // by node: mean time of a good call, seconds
	rates []rate    // by client
	// meant[client][node] is how often a request leads to a call of the node,
	// retries apart.
	meant [][]float64
	most  [][]float64 // the same with all retries; nil if not known yet
}

// A link is a call with its layers.
type link struct {
	from    int // a node, or a client behind the nodes
	to      int
	step    int
	need    int // calls of the step that must succeed, 0 for all
	call    *model.Call
	place   string // as in the notes of the model
	name    string // as in model.Config.Links
	times   float64
	callers float64 // how many programs share its calls
	layers  []layer // of both stacks, the outermost first
	told    float64 // seconds until the caller must have answered itself, as far as it is told; +Inf if it is not
}

// A layer is one of the policies of a link.
type layer struct {
	*model.Layer
	place   string
	sidecar bool
	most    float64 // attempts of a retry, 0 if not known yet
	bound   float64 // the same with its budget
}

func newSystem(c *model.Config) *system {
	s := &system{c: c, node: make(map[string]int), below: make([][]*link, len(c.Nodes)+len(c.Clients))}
	for i := range c.Nodes {
		s.node[c.Nodes[i].Name] = i
	}
	s.list()
	s.sort()
	s.tell()
	s.took = make([]float64, len(c.Nodes))
	for k := len(s.order) - 1; k >= 0; k-- {
		i := s.order[k]
		s.took[i] = s.service(i) + s.stepsTake(i)
	}
	for i := range c.Clients {
		s.meant = append(s.meant, s.spread(i, func(*link) float64 { return 1 }))
	}
	for i := range c.Clients {
		s.rates = append(s.rates, s.rateOf(i))
	}
	return s
}

// list makes the links: those of the clients before those of the nodes.
func (s *system) list() {
	for _, c := range s.c.Links() {
		l := &link{
			from: c.Caller, to: s.node[c.To], step: c.Step, need: s.steps(c.Caller)[c.Step].Need, call: c.Call, name: c.Name,
			callers: float64(c.Instances), times: float64(max(c.Times, 1)),
			place: fmt.Sprintf("%s, step %d, call %d to %q", s.thing(c.Caller), c.Step+1, c.Place+1, c.To),
		}
		for k := range c.Stack {
			l.layers = append(l.layers, layer{&c.Stack[k], fmt.Sprintf("%s, stack layer %d", l.place, k+1), false, 0, 0})
		}
		for k := range c.Sidecar {
			l.layers = append(l.layers, layer{&c.Sidecar[k], fmt.Sprintf("%s, sidecar layer %d", l.place, k+1), true, 0, 0})
		}
		s.below[l.from] = append(s.below[l.from], l)
	}
	nodes := len(s.c.Nodes)
	s.links = slices.Concat(slices.Concat(s.below[nodes:]...), slices.Concat(s.below[:nodes]...))
}

// thing names a node or a client as the model's notes do.
func (s *system) thing(i int) string {
	if i < len(s.c.Nodes) {
		return fmt.Sprintf("node %q", s.c.Nodes[i].Name)
	}
	return fmt.Sprintf("client %q", s.c.Clients[i-len(s.c.Nodes)].Name)
}

// sort puts the nodes in order; there is no cycle.
func (s *system) sort() {
	done := make([]bool, len(s.c.Nodes))
	var visit func(int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for _, l := range s.below[i] {
			visit(l.to)
		}
		s.order = append(s.order, i)
	}
	for i := range s.c.Nodes {
		visit(i)
	}
	slices.Reverse(s.order)
}

// tell works out which deadlines the nodes know of: the latest that they are
// told, if all of their callers tell one.
func (s *system) tell() {
	told := make([]float64, len(s.c.Nodes))
	pass := func(from int, known float64) {
		for _, l := range s.below[from] {
			l.told = known
			d := never
			if l.call.PropagateDeadline {
				d = l.deadline(len(l.layers))
			}
			told[l.to] = math.Max(told[l.to], d)
		}
	}
	for i := range s.c.Clients {
		pass(len(s.c.Nodes)+i, never)
	}
	for _, i := range s.order {
		if told[i] == 0 {
			told[i] = never // nobody calls it
		}
		pass(i, told[i])
	}
}

// spread says how many calls of each node a request of a client leads to if a
// call of a link is made factor times.
func (s *system) spread(client int, factor func(*link) float64) []float64 {
	n := make([]float64, len(s.c.Nodes))
	for _, l := range s.below[len(s.c.Nodes)+client] {
		n[l.to] += l.times * factor(l)
	}
	for _, i := range s.order {
		if n[i] > 0 {
			for _, l := range s.below[i] {
				n[l.to] += n[i] * l.times * factor(l)
			}
		}
	}
	return n
}

// reaches is how many calls over a link a request of a client leads to, given
// those of the nodes.
func (s *system) reaches(l *link, client int, nodes []float64) float64 {
	if k := l.from - len(s.c.Nodes); k >= 0 {
		if k == client {
			return l.times
		}
		return 0
	}
	return nodes[l.from] * l.times
}

// instances is how many programs share the calls of a link.
func (s *system) instances(l *link) float64 { return l.callers }

// steps are those of a node or a client.
func (s *system) steps(thing int) []model.Step {
	if thing < len(s.c.Nodes) {
		return s.c.Nodes[thing].Steps
	}
	return s.c.Clients[thing-len(s.c.Nodes)].Steps
}

// callRate is how many calls a second enter a link, retries apart; calls whose
// callers retry are more by what more says, nil for none.
func (s *system) callRate(l *link, more [][]float64) (r rate) {
	if more == nil {
		more = s.meant
	}
	for i := range s.rates {
		if n := s.reaches(l, i, more[i]); n > 0 {
			r.rps += s.rates[i].rps * n
			r.random = r.random || s.rates[i].random
			r.closed = r.closed || s.rates[i].closed
		}
	}
	return r
}

// service is the mean time of a node's own work in seconds.
func (s *system) service(i int) float64 {
	n := &s.c.Nodes[i]
	if n.ScriptRepeat && len(n.Script) > 0 {
		sum, calls := 0.0, 0.0
		for _, a := range n.Script {
			k := float64(max(a.Times, 1))
			sum += k * a.Service.Seconds()
			calls += k
		}
		return sum / calls
	}
	return n.Service.MeanDuration().Seconds()
}

// stepsTake is the mean time that the calls of a thing take, one step after the
// other.
func (s *system) stepsTake(thing int) float64 { return s.stepsBefore(thing, math.MaxInt) }

// stepsBefore is stepsTake of the steps before one.
func (s *system) stepsBefore(thing, step int) float64 {
	sum := 0.0
	for below := s.below[thing]; len(below) > 0 && below[0].step < step; {
		n := 1
		for n < len(below) && below[n].step == below[0].step {
			n++
		}
		sum += s.stepTakes(below[:n])
		below = below[n:]
	}
	return sum
}

// stepTakes is when as many calls of a step have been answered as it needs.
func (s *system) stepTakes(calls []*link) float64 {
	type answer struct{ at, times float64 }
	answers, all := make([]answer, len(calls)), 0.0
	for i, l := range calls {
		at, _ := s.pass(l, 0, s.linkTime(l), false)
		answers[i] = answer{at, l.times}
		all += l.times
	}
	slices.SortFunc(answers, func(a, b answer) int { return cmp.Compare(a.at, b.at) })
	need := float64(calls[0].need)
	if need == 0 {
		need = all
	}
	for _, a := range answers {
		if need -= a.times; need <= 0 {
			return a.at
		}
	}
	return answers[len(answers)-1].at
}

// linkTime is the mean time of an attempt from sending to the answer.
func (s *system) linkTime(l *link) float64 {
	return l.call.Request.MeanDuration().Seconds() + s.took[l.to] + l.call.Response.MeanDuration().Seconds()
}
