package conformance

import (
	"encoding/json"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var clientGo = library{
	versions: []string{"v0.37.2"},
	kinds:    map[string]replayer{"backoff": replayClientGoBackoff, "limiter": replayClientGoLimiter},
}

// replayClientGoBackoff tells three back-offs apart by a key of their
// configurations.
func replayClientGoBackoff(p *replay) {
	var keys map[string]json.RawMessage
	p.config(&keys)
	for key, run := range map[string]replayer{
		"base_ns": replayWorkqueue, "initial_ns": replayFlowcontrol, "duration_ns": replayWaitBackoff,
	} {
		if _, ok := keys[key]; ok {
			run(p)
			return
		}
	}
	p.fail("config: none of base_ns, initial_ns and duration_ns")
}

func replayWorkqueue(p *replay) {
	var c struct {
		Base int64 `json:"base_ns"`
		Max  int64 `json:"max_ns"`
	}
	p.config(&c)
	w, err := presets.WorkqueueConfig{BaseDelay: ns(c.Base), MaxDelay: ns(c.Max)}.New()
	p.must(err)
	for p.next() {
		switch op := p.text("op"); op {
		case "next":
			p.expect("x_delay_ns", w.When(p.text("item")))
		case "forget":
			w.Forget(p.text("item"))
			p.absent("x_delay_ns")
		default:
			p.fail("op %q is unknown", op)
		}
	}
}

func replayFlowcontrol(p *replay) {
	var c struct {
		Initial int64 `json:"initial_ns"`
		Max     int64 `json:"max_ns"`
	}
	p.config(&c)
	b, err := presets.FlowcontrolConfig{Initial: ns(c.Initial), Max: ns(c.Max)}.New(policies.Host{Clock: p.clock})
	p.must(err)
	for p.next() {
		item := p.text("item")
		switch op := p.text("op"); op {
		case "next":
			b.Next(item, 0)
		case "gc":
			b.GC()
		case "reset":
			b.Reset(item)
		default:
			p.fail("op %q is unknown", op)
		}
		p.expect("x_delay_ns", b.Get(item))
		p.expect("x_in_backoff", b.InBackOff(item))
	}
}

func replayWaitBackoff(p *replay) {
	var c struct {
		Cap      int64 `json:"cap_ns"`
		Duration int64 `json:"duration_ns"`
		Factor   float64
		Jitter   float64
		Steps    int
	}
	p.config(&c)
	b, err := presets.WaitBackoffConfig{Duration: ns(c.Duration), Factor: c.Factor, Jitter: c.Jitter, Steps: c.Steps, Cap: ns(c.Cap)}.New()
	p.must(err)
	for p.next() {
		step := p.integer("step")
		p.bounds(func(u float64) time.Duration { return b.Delay(step, 0, u) }, time.Nanosecond)
		p.expect("x_steps_left", b.StepsLeft(step))
	}
}
