package scenario

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/scenario/document"
)

// A builder turns a file into a model, and notes what is wrong with it.
type builder struct {
	file     *File
	folder   string // of the scenario, where traces are looked for
	problems *document.Problems
	traces   map[string]*model.Trace
	layers   map[string]model.Layer // those of the policies that were built
	counts   map[string]string      // what breakers that are shared count, by name

	nodes, clients, policies map[string]int // where the names stand in the file
}

// build makes the configuration of a model.
func (b *builder) build() model.Config {
	f := b.file
	c := model.Config{Horizon: f.Horizon.D(), Warmup: f.Warmup.D()}
	if c.Horizon == 0 {
		b.add(f.At("horizon"), "0s, want more")
	}
	b.layers, b.counts = make(map[string]model.Layer), make(map[string]string)
	b.nodes, b.clients, b.policies = indexes(f.Nodes.Keys), indexes(f.Clients.Keys), indexes(f.Policies.Keys)
	for i, name := range f.Policies.Keys {
		l := &f.Policies.Values[i]
		if l.Policy != "" {
			b.add(f.Policies.Places[i], "a policy that names another one, want a timeout, retry, breaker or limit")
			continue
		}
		b.layers[name] = b.layer(l)
	}
	for i, name := range f.Nodes.Keys {
		b.name(f.Nodes.Places[i], name)
		c.Nodes = append(c.Nodes, b.node(name, &f.Nodes.Values[i]))
	}
	for i, name := range f.Clients.Keys {
		b.name(f.Clients.Places[i], name)
		c.Clients = append(c.Clients, b.client(name, &f.Clients.Values[i]))
	}
	if len(b.problems.List) == 0 {
		b.check(c)
	}
	return c
}

func (b *builder) add(at document.Place, format string, args ...any) {
	b.problems.Add(at, format, args...)
}

// name wants a name that claims can be about.
func (b *builder) name(at document.Place, name string) {
	if strings.ContainsAny(name, "{},=") || claimWords.MatchString(" "+name+" ") || name != strings.TrimSpace(name) {
		b.add(at, "%q, want a name that a claim can hold: without {, }, comma or =, and without the words of claims", name)
	}
}

