package policies

import (
	"fmt"
	"math"
	"time"
)

// A HalfOpenRule says how the outcomes of the probes decide.
type HalfOpenRule string

// The rules of the half-open state.
const (
	// CollectAll waits for the outcomes of all Probes. Then their failure
	// rate and slow rate are held against the thresholds of the rule, without
	// its minimum of calls: at or above one of them the breaker opens again,
	// otherwise it closes. The empty HalfOpenRule means the same.
	CollectAll HalfOpenRule = "collect-all"
	// FirstFailure opens again at the first probe that fails, or that is slow
	// if the rule has a slow rate, and closes after CloseAfter good ones.
	FirstFailure HalfOpenRule = "first-failure"
)

// Unlimited as the number of Probes hands out permits in half-open for as
// long as the outcomes have not decided. It needs FirstFailure and CloseAfter.
const Unlimited = math.MaxInt

// validateProbes checks the fields that govern the half-open state.
func (c BreakerConfig) validateProbes() error {
	if c.Probes < 1 {
		return fmt.Errorf("policies: breaker: probes %d, want at least 1", c.Probes)
	}
	if c.ProbesInFlight < 0 {
		return fmt.Errorf("policies: breaker: probes in flight %d, want 0 for no limit, or more", c.ProbesInFlight)
	}
	if c.HalfOpenFor < 0 {
		return fmt.Errorf("policies: breaker: half-open for %v, want 0s for no limit, or more", c.HalfOpenFor)
	}
	switch c.HalfOpen {
	case CollectAll, "":
		if c.Probes == Unlimited {
			return fmt.Errorf("policies: breaker: probes unlimited, want a number to collect")
		}
		if c.CloseAfter != 0 {
			return fmt.Errorf("policies: breaker: close after %d, want 0: with half-open rule %q the rates decide", c.CloseAfter, CollectAll)
		}
	case FirstFailure:
		if c.CloseAfter < 0 || c.CloseAfter > c.Probes {
			return fmt.Errorf("policies: breaker: close after %d, want 0 for all probes, or 1 to %d", c.CloseAfter, c.Probes)
		}
		if c.Probes == Unlimited && c.CloseAfter == 0 {
			return fmt.Errorf("policies: breaker: close after 0, want at least 1 as the probes are unlimited")
		}
	default:
		return fmt.Errorf("policies: breaker: half-open rule %q, want one of %s, %s", c.HalfOpen, CollectAll, FirstFailure)
	}
	return nil
}

// probeRule is the configuration of the half-open state, ready for use.
type probeRule struct {
	permits      int
	inFlight     int // most at a time
	firstFailure bool
	closeAfter   int
	slowIsBad    bool // under firstFailure
	longest      time.Duration
}

func makeProbeRule(c BreakerConfig) probeRule {
	r := probeRule{
		permits:      c.Probes,
		inFlight:     c.ProbesInFlight,
		firstFailure: c.HalfOpen == FirstFailure,
		closeAfter:   c.CloseAfter,
		slowIsBad:    c.Rule.SlowRate > 0,
		longest:      c.HalfOpenFor,
	}
	if r.inFlight == 0 {
		r.inFlight = Unlimited
	}
	if r.closeAfter == 0 {
		r.closeAfter = r.permits
	}
	return r
}

// probes are the calls of one half-open epoch.
type probes struct {
	taken    int // permits handed out and not given back
	inFlight int
	held     Counts // outcomes collected
}

// take hands out a permit, if there is one.
func (p *probes) take(r *probeRule) bool {
	if p.taken >= r.permits || p.inFlight >= r.inFlight {
		return false
	}
	p.taken++
	p.inFlight++
	return true
}

// collect counts the outcome of a probe and decides, if that is possible now.
func (b *Breaker) collect(e entry, now int64) {
	p, r := &b.probes, &b.probeRule
	p.held.Calls++
	p.held.Failures += e.failed()
	p.held.Slow += e.slow()
	switch {
	case r.firstFailure && (e.failed() != 0 || r.slowIsBad && e.slow() != 0):
		b.change(Open, b.instant(now), p.held)
	case r.firstFailure && p.held.Calls >= r.closeAfter:
		b.change(Closed, b.instant(now), p.held)
	case !r.firstFailure && p.held.Calls >= r.permits:
		to := Closed
		if b.limits.tooMany(p.held) {
			to = Open
		}
		b.change(to, b.instant(now), p.held)
	}
}
