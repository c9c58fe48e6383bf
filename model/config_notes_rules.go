package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func (n *notes) ofNode(i int) {
	node := &n.config.Nodes[i]
	thing := nodeThing(node.Name)
	if !n.above[i].reached {
		n.add(thing, "never-called", "no client's requests reach it")
	}
	if node.Dedup && !node.Writes {
		n.add(thing, "no-effect", "recognises requests without writes: there is no effect to be had twice")
	}
	if node.Queue.DropExpired && n.above[i].reached && !n.above[i].told {
		n.add(thing, "no-deadline", "drops expired calls, but no caller tells it a deadline")
	}
	if node.ScriptRepeat && !isZero(&node.Service) {
		n.add(thing, "no-effect", "has a service law, but the script repeats and never leaves a call to it")
	}
	if most, bounded := node.room(); bounded && node.Shed.InFlight >= most {
		n.add(thing, "never-happens", "sheds above %d in flight, but no more than %d fit its workers and its queue", node.Shed.InFlight, most)
	}
	for j := range node.Faults {
		f := &node.Faults[j]
		add := func(rule, format string, args ...any) {
			n.add(thing, rule, "fault %d (%s): %s", j+1, f.Kind, fmt.Sprintf(format, args...))
		}
		if f.Start >= n.config.Horizon {
			add("never-happens", "starts at %v, not before the horizon %v", f.Start, n.config.Horizon)
		}
		if f.Effect && !node.Writes {
			add("never-happens", "has the effect of a good call, but the node writes nothing")
		}
		if f.Kind == FaultCapacity && node.Workers == Unlimited && f.Factor > 0 {
			add("never-happens", "leaves a share %v of an unlimited number of workers, which is all of them", f.Factor)
		}
		if f.Silent && n.above[i].endless {
			add("no-timeout", "leaves calls without answer, and a caller without timeout waits for ever")
		}
	}
	n.ofSteps(thing, node.Steps, n.above[i])
}

// room is the most calls that a server takes in, if that is known.
func (node *Node) room() (int, bool) {
	if !node.Queue.Limit.Known || node.Async || node.Workers > math.MaxInt-node.Queue.Limit.Value {
		return 0, false
	}
	return node.Workers + node.Queue.Limit.Value, true
}

func (n *notes) ofClient(i int) {
	c := &n.config.Clients[i]
	thing := clientThing(c.Name)
	if c.closed() && c.Instances > c.Loop.Clients {
		n.add(thing, "no-effect", "%d instances for %d clients: some have none", c.Instances, c.Loop.Clients)
	}
	if c.Start >= n.config.Horizon {
		n.add(thing, "never-happens", "starts at %v, not before the horizon %v", c.Start, n.config.Horizon)
	}
	if c.closed() && isZero(&c.Loop.Think) && c.FailurePause == 0 && refuses(c.Steps) {
		n.add(thing, "no-pause", "a refused request is followed by the next at the same instant, for want of think time or a pause after a failure")
	}
	n.ofSteps(thing, c.Steps, fromClient)
}

// isZero reports whether a law is the constant 0.
func isZero(l *Law) bool { return (l.Kind == "" || l.Kind == Constant) && l.Mean == 0 }

// refuses reports whether a policy can end the first step at once.
func refuses(steps []Step) bool {
	for _, c := range steps[0].Calls {
		for _, l := range slices.Concat(c.Stack, c.Sidecar) {
			if l.Retry != nil && l.Retry.Attempts > 1 && waits(l.Retry) {
				break
			}
			if (l.Breaker != nil || l.Limit != nil) && steps[0].Need == 0 {
				return true
			}
		}
	}
	return false
}

func waits(r *RetryLayer) bool { return r.Waits() }

func (n *notes) ofSteps(thing string, steps []Step, from above) {
	for i := range steps {
		if s := &steps[i]; s.Need == 1 && len(s.Calls) == 1 && s.Calls[0].Times <= 1 {
			n.add(thing, "no-effect", "step %d: needs 1 of 1 call, which is all", i+1)
		}
	}
	eachCall(thing, steps, func(where string, c *Call) {
		to := n.config.Nodes[n.node[c.To]]
		if c.Balance != "" && max(to.Replicas, 1) == 1 {
			n.add(where, "no-effect", "balance %s over 1 replica: there is nothing to choose", c.Balance)
		}
		n.ofLayers(where, c, from)
	})
}

