package policies

import "time"

// instant returns now, or reads the clock where outcomes do not need it.
func (b *Breaker) instant(now int64) int64 {
	if b.epoch.Load().clocked {
		return now
	}
	return b.advance(b.watch.Read())
}

// advance brings the state up to date. It returns now, or the latest instant
// seen if that is later.
func (b *Breaker) advance(now int64) int64 {
	now = max(now, b.last)
	b.last = now
	if b.deadlines {
		b.catchUp(now)
	}
	return now
}

// catchUp lets happen what was due in the meantime, in order, each at the
// instant it was due.
func (b *Breaker) catchUp(now int64) {
	for {
		at, slow, ok := b.deadline()
		switch {
		case !ok || at > now:
			return
		case slow != nil:
			b.markSlow(slow, at)
		default:
			b.change(Open, at, b.probes.held)
		}
	}
}

// deadline returns the earliest instant at which time alone may change the
// state, and the call that becomes slow then, or nil for the end of half-open,
// which goes first.
func (b *Breaker) deadline() (at int64, slow *call, ok bool) {
	if slow = b.calls.first(); slow != nil {
		at, ok = b.slowAt(slow), true
	}
	if b.epoch.Load().state == HalfOpen && b.probeRule.longest > 0 {
		end := b.entered + int64(b.probeRule.longest)
		if end >= b.entered && (!ok || end <= at) {
			return end, nil, true
		}
	}
	return at, slow, ok
}

// Advance brings the state up to date, as every other method does. Only a
// breaker with InFlightSlow or HalfOpenFor changes by time alone.
func (b *Breaker) Advance() {
	if b.deadlines {
		now := b.watch.Read()
		b.lock()
		b.advance(now)
		b.unlock()
	}
}

// NextDeadline returns the earliest instant at which Advance alone could
// change the state, and false if it could not. It may lie in the past. With
// InFlightSlow it is 1 ns after a call has been in flight for SlowAfter, since
// slow means strictly longer.
func (b *Breaker) NextDeadline() (time.Time, bool) {
	if !b.deadlines {
		return time.Time{}, false
	}
	b.lock()
	at, _, ok := b.deadline()
	b.mutexUnlock()
	if !ok {
		return time.Time{}, false
	}
	return b.watch.Time(at), true
}

// State returns the state as of now. An open breaker stays open after OpenFor
// until the next Allow, so to look changes nothing.
func (b *Breaker) State() State {
	b.Advance()
	return b.epoch.Load().state
}

// Counts returns what the window holds now, or what the probes of a half-open
// breaker have brought; they are zero while it is open.
func (b *Breaker) Counts() Counts {
	now := b.watch.Read()
	b.lock()
	now = b.advance(now)
	held := b.probes.held
	if b.epoch.Load().state == Closed {
		held = b.window.counts(now)
	}
	b.unlock()
	return held
}

// Stats returns the totals as of now.
func (b *Breaker) Stats() Stats {
	now := b.watch.Read()
	b.lock()
	now = b.advance(now)
	s := b.stats
	s.Stay(b.epoch.Load().state, time.Duration(now-b.entered))
	b.unlock()
	return s
}
