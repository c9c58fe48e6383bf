package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// gobreaker: sony/gobreaker v2.4.0, v2/gobreaker.go, v2/counter.go and
// v2/twostep_gobreaker.go.
//
//   - Defaults: trip at the 6th consecutive failure, 60 s open, 1 call in
//     half-open; counts are kept until the state changes. Zero means the default.
//   - A call counts as a request when it starts, as a success or failure when it
//     ends. ReadyToTrip is asked at every failure, so calls under way are among
//     the requests of a ratio.
//   - Without BucketPeriod the window is fixed: more than Interval after its
//     start, whatever happens next starts a new one, a look at the state too. A
//     call from before is dropped when it ends.
//   - With BucketPeriod the window rolls, and Interval is rounded up to whole
//     buckets. A call counts in the bucket that it started in, and is dropped
//     when it ends after that has left; a failure asks ReadyToTrip even then.
//     Consecutive failures are cut only if they reach back to the bucket that
//     leaves.
//   - Open ends more than Timeout after its start, strictly.
//   - In half-open MaxRequests calls pass in all, not at a time; excluded ones
//     can be handed out again. As many successes close, one failure opens.
//   - A call that ends in another state than it started in is dropped.
//
// Host.Classify stands for IsSuccessful and IsExcluded: an ignored outcome is an
// excluded one. So is a call that was cancelled, for which the library has no
// word.

// A GobreakerConfig are the Settings of gobreaker. The zero value is the
// default.
type GobreakerConfig struct {
	MaxRequests  int           // calls that pass in half-open; 0 means 1
	Interval     time.Duration // length of the window; 0 means until the state changes
	BucketPeriod time.Duration // the window rolls in steps of it; 0 means it is fixed
	Timeout      time.Duration // time open; 0 means 60 s
	// ReadyToTrip is what opens a closed breaker at a failure, as a text of
	// comparisons with ">" or ">=" that must all hold, joined by "&&". The
	// figures are requests, total_successes, total_failures, total_exclusions,
	// consecutive_successes and consecutive_failures, each alone or divided by
	// requests. Empty means the first example:
	//
	//	consecutive_failures > 5
	//	requests >= 10 && total_failures/requests >= 0.5
	ReadyToTrip string
}

// GobreakerDefaults returns gobreaker's defaults, written out.
func GobreakerDefaults() GobreakerConfig {
	return GobreakerConfig{MaxRequests: 1, Timeout: time.Minute, ReadyToTrip: "consecutive_failures > 5"}
}

// maxBuckets bounds the memory of a rolling window.
const maxBuckets = 1 << 16

// Validate reports the first field that makes no sense.
func (c GobreakerConfig) Validate() error {
	f := fields{library: "gobreaker"}
	f.count("max requests", c.MaxRequests, 0)
	f.duration("interval", c.Interval, 0)
	f.duration("bucket period", c.BucketPeriod, 0)
	f.duration("timeout", c.Timeout, 0)
	if f.err == nil && c.buckets() > maxBuckets {
		f.fail("bucket period %v, want at most %d in the interval of %v", c.BucketPeriod, maxBuckets, c.Interval)
	}
	if _, err := parseGobreakerTrip(c.ReadyToTrip); err != nil && c.ReadyToTrip != "" {
		f.fail("ready to trip %q, want %w", c.ReadyToTrip, err)
	}
	return f.err
}

// buckets is how many parts the window has; a fixed one has 1.
func (c GobreakerConfig) buckets() int64 {
	if c.Interval == 0 || c.BucketPeriod == 0 {
		return 1
	}
	return int64((c.Interval-1)/c.BucketPeriod) + 1
}

// filled is c with the defaults in the place of zeros.
func (c GobreakerConfig) filled() GobreakerConfig {
	d := GobreakerDefaults()
	if c.MaxRequests == 0 {
		c.MaxRequests = d.MaxRequests
	}
	if c.Timeout == 0 {
		c.Timeout = d.Timeout
	}
	if c.ReadyToTrip == "" {
		c.ReadyToTrip = d.ReadyToTrip
	}
	if c.BucketPeriod == 0 || c.Interval == 0 {
		c.BucketPeriod = c.Interval
	}
	return c
}

