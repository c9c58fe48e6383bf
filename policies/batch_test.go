package policies

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ObserveAll decides as Observe does, one outcome after another, whether or
// not the window is emptied at a trip.
func TestObserveAllIsObserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := RuleConfig{
			Window: rapid.SampledFrom([]WindowConfig{
				{Kind: CountWindow, Calls: 1}, {Kind: CountWindow, Calls: 7}, {Kind: CountWindow, Calls: 33}, {Kind: CountWindow, Calls: 64},
				{Kind: TimeWindow, Length: 1}, {Kind: TimeWindow, Length: 20}, {Kind: TimeWindow, Length: 500},
				{Kind: TimeWindow, Length: 100, MaxCalls: 9},
				{Kind: BucketWindow, Length: 100, Buckets: 10},
			}).Draw(t, "window"),
			MinCalls:    rapid.IntRange(1, 40).Draw(t, "min"),
			FailureRate: rapid.SampledFrom([]float64{0.02, 0.1, 0.5, 1}).Draw(t, "rate"),
		}
		if rapid.Bool().Draw(t, "slow rule") {
			cfg.SlowRate, cfg.SlowAfter = 0.5, time.Second
		}
		one, err := NewRule(cfg)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := NewRule(cfg)
		reset := rapid.Bool().Draw(t, "reset at a trip")
		share := rapid.SampledFrom([]int{0, 2, 20, 60, 100}).Draw(t, "failures %")
		gap := rapid.SampledFrom([]int{0, 1, 5, 300}).Draw(t, "longest gap")
		now := time.Duration(0)
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			if rapid.IntRange(0, 3).Draw(t, "single") == 0 { // slow calls only come one by one
				failed, slow := rapid.Bool().Draw(t, "failed"), rapid.Bool().Draw(t, "slow")
				if one.Observe(now, failed, slow) != all.Observe(now, failed, slow) {
					t.Fatal("twins differ without a batch")
				}
			}
			n := rapid.IntRange(0, 200).Draw(t, "outcomes")
			at, failed := make([]time.Duration, n), make([]bool, n)
			for i := range n {
				now += time.Duration(rapid.IntRange(0, gap).Draw(t, "gap"))
				at[i], failed[i] = now, rapid.IntRange(0, 99).Draw(t, "outcome") < share
			}
			for i := 0; i < n; i++ {
				trip := i + all.ObserveAll(at[i:], failed[i:])
				for ; i < trip; i++ {
					if one.Observe(at[i], failed[i], false) {
						t.Fatalf("outcome %d trips alone, not in the batch", i)
					}
				}
				if trip == n {
					break
				}
				if !one.Observe(at[i], failed[i], false) {
					t.Fatalf("outcome %d trips in the batch, not alone", i)
				}
				if reset {
					one.Reset()
					all.Reset()
				}
			}
			if a, b := one.Counts(now), all.Counts(now); a != b {
				t.Fatalf("counts %+v one by one, %+v in batches", a, b)
			}
		}
	})
}

func BenchmarkObserveAll(b *testing.B) {
	const n = 512
	at, failed := make([]time.Duration, n), make([]bool, n)
	for name, w := range map[string]WindowConfig{
		"count": {Kind: CountWindow, Calls: 100}, "time": {Kind: TimeWindow, Length: 10 * time.Second},
	} {
		b.Run(name, func(b *testing.B) {
			r, err := NewRule(RuleConfig{Window: w, MinCalls: 20, FailureRate: 0.5})
			if err != nil {
				b.Fatal(err)
			}
			k := 0
			for b.Loop() {
				for i := range n {
					at[i], failed[i] = time.Duration(k)*20*time.Millisecond, k%50 == 0
					k++
				}
				if r.ObserveAll(at, failed) != n {
					b.Fatal("tripped")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/outcome")
		})
	}
}
