package model

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// New returns a system at time 0, or the error of Validate. Its random numbers
// come from streams named after what they are for, such as "service/db", of
// the given seed and replication: systems that differ in their policies alone
// see the same arrivals, service times and failures.
func New(c Config, seed, replication uint64) (*System, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &System{config: c, e: sim.New(), seed: seed, replication: replication,
		horizon: sim.Time(c.Horizon), warmup: sim.Time(c.Warmup), serving: len(c.Nodes)}
	s.instant = s.e.Lane(0)
	s.jobs.fresh = func(place uint32, j *job) { j.place = place }
	s.requests.fresh = func(place uint32, r *request) {
		counts := make([]uint32, len(s.hops)+s.serving)
		*r = request{place: place, counts: counts, served: counts[:len(s.hops)], arrived: counts[len(s.hops):]}
	}
	s.nodes = make([]node, len(c.Nodes)+len(c.Clients))
	s.clients = make([]client, len(c.Clients))
	byName := map[string]*node{}
	for i := range c.Nodes {
		s.buildNode(&s.nodes[i], &c.Nodes[i], i)
		byName[c.Nodes[i].Name] = &s.nodes[i]
	}
	for i := range c.Clients {
		if err := s.buildClient(i); err != nil {
			return nil, err
		}
	}
	b := builder{s, byName, map[string]any{}}
	for i := range s.nodes {
		n := &s.nodes[i]
		steps, name, instances := []Step(nil), "", 1
		if n.client != nil {
			steps, name, instances = n.client.config.Steps, n.client.config.Name, max(1, n.client.config.Instances)
		} else {
			steps, name, instances = n.config.Steps, n.config.Name, len(n.servers)
		}
		if err := b.steps(n, name, steps, instances); err != nil {
			return nil, err
		}
	}
	s.countMeant()
	for i := range s.nodes[:s.serving] {
		n := &s.nodes[i]
		if len(n.config.Trace) > 0 {
			s.follow(n)
		}
		for k := range n.servers {
			s.changes(&n.servers[k])
			s.assess(&n.servers[k])
		}
	}
	for i := range s.clients {
		s.begins(&s.clients[i])
	}
	return s, nil
}

func (s *System) buildNode(n *node, c *Node, index int) {
	*n = node{config: c, index: index, law: newSampler(c.Service, s.e),
		service: sim.NewDraws(s.seed, s.replication, "service/"+c.Name),
		failure: sim.NewDraws(s.seed, s.replication, "failure/"+c.Name),
		servers: make([]server, max(1, c.Replicas)), queueLimit: c.Queue.Limit.Or(math.MaxInt),
		lifo: c.Queue.Order == LIFO, dropExpired: c.Queue.DropExpired, cancel: c.Cancel, async: c.Async}
	n.ledger.Name = c.Name
	n.script = script{answers: c.Script, repeat: c.ScriptRepeat}
	if c.Waits {
		n.waits = newQuantiles()
	}
	for i := range n.servers {
		sv := &n.servers[i]
		*sv = server{node: n, index: i, global: uint64(len(s.servers)), now: state{factor: 1}}
		if sv.sheds = c.Shed.RateRPS > 0; sv.sheds {
			sv.shed = newBucket(c.Shed.RateRPS, c.Shed.Burst)
		}
		for k := range c.Faults {
			if c.Faults[k].Kind == FaultLimit {
				sv.limits = append(sv.limits, limitFault{fault: &c.Faults[k]})
			}
		}
		s.servers = append(s.servers, sv)
	}
	n.first = &n.servers[0]
}