// A Gobreaker is a breaker with the rules of gobreaker.
type Gobreaker struct {
	Breaker
	window gobreakerWindow
}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c GobreakerConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewGobreaker(c, h))
}

// NewGobreaker returns a closed breaker, or the error of Validate.
func NewGobreaker(c GobreakerConfig, h policies.Host) (*Gobreaker, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.filled()
	trip, err := parseGobreakerTrip(c.ReadyToTrip)
	if err != nil {
		return nil, err
	}
	b := &Gobreaker{window: gobreakerWindow{
		period:  int64(c.BucketPeriod),
		buckets: make([]GobreakerCounts, c.buckets()),
	}}
	counting := gobreakerStage{window: &b.window}
	b.init(h, 0, stages{
		policies.Closed:   &gobreakerClosed{counting, trip},
		policies.Open:     &gobreakerOpen{gobreakerStage: counting, timeout: int64(c.Timeout)},
		policies.HalfOpen: &gobreakerHalfOpen{counting, c.MaxRequests},
	})
	return b, nil
}

// State returns the state as of now. As in the library, to look moves the
// window on: one that has ended starts again now.
func (b *Gobreaker) State() policies.State {
	now := b.lock()
	defer b.unlock()
	if b.state == policies.Closed {
		b.window.roll(now)
	}
	return b.state
}

// Counts returns the figures as they are. As in the library, it does not move
// the window on.
func (b *Gobreaker) Counts() GobreakerCounts {
	b.lock()
	defer b.unlock()
	return b.window.sum
}

// gobreakerStage starts a generation of counts with each state. A permit
// carries the serial number of the bucket in which its call started.
type gobreakerStage struct {
	passive
	window *gobreakerWindow
}

func (s *gobreakerStage) enter(now int64) { s.window.renew(now) }

type gobreakerClosed struct {
	gobreakerStage
	trip gobreakerTrip
}

func (s *gobreakerClosed) ask(now int64) (uint64, bool, verdict) {
	s.window.roll(now)
	return s.window.request(), true, stay
}

func (s *gobreakerClosed) record(now int64, r result) verdict {
	s.window.roll(now)
	if !s.window.knows(r.number) {
		return stay
	}
	s.window.end(r)
	if r.failed() && s.trip.met(s.window.sum) {
		return toOpen
	}
	return stay
}

func (s *gobreakerClosed) cancel(now int64, number uint64) verdict {
	return s.record(now, result{number: number, class: policies.Ignored})
}

type gobreakerOpen struct {
	gobreakerStage
	timeout, until int64
}

func (s *gobreakerOpen) enter(now int64) {
	s.window.renew(now)
	s.until = now + s.timeout
}

func (s *gobreakerOpen) ask(int64) (uint64, bool, verdict) { return 0, false, stay }

// deadline is the first instant after the timeout. The library notices it at
// the next call of any kind, so that nobody can see it open later.
func (s *gobreakerOpen) deadline() int64    { return s.until + 1 }
func (s *gobreakerOpen) fire(int64) verdict { return toHalfOpen }

type gobreakerHalfOpen struct {
	gobreakerStage
	most int
}

func (s *gobreakerHalfOpen) ask(int64) (uint64, bool, verdict) {
	if s.window.sum.Requests-s.window.sum.TotalExclusions >= s.most {
		return 0, false, stay
	}
	return s.window.request(), true, stay
}

func (s *gobreakerHalfOpen) record(_ int64, r result) verdict {
	if !s.window.knows(r.number) {
		return stay
	}
	s.window.end(r)
	switch {
	case r.failed():
		return toOpen
	case s.window.sum.ConsecutiveSuccesses >= s.most:
		return toClosed
	}
	return stay
}

func (s *gobreakerHalfOpen) cancel(now int64, number uint64) verdict {
	return s.record(now, result{number: number, class: policies.Ignored})
}
