package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Client-side throttling after the book "Site Reliability Engineering", chapter
// "Handling Overload", equation 21-1. The formula was read, there is nothing to
// record: Google's code is not public. What the book leaves open is said here.
//
//   - A call is refused with probability (requests - K*accepts)/(requests + 1),
//     or 0 if that is less, over the last two minutes. K is 2 for most.
//   - A request counts when it is tried, also one that is refused here, so that
//     the probability rises on while the callee accepts nothing.
//   - An accept counts when the call ends well.
//   - The history is cut into slices, 1 s each by default, which begin at
//     construction. The book does not say how it is kept.
//   - A call is refused if the random number is below the probability.
//
// A call that is cancelled or ignored leaves the history again.

// A GoogleSREConfig is client-side throttling as the book has it.
type GoogleSREConfig struct {
	K      float64       // requests for each accept that are not yet too many, at least 1
	Window time.Duration // length of the history, at least 1 ns for each slice
	Slices int           // parts of it, at least 1 and of at least 1 ns
}

// GoogleSREDefaults returns what the book says.
func GoogleSREDefaults() GoogleSREConfig {
	return GoogleSREConfig{K: 2, Window: 2 * time.Minute, Slices: 120}
}

// Validate reports the first field that makes no sense.
func (c GoogleSREConfig) Validate() error {
	f := fields{library: "google sre"}
	f.atLeast("K", c.K, 1)
	f.count("slices", c.Slices, 1)
	f.within("slices", float64(c.Slices), 1, maxBuckets)
	f.duration("window", c.Window, time.Duration(c.Slices))
	return f.err
}

// A GoogleSRE is a throttle as the book has it. It is always Closed.
type GoogleSRE struct {
	Breaker
	throttle googleStage
}

// Throttles does nothing: it tells [IsThrottle] what this is.
func (GoogleSREConfig) Throttles() {}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c GoogleSREConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewGoogleSRE(c, h))
}

// NewGoogleSRE returns a throttle without history, or the error of Validate.
func NewGoogleSRE(c GoogleSREConfig, h policies.Host) (*GoogleSRE, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &GoogleSRE{throttle: googleStage{
		k: c.K, uniform: orUniform(h), window: newTimeSlices(c.Slices, c.Window/time.Duration(c.Slices)),
	}}
	b.init(h, 0, stages{policies.Closed: &b.throttle})
	return b, nil
}

// Counts returns the accepts and the requests in the history as of now.
func (b *GoogleSRE) Counts() (accepts, requests int) {
	now := b.lock()
	defer b.unlock()
	b.throttle.window.rollTo(now)
	return acceptsOf(b.throttle.window.held)
}

// DropProbability returns the probability with which a call would be refused
// now.
func (b *GoogleSRE) DropProbability() float64 {
	accepts, requests := b.Counts()
	return dropProbability(b.throttle.k, accepts, requests)
}

// acceptsOf reads counts in which every request is a failure that was not
// accepted.
func acceptsOf(c policies.Counts) (accepts, requests int) { return c.Calls - c.Failures, c.Calls }

// dropProbability is the equation of the book.
func dropProbability(k float64, accepts, requests int) float64 {
	return max(0, (float64(requests)-float64(k*float64(accepts)))/float64(requests+1))
}

type googleStage struct {
	passive
	k       float64
	uniform policies.UniformSource
	// A request is a failure in the slice of its attempt. If it is accepted,
	// one failure less stands in the slice of its end. So a slice can have
	// fewer than none.
	window timeSlices
}

// ask counts the request; the number is that of its slice.
func (s *googleStage) ask(now int64) (uint64, bool, verdict) {
	s.window.rollTo(now)
	accepts, requests := acceptsOf(s.window.held)
	s.window.add(one(true, false))
	ok := s.uniform.Next() >= dropProbability(s.k, accepts, requests)
	return uint64(s.window.head), ok, stay
}

func (s *googleStage) record(now int64, r result) verdict {
	switch r.class {
	case policies.Success:
		s.window.rollTo(now)
		s.window.add(policies.Counts{Failures: -1})
	case policies.Ignored:
		s.cancel(now, r.number)
	}
	return stay
}

// cancel takes the request out of the history, if it is still there.
func (s *googleStage) cancel(now int64, number uint64) verdict {
	s.window.rollTo(now)
	age := s.window.head - int64(number)
	if n := int64(len(s.window.slices)); age < n {
		c := one(true, false)
		minus(&s.window.held, c)
		minus(&s.window.slices[(int64(s.window.at)+n-age)%n], c)
	}
	return stay
}
