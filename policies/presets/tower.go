package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// tower's TpsBudget: tower-rs/tower at 8358ee71 (0.5.3),
// tower/src/retry/budget/tps_budget.rs; and its use in linkerd/linkerd2-proxy
// at 29637b64, linkerd/app/outbound/src/http/retry.rs.
//
//   - Defaults: 20 % of the requests of 10 s, and 10 retries per second more.
//   - The percent is a 32-bit float. Up to 1 a request deposits 1 and a retry
//     withdraws 1/percent, cut to a whole number: 0.15 is one in six, and
//     everything above 0.5 is one for each request. Above 1 these are 1000 and
//     1000/percent. With percent 0 nothing is deposited and a retry withdraws 1.
//   - The retries per second are a constant on top of the window, as Finagle's.
//   - The window has ten stored slots and the one being written, each a tenth
//     of the time to live. It rolls at the first operation at or after the end
//     of a slot; one slot more passes only for each that is exceeded, not
//     reached.
//   - Linkerd deposits when a response ends that is not retryable. So a failing
//     request earns nothing. Its newer policy routes have no budget.

// A TowerDeposit says what earns tokens.
type TowerDeposit string

// The deposits.
const (
	TowerDepositRequest TowerDeposit = "request" // each request, when it starts
	TowerDepositFinal   TowerDeposit = "final"   // each attempt whose end is not retryable, as in Linkerd
)

// A TowerConfig configures a Tower budget.
type TowerConfig struct {
	TTL              time.Duration // how long a deposit counts, 1 s to 60 s
	MinRetriesPerSec int           // retries per second beside the share, 0 or more
	PercentCanRetry  float32       `unit:"ratio"` // retries per deposit, 0 to 1000; 0.2 is 20 %
	DepositOn        TowerDeposit  // what earns tokens; empty means TowerDepositRequest
}

// TowerDefaults returns tower's defaults.
func TowerDefaults() TowerConfig {
	return TowerConfig{TTL: 10 * time.Second, MinRetriesPerSec: 10, PercentCanRetry: 0.2, DepositOn: TowerDepositRequest}
}

// LinkerdDefaults returns the defaults of Linkerd's service profiles.
func LinkerdDefaults() TowerConfig {
	c := TowerDefaults()
	c.DepositOn = TowerDepositFinal
	return c
}

// Validate reports the first field that makes no sense.
func (c TowerConfig) Validate() error {
	f := fields{library: "tower"}
	f.ttl(c.TTL, time.Minute)
	f.count("minimum retries per second", c.MinRetriesPerSec, 0)
	f.within("percent that can retry", float64(c.PercentCanRetry), 0, 1000)
	if c.DepositOn != "" {
		f.oneOf("deposit on", string(c.DepositOn), string(TowerDepositRequest), string(TowerDepositFinal))
	}
	return f.err
}

// amounts returns what a deposit adds and a withdrawal takes.
func (c TowerConfig) amounts() (deposit, cost int64) {
	switch p := c.PercentCanRetry; {
	case p == 0:
		return 0, 1
	case p <= 1:
		return 1, wholeOf(1 / p)
	default:
		return 1000, wholeOf(1000 / p)
	}
}

// wholeOf cuts a number of at least 0 to a whole one, or to the largest.
func wholeOf(x float32) int64 {
	if x >= 1<<63 {
		return math.MaxInt64
	}
	return int64(x)
}

// NewBudget implements [policies.BudgetMaker].
func (c TowerConfig) NewBudget(clock policies.Clock) (policies.Budget, error) {
	return budget(NewTower(c, clock))
}

// A Tower is a retry budget of tower, or of Linkerd.
type Tower struct {
	account
	slot   int64 // ns
	final  bool
	watch  policies.Stopwatch
	rolled int64
}

// NewTower returns a budget with an empty window, or the error of Validate. A
// nil clock is the real one.
func NewTower(c TowerConfig, clock policies.Clock) (*Tower, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Tower{
		slot:    int64(c.TTL) / 10,
		final:   c.DepositOn == TowerDepositFinal,
		watch:   policies.NewStopwatch(clock, 0),
		account: account{window: newDriftingSum(10)},
	}
	b.account.roll = b.roll
	b.deposit, b.cost = c.amounts()
	// The product stops at the largest number.
	retries := int64(c.MinRetriesPerSec) * int64(c.TTL/time.Second)
	if retries > 0 && b.cost > math.MaxInt64/retries {
		b.reserve = math.MaxInt64
	} else {
		b.reserve = retries * b.cost
	}
	b.rolled = b.watch.Read()
	return b, nil
}

// roll brings the window up to date.
func (b *Tower) roll() {
	now := b.watch.Read()
	if elapsed := now - b.rolled; elapsed >= b.slot {
		b.window.roll((elapsed - 1) / b.slot)
		b.rolled = now
	}
}

// Balance returns the tokens as of the last operation: a retry costs 1/percent
// of them. It does not move the window on.
func (b *Tower) Balance() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.balance()
}

// Request implements [policies.Budget]: it deposits, unless Linkerd's way is
// chosen.
func (b *Tower) Request() {
	if !b.final {
		b.Deposit()
	}
}

// Attempt deposits for an attempt whose end is not retryable, if Linkerd's way
// is chosen.
func (b *Tower) Attempt(c policies.Class) {
	if b.final && (c == policies.Success || c == policies.Ignored) {
		b.Deposit()
	}
}