func (s *System) buildClient(i int) error {
	cfg := &s.config.Clients[i]
	c, n := &s.clients[i], &s.nodes[s.serving+i]
	*n = node{config: &Node{Name: cfg.Name}, index: s.serving + i, client: c}
	*c = client{config: cfg, node: n, end: s.horizon, most: uint64(cfg.Requests), latency: newQuantiles()}
	c.ledger.Name = cfg.Name
	if cfg.End > 0 {
		c.end = min(c.end, sim.Time(cfg.End))
	}
	if s.config.Interval > 0 {
		c.started = make([][2]uint64, (s.config.Horizon-1)/s.config.Interval+1)
	}
	if cfg.Loop.Clients > 0 {
		c.rounds = make([]uint64, cfg.Loop.Clients)
		c.law = newSampler(cfg.Loop.Think, s.e)
		c.think = sim.NewDraws(s.seed, s.replication, "think/"+cfg.Name)
		return nil
	}
	random := sim.Stream(s.seed, s.replication, "arrivals/"+cfg.Name)
	var err error
	switch {
	case cfg.Rates == nil:
		c.source, err = cfg.Arrivals.Source(random)
	case cfg.RatesRandom:
		c.source, err = TraceArrivals(cfg.Rates, random)
	default:
		c.source, err = TraceArrivals(cfg.Rates, nil)
	}
	if err != nil {
		return fmt.Errorf("model: client %q: %w", cfg.Name, err)
	}
	return nil
}

// begins schedules the first requests of a client.
func (s *System) begins(c *client) {
	if c.rounds == nil {
		s.next(c)
		return
	}
	spread := sim.NewDraws(s.seed, s.replication, "spread/"+c.config.Name)
	for i := range c.rounds {
		t := sim.Time(c.config.Start)
		if c.config.Spread > 0 {
			t = t.Add(nanoseconds(spread.Float64(uint64(i), 0) * float64(c.config.Spread)))
		}
		s.again(c, uint32(i), t)
	}
}

// A builder makes the hops of a system. Policies that are shared are kept by
// their kind and name.
type builder struct {
	s      *System
	nodes  map[string]*node
	shared map[string]any
}

func (b *builder) steps(n *node, name string, steps []Step, instances int) error {
	local := uint64(0)
	for _, st := range steps {
		var made step
		for i := range st.Calls {
			c := &st.Calls[i]
			h, err := b.hop(n, name, c, instances, local)
			if err != nil {
				return err
			}
			local++
			made.hops = append(made.hops, h)
			made.all += uint32(h.times)
		}
		if made.all == 1 {
			made.only = made.hops[0]
		}
		if made.need = uint32(st.Need); st.Need == 0 {
			made.need = made.all
		}
		n.steps = append(n.steps, made)
	}
	return nil
}

func (b *builder) hop(from *node, name string, c *Call, instances int, local uint64) (*hop, error) {
	s := b.s
	to := b.nodes[c.To]
	label := fmt.Sprintf("%s/%s/%d", name, c.To, local)
	draws := func(what string) sim.Draws { return sim.NewDraws(s.seed, s.replication, what+"/"+label) }
	h := &hop{index: len(s.hops), call: c, from: from, to: to, side: -1, local: local, times: max(1, c.Times),
		propagate: c.PropagateDeadline, request: newSampler(c.Request, s.e), response: newSampler(c.Response, s.e),
		draws: draws("link"), choice: draws("choice"), jitter: draws("jitter"), safety: draws("safety"),
		out: make([]int32, len(to.servers)), ledger: CallLedger{From: name, To: c.To}}
	if len(c.Sidecar) > 0 {
		h.side = len(c.Stack)
	}
	for _, stack := range []Stack{c.Stack, c.Sidecar} {
		for i := range stack {
			l, err := b.layer(&stack[i], fmt.Sprintf("%s/%d", label, len(h.layers)), instances)
			if err != nil {
				return nil, fmt.Errorf("model: call %s to %s: %w", name, c.To, err)
			}
			h.layers = append(h.layers, l)
		}
		if err := b.guarded(stack, h.layers[len(h.layers)-len(stack):], instances); err != nil {
			return nil, fmt.Errorf("model: call %s to %s: %w", name, c.To, err)
		}
	}
	h.flights.fresh = func(place uint32, f *flight) {
		*f = flight{place: place, hop: h, slots: make([]slot, len(h.layers))}
		for i := range f.slots {
			f.slots[i].layer = &h.layers[i]
		}
	}
	s.hops = append(s.hops, h)
	return h, nil
}

