package scenario

import (
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A watcher is told of the changes of breakers, which it knows by their place in
// world.breakers.
type watcher func(breaker int, c policies.Change)

// watched is a copy of a model whose breakers tell of their changes.
func watched(c model.Config, w *world, watch watcher) model.Config {
	c.Nodes, c.Clients = slices.Clone(c.Nodes), slices.Clone(c.Clients)
	for i := range c.Nodes {
		c.Nodes[i].Steps = copied(c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		c.Clients[i].Steps = copied(c.Clients[i].Steps)
	}
	for _, b := range breakerLayers(c) {
		if own := w.subjects[w.owner(b)].own; own >= 0 {
			b.OnChange = func(c policies.Change) { watch(own, c) }
		}
	}
	return c
}

// copied is a copy of steps that shares no breaker layer with them.
func copied(steps []model.Step) []model.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].Calls = slices.Clone(steps[i].Calls)
		for k := range steps[i].Calls {
			call := &steps[i].Calls[k]
			call.Stack, call.Sidecar = slices.Clone(call.Stack), slices.Clone(call.Sidecar)
			for _, stack := range []model.Stack{call.Stack, call.Sidecar} {
				for n := range stack {
					if stack[n].Breaker != nil {
						breaker := *stack[n].Breaker
						stack[n].Breaker = &breaker
					}
				}
			}
		}
	}
	return steps
}

// A breakerLayer is one with its place.
type breakerLayer struct {
	*model.BreakerLayer
	link, instances int
}

// breakerLayers lists those of a model: link by link, the outermost first.
func breakerLayers(c model.Config) []breakerLayer {
	var list []breakerLayer
	for i, link := range c.Links() {
		for _, l := range slices.Concat(link.Stack, link.Sidecar) {
			if l.Breaker != nil {
				list = append(list, breakerLayer{l.Breaker, i, link.Instances})
			}
		}
	}
	return list
}
