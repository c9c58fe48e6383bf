package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// A trip is when a breaker opens, as far as the arithmetic needs it. What does
// not apply is 0, what has no bound +Inf.
type trip struct {
	kind        string
	calls       float64 // most outcomes in a window
	window      float64 // seconds that an outcome counts
	minimum     float64 // outcomes before anything is looked at, no more than calls
	failures    float64 // share of failures
	strict      bool    // more than that share
	number      float64 // of failures
	consecutive float64 // failures in a row
	slow        float64 // share of slow calls
	slowAfter   float64
	early       bool    // calls in flight count as slow
	begun       bool    // calls in flight count among the outcomes
	lag         float64 // until the figures are looked at
	probes      float64 // calls in half-open
	throttle    bool    // refuses at random instead
	unknown     bool
	capped      string // what is said of a minimum above the window
	off         string // why it never opens, whatever comes
	classify    func(policies.Outcome) policies.Class
}

// class is what an error counts as.
func (t *trip) class(code policies.ErrorCode) policies.Class {
	if t.classify == nil {
		return policies.Failure
	}
	switch c := t.classify(policies.Outcome{Err: code}); c {
	case policies.Success, policies.Ignored:
		return c
	}
	return policies.Failure
}

func tripOf(b *model.BreakerLayer) trip {
	t := tripOfKind(b)
	t.throttle = presets.IsThrottle(b.Preset)
	if b.Classify != nil {
		t.classify = b.Classify
	}
	return t
}

func tripOfKind(b *model.BreakerLayer) trip {
	if b.Preset == nil {
		return ruleTrip(b.BreakerConfig)
	}
	switch p := b.Preset.(type) {
	case policies.BreakerConfig:
		return ruleTrip(p)
	case presets.Resilience4jConfig:
		return resilience4jTrip(p)
	case presets.HystrixConfig:
		t := trip{kind: "hystrix", calls: never, window: p.Window.Seconds(), minimum: float64(p.VolumeThreshold), failures: some(float64(p.ErrorThreshold) / 100),
			lag: p.SnapshotInterval.Seconds(), probes: 1}
		if p.ErrorThreshold > 100 {
			t.off = fmt.Sprintf("the threshold is %d %% of errors", p.ErrorThreshold)
		}
		return t
	case presets.GobreakerConfig:
		return gobreakerTrip(p)
	case presets.PollyConfig:
		return trip{kind: "polly", calls: never, window: p.SamplingDuration.Seconds(), minimum: float64(p.MinimumThroughput), failures: some(p.FailureRatio), probes: 1}
	case presets.SentinelConfig:
		return sentinelTrip(p)
	case presets.FailsafeBreakerConfig:
		return failsafeTrip(p)
	case presets.EnvoyOutlierConfig:
		return envoyTrip(p)
	case presets.GoogleSREConfig:
		return trip{kind: "google-sre", calls: never, window: p.Window.Seconds()}
	case presets.AegisConfig:
		return trip{kind: "kratos-sre", calls: never, window: p.Window.Seconds(), minimum: float64(p.Request)}
	case presets.FailsafeThrottlerConfig:
		return trip{kind: "failsafe-sre", calls: never, window: p.ThresholdingPeriod.Seconds(), minimum: float64(p.ExecutionThreshold)}
	}
	return trip{kind: fmt.Sprintf("%T", b.Preset), unknown: true}
}

// some is a share that is reached by the first bad call where it is 0.
func some(share float64) float64 { return math.Max(share, 1e-9) }

func ruleTrip(c policies.BreakerConfig) trip {
	r := c.Rule
	t := trip{
		kind: string(r.Window.Kind) + " window", calls: never, window: never, minimum: float64(r.EffectiveMinCalls()), failures: r.FailureRate,
		slow: r.SlowRate, slowAfter: r.SlowAfter.Seconds(), early: c.InFlightSlow, probes: float64(c.Probes),
	}
	if c.ProbesInFlight > 0 {
		t.probes = math.Min(t.probes, float64(c.ProbesInFlight))
	}
	switch r.Window.Kind {
	case policies.CountWindow:
		t.calls = float64(r.Window.Calls)
	case policies.TimeWindow:
		t.window = r.Window.Length.Seconds()
		if r.Window.MaxCalls > 0 {
			t.calls = float64(r.Window.MaxCalls)
		}
	default:
		t.window = r.Window.Length.Seconds()
	}
	return t
}

func resilience4jTrip(c presets.Resilience4jConfig) trip {
	t := trip{kind: "resilience4j", calls: never, window: never, minimum: float64(c.MinimumNumberOfCalls), failures: float64(c.FailureRateThreshold) / 100,
		slow: float64(c.SlowCallRateThreshold) / 100, slowAfter: c.SlowCallDurationThreshold.Seconds(), probes: float64(c.PermittedCallsInHalfOpen)}
	if c.SlidingWindowType == presets.Resilience4jTimeBased {
		t.window = float64(c.SlidingWindowSize)
	} else {
		t.calls = float64(c.SlidingWindowSize)
	}
	if t.minimum > t.calls {
		t.capped = fmt.Sprintf("minimum %s above the window of %s calls: a full window is enough", number(t.minimum), number(t.calls))
		t.minimum = t.calls
	}
	switch c.InitialState {
	case presets.Resilience4jDisabled, presets.Resilience4jMetricsOnly:
		t.off = fmt.Sprintf("its state is %v", c.InitialState)
	}
	return t
}

