package policies

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A tier is a caller that retries what lies below it, at once.
type tier struct {
	retry *Retry
	below *tier       // nil for the callee, which
	fails func() bool // decides itself
	calls int
}

func (l *tier) call() bool {
	l.calls++
	if l.below == nil {
		return !l.fails()
	}
	l.retry.Start()
	for n := 1; ; n++ {
		o := answered
		if !l.below.call() {
			o = failed
		}
		if d := l.retry.Decide(Attempt{Number: n, Outcome: o}); !d.Retry {
			return o.Err == nil
		}
		l.retry.WaitDone()
	}
}

// stack makes callers with at most 3 attempts, the last one above a callee.
func stack(fails func() bool, budgets ...Budget) []*tier {
	tiers := []*tier{{fails: fails}}
	for i := len(budgets) - 1; i >= 0; i-- {
		r := must(NewRetry(RetryConfig{Attempts: 3}, budgets[i]))
		tiers = append(tiers, &tier{retry: r, below: tiers[len(tiers)-1]})
	}
	return tiers
}

func always3() bool { return true }

func exactBudget(ratio float64) Budget { return must(NewTokenBudget(ten(ratio))) }
func floatBudget(ratio float64) Budget { return must(NewFloatTokenBudget(ten(ratio))) }

// 1,500 requests, all of which fail: table T0a, last row.
func TestCallsOfAnOutage(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget Budget
		want   int
	}{
		{"none", EmptyBudget{}, 1500},
		{"exact 10 %", exactBudget(0.1), 1650},
		{"exact 20 %", exactBudget(0.2), 1800},
		{"exact 50 %", exactBudget(0.5), 2250},
		{"float 10 %", floatBudget(0.1), 1649},
		{"float 50 %", floatBudget(0.5), 2250},
		{"unlimited", UnlimitedBudget{}, 4500},
		{"no budget", nil, 4500},
		{"exact 10 % per success", must(NewTokenBudget(TokenConfig{Ratio: 0.1, Cap: 10, Credit: CreditSuccess})), 1500},
		{"full bucket per success", must(NewTokenBudget(TokenConfig{Ratio: 0.1, Cap: 10, Initial: 10, Credit: CreditSuccess})), 1510},
	} {
		tiers := stack(always3, test.budget)
		for range 1500 {
			tiers[1].call()
		}
		if got := tiers[0].calls; got != test.want {
			t.Errorf("%s: %d calls, want %d", test.name, got, test.want)
		}
	}
}

// Three layers above a callee that is down, 200 requests, each layer with a
// bucket of its own: table T0c. The calls are those to A, B and C.
func TestCallsThroughLayers(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget func() Budget
		want   [3]int
	}{
		{"none", func() Budget { return nil }, [3]int{600, 1800, 5400}},
		{"exact 10 %", func() Budget { return exactBudget(0.1) }, [3]int{220, 242, 266}},
		{"float 10 %", func() Budget { return floatBudget(0.1) }, [3]int{219, 240, 263}},
	} {
		tiers := stack(always3, test.budget(), test.budget(), test.budget())
		for range 200 {
			tiers[3].call()
		}
		if got := [3]int{tiers[2].calls, tiers[1].calls, tiers[0].calls}; got != test.want {
			t.Errorf("%s: %v calls, want %v", test.name, got, test.want)
		}
	}
}

// With failures at random, amplification and success follow the closed forms
// of T0a: (1-p^n)/(1-p) without a budget, 1+ratio under one that binds, and
// always a share (1-p) of the calls succeeds.
func TestAmplification(t *testing.T) {
	const requests = 20_000
	for _, test := range []struct {
		p     float64
		ratio float64 // 0 for no budget
		want  float64
	}{
		{0.05, 0, 1.0525}, {0.2, 0, 1.24}, {0.5, 0, 1.75},
		{0.05, 0.1, 1.0525}, {0.2, 0.1, 1.1}, {0.2, 0.2, 1.2}, {0.5, 0.1, 1.1}, {0.5, 0.2, 1.2}, {0.5, 0.5, 1.5},
	} {
		var budget Budget
		if test.ratio > 0 {
			budget = exactBudget(test.ratio)
		}
		source := rand.New(rand.NewPCG(1, 2))
		tiers := stack(func() bool { return source.Float64() < test.p }, budget)
		good := 0
		for range requests {
			if tiers[1].call() {
				good++
			}
		}
		got := float64(tiers[0].calls) / requests
		if math.Abs(got-test.want) > 0.02 {
			t.Errorf("p %v, ratio %v: amplification %.4f, want %.4f", test.p, test.ratio, got, test.want)
		}
		if success, want := float64(good)/requests, (1-test.p)*got; math.Abs(success-want) > 0.02 {
			t.Errorf("p %v, ratio %v: success %.4f, want %.4f", test.p, test.ratio, success, want)
		}
	}
}

// The counter of S3 lets through what it likes within its grace: an outage
// from the start gets 200 retries of the first 100 requests, 10 % only in the
// long run, and the same again after the reset.
func TestCounterInAnOutage(t *testing.T) {
	b := must(NewCounterBudget(CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000}))
	tiers := stack(always3, b)
	retries := 0
	for i := 1; i <= 10_100; i++ {
		tiers[1].call()
		retries = tiers[0].calls - i
		if want, ok := map[int]int{100: 200, 1999: 200, 2000: 201, 9999: 1000, 10_000: 1002, 10_100: 1202}[i]; ok && retries != want {
			t.Errorf("%d retries after %d requests, want %d", retries, i, want)
		}
	}
}