// must notes the error of a part of the file, at the key that it names if it
// names one, and reports whether there is none.
func (b *builder) must(at document.Place, also words, err error) bool {
	if err == nil {
		return true
	}
	text := err.Error()
	for _, prefix := range []string{"policies: ", "presets: ", "model: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	b.add(nearest(at, also, text), "%s", text)
	return false
}

// unknown notes a name that is not known.
func (b *builder) unknown(at document.Place, what, name string, known []string) {
	b.add(at, "there is no %s %q%s", what, name, b.hint(name, known))
}

// hinted is the number of problems after which names are not looked up any
// more: that takes a look at all known ones each time.
const hinted = 20

// hint says which names are known, and which one is near.
func (b *builder) hint(name string, known []string) string {
	if len(b.problems.List) >= hinted {
		return ""
	}
	return "; " + names.Known(name, known)
}

// sortedKeys lists the keys of a struct that are given.
func sortedKeys(at document.Place) []string { return slices.Sorted(maps.Keys(at.Keys)) }

// indexes is where names stand in a list.
func indexes(list []string) map[string]int {
	m := make(map[string]int, len(list))
	for i, name := range list {
		m[name] = i
	}
	return m
}

func (b *builder) client(name string, c *Client) model.Client {
	m := model.Client{
		Name: name, Instances: c.Instances, Start: c.Start.D(), End: c.End.D(), Requests: c.Requests, Steps: b.steps(c.Calls),
	}
	switch {
	case c.Arrivals != nil && c.Loop != nil:
		b.add(c.Place, "arrivals and loop, want only one of them")
	case c.Arrivals != nil:
		b.arrivals(c.Arrivals, &m)
	case c.Loop != nil:
		m.Loop = model.ClosedLoop{Clients: c.Loop.Clients, Think: b.law(&c.Loop.Think)}
		m.Spread, m.FailurePause = c.Loop.Spread.D(), c.Loop.FailurePause.D()
		if m.Loop.Clients < 1 {
			b.add(c.Loop.At("clients"), "%d, want at least 1", m.Loop.Clients)
		}
	default:
		b.add(c.Place, "no arrivals and no loop, want one of them")
	}
	return m
}

func (b *builder) arrivals(a *Arrivals, m *model.Client) {
	given := 0
	for _, g := range []bool{a.Fixed != nil, a.Poisson != nil, a.Ramp != nil, a.Bursts != nil, a.Trace != nil} {
		if g {
			given++
		}
	}
	if given != 1 {
		b.add(a.Place, "%d kinds of arrivals, want exactly one of fixed, poisson, ramp, bursts, trace", given)
		return
	}
	at, also := a.Place, wordsOfArrivals
	switch {
	case a.Fixed != nil:
		m.Arrivals = model.Arrivals{Kind: "fixed", RateRPS: float64(*a.Fixed)}
	case a.Poisson != nil:
		m.Arrivals = model.Arrivals{Kind: "poisson", RateRPS: float64(*a.Poisson)}
	case a.Ramp != nil:
		at, also = a.Ramp.Place, wordsOfRamp
		m.Arrivals = model.Arrivals{Kind: "ramp", RateRPS: float64(a.Ramp.From), ToRPS: float64(a.Ramp.To), Over: a.Ramp.Over.D(), Random: a.Ramp.Random}
	case a.Bursts != nil:
		at, also = a.Bursts.Place, nil
		m.Arrivals = model.Arrivals{
			Kind: "bursts", RateRPS: float64(a.Bursts.Rate), OffRPS: float64(a.Bursts.Off),
			On: a.Bursts.On.D(), Off: a.Bursts.OffFor.D(), Random: a.Bursts.Random,
		}
	default:
		m.Rates, m.RatesRandom = b.segments(a.Trace.At("file"), a.Trace.File, a.Trace.Node), a.Trace.Random
		_, err := model.TraceArrivals(m.Rates, nil)
		b.must(a.Trace.At("file"), nil, err)
		return
	}
	b.must(at, also, m.Arrivals.Validate())
}

func (b *builder) steps(list []Step) []model.Step {
	var steps []model.Step
	for i := range list {
		s := &list[i]
		m := model.Step{Need: s.Need}
		switch {
		case len(s.Parallel) > 0:
			for _, key := range sortedKeys(s.Place) {
				if key != "parallel" && key != "need" {
					b.add(s.At(key), "beside parallel, want it in the calls that are made in parallel")
				}
			}
			for k := range s.Parallel {
				m.Calls = append(m.Calls, b.call(&s.Parallel[k]))
			}
		default:
			m.Calls = []model.Call{b.call(&s.Call)}
		}
		steps = append(steps, m)
	}
	return steps
}

func (b *builder) call(c *Call) model.Call {
	if _, ok := b.nodes[c.To]; !ok {
		switch c.To {
		case "":
			b.add(c.Place, "to missing, want the node that is called")
		default:
			b.unknown(c.At("to"), "node", c.To, b.file.Nodes.Keys)
		}
	}
	return model.Call{
		To: c.To, Times: c.Times, Stack: b.stack(c.Stack), Sidecar: b.stack(c.Sidecar), Balance: c.Balance,
		Request: b.law(&c.Request), Response: b.law(&c.Response), UnsafeRatio: float64(c.Unsafe), PropagateDeadline: c.PropagateDeadline,
	}
}

func (b *builder) law(l *Law) model.Law {
	m := model.Law{Kind: l.Kind, Mean: l.Mean.D(), CV: l.CV, Low: l.Low.D(), High: l.High.D()}
	if len(l.Quantiles.Keys) > 0 && m.Kind == "" {
		m.Kind = model.Quantiles
	}
	if len(l.Samples) > 0 && m.Kind == "" {
		m.Kind = model.Empirical
	}
	for _, list := range []struct {
		key   string
		empty bool
	}{{"quantiles", len(l.Quantiles.Keys) == 0}, {"samples", len(l.Samples) == 0}} {
		if at, given := l.Keys[list.key]; given && list.empty {
			b.add(at, "empty, want at least one")
		}
	}
	for i, key := range l.Quantiles.Keys {
		p, err := strconv.ParseFloat(strings.TrimPrefix(key, "p")+"e-2", 64)
		if err != nil || !strings.HasPrefix(key, "p") || p < 0 || p > 1 {
			b.add(l.Quantiles.Places[i], "%q, want a percentile such as p50 or p99.9", key)
		}
		m.Points = append(m.Points, model.Point{P: p, D: l.Quantiles.Values[i].D()})
	}
	for _, s := range l.Samples {
		m.Samples = append(m.Samples, s.D())
	}
	b.must(l.Place, wordsOfLaw, m.Validate())
	return m
}

func (b *builder) stack(list []Layer) model.Stack {
	var stack model.Stack
	for i := range list {
		l := &list[i]
		if l.Policy == "" {
			stack = append(stack, b.layer(l))
			continue
		}
		for _, key := range sortedKeys(l.Place) {
			if key != "policy" {
				b.add(l.At(key), "beside policy, want exactly one of timeout, retry, breaker, limit, policy")
			}
		}
		named, ok := b.layers[l.Policy]
		if !ok {
			b.unknown(l.At("policy"), "policy", l.Policy, b.file.Policies.Keys)
		}
		stack = append(stack, named)
	}
	return stack
}

func (b *builder) layer(l *Layer) (m model.Layer) {
	given := 0
	if l.Timeout != nil {
		given++
		if m.Timeout = l.Timeout.D(); m.Timeout == 0 {
			b.add(l.At("timeout"), "0s, want more")
			m.Timeout = time.Second
		}
	}
	if l.Retry != nil {
		given++
		m.Retry = b.retry(l.Retry)
	}
	if l.Breaker != nil {
		given++
		m.Breaker = b.breaker(l.Breaker)
	}
	if l.Limit != nil {
		given++
		m.Limit = &model.LimitLayer{InFlight: l.Limit.InFlight, Share: string(l.Limit.Share)}
		if m.Limit.InFlight < 1 {
			b.add(l.Limit.At("in_flight"), "%d, want at least 1", m.Limit.InFlight)
		}
	}
	if l.Policy != "" {
		given++
	}
	if given != 1 {
		b.add(l.Place, "%d policies in one layer, want exactly one of timeout, retry, breaker, limit, policy", given)
	}
	return m
}
