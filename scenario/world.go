package scenario

import (
	"fmt"
	"time"

	"github.com/stormglass/stormglass/model"
)

// A world is what claims can be about.
type world struct {
	clients, nodes, links []string
	shares                map[string]int    // first link of a breaker or budget that is shared
	source                []int             // link whose breakers a link's are
	with                  map[string][]bool // by policy: which links have it; by "write": which nodes
	horizon               time.Duration
}

// lacks names what a claim is about and its subject is without, such as "a-b
// has no breaker": what is measured there is 0 whatever happens.
func (w *world) lacks(s *statement) string {
	if s.opening >= 0 && !w.with[withBreaker][s.opening] {
		return w.links[s.opening] + " has no breaker"
	}
	if need := s.metric.needs; need != "" && !w.with[need][s.entity] {
		return fmt.Sprintf("%s has no %s", w.entities(s.metric.of)[s.entity], need)
	}
	return ""
}

// What metrics need.
const (
	withBreaker = "breaker"
	withRetry   = "retry"
	withBudget  = "budget"
	withLimit   = "limit"
	withTimeout = "timeout"
	withWrites  = "writes"
)

func (w *world) entities(of string) []string {
	switch of {
	case "client":
		return w.clients
	case "node":
		return w.nodes
	}
	return w.links
}

// world lists the entities of a model. Links are named from-to, and from-to#2
// if there are several.
func (b *builder) world(c model.Config) *world {
	w := &world{shares: make(map[string]int), with: make(map[string][]bool), horizon: c.Horizon}
	seen := make(map[string]int)
	steps := func(from string, list []model.Step) {
		for _, s := range list {
			for i := range s.Calls {
				call := &s.Calls[i]
				name := from + "-" + call.To
				if seen[name]++; seen[name] > 1 {
					name = fmt.Sprintf("%s#%d", name, seen[name])
				}
				link := len(w.links)
				w.links = append(w.links, name)
				w.source = append(w.source, link)
				has := make(map[string]bool)
				for _, stack := range []model.Stack{call.Stack, call.Sidecar} {
					for _, l := range stack {
						has[withBreaker] = has[withBreaker] || l.Breaker != nil
						has[withRetry] = has[withRetry] || l.Retry != nil
						has[withBudget] = has[withBudget] || l.Retry != nil && l.Retry.Budget != nil
						has[withLimit] = has[withLimit] || l.Limit != nil
						has[withTimeout] = has[withTimeout] || l.Timeout > 0 || l.Retry != nil && l.Retry.Deadline > 0
						if l.Breaker != nil && l.Breaker.Share != "" {
							w.source[link] = w.share(l.Breaker.Share, link)
						}
						if l.Retry != nil && l.Retry.Share != "" {
							w.share(l.Retry.Share, link)
						}
					}
				}
				for _, policy := range []string{withBreaker, withRetry, withBudget, withLimit, withTimeout} {
					w.with[policy] = append(w.with[policy], has[policy])
				}
			}
		}
	}
	for i := range c.Nodes {
		w.nodes = append(w.nodes, c.Nodes[i].Name)
		w.with[withWrites] = append(w.with[withWrites], c.Nodes[i].Writes)
		steps(c.Nodes[i].Name, c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		w.clients = append(w.clients, c.Clients[i].Name)
		steps(c.Clients[i].Name, c.Clients[i].Steps)
	}
	return w
}

func (w *world) share(name string, link int) int {
	if at, ok := w.shares[name]; ok {
		return at
	}
	w.shares[name] = link
	return link
}
