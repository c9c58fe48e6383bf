package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies/presets"
)

// A world is what claims can be about.
type world struct {
	clients, nodes, links []string
	writes                []bool         // by node: whether it has writes
	subjects              []subject      // the links, then the names that links share something by
	shares                map[string]int // where the latter are
	breakers              []breakerGroup // those that have states
	horizon               time.Duration
}

// A subject is what a claim about links is about: a link, or the links that
// share a breaker or a budget under a name.
type subject struct {
	name     string
	links    []int
	has      map[string]bool // policies on any of its links
	guard    bool            // the name is that of a breaker
	own      int             // its own breakers in world.breakers: the private ones of the link, or the shared one; -1 if there is none
	breakers []int           // all that claims about it look at
}

// lacks names what a claim is about and its subject is without, such as "a-b
// has no breaker": what is measured there is 0 whatever happens.
func (w *world) lacks(s *statement) string {
	if s.opening >= 0 && !w.subjects[s.opening].has[withStates] {
		return fmt.Sprintf("%s has no %s", w.subjects[s.opening].name, withStates)
	}
	if !w.has(s.metric, s.entity) {
		return fmt.Sprintf("%s has no %s", s.name, s.metric.needs)
	}
	return ""
}

// has reports whether a node or subject has what a metric needs.
func (w *world) has(m *metric, entity int) bool {
	switch m.needs {
	case "":
		return true
	case withWrites:
		return w.writes[entity]
	}
	return w.subjects[entity].has[m.needs]
}

// having are those of some clients, nodes or links that have what a metric
// needs; all if none has.
func (w *world) having(m *metric, known []string) []string {
	var list []string
	for i, name := range known {
		if w.has(m, i) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return known
	}
	return list
}

// What metrics need.
const (
	withBreaker = "breaker"
	withStates  = "breaker that opens" // no throttle
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

// world lists the entities of a model.
func (b *builder) world(c model.Config) *world {
	w := &world{shares: make(map[string]int), horizon: c.Horizon}
	for i := range c.Nodes {
		w.nodes, w.writes = append(w.nodes, c.Nodes[i].Name), append(w.writes, c.Nodes[i].Writes)
	}
	for i := range c.Clients {
		w.clients = append(w.clients, c.Clients[i].Name)
	}
	links := c.Links()
	for i := range links {
		w.links = append(w.links, links[i].Name)
		w.subject(links[i].Name, false)
	}
	for i := range links {
		w.policies(i, &links[i])
	}
	w.group(c)
	return w
}

// subject adds a subject and returns its place.
func (w *world) subject(name string, guard bool) int {
	w.subjects = append(w.subjects, subject{name: name, guard: guard, own: -1, has: make(map[string]bool)})
	return len(w.subjects) - 1
}

// policies notes what a link has, and by which names it shares it.
func (w *world) policies(link int, l *model.Link) {
	at := []int{link}
	share := func(name string, guard bool) {
		if name == "" {
			return
		}
		s, known := w.shares[name]
		if !known {
			s = w.subject(name, guard)
			w.shares[name] = s
		}
		if !slices.Contains(at, s) {
			at = append(at, s)
		}
	}
	has := make(map[string]bool)
	for _, layer := range slices.Concat(l.Stack, l.Sidecar) {
		if b := layer.Breaker; b != nil {
			has[withBreaker] = true
			has[withStates] = has[withStates] || !presets.IsThrottle(b.Preset)
			share(b.Share, true)
		}
		if r := layer.Retry; r != nil {
			has[withRetry] = true
			has[withBudget] = has[withBudget] || r.Budget != nil
			has[withTimeout] = has[withTimeout] || r.Deadline > 0
			share(r.Share, false)
		}
		has[withTimeout] = has[withTimeout] || layer.Timeout > 0
		has[withLimit] = has[withLimit] || layer.Limit != nil
	}
	for _, s := range at {
		w.subjects[s].links = append(w.subjects[s].links, link)
		for policy, there := range has {
			w.subjects[s].has[policy] = w.subjects[s].has[policy] || there
		}
	}
}

// group lists the breakers that have states, and which of them are whose: all
// that stand on a link, the one that a name stands for, and those on the links
// that share a budget.
func (w *world) group(c model.Config) {
	for _, b := range breakerLayers(c) {
		if presets.IsThrottle(b.Preset) {
			continue
		}
		owner := &w.subjects[w.owner(b)]
		if owner.own < 0 {
			owner.own = len(w.breakers)
			g := breakerGroup{name: owner.name, link: b.link, shared: owner.guard}
			if g.shared && slices.Contains(w.links, g.name) {
				g.name += " (shared)"
			}
			w.breakers = append(w.breakers, g)
		}
		w.breakers[owner.own].add(b.instances)
		w.subjects[b.link].look(owner.own)
	}
	for i := len(w.links); i < len(w.subjects); i++ {
		s := &w.subjects[i]
		if s.own >= 0 {
			s.look(s.own)
		}
		for _, link := range s.links {
			if !s.guard {
				s.look(w.subjects[link].breakers...)
			}
		}
	}
}

// look adds breakers to those that claims look at, each once.
func (s *subject) look(breakers ...int) {
	for _, b := range breakers {
		if !slices.Contains(s.breakers, b) {
			s.breakers = append(s.breakers, b)
		}
	}
}

// owner is the subject whose own the breakers of a layer are.
func (w *world) owner(b breakerLayer) int {
	if b.Share != "" {
		return w.shares[b.Share]
	}
	return b.link
}
