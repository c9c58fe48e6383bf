package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// failsafe-go: failsafe-go/failsafe-go v0.9.8, circuitbreaker/circuitstates.go,
// circuitbreaker/circuitbreakerbuilder.go and internal/util/{stats,windows}.go.
//
//   - By default one failure opens, one success closes, and 1 minute is open.
//   - A threshold of failures is among the last results (capacity), or in a
//     period of 10 slices that begin at multiples of their length since 1970.
//     Slices leave only when a result is counted, never when one looks.
//   - It opens on any result, also a good one, while the threshold is met.
//   - Rates are rounded to 2 decimals before they are compared.
//   - Results while open go to the window of the state before.
//   - Half-open has as many places as results are needed. A result gives a
//     place back, also that of a call from before: so there can be more.
//   - Half-open closes, if both the one and the other threshold are met.
//
// Every outcome that is no failure is a success there. Here an Ignored one
// gives its place back and is not counted.

// A FailsafeBreakerConfig is a circuit breaker of failsafe-go. What the
// library's builder sets together is filled in where it is 0.
type FailsafeBreakerConfig struct {
	// FailureThreshold is the number of failures that open it, at least 1,
	// among the last FailureThresholdingCapacity results.
	FailureThreshold            int
	FailureThresholdingCapacity int // at least FailureThreshold; 0 is as many
	// FailureThresholdingPeriod, at least 10 ns, has them counted over a time
	// instead. 0 is none.
	FailureThresholdingPeriod time.Duration
	// FailureRateThreshold, 0 to 1, takes the place of FailureThreshold. 0 is
	// none.
	FailureRateThreshold float64 `unit:"ratio"`
	// FailureExecutionThreshold is the number of results below which it never
	// opens. 0 is FailureThreshold, if there is a period and no rate.
	FailureExecutionThreshold int

	// SuccessThreshold is the number of successes that close it, among
	// SuccessThresholdingCapacity results in half-open. With 0 the threshold of
	// failures decides.
	SuccessThreshold            int
	SuccessThresholdingCapacity int // at least SuccessThreshold; 0 is as many

	Delay        time.Duration // time open, at least 0
	Jitter       time.Duration // by which the delay varies to both sides, at least 0
	JitterFactor float64       `unit:"ratio"` // share of the delay by which it varies, 0 to 1, without Jitter
}

// FailsafeBreakerDefaults returns the library's defaults.
func FailsafeBreakerDefaults() FailsafeBreakerConfig {
	return FailsafeBreakerConfig{FailureThreshold: 1, Delay: time.Minute}
}

// filled returns the configuration as the builder leaves it.
func (c FailsafeBreakerConfig) filled() FailsafeBreakerConfig {
	if c.FailureThresholdingCapacity == 0 {
		c.FailureThresholdingCapacity = c.FailureThreshold
	}
	if c.FailureExecutionThreshold == 0 && c.FailureThresholdingPeriod > 0 && c.FailureRateThreshold == 0 {
		c.FailureExecutionThreshold = c.FailureThreshold
	}
	if c.SuccessThresholdingCapacity == 0 {
		c.SuccessThresholdingCapacity = c.SuccessThreshold
	}
	return c
}

// Validate reports the first field that makes no sense.
func (c FailsafeBreakerConfig) Validate() error {
	f := fields{library: "failsafe-go breaker"}
	c = c.filled()
	f.count("failure threshold", c.FailureThreshold, 1)
	f.count("failure thresholding capacity", c.FailureThresholdingCapacity, c.FailureThreshold)
	if c.FailureThresholdingPeriod != 0 {
		f.duration("failure thresholding period", c.FailureThresholdingPeriod, failsafeSlices)
	}
	f.within("failure rate threshold", c.FailureRateThreshold, 0, 1)
	f.count("failure execution threshold", c.FailureExecutionThreshold, 0)
	f.count("success threshold", c.SuccessThreshold, 0)
	f.count("success thresholding capacity", c.SuccessThresholdingCapacity, c.SuccessThreshold)
	f.duration("delay", c.Delay, 0)
	f.duration("jitter", c.Jitter, 0)
	f.within("jitter factor", c.JitterFactor, 0, 1)
	return f.err
}

// A FailsafeBreaker is a circuit breaker of failsafe-go.
type FailsafeBreaker struct {
	Breaker
	window failsafeWindow // of the present state, or of the one before Open
	open   failsafeOpen
}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c FailsafeBreakerConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewFailsafeBreaker(c, h))
}

