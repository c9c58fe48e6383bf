package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Alibaba Sentinel for Go: alibaba/sentinel-golang at f7a7f957 (v1.0.4-31),
// core/circuitbreaker/circuit_breaker.go and core/stat/base/leap_array.go.
//
//   - A rule has no defaults but the number of buckets, 1, and of probes, 0.
//   - Time is in whole milliseconds. Buckets begin at multiples of their length
//     since 1970, and count while they are no older than the whole interval,
//     the border included: for one millisecond a bucket more than the interval.
//   - A bucket is emptied only when something is written to it again.
//   - The window counts in every state. Opening does not empty it, closing does.
//   - Without probes exactly one call passes in half-open. With n of them every
//     call passes until n have succeeded or one has failed.
//   - A call from before that ends in half-open is taken for a probe.

// A SentinelStrategy says which calls are bad, and how many are too many.
type SentinelStrategy string

// The strategies of Sentinel.
const (
	SentinelErrorRatio SentinelStrategy = "ErrorRatio"       // share of calls that failed
	SentinelErrorCount SentinelStrategy = "ErrorCount"       // number of calls that failed
	SentinelSlowRatio  SentinelStrategy = "SlowRequestRatio" // share of calls slower than MaxAllowedRT; failures do not matter
)

// A SentinelConfig is a circuit-breaking rule of Sentinel.
type SentinelConfig struct {
	Strategy         SentinelStrategy // which calls are bad
	Threshold        float64          `unit:"ratio"` // share of bad calls, 0 to 1, or with SentinelErrorCount their number, 0 or more; reached is too many
	MinRequestAmount int              // calls in the window before it is looked at, 0 or more
	StatInterval     time.Duration    // length of the window, at least 1 ms
	BucketCount      int              // parts of it; 0, or a number that does not divide its ms, means 1, as in the library
	RetryTimeout     time.Duration    // time open, at least 0
	ProbeNum         int              // good probes that close; 0 is a single probe
	MaxAllowedRT     time.Duration    // with SentinelSlowRatio: a longer call is slow
}

// Validate reports the first field that makes no sense.
func (c SentinelConfig) Validate() error {
	f := fields{library: "sentinel"}
	f.oneOf("strategy", string(c.Strategy), string(SentinelErrorRatio), string(SentinelErrorCount), string(SentinelSlowRatio))
	if c.Strategy == SentinelErrorCount {
		f.atLeast("threshold", c.Threshold, 0)
	} else {
		f.within("threshold", c.Threshold, 0, 1)
	}
	f.count("minimum request amount", c.MinRequestAmount, 0)
	f.duration("statistics interval", c.StatInterval, time.Millisecond)
	f.count("bucket count", c.BucketCount, 0)
	f.duration("retry timeout", c.RetryTimeout, 0)
	f.count("probes", c.ProbeNum, 0)
	f.duration("maximum allowed response time", c.MaxAllowedRT, 0)
	return f.err
}

// A Sentinel is a breaker with a rule of Sentinel.
type Sentinel struct {
	Breaker
	window leapArray
}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c SentinelConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewSentinel(c, h))
}

// NewSentinel returns a closed breaker, or the error of Validate.
func NewSentinel(c SentinelConfig, h policies.Host) (*Sentinel, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Strategy == SentinelErrorCount {
		c.Threshold = math.Trunc(c.Threshold) // as the library does
	}
	if c.BucketCount == 0 || c.StatInterval.Milliseconds()%int64(c.BucketCount) != 0 {
		c.BucketCount = 1
	}
	b := &Sentinel{window: newLeapArray(c.StatInterval.Milliseconds(), c.BucketCount)}
	counting := sentinelStage{c: c, window: &b.window}
	open := &sentinelOpen{sentinelStage: counting}
	b.init(h, c.StatInterval.Truncate(time.Millisecond), stages{
		policies.Closed:   &sentinelClosed{counting},
		policies.Open:     open,
		policies.HalfOpen: &sentinelHalfOpen{sentinelStage: counting, open: open},
	})
	return b, nil
}

// Counts returns the calls and the bad calls in the live buckets.
func (b *Sentinel) Counts() (bad, total int) {
	now := b.lock()
	defer b.unlock()
	c := b.window.counts(now / int64(time.Millisecond))
	return c.Failures, c.Calls
}

// sentinelStage counts, as every stage does.
type sentinelStage struct {
	passive
	c      SentinelConfig
	window *leapArray
}

func (s *sentinelStage) count(now int64, r result) (bad bool) {
	bad = r.failed()
	if s.c.Strategy == SentinelSlowRatio {
		bad = r.latency/time.Millisecond > s.c.MaxAllowedRT/time.Millisecond
	}
	s.window.add(now/int64(time.Millisecond), one(bad, false))
	return bad
}