// each makes the policies of a layer: one for each instance, or the one of
// that name.
func each[T any](b *builder, l *layer, kind, share string, instances int, make func() (T, error)) ([]T, error) {
	if share != "" {
		key := kind + "/" + share
		if v, ok := b.shared[key]; ok {
			return []T{v.(T)}, nil
		}
		v, err := make()
		b.shared[key] = v
		return []T{v}, err
	}
	l.private = math.MaxUint32
	var all []T
	for range instances {
		v, err := make()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// layer makes a layer. The name is that of its random numbers.
func (b *builder) layer(c *Layer, name string, instances int) (l layer, err error) {
	e := b.s.e
	switch {
	case c.Retry != nil:
		l.kind = retryLayer
		l.jitters = c.Retry.Waits()
		base, err := policies.NewRetry(c.Retry.RetryConfig, nil)
		if err != nil {
			return l, err
		}
		if c.Retry.Budget == nil {
			l.retries = []*policies.Retry{base}
			return l, nil
		}
		config := *c.Retry.Budget
		switch config.Kind {
		case policies.BudgetShare:
			config.Share.Unshared = true
		case policies.BudgetWindow:
			config.Window.Unshared = true
		}
		budgets, err := each(b, &l, "budget", c.Retry.Share, instances, func() (policies.Budget, error) {
			return policies.NewBudgetClock(config, e.Clock())
		})
		for _, budget := range budgets {
			l.retries = append(l.retries, base.With(budget))
		}
		return l, err
	case c.Breaker != nil:
		l.kind = breakerLayer
		l.alarmed = c.Breaker.alarmed()
		if c.Breaker.Share != "" {
			name = c.Breaker.Share
		}
		made := 0
		l.breakers, err = each(b, &l, "breaker", c.Breaker.Share, instances, func() (policies.CircuitBreaker, error) {
			draws := sim.Stream(b.s.seed, b.s.replication, fmt.Sprintf("breaker/%s/%d", name, made))
			made++
			return c.Breaker.maker().NewCircuitBreaker(policies.Host{Clock: e.Clock(), Uniform: uniform{draws}, Classify: c.Breaker.Classify, OnChange: c.Breaker.OnChange})
		})
		if l.alarmed {
			for _, breaker := range l.breakers {
				l.alarms = append(l.alarms, Alarm{Of: breaker})
			}
		}
		return l, err
	case c.Limit != nil:
		l.kind = limitLayer
		l.limits, err = each(b, &l, "limit", c.Limit.Share, instances, func() (*limiter, error) {
			return &limiter{most: c.Limit.InFlight}, nil
		})
		return l, err
	}
	l.kind, l.timeout, l.lane = timeoutLayer, c.Timeout, e.Lane(c.Timeout)
	return l, nil
}

// countMeant works out how often each hop is called for a request of each
// client when nothing is repeated.
func (s *System) countMeant() {
	var order []*node // callers before callees
	seen := make([]bool, len(s.nodes))
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n.index] {
			return
		}
		seen[n.index] = true
		for _, st := range n.steps {
			for _, h := range st.hops {
				visit(h.to)
			}
		}
		order = append(order, n)
	}
	for i := range s.nodes {
		visit(&s.nodes[i])
	}
	for c := range s.clients {
		calls := make([]uint32, len(s.nodes))
		calls[s.serving+c] = 1
		for i := len(order) - 1; i >= 0; i-- {
			for _, st := range order[i].steps {
				for _, h := range st.hops {
					n := calls[order[i].index] * uint32(h.times)
					h.meant = append(h.meant, n)
					calls[h.to.index] += n
				}
			}
		}
	}
}
