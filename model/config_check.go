package model

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/names"
)

// The largest systems that are accepted: near what the memory of a machine can
// hold, and low enough for no count to overflow.
const (
	maxServers   = 1_000_000          // replicas of all nodes
	maxInstances = 10_000_000         // of all clients, and programs in a closed loop
	maxTimes     = 1_000_000          // equal calls side by side
	maxLayers    = 1_000              // of a stack
	maxCalls     = 1_000_000_000      // that one request leads to, retries apart
	maxIntervals = 10_000_000         // of a series
	maxRecords   = 5_000_000          // of a series: of each node, client and call
	maxPolicies  = 2_000_000          // budgets, breakers and limits
	maxOutcomes  = 4_000_000_000      // that count windows hold, two bits each
	maxLinks     = 50_000_000         // from calls to replicas
	maxHops      = 1 << (32 - opBits) // calls of all steps, which events name

	maxHorizon = 1_000_000 * time.Hour // which leaves room on the clock for what ends after it
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
	if c.Horizon <= 0 || c.Horizon > maxHorizon {
		k.add("config", "horizon %v, want above 0s and at most %v", c.Horizon, maxHorizon)
	}
	if c.Warmup < 0 || c.Horizon > 0 && c.Warmup >= c.Horizon {
		k.add("config", "warm-up %v, want from 0s to below the horizon %v", c.Warmup, c.Horizon)
	}
	if c.Interval < 0 {
		k.add("config", "interval %v, want above 0s, or 0s for no series", c.Interval)
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

// sizes adds up what would be made for each replica, instance and interval.
func (k *check) sizes() {
	c := k.config
	servers, instances, policies, outcomes, calls, links := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	add := func(each float64, steps []Step) {
		count, held := privatePolicies(steps)
		policies += each * float64(count)
		outcomes += each * held
		for _, s := range steps {
			calls += float64(len(s.Calls))
			for _, to := range s.Calls {
				if i, ok := k.node[to.To]; ok {
					links += float64(max(c.Nodes[i].Replicas, 1))
				}
			}
		}
	}
	for i := range c.Nodes {
		each := float64(max(c.Nodes[i].Replicas, 1))
		servers += each
		add(each, c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		each := float64(max(c.Clients[i].Instances, 1))
		instances += each
		add(each, c.Clients[i].Steps)
	}
	most := func(n float64, what string, limit int) {
		if n > float64(limit) {
			k.add("config", "%.10g %s, want at most %d", n, what, limit)
		}
	}
	most(servers, "replicas of all nodes", maxServers)
	most(instances, "instances of all clients", maxInstances)
	most(policies, "budgets, breakers and limits of all instances", maxPolicies)
	most(outcomes, "outcomes in the count windows of all instances", maxOutcomes)
	most(links, "replicas behind all calls", maxLinks)
	most(calls, "calls of all nodes and clients", maxHops)
	if c.Interval > 0 && c.Horizon > 0 {
		intervals := math.Ceil(float64(c.Horizon) / float64(c.Interval))
		if most(intervals, "intervals in the horizon", maxIntervals); intervals <= maxIntervals {
			most(intervals*(float64(len(c.Nodes)+len(c.Clients))+calls), "records of nodes, clients and calls in all intervals", maxRecords)
		}
	}
}

// privatePolicies counts what each instance has for itself, and the outcomes
// that count windows hold among it.
func privatePolicies(steps []Step) (count int, outcomes float64) {
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
					if b := l.Breaker; b != nil && b.Share == "" && b.Preset == nil {
						outcomes += float64(b.Rule.Window.Calls)
					}
				}
			}
		}
	}
	return count, outcomes
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