type sentinelClosed struct{ sentinelStage }

func (s *sentinelClosed) record(now int64, r result) verdict {
	if r.class == policies.Ignored {
		return stay
	}
	s.count(now, r)
	c := s.window.counts(now / int64(time.Millisecond))
	if c.Calls < s.c.MinRequestAmount {
		return stay
	}
	measure := float64(c.Failures)
	if s.c.Strategy != SentinelErrorCount {
		measure /= float64(c.Calls)
	}
	if measure > s.c.Threshold || near(measure, s.c.Threshold) {
		return toOpen
	}
	return stay
}

type sentinelOpen struct {
	sentinelStage
	until int64 // in ms
	again bool  // the first probe was given back: the time is over still
}

func (s *sentinelOpen) enter(now int64) {
	if s.again {
		s.again = false
		return
	}
	s.until = now/int64(time.Millisecond) + s.c.RetryTimeout.Milliseconds()
}

func (s *sentinelOpen) ask(now int64) (uint64, bool, verdict) {
	if now/int64(time.Millisecond) >= s.until {
		return 0, false, toHalfOpen
	}
	return 0, false, stay
}

func (s *sentinelOpen) record(now int64, r result) verdict {
	if r.class != policies.Ignored {
		s.count(now, r)
	}
	return stay
}

type sentinelHalfOpen struct {
	sentinelStage
	open  *sentinelOpen
	asked bool
	good  int
}

func (s *sentinelHalfOpen) enter(int64) { s.asked = false }

// ask gives the first probe the number 1.
func (s *sentinelHalfOpen) ask(int64) (uint64, bool, verdict) {
	if !s.asked {
		s.asked = true
		return 1, true, stay
	}
	return 0, s.c.ProbeNum > 0, stay
}

// cancel of the first probe takes the half-open state back.
func (s *sentinelHalfOpen) cancel(_ int64, number uint64) verdict {
	if number == 0 {
		return stay
	}
	s.open.again = true
	return toOpen
}

func (s *sentinelHalfOpen) record(now int64, r result) verdict {
	if r.class == policies.Ignored {
		return stay
	}
	if s.count(now, r) {
		s.good = 0
		return toOpen
	}
	if s.good++; s.good < s.c.ProbeNum {
		return stay
	}
	s.good = 0
	s.window.clear(now / int64(time.Millisecond))
	return toClosed
}

// near is Sentinel's equality of ratios.
func near(a, b float64) bool { return a-b < 1e-8 && b-a < 1e-8 }

// A leapArray is a ring of buckets whose place follows from the time. A bucket
// is emptied when it is written to in a later round.
type leapArray struct {
	interval, length int64 // ms
	buckets          []leapBucket

	sum   policies.Counts // of the live buckets, up to and including until
	until int64           // ms
}

type leapBucket struct {
	start int64
	held  policies.Counts
}

func newLeapArray(interval int64, buckets int) leapArray {
	a := leapArray{interval: interval, length: interval / int64(buckets), buckets: make([]leapBucket, buckets)}
	for i := range a.buckets {
		a.buckets[i].start = -interval - 1
	}
	return a
}

func (a *leapArray) add(now int64, c policies.Counts) {
	number := now / a.length
	b := &a.buckets[number%int64(len(a.buckets))]
	if start := number * a.length; b.start != start {
		*b = leapBucket{start: start}
		a.until = -1
	}
	plus(&b.held, c)
	plus(&a.sum, c)
}

func (a *leapArray) live(now int64, b *leapBucket) bool { return now-b.start <= a.interval }

func (a *leapArray) counts(now int64) policies.Counts {
	if now > a.until {
		a.sum, a.until = policies.Counts{}, math.MaxInt64
		for i := range a.buckets {
			if b := &a.buckets[i]; a.live(now, b) {
				plus(&a.sum, b.held)
				a.until = min(a.until, b.start+a.interval)
			}
		}
	}
	return a.sum
}

// clear empties the live buckets.
func (a *leapArray) clear(now int64) {
	a.until = -1
	for i := range a.buckets {
		if b := &a.buckets[i]; a.live(now, b) {
			b.held = policies.Counts{}
		}
	}
}

// SentinelExample returns a rule like those of Sentinel's documents, since
// there are no defaults: half of at least 10 calls in 5 s failed, 3 s open.
func SentinelExample() SentinelConfig {
	return SentinelConfig{
		Strategy: SentinelErrorRatio, Threshold: 0.5, MinRequestAmount: 10,
		StatInterval: 5 * time.Second, BucketCount: 1, RetryTimeout: 3 * time.Second,
	}
}
