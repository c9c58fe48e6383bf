package presets

import (
	"math"
	"sync"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The client rate limiter of the AWS SDK for Go's adaptive mode:
// aws/aws-sdk-go-v2 at v1.48.0 (the same at v1.30.5),
// aws/retry/adaptive_ratelimit.go, adaptive_token_bucket.go and adaptive.go.
//
//   - It is off until the first throttling error, but measures from the start.
//   - The sending rate is counted at the ends of attempts, in steps of half a
//     second of Unix time, and smoothed. It changes only with the first end in
//     a later step, which counts as one of the steps before.
//   - A throttling error cuts the rate to Beta times the measured one, or the
//     present one if that is lower. A success lets it grow along a cubic curve
//     that is level at the rate of the last throttling, and never above twice
//     the measured rate.
//   - The bucket holds one token at least, also where the rate is lower. The
//     rate has a floor, which the curve itself and the size of the bucket do
//     not have.
//   - The wait for a token is cut to whole nanoseconds. So it can be 0 while the
//     token is still short by a rounding error: wait at least 1 ns before asking
//     again.
//   - The first refill only notes the time.

// An AWSAdaptiveConfig configures an AWSAdaptiveLimiter. The SDK lets its
// users choose RequestCost alone.
type AWSAdaptiveConfig struct {
	Smooth        float64 // share of the newest step in the measured rate, 0 to 1
	Beta          float64 // factor of the rate after a throttling error, 0 to 1
	ScaleConstant float64 // steepness of the curve, above 0
	MinFillRate   float64 // lowest rate, tokens per second, above 0
	RequestCost   int     // tokens of an attempt, 0 or more
}

// AWSAdaptiveDefaults returns the SDK's values.
func AWSAdaptiveDefaults() AWSAdaptiveConfig {
	return AWSAdaptiveConfig{Smooth: 0.8, Beta: 0.7, ScaleConstant: 0.4, MinFillRate: 0.5, RequestCost: 1}
}

// Validate reports the first field that makes no sense.
func (c AWSAdaptiveConfig) Validate() error {
	f := fields{library: "aws adaptive"}
	f.within("smooth", c.Smooth, 0, 1)
	f.within("beta", c.Beta, 0, 1)
	f.above("scale constant", c.ScaleConstant, 0)
	f.above("minimum fill rate", c.MinFillRate, 0)
	f.count("request cost", c.RequestCost, 0)
	return f.err
}

// AWSAdaptiveRates are the figures of an AWSAdaptiveLimiter, as of the last
// operation.
type AWSAdaptiveRates struct {
	Enabled    bool    // attempts need tokens: there was a throttling error
	FillRate   float64 // tokens per second
	Capacity   float64 // most tokens held
	Tokens     float64 // tokens held
	Measured   float64 // attempts per second
	Calculated float64 // what the curve says, before it is limited
	LastMax    float64 // rate at the last throttling error
	Window     float64 // seconds from there until the curve is level
}

// An AWSAdaptiveLimiter slows the attempts of a client down once the service
// throttles it. Ask Acquire before each attempt, and tell Update how it ended.
type AWSAdaptiveLimiter struct {
	c     AWSAdaptiveConfig
	mu    sync.Mutex
	watch policies.Stopwatch
	last  int64 // latest instant seen

	rates     AWSAdaptiveRates
	filled    int64 // instant of the last refill
	started   bool  // there was one
	throttled int64 // instant of the last throttling error
	step      float64
	ends      int64 // in this step
}

// NewAWSAdaptiveLimiter returns a limiter that is off, or the error of
// Validate. A nil clock is the real one.
func NewAWSAdaptiveLimiter(c AWSAdaptiveConfig, clock policies.Clock) (*AWSAdaptiveLimiter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &AWSAdaptiveLimiter{c: c, watch: policies.NewStopwatch(clock, 0)}
	l.last = l.watch.Read()
	l.throttled = l.last
	l.step = math.Floor(l.unix(l.last))
	return l, nil
}

// lock takes the lock and reads the clock.
func (l *AWSAdaptiveLimiter) lock() (now int64) {
	read := l.watch.Read()
	l.mu.Lock()
	l.last = max(read, l.last)
	return l.last
}

// unix is the Unix time of an instant in seconds, as far as a float64 can hold
// it.
func (l *AWSAdaptiveLimiter) unix(at int64) float64 {
	return float64(l.watch.Time(at).UnixNano()) / float64(time.Second)
}

// awsSeconds is a span in seconds.
func awsSeconds(d int64) float64 { return float64(d) / float64(time.Second) }

// Acquire asks for the tokens of one attempt. If they are not there it says
// how long that will take at the present rate, and is to be asked again then;
// the wait can be 0, see above.
func (l *AWSAdaptiveLimiter) Acquire() (wait time.Duration, ok bool) {
	now := l.lock()
	defer l.mu.Unlock()
	if !l.rates.Enabled {
		return 0, true
	}
	l.refill(now)
	cost := float64(l.c.RequestCost)
	if cost > l.rates.Tokens {
		short := (cost - l.rates.Tokens) / l.rates.FillRate
		return time.Duration(min(short*float64(time.Second), 1<<62)), false
	}
	l.rates.Tokens -= cost
	return 0, true
}

// Update tells how an attempt ended: whether the service throttled it.
func (l *AWSAdaptiveLimiter) Update(throttled bool) {
	now := l.lock()
	defer l.mu.Unlock()
	l.measure(now)
	r := &l.rates
	if throttled {
		r.LastMax = r.Measured
		if r.Enabled {
			r.LastMax = min(r.Measured, r.FillRate)
		}
		r.Enabled, l.throttled = true, now
		r.Calculated = r.LastMax * l.c.Beta
	}
	r.Window = math.Pow((r.LastMax*(1-l.c.Beta))/l.c.ScaleConstant, 1./3.)
	if !throttled {
		cube := math.Pow(awsSeconds(now-l.throttled)-r.Window, 3)
		r.Calculated = float64(l.c.ScaleConstant*cube) + r.LastMax // no fused multiply-add
	}
	l.refill(now)
	rate := min(r.Calculated, 2*r.Measured)
	r.FillRate = max(rate, l.c.MinFillRate)
	r.Capacity = max(rate, 1)
	r.Tokens = min(r.Tokens, r.Capacity)
}

// measure counts the end of an attempt.
func (l *AWSAdaptiveLimiter) measure(now int64) {
	step := math.Floor(l.unix(now)*2) / 2
	l.ends++
	if step <= l.step {
		return
	}
	rate := float64(l.ends) / (step - l.step)
	l.rates.Measured = float64(rate*l.c.Smooth) + float64(l.rates.Measured*(1-l.c.Smooth))
	l.ends, l.step = 0, step
}

// refill adds the tokens since the last refill, at the rate since then.
func (l *AWSAdaptiveLimiter) refill(now int64) {
	if l.started {
		more := float64(awsSeconds(now-l.filled) * l.rates.FillRate)
		l.rates.Tokens = min(l.rates.Tokens+more, l.rates.Capacity)
	}
	l.filled, l.started = now, true
}

// Rates returns the figures.
func (l *AWSAdaptiveLimiter) Rates() AWSAdaptiveRates {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rates
}
