package presets

import (
	"math"
	"sync"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The rate limiter of Resilience4j: resilience4j/resilience4j at v2.4.0,
// resilience4j-ratelimiter, RateLimiterConfig.java and
// internal/AtomicRateLimiter.java.
//
//   - Defaults: 50 permits in each 500 ns (nanoseconds), waiting up to 5 s.
//   - Cycles are counted from the creation. Each brings the whole limit; what
//     is left of the one before is lost, what is reserved is taken off.
//   - Who has to wait longer than the timeout is refused and reserves nothing.

// A Resilience4jRateLimiterConfig describes a rate limiter of Resilience4j.
type Resilience4jRateLimiterConfig struct {
	LimitForPeriod     int           // permits in a cycle, at least 1
	LimitRefreshPeriod time.Duration // length of a cycle, at least 1 ns
	Timeout            time.Duration // longest wait for a permit, at least 0
}

// Resilience4jRateLimiterDefaults returns the defaults of the library.
func Resilience4jRateLimiterDefaults() Resilience4jRateLimiterConfig {
	return Resilience4jRateLimiterConfig{LimitForPeriod: 50, LimitRefreshPeriod: 500, Timeout: 5 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c Resilience4jRateLimiterConfig) Validate() error {
	f := fields{library: "resilience4j rate limiter"}
	f.count("limit for a period", c.LimitForPeriod, 1)
	f.duration("limit refresh period", c.LimitRefreshPeriod, 1)
	f.duration("timeout", c.Timeout, 0)
	return f.err
}

// A Resilience4jRateLimiter is a rate limiter of Resilience4j. It does not
// block, but says how long to wait. It is safe for concurrent use.
type Resilience4jRateLimiter struct {
	c     Resilience4jRateLimiterConfig
	watch policies.Stopwatch

	mu        sync.Mutex
	now       int64 // since the creation
	cycle     int64
	available int64 // permits, less than 0 if some of later cycles are reserved
}

// NewResilience4jRateLimiter returns a limiter with all permits of its first
// cycle, or the error of Validate. Of the host it needs the clock only.
func NewResilience4jRateLimiter(c Resilience4jRateLimiterConfig, h policies.Host) (*Resilience4jRateLimiter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Resilience4jRateLimiter{c: c, watch: policies.NewStopwatch(h.Clock, 0), available: int64(c.LimitForPeriod)}, nil
}

// Reserve takes permits, which can be used after a wait. It takes none and
// returns false if the wait is longer than the timeout. A number of permits
// below 0 is refused, and so is what would bring the limiter more than 2^31
// permits into debt: there the numbers of the library overflow.
func (l *Resilience4jRateLimiter) Reserve(permits int) (wait time.Duration, ok bool) {
	read := l.watch.Read()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(read)
	if permits < 0 || permits > math.MaxInt32 || l.available-int64(permits) < math.MinInt32 {
		return 0, false
	}
	wait, ok = l.wait(int64(permits))
	if ok {
		l.available -= int64(permits)
	}
	return wait, ok
}

// Available returns the permits of the present cycle that are left, or less
// than 0 if some of later cycles are reserved.
func (l *Resilience4jRateLimiter) Available() int {
	read := l.watch.Read()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(read)
	return int(l.available)
}

// Cycle returns the number of the present cycle, from 0.
func (l *Resilience4jRateLimiter) Cycle() int64 {
	read := l.watch.Read()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(read)
	return l.cycle
}

// advance brings the permits of the cycles that have begun.
func (l *Resilience4jRateLimiter) advance(read int64) {
	l.now = max(read, l.now)
	cycle, limit := l.now/int64(l.c.LimitRefreshPeriod), int64(l.c.LimitForPeriod)
	if elapsed := cycle - l.cycle; elapsed < (limit-l.available+limit-1)/limit {
		l.available += elapsed * limit
	} else if elapsed > 0 {
		l.available = limit
	}
	l.cycle = cycle
}

// wait is the time until there are so many permits.
func (l *Resilience4jRateLimiter) wait(permits int64) (time.Duration, bool) {
	if l.available >= permits {
		return 0, true
	}
	period, limit := int64(l.c.LimitRefreshPeriod), int64(l.c.LimitForPeriod)
	first := period - l.now%period // to the next cycle
	more := (permits - l.available - limit + limit - 1) / limit
	if more > (math.MaxInt64-first)/period {
		return 0, false
	}
	wait := time.Duration(first + more*period)
	if wait > l.c.Timeout {
		return 0, false
	}
	return wait, true
}
