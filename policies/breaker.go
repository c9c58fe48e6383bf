package policies

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A Breaker stops calls to a callee that seems to be down. Ask Allow before
// each call and hand the permit back to Record or Cancel exactly once.
//
// A Breaker is laid out for the cache: what calls only read comes first, what
// the lock guards comes later and starts with what every outcome touches.
type Breaker struct {
	epoch atomic.Pointer[epoch] // replaced under the lock

	// Fixed when the breaker is made.
	slowAfter    time.Duration // MaxInt64 if no call is slow
	classify     func(Outcome) Class
	unshared     bool
	clocked      bool // the window needs the time
	inFlightSlow bool
	deadlines    bool        // time alone can change the state
	calmWindow   calmWindow  // the window, if successes may bypass the lock
	tally        tallyWindow // the window, if it is enough to count them
	watch        Stopwatch
	openFor      time.Duration
	probeRule    probeRule
	limits       limits
	onChange     func(Change)

	_ [cacheLine]byte

	mu        sync.Mutex
	window    window
	calm      bool   // successes may bypass the lock now
	crowdLeft uint8  // gatherings until the crowd is forgotten
	goodRun   uint32 // good outcomes in a row
	crowd     *crowd // nil before goroutines met
	last      int64  // latest instant seen
	changes   changes
	stats     Stats
	entered   int64 // instant at which the epoch began
	probes    probes
	calls     calls
}

// NewBreaker returns a closed breaker, or the error of Validate. A nil clock
// is the real one. The clock should not go backwards: a time before the
// latest one seen is taken as that.
func NewBreaker(cfg BreakerConfig, clock Clock) (*Breaker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	kind, err := cfg.Rule.Window.lookup()
	if err != nil {
		return nil, err
	}
	b := &Breaker{
		slowAfter:    cfg.Rule.SlowAfter,
		classify:     cfg.Classify,
		unshared:     cfg.Unshared,
		clocked:      kind.clocked,
		inFlightSlow: cfg.InFlightSlow,
		deadlines:    cfg.InFlightSlow || cfg.HalfOpenFor > 0,
		openFor:      cfg.OpenFor,
		probeRule:    makeProbeRule(cfg),
		limits:       makeLimits(cfg.Rule),
		onChange:     cfg.OnChange,
	}
	if b.slowAfter == 0 {
		b.slowAfter = math.MaxInt64
	}
	var slice time.Duration
	if kind.slice != nil {
		slice = kind.slice(cfg.Rule.Window)
	}
	b.watch = NewStopwatch(clock, slice)
	b.window = kind.make(cfg.Rule.Window, b.limits)
	if !cfg.Unshared && !cfg.InFlightSlow {
		b.calmWindow, _ = b.window.(calmWindow)
		b.tally, _ = b.window.(tallyWindow)
	}
	b.last = b.watch.offset
	b.enter(Closed, b.last)
	return b, nil
}

// A Permit stands for a call that was allowed. It remembers the state that
// allowed it, so an answer that comes too late cannot move a newer state of a
// [Breaker]. The zero Permit, which goes with a refusal, is worth nothing: to hand it back
// does nothing.
type Permit struct {
	epoch *epoch
	call  callID // 0 without InFlightSlow
}

// Allow reports whether a call may start now. If it may, hand the permit back
// when the call has ended.
func (b *Breaker) Allow() (p Permit, ok bool) {
	p.epoch, ok = b.epoch.Load(), true
	if p.epoch.decides {
		p, ok = b.admit()
	}
	return // in this form the compiler puts Allow into its callers
}

// admit is Allow where there is something to decide.
func (b *Breaker) admit() (Permit, bool) {
	now := b.watch.Read()
	b.lock()
	defer b.unlock()
	now = b.advance(now)
	epoch := b.epoch.Load()
	if epoch.state == Open && now-b.entered >= int64(b.openFor) {
		epoch = b.change(HalfOpen, now, Counts{})
	}
	switch epoch.state {
	case Open:
		b.stats.Refused++
		return Permit{}, false
	case HalfOpen:
		if !b.probes.take(&b.probeRule) {
			b.stats.Refused++
			return Permit{}, false
		}
		b.stats.Probes++
	}
	p := Permit{epoch: epoch}
	if b.inFlightSlow {
		p.call = b.calls.add(now)
	}
	return p, true
}

