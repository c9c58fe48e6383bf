// Package bench compares the breaker of this project with those of well-known
// libraries. It is a module of its own so that nobody else downloads them.
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

// A step is one call through a breaker: ask, then report.
type step func(err error)

var errCall = errors.New("call failed")

func stormglass(window policies.WindowConfig) func() (step, error) {
	return func() (step, error) {
		b, err := policies.NewBreaker(policies.BreakerConfig{
			Rule:    policies.RuleConfig{Window: window, MinCalls: 100, FailureRate: 0.5},
			OpenFor: time.Minute,
			Probes:  10,
		}, nil)
		if err != nil {
			return nil, err
		}
		return func(err error) {
			if p, ok := b.Allow(); ok {
				b.Record(p, policies.Outcome{Latency: time.Millisecond, Err: err})
			}
		}, nil
	}
}

func failsafeCount() (step, error) {
	return failsafe(circuitbreaker.NewBuilder[any]().WithFailureThresholdRatio(50, 100).Build()), nil
}

func failsafeTime() (step, error) {
	return failsafe(circuitbreaker.NewBuilder[any]().WithFailureRateThreshold(0.5, 100, 10*time.Second).Build()), nil
}

func failsafe(b circuitbreaker.CircuitBreaker[any]) step {
	return func(err error) {
		if b.TryAcquirePermit() {
			b.RecordError(err)
		}
	}
}

func goBreaker() (step, error) {
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
	}, nil
}

var subjects = []struct {
	name string
	make func() (step, error)
}{
	{"stormglass-count", stormglass(policies.WindowConfig{Kind: policies.CountWindow, Calls: 100})},
	{"failsafe-count", failsafeCount},
	{"stormglass-time", stormglass(policies.WindowConfig{Kind: policies.TimeWindow, Length: 10 * time.Second})},
	{"stormglass-buckets", stormglass(policies.WindowConfig{Kind: policies.BucketWindow, Length: 10 * time.Second, Buckets: 10})},
	{"failsafe-time", failsafeTime},
	{"gobreaker", goBreaker},
}

// BenchmarkBreaker measures one permission and one outcome, without the call
// between them, on the real clock. Every failEvery-th call fails. Run it with -cpu 2.
func BenchmarkBreaker(b *testing.B) {
	for _, failEvery := range []int{0, 64, 4} {
	for _, s := range subjects {
		for _, goroutines := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/fail=%d/goroutines=%d", s.name, failEvery, goroutines), func(b *testing.B) {
				call, err := s.make()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				run := func(n int) {
					for i := range n {
						var err error
						if failEvery > 0 && i % failEvery == 1 {
							err = errCall
						}
						call(err)
					}
				}
				done := make(chan struct{})
				b.ResetTimer()
				for g := range goroutines {
					n := b.N / goroutines
					if g == 0 { n = b.N - n * (goroutines-1) }
					go func() { run(n); done <- struct{}{} }()
				}
				for range goroutines { <- done }
			})
		}
	}
	}
}
