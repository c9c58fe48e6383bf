package presets

import (
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

var breakerPresets = []BreakerPreset{
	{
		Name:     "count-window",
		Doc:      "the last 20 calls, all of them, at 50 %; 5 s open, 1 probe",
		Defaults: func() policies.BreakerMaker { return exactWindow(policies.CountWindow, exactDefaults) },
		Set:      func(c Common) policies.BreakerMaker { return exactWindow(policies.CountWindow, c) },
	},
	{
		Name:     "time-window",
		Doc:      "the calls of the last 10 s, at least 20, at 50 %; 5 s open, 1 probe",
		Defaults: func() policies.BreakerMaker { return exactWindow(policies.TimeWindow, exactDefaults) },
		Set:      func(c Common) policies.BreakerMaker { return exactWindow(policies.TimeWindow, c) },
	},
	{
		Name: "resilience4j-count", Library: "Resilience4j", Version: "2.4.0",
		Source:   "resilience4j-circuitbreaker CircuitBreakerStateMachine.java",
		Doc:      "the last 100 calls, all of them, at 50 %; 60 s open, 10 probes",
		Recorded: true, Defaults: func() policies.BreakerMaker { return Resilience4jCountDefaults() },
		Set:     func(c Common) policies.BreakerMaker { return resilience4j(Resilience4jCountDefaults(), c, c.Calls) },
		Differs: "open ends strictly after the time; late answers are probes",
	},
	{
		Name: "resilience4j-time", Library: "Resilience4j", Version: "2.4.0",
		Source:   "resilience4j-core SlidingTimeWindowMetrics.java",
		Doc:      "100 buckets of a second, at least 100 calls, at 50 %; 60 s open, 10 probes",
		Recorded: true, Defaults: func() policies.BreakerMaker { return Resilience4jTimeDefaults() },
		Set:     func(c Common) policies.BreakerMaker { return resilience4j(Resilience4jTimeDefaults(), c, c.seconds()) },
		Differs: "buckets of one second of the wall clock: the window is up to a second shorter than it says; late answers are probes",
	},
	{
		Name: "resilience4j-lockfree", Library: "Resilience4j", Version: "2.4.0",
		Source:   "resilience4j-core LockFreeSlidingTimeWindowMetrics.java",
		Doc:      "100 slices of a second, at least 100 calls, at 50 %; 60 s open, 10 probes",
		Recorded: true, Defaults: func() policies.BreakerMaker { return Resilience4jLockFreeDefaults() },
		Set: func(c Common) policies.BreakerMaker {
			return resilience4j(Resilience4jLockFreeDefaults(), c, c.seconds())
		},
		Differs: "buckets of one second since the breaker closed; late answers are probes",
	},
	{
		Name: "hystrix-1.4", Library: "Hystrix", Version: "1.4.26",
		Source:   "hystrix-core HystrixCircuitBreaker.java",
		Doc:      "10 s in 10 buckets, at least 20 calls, at 50 %, looked at when a call asks; 5 s open, 1 probe",
		Recorded: true, Defaults: func() policies.BreakerMaker { return Hystrix14Defaults() },
		Set:     func(c Common) policies.BreakerMaker { return hystrixAs(Hystrix14Defaults(), c) },
		Differs: hystrixDiffers,
	},
	{
		Name: "hystrix-1.5.13", Library: "Hystrix", Version: "1.5.13",
		Source:   "hystrix-core HystrixCircuitBreaker.java",
		Doc:      "10 s in 20 buckets, at least 20 calls, at 50 %, looked at when a bucket ends; 5 s open, 1 probe",
		Recorded: true, Defaults: func() policies.BreakerMaker { return Hystrix1513Defaults() },
		Set:     func(c Common) policies.BreakerMaker { return hystrixAs(Hystrix1513Defaults(), c) },
		Differs: hystrixDiffers,
	},
	{
		Name: "hystrix-1.5.18", Library: "Hystrix", Version: "1.5.18",
		Source:   "hystrix-core HystrixCircuitBreaker.java",
		Doc:      "10 s in 20 buckets, at least 20 calls, at 50 %, looked at when a call asks; 5 s open, 1 probe",
		Recorded: true, Defaults: func() policies.BreakerMaker { return Hystrix1518Defaults() },
		Set:     func(c Common) policies.BreakerMaker { return hystrixAs(Hystrix1518Defaults(), c) },
		Differs: hystrixDiffers,
	},
	{
		Name: "gobreaker", Library: "sony/gobreaker", Version: "2.4.0",
		Source:   "v2/gobreaker.go",
		Doc:      "6 failures in a row; 60 s open, 1 probe",
		Recorded: true, Defaults: func() policies.BreakerMaker { return GobreakerDefaults() },
		Set: func(c Common) policies.BreakerMaker {
			return GobreakerConfig{
				MaxRequests: c.Probes, Interval: c.Window, BucketPeriod: time.Second, Timeout: c.OpenFor,
				ReadyToTrip: fmt.Sprintf("requests >= %d && total_failures/requests >= %v", c.MinCalls, c.FailureRate),
			}
		},
		Differs: "asks only at a failure; calls under way are in the denominator, and a call that outlasts the window never counts",
	},
	{
		Name: "failsafe-count", Library: "failsafe-go", Version: "0.9.8",
		Source:   "circuitbreaker/circuitbreaker.go",
		Doc:      "1 failure; 60 s open, 1 probe",
		Recorded: true, Defaults: func() policies.BreakerMaker { return FailsafeBreakerDefaults() },
		Set: func(c Common) policies.BreakerMaker {
			return FailsafeBreakerConfig{
				FailureThreshold: share(c.FailureRate, c.Calls), FailureThresholdingCapacity: c.Calls,
				FailureExecutionThreshold: c.MinCalls, SuccessThreshold: c.Probes, Delay: c.OpenFor,
			}
		},
		Differs: "a number of failures instead of a rate; late answers are probes",
	},
	{
		Name: "failsafe-time", Library: "failsafe-go", Version: "0.9.8",
		Source:   "circuitbreaker/circuitbreaker.go",
		Doc:      "1 failure in 10 s; 60 s open, 1 probe (an example: there is no default period)",
		Recorded: true, Defaults: func() policies.BreakerMaker {
			c := FailsafeBreakerDefaults()
			c.FailureThresholdingPeriod = 10 * time.Second
			return c
		},
		Set: func(c Common) policies.BreakerMaker {
			return FailsafeBreakerConfig{
				FailureThreshold: 1, FailureRateThreshold: c.FailureRate, FailureExecutionThreshold: c.MinCalls, FailureThresholdingPeriod: c.Window,
				SuccessThreshold: c.Probes, Delay: c.OpenFor,
			}
		},
		Differs: "rates are rounded to whole percent; late answers are probes",
	},
	{
		Name: "polly", Library: "Polly", Version: "8, 173d6d1d",
		Source:   "src/Polly.Core/CircuitBreaker",
		Doc:      "30 s in 10 parts, at least 100 calls, at 10 %; 5 s open, 1 probe",
		Defaults: func() policies.BreakerMaker { return PollyDefaults() },
		Set: func(c Common) policies.BreakerMaker {
			return PollyConfig{
				FailureRatio: c.FailureRate, MinimumThroughput: max(c.MinCalls, 2), SamplingDuration: c.Window, BreakDuration: c.OpenFor,
			}
		},
		Differs: "always one probe; late answers are probes",
	},
	{
		Name: "sentinel-error-ratio", Library: "Sentinel Go", Version: "f7a7f957",
		Source:   "core/circuitbreaker/circuit_breaker.go",
		Doc:      "5 s, at least 10 calls, at 50 %; 3 s open, 1 probe (an example: there are no defaults)",
		Recorded: true, Defaults: func() policies.BreakerMaker { return SentinelExample() },
		Set: func(c Common) policies.BreakerMaker {
			return SentinelConfig{
				Strategy: SentinelErrorRatio, Threshold: c.FailureRate, MinRequestAmount: c.MinCalls,
				StatInterval: c.Window, BucketCount: c.seconds(), RetryTimeout: c.OpenFor, ProbeNum: c.Probes,
			}
		},
		Differs: "every call passes in half-open, until one fails or enough succeeded; late answers are probes",
	},
	{
		Name: "sentinel-error-count", Library: "Sentinel Go", Version: "f7a7f957",
		Source:   "core/circuitbreaker/circuit_breaker.go",
		Doc:      "50 errors in 5 s, of at least 10 calls; 3 s open, 1 probe (an example: there are no defaults)",
		Recorded: true, Defaults: func() policies.BreakerMaker {
			c := SentinelExample()
			c.Strategy, c.Threshold = SentinelErrorCount, 50
			return c
		},
		Differs: "a number of errors in the window, whatever the rate",
	},
	{
		Name: "sentinel-slow", Library: "Sentinel Go", Version: "f7a7f957",
		Source:   "core/circuitbreaker/circuit_breaker.go",
		Doc:      "half of at least 10 calls in 5 s took more than 1 s; 3 s open, 1 probe (an example: there are no defaults)",
		Recorded: true,
		Defaults: func() policies.BreakerMaker {
			c := SentinelExample()
			c.Strategy, c.MaxAllowedRT = SentinelSlowRatio, time.Second
			return c
		},
		Differs: "looks at durations alone: failures do not matter",
	},
	{
		Name: "envoy-outlier", Library: "Envoy", Version: "195df830, 00c7146d",
		Source:   "source/common/upstream/outlier_detection_impl.cc",
		Doc:      "5 errors in a row eject one host of ten for 30 s, the next time for 60 s, up to the next look every 10 s",
		Defaults: func() policies.BreakerMaker { return EnvoyOutlierDefaults() },
		Differs:  "5 failures in a row eject one host of ten; it comes back after a time, without probes",
	},
	{
		Name: "google-sre", Library: "SRE book",
		Source:   `"Handling Overload", equation 21-1`,
		Doc:      "refuses what exceeds twice the accepts of 2 min",
		Throttle: true, Defaults: func() policies.BreakerMaker { return GoogleSREDefaults() },
		Differs: differsThrottle,
	},
	{
		Name: "kratos-sre", Library: "go-kratos/aegis", Version: "0.2.0",
		Source:   "circuitbreaker/sre/sre.go",
		Doc:      "refuses what exceeds 1.67 times the accepts of 3 s, of at least 100 calls",
		Recorded: true, Throttle: true, Defaults: func() policies.BreakerMaker { return AegisDefaults() },
		Differs: differsThrottle,
	},
	{
		Name: "failsafe-sre", Library: "failsafe-go", Version: "0.9.8",
		Source:   "adaptivethrottler",
		Doc:      "refuses what exceeds 1.11 times the successes of 60 s, at most 90 %",
		Recorded: true, Throttle: true, Defaults: func() policies.BreakerMaker { return FailsafeThrottlerDefaults() },
		Differs: differsThrottle,
	},
}

const (
	hystrixDiffers  = "always one probe; percentages are rounded to whole numbers, at least 1; the figures are up to half a second old"
	differsThrottle = "refuses a share of the calls at random"
)

func (c Common) seconds() int { return int(c.Window / time.Second) }

// share is the least number of n calls that is at least that share.
func share(rate float64, n int) int { return max(int(math.Ceil(rate*float64(n)-1e-9)), 1) }

func resilience4j(d Resilience4jConfig, c Common, size int) Resilience4jConfig {
	d.SlidingWindowSize, d.MinimumNumberOfCalls = size, c.MinCalls
	d.FailureRateThreshold = float32(c.FailureRate * 100)
	d.WaitInOpenState.InitialInterval = c.OpenFor
	d.PermittedCallsInHalfOpen = c.Probes
	return d
}

func hystrixAs(d HystrixConfig, c Common) HystrixConfig {
	if d.Buckets > 0 {
		d.Buckets = c.seconds()
	}
	d.Window, d.VolumeThreshold, d.SleepWindow = c.Window, c.MinCalls, c.OpenFor
	d.ErrorThreshold = max(int(math.Round(c.FailureRate*100)), 1) // at 0 % it opens on healthy calls
	return d
}
