package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// An OutlierHost is the view of one host of an [OutlierDetector], in the terms
// of a breaker: open while the host is ejected, never half-open. An answer
// counts whenever it comes.
type OutlierHost struct {
	d      *OutlierDetector
	number int

	ejected    bool
	since      int64 // when it became so, or stopped to be
	until      int64 // end of the ejection; it comes back at the next end of an interval
	multiplier int64
	run, gates int // 5xx and gateway failures in a row

	good, total int     // answers in the present interval
	volume      int     // those of the one before
	rate        float64 // of success among them, in percent

	stats policies.Stats
}

var _ policies.CircuitBreaker = (*OutlierHost)(nil)

// found ends a run that is as long as it takes.
func (h *OutlierHost) found(run *int, now int64, enforcing int) {
	if !h.ejected {
		h.d.eject(h, now, enforcing)
		*run = 0
	}
}

// Allow reports whether the host is in.
func (h *OutlierHost) Allow() (policies.Permit, bool) {
	h.d.lock()
	defer h.d.unlock()
	if h.ejected {
		h.stats.Refused++
		return policies.Permit{}, false
	}
	return policies.MakePermit(0), true
}

// Record tells what a call of the host came to.
func (h *OutlierHost) Record(p policies.Permit, o policies.Outcome) {
	if _, ok := p.Number(); !ok {
		return
	}
	d := h.d
	class := policies.Success
	if d.classify != nil {
		class = d.classify(o)
	}
	answer := answerOf(o, class, d.classify != nil)
	now := d.lock()
	defer d.unlock()
	if answer == answerNone {
		h.stats.Ignored++
		return
	}
	h.stats.Recorded++
	h.total++
	d.heard = true
	if answer == answerGood {
		h.good++
		h.run, h.gates = 0, 0
		return
	}
	if answer == answerBad {
		h.gates = 0
	} else if h.gates++; h.gates == d.c.ConsecutiveGatewayFailure {
		h.found(&h.gates, now, d.c.EnforcingConsecutiveGatewayFailure)
	}
	if h.run++; h.run == d.c.Consecutive5xx {
		h.found(&h.run, now, d.c.EnforcingConsecutive5xx)
	}
}

// Cancel gives a permit back; the call does not count.
func (h *OutlierHost) Cancel(p policies.Permit) {
	if _, ok := p.Number(); !ok {
		return
	}
	h.d.lock()
	defer h.d.unlock()
	h.stats.Cancelled++
}

// State returns Open while the host is ejected, otherwise Closed.
func (h *OutlierHost) State() policies.State {
	h.d.lock()
	defer h.d.unlock()
	return h.state()
}

func (h *OutlierHost) state() policies.State {
	if h.ejected {
		return policies.Open
	}
	return policies.Closed
}

// Stats returns the totals of the host. Its returns are the closings.
func (h *OutlierHost) Stats() policies.Stats {
	now := h.d.lock()
	defer h.d.unlock()
	s := h.stats
	s.Stay(h.state(), time.Duration(now-h.since))
	return s
}

// SuccessRate returns the share of good answers in the last interval in
// percent, or -1 if there were none.
func (h *OutlierHost) SuccessRate() float64 {
	h.d.lock()
	defer h.d.unlock()
	return h.rate
}

// Advance does what is due, for all hosts.
func (h *OutlierHost) Advance() {
	h.d.lock()
	h.d.unlock()
}

// NextDeadline returns the end of the interval at which the host may go or come
// back. It is not before something was heard from some host, or it is ejected.
func (h *OutlierHost) NextDeadline() (time.Time, bool) {
	d := h.d
	d.mu.Lock()
	at, ok := d.next, d.heard && d.c.EnforcingSuccessRate+d.c.EnforcingFailurePercentage > 0
	if !ok && h.ejected {
		at, ok = h.back(), true
	}
	d.mu.Unlock()
	if !ok {
		return time.Time{}, false
	}
	return d.watch.Time(at), true
}
