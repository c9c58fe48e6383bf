package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies/presets"
)

// A grpcCall is under way. What comes next of it is a row of the recording,
// or the end of an attempt in the server, which is none unless the call ends.
type grpcCall struct {
	order  int
	script grpcScript
	last   presets.GRPCAttempt // the present attempt, or the one that will start
	due    time.Duration       // when that starts, or is answered
	runs   bool                // it has started
	ended  bool                // the caller has the answer, and the row is still to come
}

// before orders answers: those at the same time by the start of their calls.
func (c *grpcCall) before(d *grpcCall) bool {
	return c.due < d.due || c.due == d.due && c.order < d.order
}

// A grpcOverlap makes calls that share a throttle.
type grpcOverlap struct {
	*replay
	rule  *presets.GRPCRetry
	calls map[string]*grpcCall
}

// replayGRPCOverlap makes the calls that the recording starts, and compares
// when their attempts start and when they end.
func replayGRPCOverlap(p *replay, rule *presets.GRPCRetry, throttle *presets.GRPCThrottle) {
	o := &grpcOverlap{replay: p, rule: rule, calls: make(map[string]*grpcCall)}
	for p.next() {
		now, id := p.duration("t_ns"), p.text("call")
		o.answerUntil(now)
		c := o.calls[id]
		switch op := p.text("op"); op {
		case "start":
			if c != nil {
				p.fail("call %s starts twice", id)
			}
			c = &grpcCall{order: p.row, script: p.grpcScript(), due: now}
			c.last.Number = 1
			o.calls[id] = c
			rule.Start()
			p.absent("x_code", "x_tokens")
		case "attempt":
			if c != nil && c.runs && !c.ended && c.due == now {
				o.answer(c) // pushed back by 0
			}
			o.expectAt(c != nil && !c.runs && !c.ended, c, now)
			if c != nil {
				p.expect("attempt", c.last.Number)
				c.runs, c.due = true, now+c.script.end(c.last.Number).after
			}
			p.absent("x_code", "x_tokens")
		case "end":
			if c != nil && c.runs && !c.ended && c.due == now {
				o.answer(c)
			}
			o.expectAt(c != nil && c.ended, c, now)
			if c != nil {
				p.expect("attempt", c.last.Number)
				p.expect("x_code", c.last.Code.String())
			}
			p.expectTokens(throttle)
			delete(o.calls, id)
		default:
			p.fail("op %q is unknown", op)
		}
	}
	for id, c := range o.calls {
		p.mismatch("call %s has not ended, attempt %d is due at %v", id, c.last.Number, c.due)
	}
}

// expectAt compares the time of a row with that at which the call is due, and
// whether it is due for that at all.
func (o *grpcOverlap) expectAt(expected bool, c *grpcCall, now time.Duration) {
	o.compared("t_ns")
	switch {
	case c == nil:
		o.mismatch("%s of a call that is not under way", o.text("op"))
	case !expected:
		o.mismatch("%s at %v, here attempt %d is due at %v", o.text("op"), now, c.last.Number, c.due)
	case c.due != now:
		o.mismatch("%s at %v, here at %v", o.text("op"), now, c.due)
	}
}

// answerUntil lets the servers answer what is due before now, in order.
func (o *grpcOverlap) answerUntil(now time.Duration) {
	for {
		var next *grpcCall
		for _, c := range o.calls {
			if c.runs && !c.ended && c.due < now && (next == nil || c.before(next)) {
				next = c
			}
		}
		if next == nil {
			return
		}
		o.answer(next)
	}
}

// answer ends the attempt of a call, and decides whether it has another.
func (o *grpcOverlap) answer(c *grpcCall) {
	a := c.script.attempt(c.last.Number, c.last.Backoffs)
	d := o.rule.Decide(a)
	c.last, c.runs, c.ended = a, false, !d.Retry
	if d.Retry {
		c.last = presets.GRPCAttempt{Number: a.Number + 1, Backoffs: d.Backoffs}
		c.due += d.Delay
		o.rule.Send()
	}
}
