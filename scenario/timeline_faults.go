package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

// A trouble is what is wrong with a node in [start, end), in words.
type trouble struct {
	node, what string
	start, end time.Duration
}

// faults lists what is wrong with the nodes, and when, within the run, by their
// faults and their traces.
func (c *Case) faults() []trouble {
	var list []trouble
	horizon := c.Config.Horizon
	for i := range c.Config.Nodes {
		n := &c.Config.Nodes[i]
		for k := range n.Faults {
			f := &n.Faults[k]
			end := f.End
			if end == 0 {
				end = horizon
			}
			list = append(list, trouble{n.Name, faultWords(f), f.Start, end})
		}
		list = append(list, incidents(n)...)
	}
	kept := list[:0]
	for _, f := range list {
		if f.end = min(f.end, horizon); f.start < f.end {
			kept = append(kept, f)
		}
	}
	return kept
}

// faultWords says what a fault is: "error 50 % of replica 0".
func faultWords(f *model.Fault) string {
	text := f.Kind
	switch f.Kind {
	case model.FaultError:
		ratio := f.Ratio
		if ratio == 0 {
			ratio = 1
		}
		text += " " + percent(ratio)
		if f.First > 0 {
			text += fmt.Sprintf(", first %d of a request", f.First)
		}
		if f.Client != "" {
			text += " for " + f.Client
		}
	case model.FaultSlow:
		text += " " + short(f.Factor) + "×"
	case model.FaultCapacity:
		text += " " + percent(f.Factor)
	case model.FaultLimit:
		text += " " + short(f.RateRPS) + "/s"
	}
	if f.Replica.Known {
		text += fmt.Sprintf(", replica %d", f.Replica.Value)
	}
	return text
}

// troubled is the share of failing calls from which a segment of a trace is
// shown as a fault: a few errors are what healthy services have.
const troubled = 0.05

// incidents are the stretches of a node's trace in which it is not healthy: of
// the same injected fault, or, where the trace names none, of errors or of less
// capacity.
func incidents(n *model.Node) []trouble {
	var list []trouble
	var now trouble
	var errors, capacity float64 // the worst of the stretch
	flush := func() {
		if now.end == 0 {
			return
		}
		if now.what == "" {
			var words []string
			if errors >= troubled {
				words = append(words, "error up to "+percent(errors))
			}
			if capacity < 1 {
				words = append(words, "capacity down to "+percent(capacity))
			}
			now.what = "trace: " + strings.Join(words, ", ")
		}
		list, now = append(list, now), trouble{}
	}
	for i := range n.Trace {
		s := &n.Trace[i]
		if s.Injected == "" && s.ErrorRatio < troubled && s.Capacity() >= 1 {
			flush()
			continue
		}
		if now.end != s.Start || now.what != s.Injected {
			flush()
		}
		if now.end == 0 {
			now, errors, capacity = trouble{n.Name, s.Injected, s.Start, 0}, 0, 1
		}
		now.end, errors, capacity = s.End, max(errors, s.ErrorRatio), min(capacity, s.Capacity())
	}
	flush()
	return list
}

// short is a number with at most three significant digits, or more before the
// point.
func short(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
