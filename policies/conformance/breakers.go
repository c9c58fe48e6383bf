package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// calls are the permits of the calls under way, by the id in the recording.
type calls map[string]policies.Permit

// outcome is how a call ends, by its name in a recording.
func (p *replay) outcome() policies.Outcome {
	o := policies.Outcome{}
	if p.has("dur_ns") && p.text("dur_ns") != "" {
		o.Latency = p.duration("dur_ns")
	}
	switch name := p.text("outcome"); name {
	case "ok":
	case "fail", "timeout", "rejected":
		o.Err = policies.ErrOther
	case "excluded", "bad_request":
		o.Err = errExcluded
	case "unrecorded":
		o.Err = errUnrecorded
	default:
		p.fail("outcome %q is unknown", name)
	}
	return o
}

// classify tells the ends of calls apart that libraries do not count as
// failures.
func classify(o policies.Outcome) policies.Class {
	switch o.Err {
	case nil, errUnrecorded:
		return policies.Success
	case errExcluded:
		return policies.Ignored
	}
	return policies.Failure
}

// A special is an error that does not count as a failure.
type special string

func (s special) Error() string { return string(s) }

const (
	errExcluded   special = "excluded"   // counts as nothing
	errUnrecorded special = "unrecorded" // counts as a success
)

// acquire asks for permission, compares the answer and keeps the permit.
func (p *replay) acquire(b policies.CircuitBreaker, under calls) (ok bool) {
	permit, ok := b.Allow()
	p.expect("x_permitted", ok)
	if ok {
		under[p.text("id")] = permit
	}
	return ok
}

// step does what a row asks of a breaker. A call is an acquire and, if that is
// permitted, its result at the same instant. It reports whether the row was
// refused.
func (p *replay) step(b policies.CircuitBreaker, under calls) (refused bool) {
	switch op := p.text("op"); op {
	case "call":
		if p.acquire(b, under) {
			p.end(b, under)
			return false
		}
		return true
	case "acquire":
		return !p.acquire(b, under)
	case "result":
		p.end(b, under)
	case "probe":
	default:
		p.fail("op %q is unknown", op)
	}
	return false
}

// end ends the call of the row. A row for a call that was not permitted is a
// failure of the recording, or of an earlier answer.
func (p *replay) end(b policies.CircuitBreaker, under calls) {
	id := p.text("id")
	permit, ok := under[id]
	if !ok {
		p.mismatch("result of call %s, which was refused here", id)
		return
	}
	delete(under, id)
	if p.text("outcome") == "cancelled" {
		b.Cancel(permit)
		return
	}
	b.Record(permit, p.outcome())
}

func ns(n int64) time.Duration { return time.Duration(n) }
