package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// r4jLegal reports whether there is a transition between two states.
func r4jLegal(from, to Resilience4jState) bool {
	switch from {
	case Resilience4jClosed:
		return to != Resilience4jHalfOpen
	case Resilience4jMetricsOnly:
		return to != Resilience4jHalfOpen && to != Resilience4jOpen
	}
	return true
}

// r4jCore is what the stages share: the window that counts at present, the
// timers and the number of openings. As a stage it permits all calls and counts
// nothing.
type r4jCore struct {
	c     Resilience4jConfig
	trip  r4jTrip
	state Resilience4jState

	window       r4jWindow // one of the next three
	closed       r4jWindow
	halfOpen     r4jWindow
	blank        r4jWindow
	notPermitted int

	openings int // in a row, those to forced-open too

	timers   []r4jTimer // those under way, in the order in which they fire
	stay     uint64     // number of the present stay in a state
	keep     bool       // the next change of state does not stop the timer of this one
	accepted bool       // the timer that fired last did something
}

// A r4jTimer is set when a state begins, and stopped when it ends.
type r4jTimer struct {
	at   int64
	to   Resilience4jState
	stay uint64
}

func newR4jCore(c Resilience4jConfig) r4jCore {
	s := r4jCore{
		c:        c,
		trip:     r4jTrip{failure: c.FailureRateThreshold, slow: c.SlowCallRateThreshold},
		halfOpen: newR4jCalls(c.PermittedCallsInHalfOpen),
		blank:    &r4jBlank{counting: c.SlidingWindowSynchronization == Resilience4jSynchronized},
		timers:   make([]r4jTimer, 0, 4),
	}
	switch {
	case c.SlidingWindowType == Resilience4jCountBased:
		s.closed = newR4jCalls(c.SlidingWindowSize)
	case c.SlidingWindowSynchronization == Resilience4jLockFree:
		s.closed = &r4jSlices{sliceRing: newSliceRing(c.SlidingWindowSize)}
	default:
		s.closed = &r4jSeconds{newTimeSlices(c.SlidingWindowSize, time.Second)}
	}
	return s
}

// begin begins a stay, and stops the timer of the one before.
func (s *r4jCore) begin(state Resilience4jState) {
	if !s.keep {
		for i, t := range s.timers {
			if t.stay == s.stay {
				s.timers = append(s.timers[:i], s.timers[i+1:]...)
				break
			}
		}
	}
	s.keep = false
	s.stay++
	s.state = state
}

// measure begins with new figures.
func (s *r4jCore) measure(now int64, w r4jWindow, minimum int) {
	w.reset(now)
	s.window, s.trip.minimum, s.notPermitted = w, minimum, 0
}

// measureCalls is measure with the window of the closed state.
func (s *r4jCore) measureCalls(now int64) {
	minimum := s.c.MinimumNumberOfCalls
	if s.c.SlidingWindowType == Resilience4jCountBased {
		minimum = min(minimum, s.c.SlidingWindowSize)
	}
	s.measure(now, s.closed, minimum)
}

// count counts a call and returns the window.
func (s *r4jCore) count(now int64, r result) policies.Counts {
	return s.window.add(now, one(r.failed(), r.latency > s.c.SlowCallDurationThreshold))
}

func (s *r4jCore) refuse() (uint64, bool, verdict) {
	s.notPermitted++
	return 0, false, stay
}

func (s *r4jCore) metrics(now int64) Resilience4jMetrics {
	c := s.window.counts(now)
	m := Resilience4jMetrics{State: s.state, Buffered: c.Calls, Failed: c.Failures, Slow: c.Slow, NotPermitted: s.notPermitted}
	m.FailureRate, m.SlowCallRate = s.trip.rates(c)
	return m
}

// start sets the timer of the present stay. Timers of one instant fire in the
// order in which they were set.
func (s *r4jCore) start(at int64, to Resilience4jState) {
	if at == never {
		return
	}
	i := len(s.timers)
	s.timers = append(s.timers, r4jTimer{})
	for ; i > 0 && s.timers[i-1].at > at; i-- {
		s.timers[i] = s.timers[i-1]
	}
	s.timers[i] = r4jTimer{at, to, s.stay}
}

func (s *r4jCore) deadline() int64 {
	if len(s.timers) == 0 {
		return never
	}
	return s.timers[0].at
}

func (s *r4jCore) fire(int64) verdict {
	to := s.timers[0].to
	s.timers = append(s.timers[:0], s.timers[1:]...)
	s.accepted = r4jLegal(s.state, to)
	switch {
	case !s.accepted:
		return stay
	case to == Resilience4jHalfOpen:
		return toHalfOpen
	case to == Resilience4jOpen:
		return toOpen
	}
	return toClosed
}

