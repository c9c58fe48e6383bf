package presets

import (
	"slices"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The breaker of Resilience4j: resilience4j/resilience4j at v2.4.0,
// resilience4j-circuitbreaker, CircuitBreakerConfig.java and
// internal/CircuitBreakerStateMachine.java, CircuitBreakerMetrics.java. The
// states are in resilience4j_states.go, the windows in resilience4j_window.go.
//
//   - Defaults: the last 100 calls, at least 100 of them, 50 % failures or
//     100 % slower than 60 s, 60 s open, 10 probes.
//   - Rates are 32-bit floats, in percent; reached is too many. Every result is
//     looked at, a good one too.
//   - A question is let through strictly after the wait. The timer of the
//     automatic transition fires at its end exactly.
//   - A late result counts in the state that it meets, in half-open as a probe.
//   - Ignored and cancelled calls give back a permit of the half-open state,
//     also if they were permitted before it.
//   - Reset forgets to stop timers: they fire in a later state.
//   - With the automatic transition and a maximum wait in half-open, a breaker
//     that nobody asks goes on between open and half-open. Here it catches up
//     at the next call, step by step, unless Advance is called in time.

// A Resilience4jWindow says what the window of the closed state counts.
type Resilience4jWindow string

// The windows of Resilience4j.
const (
	Resilience4jCountBased Resilience4jWindow = "COUNT_BASED" // the last calls
	Resilience4jTimeBased  Resilience4jWindow = "TIME_BASED"  // the calls of the last seconds
)

// A Resilience4jSynchronization is one of two implementations of the windows.
type Resilience4jSynchronization string

// The implementations. They differ in when a second of a time window begins.
const (
	Resilience4jSynchronized Resilience4jSynchronization = "SYNCHRONIZED" // at whole seconds of Unix time
	Resilience4jLockFree     Resilience4jSynchronization = "LOCK_FREE"    // whole seconds after the closed state began
)

// A Resilience4jState is a state of the library, which has more of them than
// [policies.State].
type Resilience4jState string

// The states of Resilience4j. Forced-open shows as [policies.Open], disabled
// and metrics-only show as [policies.Closed].
const (
	Resilience4jClosed      Resilience4jState = "closed"
	Resilience4jOpen        Resilience4jState = "open"
	Resilience4jHalfOpen    Resilience4jState = "half-open"
	Resilience4jForcedOpen  Resilience4jState = "forced-open"  // refuses all calls, counts nothing
	Resilience4jDisabled    Resilience4jState = "disabled"     // permits all calls, counts nothing
	Resilience4jMetricsOnly Resilience4jState = "metrics-only" // permits all calls and counts them
)

// maxSeconds bounds a time window, which takes 24 bytes for each second.
const maxSeconds = 1 << 20

// A Resilience4jConfig is a CircuitBreakerConfig of Resilience4j.
type Resilience4jConfig struct {
	SlidingWindowType            Resilience4jWindow          // the last calls, or those of the last seconds
	SlidingWindowSynchronization Resilience4jSynchronization // when a second of a time window begins: of Unix time, or of the closed state
	SlidingWindowSize            int                         // calls of the window, or its seconds up to 2^20; at least 1, with lock-free seconds 2
	MinimumNumberOfCalls         int                         // calls in the window before it is looked at, at least 1; a window of fewer calls need only be full
	FailureRateThreshold         float32                     `unit:"percent"` // failures that open, in percent, above 0, at most 100
	SlowCallRateThreshold        float32                     `unit:"percent"` // slow calls that open, in percent, above 0, at most 100
	SlowCallDurationThreshold    time.Duration               // a longer call is slow; at least 1 ns

	// WaitInOpenState is the time open, by how often in a row the breaker has
	// opened without closing; at least 1 ms.
	WaitInOpenState             Resilience4jBackoffConfig
	AutomaticTransitionFromOpen bool // go half-open by a timer, not at the first question

	PermittedCallsInHalfOpen int               // probes, at least 1
	MaxWaitInHalfOpen        time.Duration     // longest stay in half-open, whole ms; 0 is for ever
	StateAfterHalfOpenWait   Resilience4jState // what follows then, open or closed
	InitialState             Resilience4jState // what it begins with
}

// Resilience4jCountDefaults returns the defaults of the library.
func Resilience4jCountDefaults() Resilience4jConfig {
	return Resilience4jConfig{
		SlidingWindowType:            Resilience4jCountBased,
		SlidingWindowSynchronization: Resilience4jSynchronized,
		SlidingWindowSize:            100,
		MinimumNumberOfCalls:         100,
		FailureRateThreshold:         50,
		SlowCallRateThreshold:        100,
		SlowCallDurationThreshold:    time.Minute,
		WaitInOpenState:              Resilience4jBackoffConfig{InitialInterval: time.Minute, Multiplier: 1},
		PermittedCallsInHalfOpen:     10,
		StateAfterHalfOpenWait:       Resilience4jOpen,
		InitialState:                 Resilience4jClosed,
	}
}

// Resilience4jTimeDefaults returns the defaults with a time window, which is
// then 100 s long.
func Resilience4jTimeDefaults() Resilience4jConfig {
	c := Resilience4jCountDefaults()
	c.SlidingWindowType = Resilience4jTimeBased
	return c
}

// Resilience4jLockFreeDefaults returns the defaults with a lock-free time
// window.
func Resilience4jLockFreeDefaults() Resilience4jConfig {
	c := Resilience4jTimeDefaults()
	c.SlidingWindowSynchronization = Resilience4jLockFree
	return c
}

// Validate reports the first field that makes no sense.
func (c Resilience4jConfig) Validate() error {
	f := fields{library: "resilience4j"}
	f.oneOf("sliding window type", string(c.SlidingWindowType), string(Resilience4jCountBased), string(Resilience4jTimeBased))
	f.oneOf("sliding window synchronization", string(c.SlidingWindowSynchronization), string(Resilience4jSynchronized), string(Resilience4jLockFree))
	f.count("sliding window size", c.SlidingWindowSize, 1)
	if c.SlidingWindowType == Resilience4jTimeBased {
		if c.SlidingWindowSize > maxSeconds {
			f.fail("sliding window size %d s, want at most %d", c.SlidingWindowSize, maxSeconds)
		}
		if c.SlidingWindowSynchronization == Resilience4jLockFree {
			f.count("sliding window size", c.SlidingWindowSize, 2)
		}
	}
	f.count("minimum number of calls", c.MinimumNumberOfCalls, 1)
	for _, t := range []struct {
		name string
		rate float32
	}{{"failure rate threshold", c.FailureRateThreshold}, {"slow call rate threshold", c.SlowCallRateThreshold}} {
		f.above(t.name, float64(t.rate), 0)
		f.within(t.name, float64(t.rate), 0, 100)
	}
	f.duration("slow call duration threshold", c.SlowCallDurationThreshold, 1)
	f.milliseconds("wait in open state", c.WaitInOpenState.InitialInterval, time.Millisecond)
	if err := c.WaitInOpenState.Validate(); err != nil {
		f.fail("wait in open state: %w", err)
	}
	f.count("permitted calls in half-open", c.PermittedCallsInHalfOpen, 1)
	f.milliseconds("maximum wait in half-open", c.MaxWaitInHalfOpen, 0)
	f.oneOf("state after the wait in half-open", string(c.StateAfterHalfOpenWait), string(Resilience4jOpen), string(Resilience4jClosed))
	f.oneOf("initial state", string(c.InitialState), string(Resilience4jClosed), string(Resilience4jOpen), string(Resilience4jHalfOpen),
		string(Resilience4jForcedOpen), string(Resilience4jDisabled), string(Resilience4jMetricsOnly))
	return f.err
}

// A Resilience4j is a circuit breaker of Resilience4j.
type Resilience4j struct {
	Breaker
	core r4jCore

	forcedOpen  r4jForcedOpen
	disabled    r4jDisabled
	metricsOnly r4jMetricsOnly
}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c Resilience4jConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewResilience4j(c, h))
}

