package experiments

import (
	"context"
	"testing"
)

// One replication of the main job: six hours at 50 calls/s, with and without
// glitches, watched by six trip rules and six breakers.
func BenchmarkFalseTrips(b *testing.B) {
	for _, mode := range []string{"observe", "breaker", "observe,breaker"} {
		b.Run(mode, func(b *testing.B) {
			p, err := NewPlan(falseTrips(), Options{Seed: 1, Reps: 1, Set: map[string]string{"mode": mode}})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Run(context.Background(), 1, nil); err != nil {
					b.Fatal(err)
				}
			}
			const calls = 2 * 6 * 3600 * 50
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
			b.ReportMetric(calls*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
