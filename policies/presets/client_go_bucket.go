package presets

import (
	"math"
	"sync"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// client-go's BucketRateLimiter: kubernetes/client-go v0.37.2,
// util/workqueue/default_rate_limiters.go, which hands out the delays of
// reservations of golang.org/x/time v0.15.0, rate/rate.go.
//
//   - Defaults of the controllers' limiter: 10 per second, in bursts of 100. It
//     is combined with a back-off for each item; the longer delay counts.
//   - A bucket of Burst tokens starts full. Each question takes one, also when
//     none is there: the tokens go below zero, and the delay is the time until
//     they are back at zero.
//   - Delays are cut to whole nanoseconds, tokens are float64.
//   - Without a burst nothing ever comes: the delay is the longest there is.

// A ClientGoBucketConfig configures a ClientGoBucket.
type ClientGoBucketConfig struct {
	Rate  float64 // tokens per second, 0 to 1e9
	Burst int     // most tokens held, 0 or more
}

// ClientGoBucketDefaults returns the values of the controllers' limiter.
func ClientGoBucketDefaults() ClientGoBucketConfig { return ClientGoBucketConfig{Rate: 10, Burst: 100} }

// Validate reports the first field that makes no sense.
func (c ClientGoBucketConfig) Validate() error {
	f := fields{library: "client-go bucket"}
	f.within("rate", c.Rate, 0, 1e9)
	f.count("burst", c.Burst, 0)
	return f.err
}

// A ClientGoBucket spaces the retries of a whole work queue.
type ClientGoBucket struct {
	c      ClientGoBucketConfig
	mu     sync.Mutex
	watch  policies.Stopwatch
	last   int64
	tokens float64
}

// NewClientGoBucket returns a full bucket, or the error of Validate. A nil
// clock is the real one.
func NewClientGoBucket(c ClientGoBucketConfig, clock policies.Clock) (*ClientGoBucket, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &ClientGoBucket{c: c, watch: policies.NewStopwatch(clock, 0), tokens: float64(c.Burst)}
	b.last = b.watch.Read()
	return b, nil
}

// When takes a token and returns after how long an item may be tried again.
func (b *ClientGoBucket) When() time.Duration {
	if b.c.Burst == 0 {
		return math.MaxInt64
	}
	read := b.watch.Read()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := max(read, b.last)
	more := time.Duration(now-b.last).Seconds() * b.c.Rate
	b.tokens = min(b.tokens+float64(more), float64(b.c.Burst)) - 1
	b.last = now
	if b.tokens >= 0 {
		return 0
	}
	wait := -b.tokens / math.Abs(b.c.Rate) * float64(time.Second)
	if !(wait < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(wait)
}

// Tokens returns the tokens as of the last question, below 0 if some wait.
func (b *ClientGoBucket) Tokens() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens
}
