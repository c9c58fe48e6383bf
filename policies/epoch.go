package policies

import (
	"sync/atomic"
	"time"
)

// An epoch is one stay in a state. Permits point to the epoch that gave them
// out, so what comes back late is known by its pointer.
type epoch struct {
	state   State
	decides bool // whether Allow has something to decide: not closed, or InFlightSlow
	clocked bool // outcomes need the time

	// Successes bypass the lock: see bypass. These words are apart since
	// everyone reads the first two and everyone writes the others.
	calmUntil atomic.Int64
	crowd     atomic.Pointer[crowd]
	_         [cacheLine]byte
	good      atomic.Uint64
	_         [cacheLine]byte
	joined    atomic.Uint64 // stripes of the crowd
	badLeft   atomic.Int64  // bad outcomes that the crowd may note
	_         [cacheLine]byte
}

// cacheLine is twice the usual 64 bytes, since some processors fetch lines in
// pairs.
const cacheLine = 128

// enter begins an epoch at now.
func (b *Breaker) enter(s State, now int64) *epoch {
	e := &epoch{
		state:   s,
		decides: s != Closed || b.inFlightSlow,
		clocked: s == Closed && b.clocked || s == HalfOpen && b.probeRule.longest > 0 || b.inFlightSlow,
	}
	b.entered, b.goodRun = now, 0
	b.epoch.Store(e)
	return e
}

// change moves the breaker to another state at now. Whatever was admitted
// before belongs to an earlier epoch from here on.
func (b *Breaker) change(to State, now int64, counts Counts) *epoch {
	c := Change{From: b.epoch.Load().state, To: to, Counts: counts}
	b.stats.Count(c, time.Duration(now-b.entered))
	if c.From == Closed {
		b.window.reset()
	}
	b.probes = probes{}
	b.calls.reset()
	e := b.enter(to, now)
	if b.onChange != nil {
		c.At = b.watch.Time(now)
		b.changes.add(c)
	}
	return e
}
