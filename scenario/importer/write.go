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

// Write prints a scenario that can be run. It marks what the settings do not say
// with MADE UP, and with GUESSED what they say in other words than the model.
func (im *Import) Write(w io.Writer) error {
	p := &printer{w: w}
	file := filepath.Base(im.File)
	p.line(0, "", fmt.Sprintf("Imported from %s: %s. Each value has its source beside it, or the word default.", file, im.Format))
	p.line(0, "", "MADE UP marks what the file does not say: put in what you know of your system,")
	p.line(0, "", "or the results mean nothing. GUESSED marks errors that the file calls by other")
	p.line(0, "", "names: see whether they are those that you get.")
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
		if slices.Contains(nodes, s.node) {
			continue
		}
		nodes = append(nodes, s.node)
		p.line(1, s.node+":", "")
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
		p.line(3, "- to: "+s.node, "")
		key := "stack"
		if s.sidecar {
			key = "sidecar"
		}
		var list []string
		for _, l := range s.layers {
			list = append(list, l.name)
		}
		p.line(4, key+": ["+strings.Join(list, ", ")+"]", "outermost first"+s.order)
	}
}

// claims prints what should hold before the made up fault, and proposes more.
func (im *Import) claims(p *printer) {
	p.line(0, "", "")
	p.line(0, "claims:", madeUp+"what must hold")
	for _, s := range im.stacks {
		link := s.client + "-" + s.node
		p.line(1, fmt.Sprintf("- success_ratio{client=%s} >= 99%% until 20s", s.client), madeUp+"while nothing goes wrong")
		if s.has("retry") {
			p.line(1, fmt.Sprintf("- attempts_per_call{link=%s} <= 2", link), madeUp+"retries at most double the load")
		}
		p.line(1, "", fmt.Sprintf("- success_ratio{client=%s} >= 90%% after 20s until 40s", s.client))
		p.line(1, "", fmt.Sprintf("- recovery_time{client=%s} <= 10s after 40s", s.client))
		if s.has("breaker") {
			p.line(1, "", fmt.Sprintf("- openings{link=%s} == 0 until 20s", link))
		}
	}
}
