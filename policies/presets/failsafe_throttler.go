package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// failsafe-go's adaptive throttler: failsafe-go/failsafe-go v0.9.8,
// adaptivethrottler/adaptivethrottler.go and internal/util/windows.go. It is
// the client-side throttling of Google's book, see GoogleSREConfig, but:
//
//   - It refuses with probability (n - s/S)/(n + 1), of n calls that ended, s of
//     them well, and never above a maximum. S is 1 - FailureRateThreshold.
//   - Calls that were refused are not counted.
//   - A call is refused if the random number is at most the probability (<=);
//     no number is drawn while that is 0.
//   - The period has 20 slices that begin at multiples of their length since
//     1970, and leave only when a result is counted. So a throttle that refuses
//     everything never learns that the failures are old.
//
// An Ignored outcome is not counted; in the library it would be a success.

// failsafeThrottlerSlices is the number of slices in a throttler's period.
const failsafeThrottlerSlices = 20

// A FailsafeThrottlerConfig is an adaptive throttler of failsafe-go.
type FailsafeThrottlerConfig struct {
	FailureRateThreshold float64       `unit:"ratio"` // share of failures that is not yet too much, 0 to 1
	ExecutionThreshold   int           // calls in the period below which none is refused, 0 or more
	ThresholdingPeriod   time.Duration // length of the history, at least 20 ns
	MaxRejectionRate     float64       `unit:"ratio"` // highest probability, 0 to 1
}

// FailsafeThrottlerDefaults returns the library's defaults.
func FailsafeThrottlerDefaults() FailsafeThrottlerConfig {
	return FailsafeThrottlerConfig{FailureRateThreshold: 0.1, ThresholdingPeriod: time.Minute, MaxRejectionRate: 0.9}
}

// Validate reports the first field that makes no sense.
func (c FailsafeThrottlerConfig) Validate() error {
	f := fields{library: "failsafe-go throttler"}
	f.within("failure rate threshold", c.FailureRateThreshold, 0, 1)
	f.count("execution threshold", c.ExecutionThreshold, 0)
	f.duration("thresholding period", c.ThresholdingPeriod, failsafeThrottlerSlices)
	f.within("maximum rejection rate", c.MaxRejectionRate, 0, 1)
	return f.err
}

// A FailsafeThrottler is an adaptive throttler of failsafe-go. It is always
// Closed.
type FailsafeThrottler struct {
	Breaker
	throttle failsafeThrottle
}

// Throttles does nothing: it tells [IsThrottle] what this is.
func (FailsafeThrottlerConfig) Throttles() {}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c FailsafeThrottlerConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewFailsafeThrottler(c, h))
}

// NewFailsafeThrottler returns a throttler without history, or the error of
// Validate.
func NewFailsafeThrottler(c FailsafeThrottlerConfig, h policies.Host) (*FailsafeThrottler, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	slice := c.ThresholdingPeriod / failsafeThrottlerSlices
	b := &FailsafeThrottler{throttle: failsafeThrottle{
		c: c, uniform: orUniform(h), window: newFailsafePeriod(failsafeThrottlerSlices, slice),
	}}
	b.init(h, slice, stages{policies.Closed: &b.throttle})
	return b, nil
}

// RejectionRate returns the probability with which the latest call that asked
// was refused.
func (b *FailsafeThrottler) RejectionRate() float64 {
	b.lock()
	defer b.unlock()
	return b.throttle.rate
}

type failsafeThrottle struct {
	passive
	c       FailsafeThrottlerConfig
	uniform policies.UniformSource
	window  *failsafePeriod
	rate    float64
}

func (s *failsafeThrottle) ask(int64) (uint64, bool, verdict) {
	s.rate = s.probability()
	refused := s.rate > 0 && (s.rate >= 1 || s.uniform.Next() <= s.rate)
	return 0, !refused, stay
}

func (s *failsafeThrottle) probability() float64 {
	c := s.window.counts()
	if c.Calls < s.c.ExecutionThreshold {
		return 0
	}
	good := float64(c.Calls - c.Failures)
	if good == 0 && s.c.FailureRateThreshold == 1 {
		return 0 // nothing is too much
	}
	n := float64(c.Calls)
	excess := max(0, n-good/(1-s.c.FailureRateThreshold))
	return min(excess/(n+1), s.c.MaxRejectionRate)
}

func (s *failsafeThrottle) record(now int64, r result) verdict {
	if r.class != policies.Ignored {
		s.window.add(now, r.failed())
	}
	return stay
}
