package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var failsafe = library{
	versions: []string{"v0.9.8"},
	kinds: map[string]replayer{
		"breaker":   replayFailsafeBreaker,
		"throttler": replayFailsafeThrottler,
		"backoff":   replayFailsafeRetry,
		"budget":    replayFailsafeBudget,
	},
}

// failsafeClass is the class of an outcome for a library to which everything
// that is no failure is a success.
func failsafeClass(o policies.Outcome) policies.Class {
	if classify(o) == policies.Failure {
		return policies.Failure
	}
	return policies.Success
}

func replayFailsafeBreaker(p *replay) {
	c := struct {
		Delay              int64   `json:"delay_ns"`
		FailureThreshold   int     `json:"failure_threshold"`
		FailureCapacity    int     `json:"failure_thresholding_capacity"`
		FailurePeriod      int64   `json:"failure_thresholding_period_ns"`
		FailureRate        float64 `json:"failure_rate_threshold"`
		ExecutionThreshold int     `json:"failure_execution_threshold"`
		SuccessThreshold   int     `json:"success_threshold"`
		SuccessCapacity    int     `json:"success_thresholding_capacity"`
	}{Delay: int64(presets.FailsafeBreakerDefaults().Delay), FailureThreshold: presets.FailsafeBreakerDefaults().FailureThreshold}
	p.config(&c)
	b, err := presets.NewFailsafeBreaker(presets.FailsafeBreakerConfig{
		FailureThreshold: c.FailureThreshold, FailureThresholdingCapacity: c.FailureCapacity,
		FailureThresholdingPeriod: ns(c.FailurePeriod), FailureRateThreshold: c.FailureRate,
		FailureExecutionThreshold: c.ExecutionThreshold, SuccessThreshold: c.SuccessThreshold,
		SuccessThresholdingCapacity: c.SuccessCapacity, Delay: ns(c.Delay),
	}, policies.Host{Clock: p.clock, Classify: failsafeClass})
	p.must(err)
	under := make(calls)
	for p.next() {
		p.step(b, under)
		p.expect("x_state", b.State().String())
		m := b.Metrics()
		p.expect("x_exec", m.Executions)
		p.expect("x_fail", m.Failures)
		p.expect("x_succ", m.Successes)
		p.expect("x_fail_rate", m.FailureRate)
		p.expect("x_remaining_ns", b.RemainingDelay())
	}
}

// largest is the largest random number.
const largest = 1 - 0x1p-53

// A draw is what a policy draws next.
type draw struct {
	u    float64
	used bool
}

// Next implements the source of a policies.Host.
func (d *draw) Next() float64 {
	d.used = true
	return d.u
}

func replayFailsafeThrottler(p *replay) {
	defaults := presets.FailsafeThrottlerDefaults()
	c := struct {
		ExecutionThreshold int     `json:"execution_threshold"`
		FailureRate        float64 `json:"failure_rate_threshold"`
		MaxRejectionRate   float64 `json:"max_rejection_rate"`
		Period             int64   `json:"thresholding_period_ns"`
		Padding, Slices    int     // fixed in the library
	}{0, defaults.FailureRateThreshold, defaults.MaxRejectionRate, int64(defaults.ThresholdingPeriod), 1, 20}
	p.config(&c)
	if c.Padding != 1 || c.Slices != 20 {
		p.fail("config: padding %d and slices %d, want 1 and 20", c.Padding, c.Slices)
	}
	var next draw
	b, err := presets.NewFailsafeThrottler(presets.FailsafeThrottlerConfig{
		FailureRateThreshold: c.FailureRate, ExecutionThreshold: c.ExecutionThreshold,
		ThresholdingPeriod: ns(c.Period), MaxRejectionRate: c.MaxRejectionRate,
	}, policies.Host{Clock: p.clock, Classify: failsafeClass, Uniform: &next})
	p.must(err)
	under := make(calls)
	for p.next() {
		switch op := p.text("op"); op {
		case "acquire":
			// The library's own draw is not known, but what came of it: take
			// the draw that leads there if any does.
			next.u = 0
			want := p.flag("obs_permitted")
			if want {
				next.u = largest
			}
			permit, ok := b.Allow()
			if ok != want {
				p.mismatch("permitted = %v whatever is drawn, the library says %v", ok, want)
			}
			if ok {
				under[p.text("id")] = permit
			}
		case "result":
			p.end(b, under)
		case "probe":
		default:
			p.fail("op %q is unknown", op)
		}
		p.expect("x_rejection_rate", b.RejectionRate())
	}
}

func replayFailsafeRetry(p *replay) {
	c := struct {
		MaxRetries   int     `json:"max_retries"`
		Delay        int64   `json:"delay_ns"`
		MaxDelay     int64   `json:"max_delay_ns"`
		Factor       float64 `json:"factor"`
		Jitter       int64   `json:"jitter_ns"`
		JitterFactor float64 `json:"jitter_factor"`
		MaxDuration  int64   `json:"max_duration_ns"`
		OK           int     `json:"ok_at_attempt"`
	}{MaxRetries: presets.FailsafeRetryDefaults().MaxRetries}
	p.config(&c)
	d, err := presets.FailsafeRetryConfig{
		MaxRetries: c.MaxRetries, Delay: ns(c.Delay), MaxDelay: ns(c.MaxDelay), Factor: c.Factor,
		Jitter: ns(c.Jitter), JitterFactor: c.JitterFactor, MaxDuration: ns(c.MaxDuration),
	}.NewFailsafeDelays()
	p.must(err)
	// Attempts take no time, so the age of the call is the sum of the waits.
	var age time.Duration
	attempts := 0
	again := func() bool { return attempts != c.OK && (attempts == 0 || d.Retries(attempts, age)) }
	for p.next() {
		if !again() {
			p.mismatch("attempt %d where there is none", attempts+1)
		}
		wait := func(u float64) time.Duration { return d.Cut(d.Delay(attempts, 0, u), age) }
		if attempts > 0 {
			base := d.Cut(d.Base(attempts), age)
			p.expect("x_base_ns", base)
			p.bounds(wait, time.Nanosecond)
			age += base
		} else {
			p.absent("x_base_ns", "x_lo_ns", "x_hi_ns")
		}
		attempts++
		if p.integer("attempt") != attempts {
			p.fail("attempt %d, want %d", p.integer("attempt"), attempts)
		}
		p.expect("x_t_ns", age)
	}
	if p.row = len(p.lines) - 1; again() {
		p.mismatch("another attempt after %d", attempts)
	}
	p.row = len(p.lines)
}

// bounds compares a wait that depends on chance with the bounds x_lo_ns and
// x_hi_ns: it begins at the one, ends less than a unit below the other, and
// never leaves them.
func (p *replay) bounds(wait func(u float64) time.Duration, unit time.Duration) {
	p.compared("x_lo_ns")
	p.compared("x_hi_ns")
	if p.text("x_lo_ns") == "" || p.text("x_hi_ns") == "" {
		return
	}
	low, high := p.duration("x_lo_ns"), p.duration("x_hi_ns")
	if w := wait(0); w != low {
		p.mismatch("shortest wait %d ns, the library says %d", w, low)
	}
	if w := wait(largest); w < high-unit || w > high {
		p.mismatch("longest wait %d ns, the library says %d", w, high)
	}
	for i := range 100 {
		if w := wait(float64(i+1) / 101); w < low || w > high {
			p.mismatch("wait %d ns, the library says %d to %d", w, low, high)
			return
		}
	}
}
