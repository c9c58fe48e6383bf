package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A Breaker is the state machine that the breakers of all libraries share: it
// has the lock, the clock, the permits, the totals and the changes of state.
// What happens in a state is up to the stage of the library.
//
// It is a [policies.CircuitBreaker].
type Breaker struct {
	teller[policies.Change]
	watch    policies.Stopwatch
	classify func(policies.Outcome) policies.Class

	stages  stages
	stage   stage // the present one
	state   policies.State
	entered int64 // instant at which the state began
	last    int64 // latest instant seen
	stats   policies.Stats
}

// stages are those of a library by the state that they stand for.
type stages [3]stage

// A stage is what a breaker does in one of its states. Instants never go
// backwards. It is called under the lock.
type stage interface {
	// enter begins a stay.
	enter(now int64)
	// ask decides whether a call may start, and which number its permit
	// carries. With another verdict than stay the breaker goes on to the next
	// stage and asks that one.
	ask(now int64) (number uint64, ok bool, v verdict)
	// record is told how a call ended that this stage or an earlier one
	// permitted.
	record(now int64, r result) verdict
	// cancel takes a permit back without a result.
	cancel(now int64, number uint64) verdict
	// deadline is the instant at which the stage moves by itself, or never.
	deadline() int64
	// fire does what is due at the deadline, which is then.
	fire(at int64) verdict
}

// A verdict is what follows from a decision of a stage.
type verdict uint8

const (
	stay verdict = iota
	toClosed
	toOpen
	toHalfOpen
)

var stateOf = [...]policies.State{toClosed: policies.Closed, toOpen: policies.Open, toHalfOpen: policies.HalfOpen}

// never is a deadline that does not come. Readings of the clock stop at latest,
// 73 years after a breaker was made, so that an instant and durations can be
// added up.
const (
	never  = math.MaxInt64
	latest = math.MaxInt64 / 4
)

// A result is the end of a call.
type result struct {
	number  uint64 // of its permit
	class   policies.Class
	latency time.Duration
}

// failed reports whether it counts as a failure.
func (r result) failed() bool { return r.class == policies.Failure }

// passive is a stage that does nothing, to be embedded.
type passive struct{}

func (passive) enter(int64)                       {}
func (passive) ask(int64) (uint64, bool, verdict) { return 0, true, stay }
func (passive) record(int64, result) verdict      { return stay }
func (passive) cancel(int64, uint64) verdict      { return stay }
func (passive) deadline() int64                   { return never }
func (passive) fire(int64) verdict                { return stay }

// init starts a breaker in the closed state. Readings of the clock are
// multiples of align where its Unix time is one; 0 asks for no alignment.
func (b *Breaker) init(h policies.Host, align time.Duration, s stages) {
	b.watch = policies.NewStopwatch(h.Clock, align)
	b.classify, b.onChange = h.Classify, h.OnChange
	b.stages, b.stage = s, s[policies.Closed]
	b.last = min(b.watch.Read(), latest)
	b.entered = b.last
	b.stage.enter(b.last)
}

// lock takes the lock, reads the clock and does what is due.
func (b *Breaker) lock() (now int64) {
	read := min(b.watch.Read(), latest)
	b.mu.Lock()
	now = max(read, b.last)
	for at := b.stage.deadline(); at <= now; at = b.stage.deadline() {
		b.last = max(at, b.last)
		b.follow(b.stage.fire(b.last), b.last)
	}
	b.last = now
	return now
}

// follow does what a stage has decided.
func (b *Breaker) follow(v verdict, now int64) {
	if v != stay {
		to := stateOf[v]
		b.move(to, b.stages[to], now)
	}
}

// move goes to a stage, which may be the present one or one that is not among
// the stages of the library.
func (b *Breaker) move(to policies.State, s stage, now int64) {
	c := policies.Change{From: b.state, To: to}
	if c.From != c.To {
		b.stats.Count(c, time.Duration(now-b.entered))
		if b.onChange != nil {
			c.At = b.watch.Time(now)
			b.untold = append(b.untold, c)
		}
		b.entered = now
	}
	b.state, b.stage = to, s
	s.enter(now)
}

// Allow reports whether a call may start now. If it may, hand the permit back
// when the call has ended.
func (b *Breaker) Allow() (policies.Permit, bool) {
	now := b.lock()
	number, ok, v := b.stage.ask(now)
	for v != stay {
		b.follow(v, now)
		number, ok, v = b.stage.ask(now)
	}
	var p policies.Permit
	switch {
	case !ok:
		b.stats.Refused++
	default:
		p = policies.MakePermit(number)
		if b.state != policies.Closed {
			b.stats.Probes++
		}
	}
	b.unlock()
	return p, ok
}

// Record tells how a call ended. Which state it counts in, if any, is a rule
// of the library.
func (b *Breaker) Record(p policies.Permit, o policies.Outcome) {
	number, ok := p.Number()
	if !ok {
		return
	}
	r := result{number: number, latency: o.Latency}
	if o.Err != nil {
		r.class = policies.Failure
	}
	if b.classify != nil {
		r.class = min(b.classify(o), policies.Ignored)
	}
	now := b.lock()
	if r.class == policies.Ignored {
		b.stats.Ignored++
	} else {
		b.stats.Recorded++
	}
	b.follow(b.stage.record(now, r), now)
	b.unlock()
}

// Cancel gives a permit back whose call never ran or does not count.
func (b *Breaker) Cancel(p policies.Permit) {
	number, ok := p.Number()
	if !ok {
		return
	}
	now := b.lock()
	b.stats.Cancelled++
	b.follow(b.stage.cancel(now, number), now)
	b.unlock()
}

// State returns the state as of now.
func (b *Breaker) State() policies.State {
	b.lock()
	defer b.unlock()
	return b.state
}

// Stats returns the totals as of now. What a library drops as late is in
// Recorded too.
func (b *Breaker) Stats() policies.Stats {
	now := b.lock()
	defer b.unlock()
	s := b.stats
	s.Stay(b.state, time.Duration(now-b.entered))
	return s
}

// Advance does what is due by now.
func (b *Breaker) Advance() {
	b.lock()
	b.unlock()
}

// NextDeadline returns the instant at which the breaker moves by itself.
func (b *Breaker) NextDeadline() (time.Time, bool) {
	b.mu.Lock()
	at := b.stage.deadline()
	b.mu.Unlock()
	if at == never {
		return time.Time{}, false
	}
	return b.watch.Time(at), true
}