func (n *notes) ofLayers(where string, c *Call, from above) {
	timeouts := 0
	least := n.leastOfCall(c)
	n.descend(where, c, from, func(place string, l *Layer, outside above) {
		switch {
		case l.Timeout > 0:
			timeouts++
			n.ofTimeout(place, l.Timeout, outside, least)
		case l.Retry != nil:
			n.ofRetry(place, l.Retry, outside)
		case l.Breaker != nil:
			if l.Breaker.Preset != nil {
				break
			}
			for _, note := range l.Breaker.Rule.Remarks() {
				n.add(place, note.Rule, "breaker: %s", note.Text)
			}
		}
	})
	n.retryDeadlines(where, c)
	if c.PropagateDeadline && timeouts == 0 && !from.told && from.reached {
		n.add(where, "no-deadline", "tells the node a deadline, but there is none to tell")
	}
}

func (n *notes) ofTimeout(place string, timeout time.Duration, outside above, least time.Duration) {
	if timeout <= least {
		n.add(place, "timeout-too-short", "timeout %v, but no call is answered well in less than %v", timeout, least)
	}
	if outside.waiter != "" && timeout >= outside.wait {
		n.add(place, "timeout-order", "timeout %v is not shorter than the %v around it (%s)", timeout, outside.wait, outside.waiter)
	}
}

func (n *notes) ofRetry(place string, r *RetryLayer, outside above) {
	for _, note := range r.Remarks() {
		n.add(place, note.Rule, "retry: %s", note.Text)
	}
	if r.Attempts == 1 {
		if r.Budget != nil {
			n.add(place, "no-effect", "retry: a budget beside 1 attempt: there is no retry to grant")
		}
		return
	}
	if wait, known := firstWait(r.Backoff); known && wait > 0 {
		if outside.waiter != "" && wait >= outside.wait {
			n.add(place, "backoff-too-long", "retry: the first wait is at least %v, and by then the timeout %v around it (%s) is over", wait, outside.wait, outside.waiter)
		}
		if r.Deadline > 0 && wait >= r.Deadline {
			n.add(place, "backoff-too-long", "retry: the first wait is at least %v, and by then the deadline %v is over", wait, r.Deadline)
		}
	}
	if len(outside.retries) > 0 {
		all := append(outside.retries[:len(outside.retries):len(outside.retries)], retryPlace{r.Attempts, place})
		var list []string
		for _, o := range outside.retries {
			list = append(list, fmt.Sprintf("%s of %s", attemptsText(o.attempts), o.where))
		}
		n.add(place, "retry-layers", "retry: %s inside the %s: up to %s for each request", attemptsText(r.Attempts),
			strings.Join(list, " and the "), productText(product(all)))
	}
}

// firstWait is the shortest wait before a first retry.
func firstWait(c policies.BackoffConfig) (time.Duration, bool) {
	b, err := policies.NewBackoff(c)
	if err != nil {
		return 0, false
	}
	return b.Delay(1, 0, 0), true
}

// retryDeadlines compares a retry's deadline with the timeouts of its attempts.
func (n *notes) retryDeadlines(where string, c *Call) {
	for _, s := range []struct {
		name  string
		stack Stack
	}{{"stack", c.Stack}, {"sidecar", c.Sidecar}} {
		for i := range s.stack {
			r := s.stack[i].Retry
			if r == nil || r.Deadline == 0 || r.Attempts == 1 {
				continue
			}
			for _, l := range s.stack[i+1:] {
				if l.Timeout >= r.Deadline {
					n.add(fmt.Sprintf("%s, %s layer %d", where, s.name, i+1), "attempt-too-long",
						"retry: an attempt that runs into the timeout %v inside is never repeated before the deadline %v", l.Timeout, r.Deadline)
				}
			}
		}
	}
}

func attemptsText(attempts int) string {
	if attempts == Unlimited {
		return "unlimited attempts"
	}
	return fmt.Sprintf("%d attempts", attempts)
}

func productText(p float64) string {
	if math.IsInf(p, 1) {
		return "unlimited attempts"
	}
	return fmt.Sprintf("%.10g attempts", p)
}