func sentinelTrip(c presets.SentinelConfig) trip {
	t := trip{kind: "sentinel", calls: never, window: c.StatInterval.Seconds(), minimum: float64(c.MinRequestAmount), probes: 1}
	if c.ProbeNum > 0 {
		t.probes = never
	}
	switch c.Strategy {
	case presets.SentinelErrorCount:
		t.number = math.Max(math.Ceil(c.Threshold), 1)
	case presets.SentinelSlowRatio:
		t.slow, t.slowAfter = some(c.Threshold), c.MaxAllowedRT.Seconds()
	default:
		t.failures = some(c.Threshold)
	}
	return t
}

func failsafeTrip(c presets.FailsafeBreakerConfig) trip {
	t := trip{kind: "failsafe-go", calls: never, window: never, minimum: float64(c.FailureExecutionThreshold)}
	switch {
	case c.FailureThresholdingPeriod > 0:
		t.window = c.FailureThresholdingPeriod.Seconds()
	default:
		t.calls = float64(max(c.FailureThresholdingCapacity, c.FailureThreshold))
	}
	if c.FailureRateThreshold > 0 {
		t.failures = c.FailureRateThreshold
	} else {
		t.number = float64(c.FailureThreshold)
	}
	t.probes = float64(max(c.SuccessThresholdingCapacity, c.SuccessThreshold))
	if t.probes == 0 {
		t.probes = math.Max(t.minimum, float64(max(c.FailureThresholdingCapacity, c.FailureThreshold)))
	}
	if t.minimum > t.calls {
		t.off = fmt.Sprintf("%s results never fit the last %s", number(t.minimum), number(t.calls))
	}
	return t
}

func envoyTrip(c presets.EnvoyOutlierConfig) trip {
	t := trip{kind: "envoy outlier detection", calls: never, window: never, probes: never, classify: envoyClass}
	t.consecutive = never
	if c.Consecutive5xx > 0 && c.EnforcingConsecutive5xx > 0 {
		t.consecutive = float64(c.Consecutive5xx)
	}
	if c.ConsecutiveGatewayFailure > 0 && c.EnforcingConsecutiveGatewayFailure > 0 {
		t.consecutive = math.Min(t.consecutive, float64(c.ConsecutiveGatewayFailure))
	}
	hosts := c.Hosts
	if hosts == 0 {
		hosts = 10
	}
	switch {
	case math.IsInf(t.consecutive, 1):
		t.unknown = true
	case !c.AlwaysEjectOneHost && !c.Before128 && hosts*c.MaxEjectionPercent < 100:
		t.off = fmt.Sprintf("%d %% of %d hosts is less than one", c.MaxEjectionPercent, hosts)
	}
	return t
}

// envoyClass is what Envoy counts an error as: a 5xx as a failure, with all that
// stands for one, what it refused itself or the caller gave up as nothing.
func envoyClass(o policies.Outcome) policies.Class {
	switch code := policies.CodeOf(o.Err); {
	case code == policies.ErrBreakerOpen || code == policies.ErrLimit || code == policies.ErrLeft:
		return policies.Ignored
	case code >= 100 && code < 500:
		return policies.Success
	}
	return policies.Failure
}

func gobreakerTrip(c presets.GobreakerConfig) trip {
	t := trip{kind: "gobreaker", begun: true, calls: never, window: never, probes: math.Max(float64(c.MaxRequests), 1)}
	if c.Interval > 0 {
		t.window = c.Interval.Seconds()
		if p := c.BucketPeriod; p > 0 {
			t.window = float64((c.Interval-1)/p+1) * (time.Duration(p)).Seconds()
		}
	}
	text := c.ReadyToTrip
	if text == "" {
		text = presets.GobreakerDefaults().ReadyToTrip
	}
	for part := range strings.SplitSeq(text, "&&") {
		figure, right, _ := strings.Cut(part, ">")
		right, equal := strings.CutPrefix(right, "=")
		limit, err := strconv.ParseFloat(strings.TrimSpace(right), 64)
		whole := limit
		if !equal {
			whole++
		}
		switch strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(figure), " ", ""), "\t", "") {
		case "requests":
			t.minimum = math.Max(t.minimum, whole)
		case "total_failures":
			t.number = math.Max(t.number, whole)
		case "consecutive_failures":
			t.consecutive = math.Max(t.consecutive, whole)
		case "total_failures/requests":
			if limit > t.failures || limit == t.failures && !equal {
				t.failures, t.strict = limit, !equal
			}
		default:
			t.unknown = true
		}
		t.unknown = t.unknown || err != nil
	}
	if t.failures == 1 && t.strict {
		t.off = "no share is above 100 %"
	}
	return t
}
