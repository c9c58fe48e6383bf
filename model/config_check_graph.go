package model

import (
	"slices"
	"strings"
)

// topology reports cycles, and requests that lead to too many calls. It takes
// each node and each call once, however many the paths.
func (k *check) topology() {
	w := newWalk(k.config, k.node)
	for _, cycle := range w.cycles {
		k.add("topology", "cycle %s, want none", cycle)
	}
	if w.more > 0 {
		k.add("topology", "%d more cycles, want none", w.more)
	}
	if len(w.cycles) > 0 {
		return
	}
	for i := range k.config.Clients {
		c := &k.config.Clients[i]
		if n := w.count(c.Steps); n > maxCalls {
			k.add(clientThing(c.Name), "%.10g calls for each request, want at most %d", n, maxCalls)
		}
	}
}

type visit uint8

const (
	unvisited visit = iota
	onPath
	visited
)

// A walk visits nodes depth first.
type walk struct {
	config *Config
	node   map[string]int
	state  []visit
	path   []int
	order  []int     // each node after those that it calls
	calls  []float64 // that a call of the node leads to, itself included
	cycles []string  // the first few
	more   int       // the number of the others
}

func newWalk(c *Config, node map[string]int) *walk {
	w := &walk{config: c, node: node, state: make([]visit, len(c.Nodes)), calls: make([]float64, len(c.Nodes))}
	for i := range c.Nodes {
		if w.state[i] == unvisited {
			w.visit(i)
		}
	}
	return w
}

func (w *walk) visit(i int) {
	w.state[i] = onPath
	w.path = append(w.path, i)
	var closed []int // calls that close a cycle
	for _, s := range w.config.Nodes[i].Steps {
		for _, c := range s.Calls {
			to, ok := w.node[c.To]
			if !ok {
				continue
			}
			switch w.state[to] {
			case unvisited:
				w.visit(to)
			case onPath:
				if !slices.Contains(closed, to) {
					closed = append(closed, to)
					w.addCycle(to)
				}
			}
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.state[i] = visited
	w.order = append(w.order, i)
	w.calls[i] = 1 + w.count(w.config.Nodes[i].Steps)
}

// count is how many calls the steps lead to; float64 because it may be
// anything.
func (w *walk) count(steps []Step) float64 {
	sum := 0.0
	for _, s := range steps {
		for _, c := range s.Calls {
			if to, ok := w.node[c.To]; ok {
				sum += float64(max(c.Times, 1)) * w.calls[to]
			}
		}
	}
	return sum
}

// addCycle notes the cycle that a call to a node on the path closes.
func (w *walk) addCycle(to int) {
	if len(w.cycles) == 5 {
		w.more++
		return
	}
	var list []string
	for _, i := range slices.Concat(w.path[slices.Index(w.path, to):], []int{to}) {
		list = append(list, w.config.Nodes[i].Name)
	}
	w.cycles = append(w.cycles, strings.Join(list, " → "))
}
