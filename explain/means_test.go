package explain_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Back-offs are their means, not those of the middle of the jitter.
func TestMeanBackoffs(t *testing.T) {
	for name, b := range map[string]policies.BackoffConfig{
		"decorrelated": {Kind: policies.DecorrelatedJitter, Base: 100 * ms, Cap: 400 * ms},
		"capped last":  {Kind: policies.ExponentialBackoff, Base: 100 * ms, Multiplier: 2, Cap: 400 * ms, Jitter: 0.2, CapLast: true},
		"full":         {Kind: policies.FullJitter, Base: 100 * ms, Multiplier: 2},
	} {
		r := retry(5)
		r.Retry.Backoff = b
		got := of(t, link(1, 0, r, timeout(time.Second))).Deadlines[0].Backoff
		delays, err := policies.NewBackoff(b)
		if err != nil {
			t.Fatal(err)
		}
		const runs = 100_000
		u, sum := rand.New(rand.NewPCG(1, 2)), 0.0
		for range runs {
			previous := time.Duration(0)
			for k := range 4 {
				previous = delays.Delay(k+1, previous, u.Float64())
				sum += previous.Seconds() / runs
			}
		}
		if math.Abs(got-sum) > 0.005*sum {
			t.Errorf("%s: %v s of back-off, %v in the mean of many", name, got, sum)
		}
	}
}
