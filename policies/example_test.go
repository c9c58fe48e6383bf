package policies_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A clock under the caller's control; in production leave it nil.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

var errTimeout = errors.New("timeout")

func ExampleBreaker() {
	hand := &clock{time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)}
	b, err := policies.NewBreaker(policies.BreakerConfig{
		Rule: policies.RuleConfig{
			Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 4},
			MinCalls: 4, FailureRate: 0.5,
		},
		OpenFor: 5 * time.Second,
		Probes:  1,
		OnChange: func(c policies.Change) {
			fmt.Printf("%s %v -> %v\n", c.At.Format("15:04:05"), c.From, c.To)
		},
	}, hand)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, callErr := range []error{nil, nil, errTimeout, errTimeout, nil, nil, nil, nil, nil} {
		hand.now = hand.now.Add(time.Second)
		if permit, ok := b.Allow(); ok {
			b.Record(permit, policies.Outcome{Latency: 20 * time.Millisecond, Err: callErr})
		}
	}
	fmt.Println("refused:", b.Stats().Refused)
	// Output:
	// 12:00:04 closed -> open
	// 12:00:09 open -> half-open
	// 12:00:09 half-open -> closed
	// refused: 4
}

// An outcome that is nobody's fault is left out of the rates.
func ExampleBreaker_ignored() {
	errNotFound := errors.New("not found")
	b, _ := policies.NewBreaker(policies.BreakerConfig{
		Rule: policies.RuleConfig{
			Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 100},
			MinCalls: 10, FailureRate: 0.5,
		},
		OpenFor: 5 * time.Second,
		Probes:  1,
		Classify: func(o policies.Outcome) policies.Class {
			switch {
			case errors.Is(o.Err, errNotFound):
				return policies.Ignored
			case o.Err != nil:
				return policies.Failure
			}
			return policies.Success
		},
	}, nil)
	for _, callErr := range []error{nil, errNotFound, errTimeout, errNotFound} {
		if permit, ok := b.Allow(); ok {
			b.Record(permit, policies.Outcome{Err: callErr})
		}
	}
	fmt.Printf("%+v\n", b.Counts())
	// Output: {Calls:2 Failures:1 Slow:0}
}

// Calls that hang open a breaker before they end. A host that does nothing in
// between looks after the breaker at each deadline.
func ExampleBreaker_NextDeadline() {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	hand := &clock{start}
	b, _ := policies.NewBreaker(policies.BreakerConfig{
		Rule: policies.RuleConfig{
			Window:   policies.WindowConfig{Kind: policies.TimeWindow, Length: 10 * time.Second},
			MinCalls: 3, SlowRate: 0.5, SlowAfter: 2 * time.Second,
		},
		OpenFor: 5 * time.Second, Probes: 1, InFlightSlow: true,
	}, hand)
	for range 3 {
		b.Allow()
		hand.now = hand.now.Add(100 * time.Millisecond)
	}
	for b.State() == policies.Closed {
		deadline, ok := b.NextDeadline()
		if !ok {
			break
		}
		hand.now = deadline
		b.Advance()
		fmt.Println(hand.now.Sub(start), b.State())
	}
	// Output:
	// 2.000000001s closed
	// 2.100000001s closed
	// 2.200000001s open
}

func ExampleRule() {
	r, err := policies.NewRule(policies.RuleConfig{
		Window:   policies.WindowConfig{Kind: policies.TimeWindow, Length: 10 * time.Second},
		MinCalls: 5, FailureRate: 0.5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for second := range 60 {
		now := time.Duration(second) * time.Second
		if r.Observe(now, second >= 20, false) {
			fmt.Printf("trips at %v with %+v\n", now, r.Counts(now))
			r.Reset()
		}
	}
	// Output:
	// trips at 24s with {Calls:10 Failures:5 Slow:0}
	// trips at 29s with {Calls:5 Failures:5 Slow:0}
	// trips at 34s with {Calls:5 Failures:5 Slow:0}
	// trips at 39s with {Calls:5 Failures:5 Slow:0}
	// trips at 44s with {Calls:5 Failures:5 Slow:0}
	// trips at 49s with {Calls:5 Failures:5 Slow:0}
	// trips at 54s with {Calls:5 Failures:5 Slow:0}
	// trips at 59s with {Calls:5 Failures:5 Slow:0}
}

func ExampleRuleConfig_Notes() {
	c := policies.RuleConfig{
		Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 5},
		MinCalls: 10, FailureRate: 0.5,
	}
	fmt.Println(c.Validate(), c.EffectiveMinCalls())
	for _, note := range c.Notes() {
		fmt.Println(note)
	}
	// Output:
	// <nil> 5
	// minimum 10 above the count window of 5: capped to 5
}

func ExampleRuleConfig_Validate() {
	c := policies.RuleConfig{
		Window:   policies.WindowConfig{Kind: policies.BucketWindow, Length: 10 * time.Second, Buckets: 7},
		MinCalls: 10, FailureRate: 0.5,
	}
	fmt.Println(c.Validate())
	// Output: policies: buckets window: buckets 7, want a divisor of the length 10s in ns
}
