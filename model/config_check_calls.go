package model

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/policies"
)

var balances = []string{RoundRobin, Random, LeastRequests, PowerOfTwo}

// validCode accepts 0, a status, and the codes of attempts without an answer.
func validCode(c policies.ErrorCode) bool {
	return c <= policies.ErrLimit || c >= 100 && c <= 599
}

func (k *check) steps(thing string, steps []Step) {
	for i := range steps {
		s := &steps[i]
		step := fmt.Sprintf("%s: step %d", thing, i+1)
		if len(s.Calls) == 0 {
			k.add(step, "0 calls, want at least 1")
		}
		total := 0
		for j := range s.Calls {
			c := &s.Calls[j]
			k.call(fmt.Sprintf("%s, call %d to %q", step, j+1, c.To), c)
			total += min(max(c.Times, 1), maxTimes)
		}
		if s.Need < 0 || s.Need > total && total > 0 {
			k.add(step, "need %d, want at most the %d calls, or 0 for all", s.Need, total)
		}
	}
}

func (k *check) call(thing string, c *Call) {
	if _, ok := k.node[c.To]; !ok {
		switch {
		case len(k.known) == 0:
			k.add(thing, "unknown node, there is none")
		default:
			k.add(thing, "unknown node, %s", names.Known(c.To, k.known))
		}
	}
	if c.Times < 0 || c.Times > maxTimes {
		k.add(thing, "times %d, want from 1 to %d, or 0 for 1", c.Times, maxTimes)
	}
	known := c.Balance == ""
	for _, b := range balances {
		known = known || c.Balance == b
	}
	if !known {
		k.addUnknown(thing, "balance", c.Balance, balances...)
	}
	if p := c.UnsafeRatio; !(p >= 0 && p <= 1) {
		k.add(thing, "unsafe ratio %v, want from 0 to 1", p)
	}
	if text := c.Request.problem(); text != "" {
		k.add(thing, "request latency %s", text)
	}
	if text := c.Response.problem(); text != "" {
		k.add(thing, "response latency %s", text)
	}
	k.stack(thing, "stack", c.Stack)
	k.stack(thing, "sidecar", c.Sidecar)
}

func (k *check) stack(thing, which string, s Stack) {
	if len(s) > maxLayers {
		k.add(thing, "%s of %d layers, want at most %d", which, len(s), maxLayers)
	}
	for i := range s {
		layer := fmt.Sprintf("%s: %s layer %d", thing, which, i+1)
		k.layer(layer, &s[i])
		k.guard(layer, s, i)
	}
}

func (k *check) layer(thing string, l *Layer) {
	var set []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"timeout", l.Timeout != 0}, {"retry", l.Retry != nil}, {"breaker", l.Breaker != nil}, {"limit", l.Limit != nil}} {
		if f.set {
			set = append(set, f.name)
		}
	}
	switch len(set) {
	case 0:
		k.add(thing, "nothing set, want a timeout, retry, breaker or limit")
	case 1:
	default:
		k.add(thing, "%s, want only one of them", strings.Join(set, " and "))
	}
	if l.Timeout < 0 {
		k.add(thing, "timeout %v, want above 0s", l.Timeout)
	}
	if r := l.Retry; r != nil {
		k.retry(thing, r)
	}
	if b := l.Breaker; b != nil {
		if k.policy(thing, b.Validate()) {
			k.share(thing, "breaker", b.Share, b.plain())
		}
	}
	if m := l.Limit; m != nil {
		if m.InFlight < 1 {
			k.add(thing, "limit: in flight %d, want at least 1", m.InFlight)
		} else {
			k.share(thing, "limit", m.Share, m.InFlight)
		}
	}
}

func (k *check) retry(thing string, r *RetryLayer) {
	k.policy(thing, r.Validate())
	switch {
	case r.Budget == nil:
		if r.Share != "" {
			k.add(thing, "retry: share %q, want a budget to share", r.Share)
		}
	case k.policy(thing, r.Budget.Validate()):
		k.share(thing, "budget", r.Share, *r.Budget)
	}
}

// policy reports what a policy says of its own configuration, and whether
// that is nothing.
func (k *check) policy(thing string, err error) bool {
	if err == nil {
		return true
	}
	k.add(thing, "%s", strings.TrimPrefix(err.Error(), "policies: "))
	return false
}

// A shared policy is the first of a name.
type shared struct {
	kind, thing string
	config      any
}

func (k *check) share(thing, kind, name string, config any) {
	if name == "" {
		return
	}
	first, ok := k.shares[name]
	switch {
	case !ok:
		k.shares[name] = shared{kind, thing, config}
	case first.kind != kind:
		k.add(thing, "%s: share %q, want another name than the %s of %s", kind, name, first.kind, first.thing)
	case !reflect.DeepEqual(first.config, config):
		k.add(thing, "%s: share %q, want it configured as that of %s", kind, name, first.thing)
	}
}
