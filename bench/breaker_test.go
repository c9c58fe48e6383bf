package bench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
	"github.com/stormglass/stormglass/policies"
)

// A step is one call through a breaker: ask, then report how it ended.
type step func(err error)

var errCall = errors.New("call failed")

// A subject is a breaker under test. All of them open at half of at least 100
// calls, of the last 100 or of the last 10 s.
type subject struct {
	name string
	make func(testing.TB) step
}

var subjects = []subject{
	{"stormglass-count", stormglass(policies.WindowConfig{Kind: policies.CountWindow, Calls: 100})},
	{"failsafe-count", failsafeCount},
	// At the rate of this benchmark 10 s hold hundreds of millions of calls;
	// the bound makes it 100,000, as many as 10,000/s leave in 10 s.
	{"stormglass-time", stormglass(policies.WindowConfig{Kind: policies.TimeWindow, Length: 10 * time.Second, MaxCalls: 100_000})},
	{"stormglass-buckets", stormglass(policies.WindowConfig{Kind: policies.BucketWindow, Length: 10 * time.Second, Buckets: 10})},
	{"failsafe-time", failsafeTime}, // ten buckets
	{"gobreaker", goBreaker},        // ten buckets
}

func stormglass(window policies.WindowConfig) func(testing.TB) step {
	return func(t testing.TB) step {
		b, err := policies.NewBreaker(policies.BreakerConfig{
			Rule:    policies.RuleConfig{Window: window, MinCalls: 100, FailureRate: 0.5},
			OpenFor: time.Minute,
			Probes:  10,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return func(err error) {
			if p, ok := b.Allow(); ok {
				b.Record(p, policies.Outcome{Latency: time.Millisecond, Err: err})
			}
		}
	}
}

func failsafeCount(testing.TB) step {
	return failsafe(circuitbreaker.NewBuilder[any]().WithFailureThresholdRatio(50, 100).Build())
}

func failsafeTime(testing.TB) step {
	return failsafe(circuitbreaker.NewBuilder[any]().WithFailureRateThreshold(0.5, 100, 10*time.Second).Build())
}

func failsafe(b circuitbreaker.CircuitBreaker[any]) step {
	return func(err error) {
		if b.TryAcquirePermit() {
			b.RecordError(err)
		}
	}
}

func goBreaker(testing.TB) step {
	b := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		MaxRequests:  10,
		Interval:     10 * time.Second,
		BucketPeriod: time.Second,
		Timeout:      time.Minute,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.Requests >= 100 && float64(c.TotalFailures)/float64(c.Requests) >= 0.5
		},
	})
	return func(err error) {
		if done, refused := b.Allow(); refused == nil {
			done(err)
		}
	}
}

// BenchmarkBreaker measures one permission and one outcome, a success, on the
// real clock and without a call between them. Two goroutines share a breaker
// and do nothing else, which is as contended as it gets: run it with -cpu 2 on
// an idle machine. The figure "cores" tells how many processors were at work;
// if it is well below 2, the two goroutines took turns and met no contention.
func BenchmarkBreaker(b *testing.B) { benchmark(b, 0) }

// BenchmarkBreakerFailures is the same where every tenth call fails.
func BenchmarkBreakerFailures(b *testing.B) { benchmark(b, 10) }

func benchmark(b *testing.B, failEvery int) {
	for _, s := range subjects {
		for _, goroutines := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", s.name, goroutines), func(b *testing.B) {
				call := s.make(b)
				run := func(n int) {
					for i := range n {
						if failEvery > 0 && i%failEvery == failEvery-1 {
							call(errCall)
						} else {
							call(nil)
						}
					}
				}
				run(200_000) // windows have their size
				b.ReportAllocs()
				b.ResetTimer()
				cpu := cpuTime()
				done := make(chan struct{})
				for g := range goroutines {
					go func() {
						run((b.N + g) / goroutines)
						done <- struct{}{}
					}()
				}
				for range goroutines {
					<-done
				}
				b.ReportMetric(float64(cpuTime()-cpu)/float64(b.Elapsed()), "cores")
			})
		}
	}
}
