package presets

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The cost of a request that passes through a retry policy with a budget: one
// attempt, or two if it is among the 2 % that fail and the budget grants the
// retry.
func BenchmarkBudgets(b *testing.B) {
	for _, p := range Budgets() {
		b.Run(p.Name, func(b *testing.B) {
			clock := newHandClock()
			budget, err := p.New(clock)
			if err != nil {
				b.Fatal(err)
			}
			retry, err := policies.NewRetry(policies.RetryConfig{Attempts: 2}, budget)
			if err != nil {
				b.Fatal(err)
			}
			source := rand.New(rand.NewPCG(1, 2))
			var fails [4096]bool
			for i := range fails {
				fails[i] = source.Float64() < 0.02
			}
			b.ReportAllocs()
			for i := range b.N {
				clock.now = clock.now.Add(10 * time.Millisecond)
				retry.Start()
				if !fails[i%len(fails)] {
					if !retry.Succeed(false) {
						retry.Decide(policies.Attempt{Number: 1})
					}
					continue
				}
				d := retry.Decide(policies.Attempt{Number: 1, Outcome: policies.Outcome{Err: policies.ErrOther}})
				if d.Retry && retry.Send() {
					retry.Decide(policies.Attempt{Number: 2, Carry: d.Carry})
				}
			}
		})
	}
}

// The cost of a wait.
func BenchmarkBackoffs(b *testing.B) {
	for _, p := range Backoffs() {
		b.Run(p.Name, func(b *testing.B) {
			d, err := p.New()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var wait time.Duration
			for i := range b.N {
				wait = d.Delay(1+i%5, wait, 0.5)
			}
		})
	}
}
