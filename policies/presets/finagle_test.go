package presets

import (
	"math"
	"testing"
	"time"
)

func finagleBudget(t testing.TB, c FinagleConfig) (*Finagle, *budgetClock) {
	t.Helper()
	clock := newBudgetClock()
	b, err := NewFinagle(c, clock)
	return madeBudget(t, b, err), clock
}

func TestFinagleDefaults(t *testing.T) {
	same(t, "defaults", FinagleDefaults(), FinagleConfig{TTL: 10 * time.Second, MinRetriesPerSec: 10, PercentCanRetry: 0.2})
}

func TestFinagleBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*FinagleConfig){
		"time to live":               func(c *FinagleConfig) { c.TTL = 61 * time.Second },
		"minimum retries per second": func(c *FinagleConfig) { c.MinRetriesPerSec = -1 },
		"percent that can retry":     func(c *FinagleConfig) { c.PercentCanRetry = math.NaN() },
	} {
		c := FinagleDefaults()
		change(&c)
		badBudget(t, c, field)
	}
	badBudget(t, FinagleConfig{TTL: time.Second - 1}, "time to live")
}

// A deposit lasts for nine slices after its own, however long that was.
func TestFinagleWindow(t *testing.T) {
	b, clock := finagleBudget(t, FinagleConfig{TTL: time.Second, PercentCanRetry: 1})
	clock.pass(50 * time.Millisecond)
	b.Deposit()
	clock.pass(50*time.Millisecond - 1)
	b.Deposit()
	for range 9 {
		clock.pass(100 * time.Millisecond)
		same(t, "balance", b.Balance(), 2)
	}
	clock.pass(99 * time.Millisecond) // in whole ms the last roll was at 999 ms
	same(t, "balance a moment before", b.Balance(), 2)
	clock.pass(1)
	same(t, "balance", b.Balance(), 0)
	b.Deposit()
	clock.pass(time.Second - time.Millisecond)
	same(t, "balance after a silence", b.Balance(), 1)
	clock.pass(time.Hour)
	same(t, "balance after an hour", b.Balance(), 0)
}

// Withdrawals come back after the time to live.
func TestFinagleReserve(t *testing.T) {
	b, clock := finagleBudget(t, FinagleConfig{TTL: time.Second + time.Millisecond, MinRetriesPerSec: 3})
	same(t, "limit of a request", b.RequeueLimit(), 1)
	for range 3 {
		same(t, "retry", b.Withdraw(), true)
	}
	same(t, "retry", b.Withdraw(), false)
	clock.pass(time.Second)
	same(t, "balance", b.Balance(), 3)
	same(t, "limit of a request without a balance", must0(finagleBudget(t, FinagleConfig{TTL: time.Second})).RequeueLimit(), 0)
}

// must0 returns the first of two.
func must0[A, B any](a A, _ B) A { return a }

func TestFinagleCosts(t *testing.T) {
	for percent, cost := range map[float64]int64{0: 1, 0.3: 3333, 0.7: 1428, 2: 500, 1000: 1, 1e-300: math.MaxInt32} {
		b, _ := finagleBudget(t, FinagleConfig{TTL: time.Second, PercentCanRetry: percent})
		same(t, "cost", b.cost, cost)
	}
}