// Record counts the outcome of a call in the state that allowed it, and drops
// it if that state is over.
func (b *Breaker) Record(p Permit, o Outcome) {
	if p.epoch == nil {
		return
	}
	before := p.epoch.good.Load()
	failed := o.Err != nil
	if b.classify != nil {
		class := b.classify(o)
		if class == Ignored {
			b.release(p, &b.stats.Ignored)
			return
		}
		failed = class != Success
	}
	e := makeEntry(failed, o.Latency > b.slowAfter)
	var now int64
	if p.epoch.clocked {
		now = b.watch.Read()
	}
	if !b.unshared {
		if now < p.epoch.calmUntil.Load() {
			if c := p.epoch.crowd.Load(); c != nil {
				if b.bypassCrowd(c, p.epoch, now, e) {
					return
				}
			} else if e == 0 && b.bypass(p.epoch, before) {
				return
			}
		}
		if !b.mu.TryLock() {
			b.mu.Lock()
			b.crowded()
		}
		if b.calm { // as in lock
			b.settle()
		}
	}
	if p.epoch.clocked {
		now = b.advance(now)
	}
	if !p.epoch.decides && p.epoch == b.epoch.Load() {
		b.stats.Recorded++
		b.goodRun++
		if e != 0 {
			b.goodRun = 0
		}
		if b.window.record(now, e) {
			now = b.instant(now)
			b.change(Open, now, b.window.counts(now))
		}
	} else {
		b.record(p, e, now)
	}
	untold := b.changes.untold
	if !b.unshared {
		if b.mayCalm() {
			b.calmDown()
		}
		b.mu.Unlock()
	}
	if untold {
		b.deliver()
	}
}

// record is Record in half-open, with InFlightSlow, or too late.
func (b *Breaker) record(p Permit, e entry, now int64) {
	ended, ok := b.end(p)
	if !ok {
		return
	}
	b.stats.Recorded++
	switch {
	case ended.phase == knownSlow:
		b.endSlow(ended, p.epoch.state, e, now)
	case p.epoch.state == HalfOpen:
		b.collect(e, now)
	case b.window.record(now, e):
		b.change(Open, now, b.window.counts(now))
	}
}

// end takes a permit back and returns what is known of its call. It reports
// false if the permit is worth nothing.
func (b *Breaker) end(p Permit) (c call, ok bool) {
	if p.epoch != b.epoch.Load() {
		b.stats.Late++
		return call{}, false
	}
	if b.inFlightSlow {
		if c = b.calls.end(p.call); c.phase == ended {
			return call{}, false
		}
	}
	if p.epoch.state == HalfOpen {
		if b.probes.inFlight == 0 {
			return call{}, false
		}
		b.probes.inFlight--
	}
	return c, true
}

// Cancel gives a permit back whose call never ran or does not count, and
// whatever stands for it in half-open can be handed out again. A call that
// was counted as slow while in flight stays counted.
//
// A call that may end without Record must end with Cancel: a probe that never
// comes back keeps its permit.
func (b *Breaker) Cancel(p Permit) {
	if p.epoch != nil {
		b.release(p, &b.stats.Cancelled)
	}
}

// release takes a permit back without an outcome.
func (b *Breaker) release(p Permit, count *uint64) {
	var now int64
	if p.epoch.clocked {
		now = b.watch.Read()
	}
	b.lock()
	if p.epoch.clocked {
		b.advance(now)
	}
	if ended, ok := b.end(p); ok {
		*count++
		if p.epoch.state == HalfOpen && ended.phase != knownSlow {
			b.probes.taken--
		}
	}
	b.unlock()
}
