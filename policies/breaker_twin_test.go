package policies

import (
	"fmt"
	"slices"
	"time"
)

// A breakerTwin is a breaker as its documentation describes it, written
// without a thought for speed: windows that count anew, calls in a list, one
// step of time after the other.
type breakerTwin struct {
	cfg     BreakerConfig
	now     time.Duration // since testStart
	state   State
	entered time.Duration
	epoch   int
	window  *windowTwin
	calls   []*twinCall // every call that was ever allowed, in order
	probes  Counts
	stats   Stats
	changes []string
}

type twinCall struct {
	epoch   int
	probe   bool
	start   time.Duration
	over    bool
	early   bool // counted as slow while in flight
	outcome int  // in the window, if early
}

func newBreakerTwin(cfg BreakerConfig) *breakerTwin {
	return &breakerTwin{cfg: cfg, window: &windowTwin{c: cfg.Rule.Window}}
}

func (b *breakerTwin) enter(s State, at time.Duration) {
	b.changes = append(b.changes, fmt.Sprintf("%v %v-%v", at, b.state, s))
	stay := at - b.entered
	switch b.state {
	case Open:
		b.stats.OpenTime += stay
	case HalfOpen:
		b.stats.HalfOpenTime += stay
	}
	switch {
	case s == Open && b.state == HalfOpen:
		b.stats.Reopenings++
		b.stats.Openings++
	case s == Open:
		b.stats.Openings++
	case s == Closed:
		b.stats.Closings++
	}
	b.state, b.entered = s, at
	b.epoch++
	b.window = &windowTwin{c: b.cfg.Rule.Window}
	b.probes = Counts{}
}

// due finds what time alone does next; nil means the end of half-open.
func (b *breakerTwin) due() (at time.Duration, c *twinCall, ok bool) {
	if b.state == HalfOpen && b.cfg.HalfOpenFor > 0 {
		at, ok = b.entered+b.cfg.HalfOpenFor, true
	}
	if b.cfg.InFlightSlow {
		for _, other := range b.calls {
			slowAt := other.start + b.cfg.Rule.SlowAfter + 1
			if other.epoch == b.epoch && !other.over && !other.early && (!ok || slowAt < at) {
				at, c, ok = slowAt, other, true
			}
		}
	}
	return at, c, ok
}

func (b *breakerTwin) advance(now time.Duration) {
	for {
		at, c, ok := b.due()
		if !ok || at > now {
			break
		}
		b.now = at
		if c == nil {
			b.enter(Open, at)
			continue
		}
		c.early = true
		b.stats.EarlySlow++
		c.outcome = b.count(false, true)
	}
	b.now = max(b.now, now)
}

// count adds an outcome to the window or the probes and decides.
func (b *breakerTwin) count(failed, slow bool) int {
	if b.state == HalfOpen {
		b.probe(failed, slow)
		return -1
	}
	i := b.window.record(b.now, failed, slow)
	if twinTrips(b.cfg.Rule, b.window.counts(b.now)) {
		b.enter(Open, b.now)
	}
	return i
}

func (b *breakerTwin) probe(failed, slow bool) {
	b.probes.Calls++
	if failed {
		b.probes.Failures++
	}
	if slow {
		b.probes.Slow++
	}
	if b.cfg.HalfOpen == FirstFailure {
		closeAfter := b.cfg.CloseAfter
		if closeAfter == 0 {
			closeAfter = b.cfg.Probes
		}
		if failed || slow && b.cfg.Rule.SlowRate > 0 {
			b.enter(Open, b.now)
		} else if b.probes.Calls == closeAfter {
			b.enter(Closed, b.now)
		}
		return
	}
	if b.probes.Calls < b.cfg.Probes {
		return
	}
	rule := b.cfg.Rule
	rule.MinCalls = 1
	if twinTrips(rule, b.probes) {
		b.enter(Open, b.now)
	} else {
		b.enter(Closed, b.now)
	}
}

// probesOut counts the permits of this half-open state: those that are with a
// caller, and those that cannot be handed out again.
func (b *breakerTwin) probesOut() (inFlight, taken int) {
	taken = b.probes.Calls
	for _, c := range b.calls {
		if c.epoch != b.epoch || c.over {
			continue
		}
		inFlight++
		if !c.early {
			taken++
		}
	}
	return inFlight, taken
}

func (b *breakerTwin) allow(now time.Duration) (int, bool) {
	b.advance(now)
	if b.state == Open && b.now-b.entered >= b.cfg.OpenFor {
		b.enter(HalfOpen, b.now)
	}
	inFlight, taken := b.probesOut()
	limit := b.cfg.ProbesInFlight
	if b.state == Open || b.state == HalfOpen && (taken >= b.cfg.Probes || limit > 0 && inFlight >= limit) {
		b.stats.Refused++
		return -1, false
	}
	if b.state == HalfOpen {
		b.stats.Probes++
	}
	b.calls = append(b.calls, &twinCall{epoch: b.epoch, probe: b.state == HalfOpen, start: b.now})
	return len(b.calls) - 1, true
}

// finish takes call i back; the class decides what for. Without InFlightSlow
// the slow calls are those of the outcome.
func (b *breakerTwin) finish(now time.Duration, i int, class Class, slow, cancelled bool) {
	b.advance(now)
	c := b.calls[i]
	c.over = true
	switch {
	case c.epoch != b.epoch:
		b.stats.Late++
	case cancelled:
		b.stats.Cancelled++
	case class == Ignored:
		b.stats.Ignored++
	default:
		b.stats.Recorded++
		switch {
		case !c.early:
			b.count(class == Failure, slow)
		case class == Failure && b.state == HalfOpen:
			b.probes.Failures++
		case class == Failure && b.window.holds(c.outcome, b.window.clamp(b.now)):
			b.window.all[c.outcome].failed = true
			if twinTrips(b.cfg.Rule, b.window.counts(b.now)) {
				b.enter(Open, b.now)
			}
		}
	}
}

func (b *breakerTwin) counts() Counts {
	switch b.state {
	case Closed:
		return b.window.counts(b.now)
	case HalfOpen:
		return b.probes
	}
	return Counts{}
}

// inFlight lists the calls that have not come back.
func (b *breakerTwin) inFlight() (calls []int) {
	for i, c := range b.calls {
		if !c.over {
			calls = append(calls, i)
		}
	}
	return calls
}

func (b *breakerTwin) total() Stats {
	s := b.stats
	switch b.state {
	case Open:
		s.OpenTime += b.now - b.entered
	case HalfOpen:
		s.HalfOpenTime += b.now - b.entered
	}
	return s
}

// diagram lists the changes that the state diagram knows.
var diagram = [][2]State{{Closed, Open}, {Open, HalfOpen}, {HalfOpen, Open}, {HalfOpen, Closed}}

func legal(c Change) bool { return slices.Contains(diagram, [2]State{c.From, c.To}) }
