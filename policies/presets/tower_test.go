package presets

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func towerBudget(t testing.TB, c TowerConfig) (*Tower, *budgetClock) {
	t.Helper()
	clock := newBudgetClock()
	b, err := NewTower(c, clock)
	return madeBudget(t, b, err), clock
}

func TestTowerDefaults(t *testing.T) {
	same(t, "defaults", TowerDefaults(), TowerConfig{TTL: 10 * time.Second, MinRetriesPerSec: 10, PercentCanRetry: 0.2, DepositOn: "request"})
	same(t, "Linkerd's", LinkerdDefaults(), TowerConfig{TTL: 10 * time.Second, MinRetriesPerSec: 10, PercentCanRetry: 0.2, DepositOn: "final"})
}

func TestTowerBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*TowerConfig){
		"time to live":               func(c *TowerConfig) { c.TTL = time.Minute + 1 },
		"minimum retries per second": func(c *TowerConfig) { c.MinRetriesPerSec = -1 },
		"percent that can retry":     func(c *TowerConfig) { c.PercentCanRetry = 1001 },
		"deposit on":                 func(c *TowerConfig) { c.DepositOn = "response" },
	} {
		c := TowerDefaults()
		change(&c)
		badBudget(t, c, field)
	}
}

// The percent is a 32-bit float: in 64 bits 0.1 would cost 9.
func TestTowerCosts(t *testing.T) {
	for percent, cost := range map[float32]int64{0: 1, 0.1: 10, 0.15: 6, 0.3: 3, 0.7: 1, 1: 1, 1.5: 666, 1000: 1, 1e-30: math.MaxInt64} {
		b, _ := towerBudget(t, TowerConfig{TTL: time.Second, MinRetriesPerSec: 1, PercentCanRetry: percent})
		same(t, "cost", b.cost, cost)
		same(t, "retry", b.Withdraw(), true)
	}
	b, _ := towerBudget(t, TowerConfig{TTL: time.Minute, MinRetriesPerSec: 1 << 24, PercentCanRetry: 1e-15})
	b.Deposit()
	same(t, "balance", b.Balance(), math.MaxInt64)
}

// Ten slots are stored. A slot more is over only when it is exceeded.
func TestTowerWindow(t *testing.T) {
	c := TowerConfig{TTL: time.Second, PercentCanRetry: 1}
	for _, test := range []struct {
		silence time.Duration
		ok      bool
	}{{0, true}, {100 * time.Millisecond, true}, {time.Second, true}, {time.Second + 1, false}, {time.Hour, false}} {
		b, clock := towerBudget(t, c)
		b.Deposit()
		clock.pass(test.silence)
		same(t, test.silence.String(), b.Withdraw(), test.ok)
	}
}

func TestLinkerdDeposits(t *testing.T) {
	c := LinkerdDefaults()
	c.MinRetriesPerSec, c.PercentCanRetry = 0, 1
	b, _ := towerBudget(t, c)
	b.Request()
	b.Attempt(policies.Failure)
	same(t, "balance", b.Balance(), 0)
	b.Attempt(policies.Success)
	b.Attempt(policies.Ignored)
	same(t, "balance", b.Balance(), 2)
	c.DepositOn = ""
	b, _ = towerBudget(t, c)
	b.Request()
	b.Attempt(policies.Success)
	same(t, "balance", b.Balance(), 1)
}
