package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/policies"
)

// Attempts is how often one request of a client makes others call a node.
type Attempts struct {
	Client, Node string
	// Meant is the number of calls if all goes well, fan-out included; Worst
	// that of attempts if every call of the node fails, +Inf without bound;
	// Bounded the same in the long run, with the budgets.
	Meant, Worst, Bounded float64
	// Product says how Worst comes about on the path that contributes most.
	Product string
}

// attempts works out the worst case of each client and node, and warns of
// retries that multiply.
func (x *explainer) attempts() {
	worst := func(l *link) float64 { return x.outside(l, len(l.layers)) }
	for i := range x.c.Clients {
		most := x.spread(i, worst)
		bounded := x.spread(i, x.boundedFactor)
		products := x.products(i)
		for j := range x.c.Nodes {
			if x.meant[i][j] > 0 {
				x.Attempts = append(x.Attempts, Attempts{
					x.c.Clients[i].Name, x.c.Nodes[j].Name, x.meant[i][j], most[j], math.Min(bounded[j], most[j]), products[j],
				})
			}
		}
	}
	for _, l := range x.links {
		for k := range l.layers {
			x.ofRetry(l, k)
		}
	}
}

// boundedFactor is how often a link's calls are made in the long run.
func (x *explainer) boundedFactor(l *link) float64 {
	n := 1.0
	for k := range l.layers {
		if l.layers[k].Retry != nil {
			n *= math.Min(x.mostAttempts(l, k), x.budgetBound(l, k))
		}
	}
	return n
}

// products writes the worst case of each node as a product along the path that
// contributes most.
func (x *explainer) products(client int) []string {
	best := make([]float64, len(x.c.Nodes))
	path := make([][]string, len(x.c.Nodes))
	down := func(from int, n float64, before []string) {
		for _, l := range x.below[from] {
			m := n * l.times * x.outside(l, len(l.layers))
			if m <= best[l.to] {
				continue
			}
			terms := append([]string(nil), before...)
			if l.times > 1 {
				terms = append(terms, fmt.Sprintf("%g calls of %s", l.times, l.name))
			}
			for k := range l.layers {
				if l.layers[k].Retry == nil {
					continue
				}
				if a := x.mostAttempts(l, k); a > 1 {
					terms = append(terms, fmt.Sprintf("%s %s", number(a), l.label(k)))
				}
			}
			best[l.to], path[l.to] = m, terms
		}
	}
	down(len(x.c.Nodes)+client, 1, nil)
	for _, i := range x.order {
		if best[i] > 0 {
			down(i, best[i], path[i])
		}
	}
	text := make([]string, len(path))
	for i := range path {
		if p := path[i]; len(p) > 8 {
			path[i] = append(append(slices.Clip(p[:3]), fmt.Sprintf("%d more", len(p)-6)), p[len(p)-3:]...)
		}
		text[i] = strings.Join(path[i], " × ")
	}
	return text
}

// label names a layer in a word: the link, and whether it is the sidecar's.
func (l *link) label(k int) string {
	if l.layers[k].sidecar {
		return l.name + " sidecar"
	}
	return l.name
}

// ofRetry says what is to be said of one retry layer.
func (x *explainer) ofRetry(l *link, k int) {
	r := l.layers[k].Retry
	if r == nil || r.Attempts == 1 {
		return
	}
	place := l.layers[k].place
	if !repeatsAny(r) {
		x.find(Warning, "retry-never", place, "the retry repeats no error that there is", "")
		return
	}
	if !r.Waits() {
		x.find(Warning, "no-backoff", place, fmt.Sprintf("%s without a back-off: the retries of calls that failed together come together", attemptsText(float64(r.Attempts))), "")
	}
	to := &x.c.Nodes[l.to]
	guarded := r.Guard != nil && r.Guard.Asks(policies.GuardIdempotent)
	if u := l.call.UnsafeRatio; u > 0 && !guarded {
		x.find(Problem, "unsafe-retry", place, "calls that must not be made twice are repeated: no guard asks whether they may",
			fmt.Sprintf("%s of the calls, up to %s each", share(u), attemptsText(x.mostAttempts(l, k))))
	} else if u == 0 && to.Writes && !to.Dedup {
		x.find(Warning, "repeated-write", place, fmt.Sprintf("retries of writes that %q does not recognise: an answer that is lost or late leads to a second effect", to.Name), "")
	}
}
