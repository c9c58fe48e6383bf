package importer

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(depth int, text, note string) {
	if p.err != nil {
		return
	}
	note = comment(note)
	switch {
	case text == "" && note != "":
		text = "# " + note
	case note != "":
		text += " # " + note
	}
	if text != "" {
		text = strings.Repeat("  ", depth) + text
	}
	_, p.err = io.WriteString(p.w, text+"\n")
}

// madeUp marks what no file of settings says.
const madeUp = "MADE UP: "

// legend says what the words in capitals mean, and those before what is lost.
var legend = []string{
	"MADE UP marks what the file does not say: put in what you know of your system,",
	"or the results mean nothing. GUESSED marks errors that the file calls by other",
	"names: see whether they are those that you get. Listed below with their lines are",
	"not read: keys outside of the settings of calls, which may be anything, so without values;",
	"not in the model: settings of calls that the simulation cannot express;",
	"UNKNOWN: keys among those settings that are probably mistyped.",
}

// perHost says what is wrong with breakers that a library has for each host.
var perHost = []string{
	"such proxies take the one bad host out of their choice, and the others get its calls. Here a",
	"breaker stands on the link, before a replica is chosen: it counts all replicas together, and",
	"open it refuses all calls. Where one of several hosts fails, success can be far worse here than",
	"with the proxy, and than without the layer: leave it out then. Where all of them fail together",
	"it is nearer, but for Envoy's panic routing, which is not in the model.",
}

// twins are the nodes that got a number because another one has their name.
func (im *Import) twins() []string {
	var list []string
	for _, s := range im.stacks {
		if base, number, ok := cutLast(s.node, "-"); ok && number >= "2" && len(number) == 1 && slices.ContainsFunc(im.stacks, func(o *stack) bool { return o.node == base }) {
			list = append(list, base+" and "+s.node)
		}
	}
	return list
}

// cutLast cuts a text at the last place of a separator.
func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// Write prints a scenario that can be run. It marks what the settings do not say
// with MADE UP, with GUESSED what they say in other words than the model, and with
// WARNING where the simulation differs much from the library.
func (im *Import) Write(w io.Writer) error {
	p := &printer{w: w}
	file := filepath.Base(im.File)
	p.line(0, "", fmt.Sprintf("Imported from %s: %s. Each value has its source beside it, or the word default.", file, im.Format))
	for _, text := range legend {
		p.line(0, "", text)
	}
	if len(im.stacks) > 1 {
		p.line(0, "", "Each of the stacks has a client of its own. Those of one program may be merged into")
		p.line(0, "", "one caller node, which then makes all of its calls with the same load.")
	}
	if twins := im.twins(); len(twins) > 0 {
		p.line(0, "", "WARNING: "+strings.Join(twins, ", ")+": routes to one service have nodes and policies")
		p.line(0, "", "of their own here, where the proxy counts them together: give them one node, and one")
		p.line(0, "", "share to their breakers, caps and budgets.")
	}
	if len(im.perHost) > 0 {
		p.line(0, "", "WARNING: "+strings.Join(slices.Compact(slices.Clone(im.perHost)), ", ")+":")
		for _, text := range perHost {
			p.line(0, "", text)
		}
	}
	p.line(0, "name: "+strconv.Quote(comment(fmt.Sprintf("settings of %s", file))), "")
	p.line(0, "horizon: 60s", madeUp+"how long a run is")
	p.line(0, "replications: 5", madeUp+"how many runs")
	for i, lost := range im.lost {
		if i == 0 {
			p.line(0, "", "")
		}
		p.line(0, "", lost.text)
	}
	p.line(0, "", "")
	if len(im.policies) == 0 {
		p.line(0, "policies: {}", "")
	} else {
		p.line(0, "policies:", "")
	}
	for _, policy := range im.policies {
		p.line(1, policy.name+":", "from "+policy.path())
		for _, l := range policy.lines {
			p.line(l.depth, l.text, l.comment)
		}
	}
	im.system(p)
	im.claims(p)
	return p.err
}

// system prints the nodes and the clients around the stacks.
func (im *Import) system(p *printer) {
	p.line(0, "", "")
	p.line(0, "nodes:", "")
	var nodes []string
	for _, s := range im.stacks {
		if s.pool != nil {
			p.pool(s)
		}
		if slices.Contains(nodes, s.node) {
			continue
		}
		nodes = append(nodes, s.node)
		p.line(1, s.node+":", "")
		if s.replicas != "" {
			p.line(2, "replicas: "+s.replicas, s.replicasFrom)
		}
		p.line(2, "workers: unlimited", madeUp+"calls that it serves at a time")
		p.line(2, "service: exponential 20ms", madeUp+"how long it takes")
		p.line(2, "faults: [{error: 50%, from: 20s, to: 40s}]", madeUp+"what goes wrong, and when")
	}
	p.line(0, "", "")
	p.line(0, "clients:", "")
	for _, s := range im.stacks {
		p.line(1, s.client+":", s.from)
		p.line(2, "arrivals: poisson 20/s", madeUp+"the load")
		p.line(2, "calls:", "")
		key, to := "stack", s.node
		if s.sidecar {
			key = "sidecar"
		}
		if s.pool != nil {
			to = s.pool.name
		}
		p.call(3, to, key, s.layers, "outermost first"+s.order)
	}
}

// pool prints the node that the threads of a caller are.
func (p *printer) pool(s *stack) {
	p.line(1, s.pool.name+":", "threads of "+s.client+", not a service: they call "+s.node)
	p.line(2, "", "a connection that "+s.node+" refuses reaches the layers outside of the threads as a status of 503")
	p.line(2, fmt.Sprintf("workers: %d", s.pool.threads), s.pool.from)
	p.line(2, fmt.Sprintf("shed: {in_flight: %d, code: limit}", s.pool.held), s.pool.waiting)
	p.line(2, "calls:", "")
	p.call(3, s.node, "stack", s.pool.layers, "what is inside of the threads")
}

// call prints a step, with its layers if there are any.
func (p *printer) call(depth int, to, key string, layers []*policy, note string) {
	p.line(depth, "- to: "+to, "")
	var list []string
	for _, l := range layers {
		list = append(list, l.name)
	}
	p.line(depth+1, key+": "+inList(list), note)
}

// claims prints what should hold before the made up fault, and proposes more.
func (im *Import) claims(p *printer) {
	p.line(0, "", "")
	p.line(0, "claims:", madeUp+"what must hold")
	for _, s := range im.stacks {
		p.line(1, fmt.Sprintf("- success_ratio{client=%s} >= 99%% until 20s", s.client), madeUp+"while nothing goes wrong")
		if link := s.link("retry"); link != "" {
			p.line(1, fmt.Sprintf("- attempts_per_call{link=%s} <= 2", link), madeUp+"retries at most double the load")
		}
		p.line(1, "", fmt.Sprintf("- success_ratio{client=%s} >= 90%% after 20s until 40s", s.client))
		p.line(1, "", fmt.Sprintf("- recovery_time{client=%s} <= 10s after 40s", s.client))
		if link := s.link("breaker"); link != "" {
			p.line(1, "", fmt.Sprintf("- openings{link=%s} == 0 until 20s", link))
		}
	}
}
