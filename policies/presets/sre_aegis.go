package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The SRE breaker of Kratos: go-kratos/aegis v0.2.0, circuitbreaker/sre/sre.go
// and internal/window/policy.go. It is the throttling of GoogleSREConfig, but:
//
//   - K is 1/Success, 1/0.6 by default. The history is 3 s in 10 buckets, which
//     begin at construction.
//   - A request counts when it ends. One that is refused counts only if the
//     caller marks it as failed, as the middleware of Kratos does.
//   - Nothing is refused while there are fewer requests than a minimum, or
//     fewer than K*accepts. At exactly K*accepts a number is drawn, though the
//     probability is 0.
//
// An outcome that is Ignored is not marked at all.

// An AegisConfig is a breaker of Kratos.
type AegisConfig struct {
	Success      float64       `unit:"ratio"` // share of accepts below which calls are refused, above 0, up to 1
	Request      int           // requests in the history below which none is refused, 0 or more
	Window       time.Duration // length of the history
	Buckets      int           // parts of it, at least 1 and of at least 1 ns
	MarkRejected bool          // a call that is refused counts as failed
}

// AegisDefaults returns the library's defaults, with the refused calls marked
// as the middleware does it.
func AegisDefaults() AegisConfig {
	return AegisConfig{Success: 0.6, Request: 100, Window: 3 * time.Second, Buckets: 10, MarkRejected: true}
}

// Validate reports the first field that makes no sense.
func (c AegisConfig) Validate() error {
	f := fields{library: "aegis"}
	f.above("success", c.Success, 0)
	f.within("success", c.Success, 0, 1)
	f.count("request", c.Request, 0)
	f.count("buckets", c.Buckets, 1)
	f.within("buckets", float64(c.Buckets), 1, maxBuckets)
	f.duration("window", c.Window, time.Duration(c.Buckets))
	return f.err
}

// An Aegis is a breaker of Kratos. It is always Closed: where the library
// calls itself open, it draws a number for each call.
type Aegis struct {
	Breaker
	throttle aegisStage
}

// Throttles does nothing: it tells [IsThrottle] what this is.
func (AegisConfig) Throttles() {}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c AegisConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewAegis(c, h))
}

// NewAegis returns a breaker without history, or the error of Validate.
func NewAegis(c AegisConfig, h policies.Host) (*Aegis, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Aegis{throttle: aegisStage{
		c: c, k: 1 / c.Success, uniform: orUniform(h),
		window: newTimeSlices(c.Buckets, c.Window/time.Duration(c.Buckets)),
	}}
	b.init(h, 0, stages{policies.Closed: &b.throttle})
	return b, nil
}

// Counts returns the accepts and the requests in the history as of now.
func (b *Aegis) Counts() (accepts, requests int) {
	now := b.lock()
	defer b.unlock()
	b.throttle.window.rollTo(now)
	return acceptsOf(b.throttle.window.held)
}

// DropProbability returns the probability with which a call would be refused
// now, and false if none would be whatever is drawn.
func (b *Aegis) DropProbability() (p float64, drawn bool) {
	now := b.lock()
	defer b.unlock()
	return b.throttle.probability(now)
}

type aegisStage struct {
	passive
	c       AegisConfig
	k       float64
	uniform policies.UniformSource
	window  timeSlices
}

func (s *aegisStage) probability(now int64) (p float64, drawn bool) {
	s.window.rollTo(now)
	accepts, requests := acceptsOf(s.window.held)
	if requests < s.c.Request || float64(requests) < s.k*float64(accepts) {
		return 0, false
	}
	return dropProbability(s.k, accepts, requests), true
}

func (s *aegisStage) ask(now int64) (uint64, bool, verdict) {
	p, drawn := s.probability(now)
	if !drawn || s.uniform.Next() >= p {
		return 0, true, stay
	}
	if s.c.MarkRejected {
		s.window.add(one(true, false))
	}
	return 0, false, stay
}

func (s *aegisStage) record(now int64, r result) verdict {
	if r.class != policies.Ignored {
		s.window.rollTo(now)
		s.window.add(one(r.failed(), false))
	}
	return stay
}