// NewResilience4j returns a breaker in its initial state, or the error of
// Validate.
func NewResilience4j(c Resilience4jConfig, h policies.Host) (*Resilience4j, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	wait, err := c.WaitInOpenState.New()
	if err != nil {
		return nil, err
	}
	b := &Resilience4j{core: newR4jCore(c)}
	b.forcedOpen.r4jCore = &b.core
	b.disabled.r4jCore = &b.core
	b.metricsOnly.r4jCore = &b.core
	b.init(h, time.Second, stages{
		policies.Closed:   &r4jClosed{&b.core},
		policies.Open:     &r4jOpen{r4jCore: &b.core, wait: wait, uniform: orUniform(h)},
		policies.HalfOpen: &r4jHalfOpen{r4jCore: &b.core},
	})
	if c.InitialState != Resilience4jClosed {
		b.state, b.stage = b.of(c.InitialState)
		b.stage.enter(b.last)
	}
	return b, nil
}

// of returns the stage of a state, and as what it shows.
func (b *Resilience4j) of(s Resilience4jState) (policies.State, stage) {
	switch s {
	case Resilience4jOpen:
		return policies.Open, b.stages[policies.Open]
	case Resilience4jHalfOpen:
		return policies.HalfOpen, b.stages[policies.HalfOpen]
	case Resilience4jForcedOpen:
		return policies.Open, &b.forcedOpen
	case Resilience4jDisabled:
		return policies.Closed, &b.disabled
	case Resilience4jMetricsOnly:
		return policies.Closed, &b.metricsOnly
	}
	return policies.Closed, b.stages[policies.Closed]
}

