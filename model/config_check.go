package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/stormglass/stormglass/names"
)

// The largest systems that are accepted: far above what a machine can run, and
// low enough for no count to overflow.
const (
	maxServers   = 1_000_000     // replicas of all nodes
	maxInstances = 10_000_000    // of all clients, and programs in a closed loop
	maxTimes     = 1_000_000     // equal calls side by side
	maxLayers    = 1_000         // of a stack
	maxCalls     = 1_000_000_000 // that one request leads to, retries apart
	maxIntervals = 10_000_000    // of a series
	maxPolicies  = 20_000_000    // budgets, breakers and limits
)

// Validate reports everything that is wrong with the system, each problem by
// the name of the thing, the field, its value and the rule, in the order of
// the nodes and the clients; nil if nothing is. What is allowed but may not be
// meant is in [Config.Notes].
func (c Config) Validate() error {
	k := &check{config: &c, node: make(map[string]int, len(c.Nodes)), shares: make(map[string]shared)}
	k.times()
	k.names()
	k.sizes()
	for i := range c.Nodes {
		k.checkNode(&c.Nodes[i])
	}
	for i := range c.Clients {
		k.checkClient(&c.Clients[i])
	}
	k.topology()
	return errors.Join(k.errs...)
}

// A check gathers the problems of a Config.
type check struct {
	config *Config
	node   map[string]int // the first node of each name
	known  []string       // the names of the nodes, in order
	shares map[string]shared
	errs   []error
}

func (k *check) add(thing, format string, args ...any) {
	k.errs = append(k.errs, errors.New("model: "+thing+": "+fmt.Sprintf(format, args...)))
}

// addUnknown reports a name that is not among the known ones.
func (k *check) addUnknown(thing, field, name string, known ...string) {
	k.add(thing, "%s %q, %s", field, name, names.Known(name, known))
}

func (k *check) times() {
	c := k.config
	if c.Horizon <= 0 {
		k.add("config", "horizon %v, want above 0s", c.Horizon)
	}
	if c.Warmup < 0 || c.Warmup >= max(c.Horizon, 1) {
		k.add("config", "warm-up %v, want from 0s to below the horizon %v", c.Warmup, c.Horizon)
	}
	if c.Interval < 0 {
		k.add("config", "interval %v, want above 0s, or 0s for no series", c.Interval)
	} else if c.Interval > 0 && c.Horizon/c.Interval > maxIntervals {
		k.add("config", "interval %v, want at most %d in the horizon %v", c.Interval, maxIntervals, c.Horizon)
	}
}

func (k *check) names() {
	client := make(map[string]bool, len(k.config.Clients))
	for i, n := range k.config.Nodes {
		thing := nodeThing(n.Name)
		if n.Name == "" {
			k.add(fmt.Sprintf("node %d", i+1), "name %q, want a name", n.Name)
			continue
		}
		if rule := nameProblem(n.Name); rule != "" {
			k.add(thing, "name %q, %s", n.Name, rule)
		}
		if _, twice := k.node[n.Name]; twice {
			k.add(thing, "name %q, want one that no other node has", n.Name)
			continue
		}
		k.node[n.Name] = i
		k.known = append(k.known, n.Name)
	}
	for i, c := range k.config.Clients {
		thing := clientThing(c.Name)
		if c.Name == "" {
			k.add(fmt.Sprintf("client %d", i+1), "name %q, want a name", c.Name)
			continue
		}
		if rule := nameProblem(c.Name); rule != "" {
			k.add(thing, "name %q, %s", c.Name, rule)
		}
		if _, twice := k.node[c.Name]; twice || client[c.Name] {
			k.add(thing, "name %q, want one that no node and no other client has", c.Name)
		}
		client[c.Name] = true
	}
	if len(k.config.Clients) == 0 {
		k.add("config", "0 clients, want at least 1")
	}
}

func nodeThing(name string) string   { return fmt.Sprintf("node %q", name) }
func clientThing(name string) string { return fmt.Sprintf("client %q", name) }

// sizes adds up what would be made for each replica and each instance.
func (k *check) sizes() {
	servers, instances, policies := 0.0, 0.0, 0.0
	for i := range k.config.Nodes {
		n := &k.config.Nodes[i]
		each := float64(max(n.Replicas, 1))
		servers += each
		policies += each * float64(privatePolicies(n.Steps))
	}
	for i := range k.config.Clients {
		c := &k.config.Clients[i]
		each := float64(max(c.Instances, 1))
		instances += each
		policies += each * float64(privatePolicies(c.Steps))
	}
	if servers > maxServers {
		k.add("config", "%g replicas of all nodes, want at most %d", servers, maxServers)
	}
	if instances > maxInstances {
		k.add("config", "%g instances of all clients, want at most %d", instances, maxInstances)
	}
	if policies > maxPolicies {
		k.add("config", "%g budgets, breakers and limits of all instances, want at most %d", policies, maxPolicies)
	}
}

// privatePolicies counts what each instance has for itself.
func privatePolicies(steps []Step) int {
	count := 0
	for _, s := range steps {
		for _, c := range s.Calls {
			for _, stack := range []Stack{c.Stack, c.Sidecar} {
				for _, l := range stack {
					switch {
					case l.Retry != nil && l.Retry.Budget != nil && l.Retry.Share == "",
						l.Breaker != nil && l.Breaker.Share == "",
						l.Limit != nil && l.Limit.Share == "":
						count++
					}
				}
			}
		}
	}
	return count
}

// span checks the bounds of something that is on during [start, end), where
// end 0 means the horizon.
func (k *check) span(thing string, start, end time.Duration) {
	switch {
	case start < 0:
		k.add(thing, "start %v, want at least 0s", start)
	case end < 0:
		k.add(thing, "end %v, want above 0s, or 0s for the horizon", end)
	case end != 0 && end <= start:
		k.add(thing, "end %v, want above the start %v, or 0s for the horizon", end, start)
	case end == 0 && k.config.Horizon > 0 && start >= k.config.Horizon:
		k.add(thing, "start %v, want below the horizon %v", start, k.config.Horizon)
	}
}
