package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Hystrix: Netflix/Hystrix at 69b76826 (v1.4.26), 7c03bafe (main line, with the
// rule of v1.5.12 and v1.5.13) and 809104c8 (v1.5.18); in
// hystrix-core/src/main/java/com/netflix/hystrix: HystrixCircuitBreaker.java,
// HystrixCommandProperties.java, HystrixCommandMetrics.java and
// metric/consumer/{BucketedRollingCounterStream,HealthCountsStream}.java.
//
// Defaults: a window of 10 s, 20 calls, 50 % errors, 5 s of sleep, figures every
// 500 ms; the window of 1.4 has 10 buckets. The versions hold three breakers:
//
//   - 1.4 decides when it is asked, on a snapshot of a rolling number that is up
//     to an interval old. The call that opens it is the first one refused.
//   - The 1.5 lines count in buckets of one interval from the start of a stream;
//     the running bucket is not seen. Closing restarts the stream, and the
//     success that closes counts in the first new bucket.
//   - In 1.4, in 1.5.0 to 1.5.11 and again in 1.5.18, there is no half-open. An
//     open breaker lets a single test pass when it was opened or last tested
//     more than the sleep window ago, also if the last test has not ended. Any
//     success closes it, also of a call from before the opening; no failure
//     does anything.
//   - 1.5.12 and 1.5.13 open at the end of a bucket, without a call. Half-open is
//     one call; whatever ends then decides, also a call from before: success
//     closes, anything else opens anew, also a bad request or a cancellation.
//   - Time is in whole milliseconds, and to sleep means strictly longer.

// A HystrixVersion names one of the breakers that the library has had.
type HystrixVersion string

// The recorded versions.
const (
	Hystrix1426 HystrixVersion = "1.4.26" // up to 1.4
	Hystrix1513 HystrixVersion = "1.5.13" // 1.5.12, 1.5.13 and the main line
	Hystrix1518 HystrixVersion = "1.5.18" // 1.5.0 to 1.5.11, and 1.5.18
)

// A HystrixConfig is the circuit breaker of a Hystrix command.
type HystrixConfig struct {
	Version          HystrixVersion // whose rules these are
	Window           time.Duration  // length of the statistics, whole ms, at least 1 ms
	Buckets          int            // parts of the window in 1.4, at least 1, that divide it in ms; 0 in the 1.5 lines
	SnapshotInterval time.Duration  // whole ms; age of the snapshot in 1.4, at least 0; a bucket in the 1.5 lines, at least 1 ms and at most the window
	VolumeThreshold  int            // calls in the window to open, at least 0
	ErrorThreshold   int            `unit:"percent"` // percent of errors to open, at least 0; above 100 never opens
	SleepWindow      time.Duration  // time open before a call is let through, whole ms, at least 0
}

// Hystrix14Defaults returns the defaults of 1.4.
func Hystrix14Defaults() HystrixConfig {
	return HystrixConfig{
		Version: Hystrix1426, Window: 10 * time.Second, Buckets: 10, SnapshotInterval: 500 * time.Millisecond,
		VolumeThreshold: 20, ErrorThreshold: 50, SleepWindow: 5 * time.Second,
	}
}

// Hystrix1513Defaults returns the defaults of 1.5.13.
func Hystrix1513Defaults() HystrixConfig { return hystrix15Defaults(Hystrix1513) }

// Hystrix1518Defaults returns the defaults of 1.5.18.
func Hystrix1518Defaults() HystrixConfig { return hystrix15Defaults(Hystrix1518) }

func hystrix15Defaults(v HystrixVersion) HystrixConfig {
	c := Hystrix14Defaults()
	c.Version, c.Buckets = v, 0
	return c
}

// Validate reports the first field that makes no sense.
func (c HystrixConfig) Validate() error {
	f := fields{library: "hystrix"}
	f.oneOf("version", string(c.Version), string(Hystrix1426), string(Hystrix1513), string(Hystrix1518))
	if c.Version == Hystrix1426 {
		f.rolling(c.Window, c.Buckets)
		f.milliseconds("snapshot interval", c.SnapshotInterval, 0)
	} else {
		f.milliseconds("window", c.Window, time.Millisecond)
		f.milliseconds("snapshot interval", c.SnapshotInterval, time.Millisecond)
		if c.Buckets != 0 {
			f.fail("buckets %d, want 0: the snapshot interval is the bucket of version %s", c.Buckets, c.Version)
		}
		if c.SnapshotInterval > c.Window {
			f.fail("snapshot interval %v, want at most the window of %v", c.SnapshotInterval, c.Window)
		}
		if f.err == nil {
			f.count("snapshot intervals in the window", int(c.Window/c.SnapshotInterval), 1)
		}
	}
	f.count("volume threshold", c.VolumeThreshold, 0)
	f.count("error threshold", c.ErrorThreshold, 0)
	f.milliseconds("sleep window", c.SleepWindow, 0)
	return f.err
}

// A Hystrix is the circuit breaker of a Hystrix command.
type Hystrix struct {
	Breaker
	rule hystrixRule
}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c HystrixConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewHystrix(c, h))
}

