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
	x.retryLayers()
	var bare several
	for _, l := range x.links {
		for k := range l.layers {
			x.ofRetry(l, k)
			if r := l.layers[k].Retry; r != nil && !r.Waits() && x.mostAttempts(l, k) > 1 {
				bare.add(l.layers[k].place, l.label(k))
			}
		}
	}
	bare.find(x, Warning, "no-backoff", "retries without a back-off: those of calls that failed together come together")
}

// Several are the places of which the same is to be said, and their links.
type several struct{ places, links []string }

func (e *several) add(place, link string) {
	e.places, e.links = append(e.places, place), append(e.links, link)
}

// find adds one finding for all of them.
func (e *several) find(x *explainer, s Severity, rule, text string) {
	switch len(e.places) {
	case 0:
	case 1:
		x.find(s, rule, e.places[0], text, "")
	default:
		x.find(s, rule, "", fmt.Sprintf("%s, at %d places", text, len(e.places)), few(slices.Compact(e.links), ", "))
	}
}

// few joins texts, of many the first and the last ones.
func few(list []string, by string) string {
	if n := len(list); n > 8 {
		list = append(append(slices.Clone(list[:3]), fmt.Sprintf("%d more", n-6)), list[n-3:]...)
	}
	return strings.Join(list, by)
}

// retryLayers warns of retries inside others that repeat what these do.
func (x *explainer) retryLayers() {
	most, way := make([]float64, len(x.below)), make([][]string, len(x.below)) // by thing
	down := func(from int) {
		for _, l := range x.below[from] {
			n, terms := most[from], slices.Clip(way[from])
			for k := range l.layers {
				if l.layers[k].Retry == nil || x.mostAttempts(l, k) == 1 {
					continue
				}
				before := n
				n *= x.mostAttempts(l, k)
				if terms = append(slices.Clip(terms), fmt.Sprintf("%s %s", number(x.mostAttempts(l, k)), l.label(k))); before > 1 {
					x.find(Warning, "retry-layers", l.layers[k].place, fmt.Sprintf("retries inside retries: up to %s for each request", attemptsText(n)), few(terms, " × "))
				}
			}
			if n > most[l.to] {
				most[l.to], way[l.to] = n, terms
			}
		}
	}
	for k := range x.c.Clients {
		most[len(x.c.Nodes)+k] = 1
		down(len(x.c.Nodes) + k)
	}
	for _, i := range x.order {
		if most[i] > 0 {
			down(i)
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
		text[i] = few(path[i], " × ")
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
	if !x.repeatsEver(l, k) {
		x.find(Warning, "retry-never", place, "the retry repeats no error that can come to it", "")
		return
	}
	if x.mostAttempts(l, k) == 1 {
		return
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
