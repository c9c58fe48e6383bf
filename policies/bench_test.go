package policies

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

var benchWindows = []WindowConfig{
	{Kind: CountWindow, Calls: 100},
	{Kind: TimeWindow, Length: 10 * time.Second},
	{Kind: BucketWindow, Length: 10 * time.Second, Buckets: 10},
}

// A failurePattern says which of many calls fail, 2 % at random.
type failurePattern [4096]bool

func newFailurePattern() *failurePattern {
	p := new(failurePattern)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = source.Float64() < 0.02
	}
	return p
}

func (p *failurePattern) at(i int) bool { return p[i%len(p)] }

// Calls come every 20 ms of the time that the rule is told.
func BenchmarkRuleObserve(b *testing.B) {
	for _, window := range benchWindows {
		b.Run(string(window.Kind), func(b *testing.B) {
			r, err := NewRule(RuleConfig{Window: window, MinCalls: 20, FailureRate: 0.2})
			if err != nil {
				b.Fatal(err)
			}
			failed := newFailurePattern()
			b.ResetTimer()
			for i := range b.N {
				r.Observe(time.Duration(i)*20*time.Millisecond, failed.at(i), false)
			}
		})
	}
}

func benchBreaker(b *testing.B, window WindowConfig, unshared bool, c Clock) *Breaker {
	breaker, err := NewBreaker(BreakerConfig{
		Rule:     RuleConfig{Window: window, MinCalls: 100, FailureRate: 0.5},
		OpenFor:  time.Second,
		Probes:   10,
		Unshared: unshared,
	}, c)
	if err != nil {
		b.Fatal(err)
	}
	return breaker
}

// A stepClock goes on by 20 ms at every reading.
type stepClock struct{ now time.Duration }

func (c *stepClock) Now() time.Time { return time.Unix(0, 0).Add(c.now) }
func (c *stepClock) Since(time.Time) time.Duration {
	c.now += 20 * time.Millisecond
	return c.now
}

var errBench = errors.New("failed")

// Unshared breakers run on a clock that costs nothing, shared ones on the
// real one. Of the mixed calls 2 % fail.
func BenchmarkAllowRecord(b *testing.B) {
	for _, window := range benchWindows {
		b.Run(string(window.Kind)+"/unshared", func(b *testing.B) {
			breaker := benchBreaker(b, window, true, new(stepClock))
			b.ResetTimer()
			for range b.N {
				if p, ok := breaker.Allow(); ok {
					breaker.Record(p, Outcome{Latency: time.Millisecond})
				}
			}
		})
		window.Length /= 1000 // the real clock runs a thousand times as fast
		b.Run(string(window.Kind)+"/shared", func(b *testing.B) {
			breaker := benchBreaker(b, window, false, nil)
			b.ResetTimer()
			for range b.N {
				if p, ok := breaker.Allow(); ok {
					breaker.Record(p, Outcome{Latency: time.Millisecond})
				}
			}
		})
		b.Run(string(window.Kind)+"/mixed", func(b *testing.B) {
			breaker := benchBreaker(b, window, false, nil)
			failed := newFailurePattern()
			b.ResetTimer()
			for i := range b.N {
				if p, ok := breaker.Allow(); ok {
					o := Outcome{Latency: time.Millisecond}
					if failed.at(i) {
						o.Err = errBench
					}
					breaker.Record(p, o)
				}
			}
		})
		b.Run(string(window.Kind)+"/parallel", func(b *testing.B) {
			breaker := benchBreaker(b, window, false, nil)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if p, ok := breaker.Allow(); ok {
						breaker.Record(p, Outcome{Latency: time.Millisecond})
					}
				}
			})
		})
	}
}
