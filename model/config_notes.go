package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A Remark is something that a valid system does that may not be meant.
type Remark struct {
	Place string // the node, client, call or layer
	policies.Remark
}

// RemarkRules lists the rules of all remarks that there can be.
func RemarkRules() []string {
	return []string{"attempt-too-long", "backoff-too-long", "minimum-above-window", "never-called", "never-happens", "no-backoff", "no-deadline", "no-effect",
		"no-pause", "no-timeout", "retry-layers", "slow-without-rate", "timeout-order", "timeout-too-short"}
}

// Notes returns the remarks in words, each after its place.
func (c Config) Notes() (notes []string) {
	for _, r := range c.Remarks() {
		notes = append(notes, r.Place+": "+r.Text)
	}
	return notes
}

// Remarks says what a valid system does that may not be meant, in the order of
// its nodes and clients, each once. A program that lets people describe systems
// should show it. The remarks hold for every run: what depends on chance or on
// the load is not among them. A system that is not valid has none.
func (c Config) Remarks() []Remark {
	if c.Validate() != nil {
		return nil
	}
	n := newNotes(&c)
	for i := range c.Nodes {
		n.ofNode(i)
	}
	for i := range c.Clients {
		n.ofClient(i)
	}
	return n.list
}

// notes gathers the notes of a Config.
type notes struct {
	config *Config
	node   map[string]int
	above  []above         // by node
	least  []time.Duration // by node: no call is answered well in less
	list   []Remark
	said   map[Remark]bool
}

// above is what a node's callers bring along: on the path where it is most.
type above struct {
	reached bool
	// wait is the shortest timeout that a caller of the node is under.
	wait   time.Duration
	waiter string // where it is, "" if there is none
	// retries are the layers that make the most attempts of one request.
	retries []retryPlace
	told    bool // of a deadline
	// endless says that a caller waits without any timeout.
	endless bool
}

// fromClient is what is above a client's own calls.
var fromClient = above{reached: true, endless: true}

type retryPlace struct {
	attempts int
	where    string
}

func newNotes(c *Config) *notes {
	n := &notes{
		config: c, node: make(map[string]int, len(c.Nodes)), said: make(map[Remark]bool),
		above: make([]above, len(c.Nodes)), least: make([]time.Duration, len(c.Nodes)),
	}
	for i := range c.Nodes {
		n.node[c.Nodes[i].Name] = i
	}
	order := newWalk(c, n.node).order
	for _, i := range order {
		n.least[i] = n.leastOf(&c.Nodes[i])
	}
	for i := range c.Clients {
		n.passDown(clientThing(c.Clients[i].Name), c.Clients[i].Steps, fromClient)
	}
	for _, i := range slices.Backward(order) {
		if n.above[i].reached {
			n.passDown(nodeThing(c.Nodes[i].Name), c.Nodes[i].Steps, n.above[i])
		}
	}
	return n
}

func (n *notes) add(place, rule, format string, args ...any) {
	r := Remark{place, policies.Remark{Rule: rule, Text: fmt.Sprintf(format, args...)}}
	if !n.said[r] {
		n.said[r] = true
		n.list = append(n.list, r)
	}
}

// passDown tells the nodes that are called in the steps what is above them.
func (n *notes) passDown(thing string, steps []Step, from above) {
	eachCall(thing, steps, func(where string, c *Call) {
		to := n.descend(where, c, from, nil)
		a := &n.above[n.node[c.To]]
		a.reached = true
		a.told = a.told || to.told
		a.endless = a.endless || to.endless
		if to.waiter != "" && (a.waiter == "" || to.wait < a.wait) {
			a.wait, a.waiter = to.wait, to.waiter
		}
		if product(to.retries) > product(a.retries) {
			a.retries = to.retries
		}
	})
}

// descend goes through the layers of a call, from what is above the caller to
// what is above the node, and shows each layer with what is outside it.
func (n *notes) descend(where string, c *Call, from above, show func(where string, l *Layer, outside above)) above {
	for _, s := range []struct {
		name  string
		stack Stack
	}{{"stack", c.Stack}, {"sidecar", c.Sidecar}} {
		for i := range s.stack {
			l := &s.stack[i]
			place := fmt.Sprintf("%s, %s layer %d", where, s.name, i+1)
			if show != nil {
				show(place, l, from)
			}
			switch {
			case l.Timeout > 0 && (from.waiter == "" || l.Timeout < from.wait):
				from.wait, from.waiter = l.Timeout, place
			case l.Retry != nil && l.Retry.Attempts > 1:
				from.retries = append(slices.Clip(from.retries), retryPlace{l.Retry.Attempts, place})
			}
			if l.Timeout > 0 {
				from.told, from.endless = true, false
			}
		}
	}
	from.told = from.told && c.PropagateDeadline
	return from
}

func eachCall(thing string, steps []Step, do func(where string, c *Call)) {
	for i := range steps {
		for j := range steps[i].Calls {
			c := &steps[i].Calls[j]
			do(fmt.Sprintf("%s, step %d, call %d to %q", thing, i+1, j+1, c.To), c)
		}
	}
}

// product is how many attempts the layers make together.
func product(retries []retryPlace) float64 {
	p := 1.0
	for _, r := range retries {
		if r.attempts == Unlimited {
			return math.Inf(1)
		}
		p *= float64(r.attempts)
	}
	return p
}

// leastOf is the shortest time in which a node can answer a call well. The
// nodes that it calls are known already.
func (n *notes) leastOf(node *Node) time.Duration {
	least := time.Duration(math.MaxInt64)
	if !node.ScriptRepeat {
		least = node.Service.Quantile(0)
		for _, s := range node.Trace {
			if law, known := s.LatencyLaw(); known {
				least = min(least, law.Quantile(0))
			}
		}
	}
	for _, a := range node.Script {
		if a.Code == 0 {
			least = min(least, a.Service)
		}
	}
	for _, f := range node.Faults {
		if f.Kind == FaultSlow && f.Factor < 1 {
			least = nanoseconds(float64(least) * f.Factor)
		}
	}
	for i := range node.Steps {
		least = addTime(least, n.leastOfStep(&node.Steps[i]))
	}
	return least
}

// leastOfStep is when as many calls as it needs can have been answered.
func (n *notes) leastOfStep(s *Step) time.Duration {
	calls := slices.Clone(s.Calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return cmp.Compare(n.leastOfCall(&a), n.leastOfCall(&b)) })
	need := s.Need
	var least time.Duration
	for i := range calls {
		least = n.leastOfCall(&calls[i])
		need -= max(calls[i].Times, 1)
		if s.Need > 0 && need <= 0 {
			break
		}
	}
	return least
}

func (n *notes) leastOfCall(c *Call) time.Duration {
	return addTime(addTime(c.Request.Quantile(0), n.least[n.node[c.To]]), c.Response.Quantile(0))
}

// addTime adds two times that are not negative; a sum beyond the longest is that.
func addTime(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
