package scenario

import (
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A watcher is told of the changes of the breakers of a link.
type watcher func(link int, c policies.Change)

// watched is a copy of a model whose breakers tell of their changes. Links are
// numbered as in a world.
func watched(c model.Config, watch watcher) model.Config {
	link := 0
	steps := func(list []model.Step) []model.Step {
		list = slices.Clone(list)
		for i := range list {
			list[i].Calls = slices.Clone(list[i].Calls)
			for k := range list[i].Calls {
				call, at := &list[i].Calls[k], link
				tell := func(c policies.Change) { watch(at, c) }
				call.Stack, call.Sidecar = telling(call.Stack, tell), telling(call.Sidecar, tell)
				link++
			}
		}
		return list
	}
	c.Nodes, c.Clients = slices.Clone(c.Nodes), slices.Clone(c.Clients)
	for i := range c.Nodes {
		c.Nodes[i].Steps = steps(c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		c.Clients[i].Steps = steps(c.Clients[i].Steps)
	}
	return c
}

// telling is a copy of a stack whose breakers tell of their changes.
func telling(stack model.Stack, tell func(policies.Change)) model.Stack {
	stack = slices.Clone(stack)
	for i := range stack {
		if stack[i].Breaker != nil {
			breaker := *stack[i].Breaker
			breaker.OnChange = tell
			stack[i].Breaker = &breaker
		}
	}
	return stack
}