func (s *r4jCore) ask(int64) (uint64, bool, verdict) { return 0, true, stay }
func (s *r4jCore) record(int64, result) verdict      { return stay }
func (s *r4jCore) cancel(int64, uint64) verdict      { return stay }

type r4jClosed struct{ *r4jCore }

func (s *r4jClosed) enter(now int64) {
	s.begin(Resilience4jClosed)
	s.openings = 0
	s.measureCalls(now)
}

func (s *r4jClosed) record(now int64, r result) verdict {
	if r.class == policies.Ignored {
		return stay
	}
	if s.trip.met(s.count(now, r)) {
		return toOpen
	}
	return stay
}

// r4jOpen keeps the window of the state before, and what still ends counts in
// it.
type r4jOpen struct {
	*r4jCore
	wait    *Resilience4jBackoff
	uniform policies.UniformSource
	until   int64
}

func (s *r4jOpen) enter(now int64) {
	s.begin(Resilience4jOpen)
	s.openings++
	u := 0.0
	if s.wait.factor > 0 {
		u = s.uniform.Next()
	}
	s.until = sumOf(now, int64(s.wait.Delay(s.openings, 0, u)))
	if s.c.AutomaticTransitionFromOpen {
		s.start(s.until, Resilience4jHalfOpen)
	}
}

func (s *r4jOpen) ask(now int64) (uint64, bool, verdict) {
	if now > s.until {
		return 0, false, toHalfOpen
	}
	return s.refuse()
}

func (s *r4jOpen) record(now int64, r result) verdict {
	if r.class != policies.Ignored {
		s.count(now, r)
	}
	return stay
}

// r4jHalfOpen decides when it has the minimum of results, whichever calls they
// are of.
type r4jHalfOpen struct {
	*r4jCore
	permits int
}

func (s *r4jHalfOpen) enter(now int64) {
	s.begin(Resilience4jHalfOpen)
	s.permits = s.c.PermittedCallsInHalfOpen
	s.measure(now, s.halfOpen, min(s.c.MinimumNumberOfCalls, s.permits))
	if s.c.MaxWaitInHalfOpen > 0 {
		s.start(sumOf(now, int64(s.c.MaxWaitInHalfOpen)), s.c.StateAfterHalfOpenWait)
	}
}

func (s *r4jHalfOpen) ask(int64) (uint64, bool, verdict) {
	if s.permits == 0 {
		return s.refuse()
	}
	s.permits--
	return 0, true, stay
}

func (s *r4jHalfOpen) record(now int64, r result) verdict {
	if r.class == policies.Ignored {
		s.permits++
		return stay
	}
	c := s.count(now, r)
	switch {
	case s.trip.met(c):
		return toOpen
	case s.trip.enough(c):
		return toClosed
	}
	return stay
}

func (s *r4jHalfOpen) cancel(int64, uint64) verdict {
	s.permits++
	return stay
}

type r4jForcedOpen struct{ *r4jCore }

func (s *r4jForcedOpen) enter(now int64) {
	s.begin(Resilience4jForcedOpen)
	s.openings++
	s.measure(now, s.blank, 0)
}

func (s *r4jForcedOpen) ask(int64) (uint64, bool, verdict) { return s.refuse() }

type r4jDisabled struct{ *r4jCore }

func (s *r4jDisabled) enter(now int64) {
	s.begin(Resilience4jDisabled)
	s.openings = 0
	s.measure(now, s.blank, 0)
}

type r4jMetricsOnly struct{ *r4jCore }

func (s *r4jMetricsOnly) enter(now int64) {
	s.begin(Resilience4jMetricsOnly)
	s.openings = 0
	s.measureCalls(now)
}

func (s *r4jMetricsOnly) record(now int64, r result) verdict {
	if r.class != policies.Ignored {
		s.count(now, r)
	}
	return stay
}

// A r4jTrip holds both rates against their thresholds, in 32-bit floats.
type r4jTrip struct {
	failure, slow float32
	minimum       int
}

func (t *r4jTrip) enough(c policies.Counts) bool { return c.Calls > 0 && c.Calls >= t.minimum }

// rates are -1 while there are not enough calls.
func (t *r4jTrip) rates(c policies.Counts) (failure, slow float32) {
	if !t.enough(c) {
		return -1, -1
	}
	return rateOf32(c.Failures, c.Calls), rateOf32(c.Slow, c.Calls)
}

func (t *r4jTrip) met(c policies.Counts) bool {
	failure, slow := t.rates(c)
	return failure >= t.failure || slow >= t.slow
}

// rateOf32 is 100*k/n as Java's float arithmetic has it.
func rateOf32(k, n int) float32 { return float32(k) * 100 / float32(n) }