// Transition is the command of an operator to go to a state, which begins anew
// if it is the present one. It reports whether the command is legal; if not,
// nothing changes. Illegal are closed to half-open, and metrics-only to open
// and to half-open.
func (b *Resilience4j) Transition(to Resilience4jState) bool {
	now := b.lock()
	defer b.unlock()
	if !r4jLegal(b.core.state, to) {
		return false
	}
	state, s := b.of(to)
	b.move(state, s, now)
	return true
}

// Reset goes to the closed state and forgets everything but a timer that is
// under way: that of the automatic transition from open, or of the maximum
// wait in half-open. When it fires it does to the state of that day what it
// would have done to its own, if that is legal. So a healthy closed breaker may
// open.
func (b *Resilience4j) Reset() {
	now := b.lock()
	defer b.unlock()
	b.core.keep = true
	b.core.timers = slices.Grow(b.core.timers, 1)
	b.move(policies.Closed, b.stages[policies.Closed], now)
}

// Resilience4jMetrics are the figures of the present state. Open shows those of
// the state before it, with which it opened, and goes on counting in them.
type Resilience4jMetrics struct {
	State        Resilience4jState
	FailureRate  float32 // percent, -1 below the minimum number of calls
	SlowCallRate float32 // the same of slow calls
	Buffered     int     // calls in the window
	Failed       int     // failed ones
	Slow         int     // slow ones, failed or not
	NotPermitted int     // calls refused
}

// Metrics returns the figures as of now.
func (b *Resilience4j) Metrics() Resilience4jMetrics {
	now := b.lock()
	defer b.unlock()
	return b.core.metrics(now)
}

// A Resilience4jFiring is what came of a timer.
type Resilience4jFiring struct {
	At       time.Time
	Accepted bool // false if the transition was illegal, then nothing changed
	Metrics  Resilience4jMetrics
}

// FireTimer fires the timer that comes next, if it is due by now. All other
// methods fire all that are due; this one is for those who want to see each.
func (b *Resilience4j) FireTimer() (f Resilience4jFiring, ok bool) {
	read := min(b.watch.Read(), latest)
	b.mu.Lock()
	defer b.unlock()
	at := b.stage.deadline()
	if at > max(read, b.last) {
		return f, false
	}
	b.last = max(at, b.last)
	b.follow(b.stage.fire(b.last), b.last)
	return Resilience4jFiring{b.watch.Time(b.last), b.core.accepted, b.core.metrics(b.last)}, true
}