// NewHystrix returns a closed breaker, or the error of Validate.
func NewHystrix(c HystrixConfig, h policies.Host) (*Hystrix, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Hystrix{rule: hystrixRule{
		trip:    hystrixTrip{c.VolumeThreshold, c.ErrorThreshold},
		sleep:   c.SleepWindow.Milliseconds(),
		forgets: c.Version == Hystrix1513,
	}}
	r := &b.rule
	old := stages{policies.Closed: &hystrixClosed{hystrixRule: r}, policies.Open: &hystrixOpen{hystrixRule: r}}
	switch c.Version {
	case Hystrix1426:
		r.health = newHystrixSnapshot(c)
		b.init(h, time.Millisecond, old)
	case Hystrix1518:
		r.health = newHystrixStream(c)
		b.init(h, time.Millisecond, old)
	case Hystrix1513:
		stream := newHystrixStream(c)
		r.health = stream
		b.init(h, time.Millisecond, stages{
			policies.Closed:   &hystrixStreamClosed{hystrixRule: r, stream: stream},
			policies.Open:     &hystrixStreamOpen{hystrixRule: r},
			policies.HalfOpen: &hystrixHalfOpen{hystrixRule: r},
		})
	}
	r.health.restart(b.last) // the instant of creation
	return b, nil
}

// Health returns the figures that the breaker looked at or was sent last: the
// calls, the errors among them, and these in whole percent.
func (b *Hystrix) Health() (total, errors, percent int) {
	now := b.lock()
	defer b.unlock()
	c := b.rule.health.latest(now)
	return c.Calls, c.Failures, hystrixPercent(c)
}

// Since returns the instant, in whole ms, from which the sleep window is
// counted: of the last opening, or of the last test. Before the first one it
// returns false; 1.5.13 forgets the instant when it closes.
func (b *Hystrix) Since() (time.Time, bool) {
	b.lock()
	defer b.unlock()
	if !b.rule.opened || b.rule.forgets && b.state == policies.Closed {
		return time.Time{}, false
	}
	return b.watch.Time(b.rule.since * int64(time.Millisecond)), true
}

// A hystrixRule is what all stages share.
type hystrixRule struct {
	passive
	trip    hystrixTrip
	health  hystrixHealth
	sleep   int64 // ms
	since   int64 // ms
	opened  bool  // since means something
	forgets bool  // but not while closed
}

// sleepFrom begins a sleep window.
func (r *hystrixRule) sleepFrom(now int64) { r.since, r.opened = milliseconds(now), true }

// slept reports whether it is over.
func (r *hystrixRule) slept(now int64) bool { return milliseconds(now) > r.since+r.sleep }

// record counts, and does nothing else.
func (r *hystrixRule) record(now int64, e result) verdict {
	r.health.count(now, e.class)
	return stay
}

// hystrixClosed is that of 1.4 and 1.5.18.
type hystrixClosed struct{ *hystrixRule }

func (s *hystrixClosed) ask(now int64) (uint64, bool, verdict) {
	if s.trip.met(s.health.look(now)) {
		return 0, false, toOpen
	}
	return 0, true, stay
}

// hystrixOpen is that of 1.4 and 1.5.18.
type hystrixOpen struct{ *hystrixRule }

func (s *hystrixOpen) enter(now int64) { s.sleepFrom(now) }

func (s *hystrixOpen) ask(now int64) (uint64, bool, verdict) {
	if !s.slept(now) {
		return 0, false, stay
	}
	s.sleepFrom(now)
	return 0, true, stay
}

func (s *hystrixOpen) record(now int64, e result) verdict {
	if e.class == policies.Success {
		s.health.closing(now)
		return toClosed
	}
	return s.hystrixRule.record(now, e)
}

// hystrixStreamClosed is that of 1.5.13.
type hystrixStreamClosed struct {
	*hystrixRule
	stream *hystrixStream
}

func (s *hystrixStreamClosed) deadline() int64 { return s.stream.next(s.trip) }

func (s *hystrixStreamClosed) fire(at int64) verdict {
	if s.trip.met(s.stream.look(at)) {
		return toOpen
	}
	return stay
}

// hystrixStreamOpen is that of 1.5.13.
type hystrixStreamOpen struct{ *hystrixRule }

func (s *hystrixStreamOpen) enter(now int64) { s.sleepFrom(now) }

func (s *hystrixStreamOpen) ask(now int64) (uint64, bool, verdict) {
	if s.slept(now) {
		return 0, false, toHalfOpen
	}
	return 0, false, stay
}

// hystrixHalfOpen is that of 1.5.13.
type hystrixHalfOpen struct {
	*hystrixRule
	asked bool
}

func (s *hystrixHalfOpen) enter(int64) { s.asked = false }

func (s *hystrixHalfOpen) ask(int64) (uint64, bool, verdict) {
	ok := !s.asked
	s.asked = true
	return 0, ok, stay
}

func (s *hystrixHalfOpen) record(now int64, e result) verdict {
	if e.class == policies.Success {
		s.health.closing(now)
		return toClosed
	}
	s.hystrixRule.record(now, e)
	return toOpen
}

func (s *hystrixHalfOpen) cancel(int64, uint64) verdict { return toOpen }