// NewFailsafeBreaker returns a closed breaker, or the error of Validate.
func NewFailsafeBreaker(c FailsafeBreakerConfig, h policies.Host) (*FailsafeBreaker, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.filled()
	b := &FailsafeBreaker{}
	// Which results closed looks at, and which half-open.
	var recent failsafeWindow
	capacity := c.FailureThresholdingCapacity
	if c.FailureExecutionThreshold > 0 {
		capacity = c.FailureExecutionThreshold
	}
	slice := c.FailureThresholdingPeriod / failsafeSlices
	if slice > 0 {
		recent = newFailsafePeriod(failsafeSlices, slice)
	} else {
		recent = newLastResults(capacity)
	}
	if c.SuccessThresholdingCapacity > 0 {
		capacity = c.SuccessThresholdingCapacity
	}
	b.open = failsafeOpen{b: b, c: c, uniform: orUniform(h)}
	b.init(h, slice, stages{
		policies.Closed:   &failsafeClosed{b: b, c: c, own: recent},
		policies.Open:     &b.open,
		policies.HalfOpen: &failsafeHalfOpen{b: b, c: c, own: newLastResults(capacity), capacity: capacity},
	})
	return b, nil
}

// FailsafeMetrics are the figures that the library shows.
type FailsafeMetrics struct {
	Executions, Failures, Successes int
	FailureRate, SuccessRate        float64 // to 2 decimals
}

// Metrics returns the figures of the present state; in Open those of the state
// before. Results that are too old are in it until the next result.
func (b *FailsafeBreaker) Metrics() FailsafeMetrics {
	b.lock()
	defer b.unlock()
	return metricsOf(b.window.counts())
}

// RemainingDelay returns the time until a call may probe; 0 if it is not open.
func (b *FailsafeBreaker) RemainingDelay() time.Duration {
	now := b.lock()
	defer b.unlock()
	if b.state != policies.Open {
		return 0
	}
	return time.Duration(max(0, b.open.until-now))
}

type failsafeClosed struct {
	passive
	b   *FailsafeBreaker
	c   FailsafeBreakerConfig
	own failsafeWindow
}

func (s *failsafeClosed) enter(int64) {
	s.own.clear()
	s.b.window = s.own
}

func (s *failsafeClosed) record(now int64, r result) verdict {
	if r.class == policies.Ignored {
		return stay
	}
	s.own.add(now, r.failed())
	c := s.own.counts()
	switch {
	case c.Calls < s.c.FailureExecutionThreshold:
	case s.c.FailureRateThreshold > 0 && hundredths(float64(c.Failures)/float64(c.Calls)) >= s.c.FailureRateThreshold:
		return toOpen
	case s.c.FailureRateThreshold == 0 && c.Failures >= s.c.FailureThreshold:
		return toOpen
	}
	return stay
}

type failsafeOpen struct {
	passive
	b       *FailsafeBreaker
	c       FailsafeBreakerConfig
	uniform policies.UniformSource
	until   int64
}

func (s *failsafeOpen) enter(now int64) {
	delay := s.c.Delay
	if delay > 0 && (s.c.Jitter > 0 || s.c.JitterFactor > 0) {
		delay = max(0, failsafeJitter(delay, s.c.Jitter, s.c.JitterFactor, s.uniform.Next()))
	}
	s.until = now + int64(delay)
}

func (s *failsafeOpen) ask(now int64) (uint64, bool, verdict) {
	if now >= s.until {
		return 0, false, toHalfOpen
	}
	return 0, false, stay
}

func (s *failsafeOpen) record(now int64, r result) verdict {
	if r.class != policies.Ignored {
		s.b.window.add(now, r.failed())
	}
	return stay
}

type failsafeHalfOpen struct {
	passive
	b        *FailsafeBreaker
	c        FailsafeBreakerConfig
	own      failsafeWindow
	capacity int
	places   int
	stay     uint64 // number of the present stay
}

func (s *failsafeHalfOpen) enter(int64) {
	s.own.clear()
	s.b.window = s.own
	s.places = s.capacity
	s.stay++
}

func (s *failsafeHalfOpen) ask(int64) (uint64, bool, verdict) {
	if s.places == 0 {
		return 0, false, stay
	}
	s.places--
	return s.stay, true, stay
}

func (s *failsafeHalfOpen) record(now int64, r result) verdict {
	if r.class == policies.Ignored {
		return s.cancel(now, r.number)
	}
	s.own.add(now, r.failed())
	m := metricsOf(s.own.counts())
	good, bad := s.thresholds(m)
	switch {
	case good:
		return toClosed
	case bad:
		return toOpen
	}
	s.places++
	return stay
}

// thresholds reports whether there were enough successes, and failures.
func (s *failsafeHalfOpen) thresholds(m FailsafeMetrics) (good, bad bool) {
	switch c := &s.c; {
	case c.SuccessThreshold > 0:
		return m.Successes >= c.SuccessThreshold, m.Failures > c.SuccessThresholdingCapacity-c.SuccessThreshold
	case c.FailureRateThreshold > 0:
		enough := m.Executions >= c.FailureExecutionThreshold
		return enough && m.SuccessRate > 1-c.FailureRateThreshold, enough && m.FailureRate >= c.FailureRateThreshold
	default:
		return m.Successes > c.FailureThresholdingCapacity-c.FailureThreshold, m.Failures >= c.FailureThreshold
	}
}

// cancel gives back a place of this stay.
func (s *failsafeHalfOpen) cancel(_ int64, number uint64) verdict {
	if number == s.stay {
		s.places++
	}
	return stay
}
