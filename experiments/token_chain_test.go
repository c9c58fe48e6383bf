package experiments

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/theory"
)

func mustRetry(t *testing.T, text string) retrySpec {
	t.Helper()
	s, err := parseRetry(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTokenChainOfTotalOutage(t *testing.T) {
	for _, c := range []struct {
		policy   string
		requests int
		want     float64
	}{
		{"budget-10", 1500, 150},
		{"budget-20", 1500, 300},
		{"budget-50", 1500, 750},
		{"budget-10", 9, 0},                // the first token is earned by the tenth
		{"budget-10", 10, 1},               //
		{"budget-10-full", 1500, 159},      // 10, and 0.1 of all but the first, which is lost
		{"budget-10-full", 3, 6},           // no more than 2 each
		{"budget-100", 1500, 1500},         //
		{"budget-10-full-success", 99, 10}, // nothing is earned
		{"budget-0", 100, 0},
		{"budget-33.3", 1000, 333},
	} {
		chain, ok := newTokenChain(mustRetry(t, c.policy))
		if !ok {
			t.Errorf("%s: no chain", c.policy)
			continue
		}
		if got, ok := chain.retries(c.requests, 1, 1000); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, %d requests: %v retries, want %v", c.policy, c.requests, got, c.want)
		}
	}
}

// The chain agrees with the policy itself, asked many times.
func TestTokenChainAgainstThePolicy(t *testing.T) {
	const requests, runs = 200, 4000
	for _, policy := range []string{"budget-10", "budget-20-full", "budget-20-success", "budget-30-attempts-4-cap-2", "budget-10-full-success-cap-3"} {
		for _, p := range []float64{0.1, 0.5, 0.9} {
			s := mustRetry(t, policy)
			r := rand.New(rand.NewPCG(1, 2))
			var counts []float64
			for range runs {
				budget, err := policies.NewBudget(s.budget)
				if err != nil {
					t.Fatal(err)
				}
				granted := 0.0
				for range requests {
					budget.Request()
					n, held, ok := 1, false, r.Float64() >= p
					for !ok && n < s.attempts && budget.TryRetry(held) {
						budget.WaitDone()
						n, held, ok = n+1, true, r.Float64() >= p
						granted++
					}
					budget.Done(held, ok)
				}
				counts = append(counts, granted)
			}
			chain, _ := newTokenChain(s)
			want, ok := chain.retries(requests, p, 1)
			mean, sd := theory.MeanSD(counts)
			if !ok || math.Abs(mean-want) > 4*sd/math.Sqrt(runs)+1e-3 {
				t.Errorf("%s at p = %v: the policy grants %v retries (sd %v), the chain %v", policy, p, mean, sd, want)
			}
			if long, ok := s.longRun(p); !ok || want/requests > long-1+float64(s.budget.Tokens.Initial+1)/requests {
				t.Errorf("%s at p = %v: %v retries per request, long-run bound %v", policy, p, want/requests, long-1)
			}
		}
	}
}

func TestTokenChainLeavesOut(t *testing.T) {
	for _, policy := range []string{"none", "retry-3", "budget-10-float", "cap-3", "budget-0.1234567", "budget-10-cap-1000000000"} {
		if _, ok := newTokenChain(mustRetry(t, policy)); ok {
			t.Errorf("%s has a chain", policy)
		}
	}
	chain, _ := newTokenChain(mustRetry(t, "budget-0.1"))
	if _, ok := chain.retries(10_000_000, 0.5, 1); ok {
		t.Error("a chain that costs more than the simulation")
	}
}

func TestWhereABudgetBinds(t *testing.T) {
	for _, c := range []struct {
		policy string
		want   float64
	}{
		{"budget-10", (math.Sqrt(1.4) - 1) / 2}, // p + p² = 0.1
		{"budget-20-attempts-2", 0.2},
		{"budget-100-attempts-2", math.NaN()},
		{"retry-3", math.NaN()},
		{"none", math.NaN()},
	} {
		got := mustRetry(t, c.policy).binds()
		if math.IsNaN(c.want) != math.IsNaN(got) || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s binds from p = %v, want %v", c.policy, got, c.want)
		}
	}
}
