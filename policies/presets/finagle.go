package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Finagle's RetryBudget: twitter/finagle at 4feb34cb,
// finagle-core/src/main/scala/com/twitter/finagle/service/RetryBudget.scala,
// with twitter/util at 17c8187d, util-core/.../TokenBucket.scala and
// WindowedAdder.scala.
//
//   - Defaults: 20 % of the requests of 10 s, and 10 retries per second more.
//   - A request deposits 1000, a retry withdraws 1000/percent, cut to a whole
//     number. With percent 0 nothing is deposited and a retry withdraws 1.
//   - The retries per second are a constant on top of the window, for its whole
//     length. They are not used up as such: a withdrawal enters the window as a
//     negative amount and leaves it after the time to live, as deposits do. So
//     all of them can be spent in one burst.
//   - The window has nine stored slices and the one being written, each a tenth
//     of the time to live in whole milliseconds. It rolls at the first operation
//     after the end of a slice, which begins the next one at that instant.
//   - Costs and the constant are 32-bit numbers. The constant overflows silently.
//   - Time is in whole milliseconds.
//   - The filter that uses the budget also limits the retries of one request:
//     see RequeueLimit.

// A FinagleConfig configures a Finagle budget.
type FinagleConfig struct {
	TTL              time.Duration // how long a deposit counts, 1 s to 60 s
	MinRetriesPerSec int           // retries per second beside the share, 0 or more
	PercentCanRetry  float64       `unit:"ratio"` // retries per request, 0 to 1000; 0.2 is 20 %
}

// FinagleDefaults returns Finagle's defaults.
func FinagleDefaults() FinagleConfig {
	return FinagleConfig{TTL: 10 * time.Second, MinRetriesPerSec: 10, PercentCanRetry: 0.2}
}

// Validate reports the first field that makes no sense.
func (c FinagleConfig) Validate() error {
	f := fields{library: "finagle"}
	f.ttl(c.TTL, 61*time.Second-1) // in whole seconds
	f.count("minimum retries per second", c.MinRetriesPerSec, 0)
	f.within("percent that can retry", c.PercentCanRetry, 0, 1000)
	return f.err
}

// ttl checks the time to live of Finagle and of tower.
func (f *fields) ttl(d, most time.Duration) {
	if d < time.Second || d > most {
		f.fail("time to live %v, want 1s to 60s", d)
	}
}

// NewBudget implements [policies.BudgetMaker].
func (c FinagleConfig) NewBudget(clock policies.Clock) (policies.Budget, error) {
	return budget(NewFinagle(c, clock))
}

// A Finagle is a retry budget of Finagle.
type Finagle struct {
	account
	slice  int64 // ms
	watch  policies.Stopwatch
	rolled int64 // ms
}

// NewFinagle returns a budget with an empty window, or the error of Validate.
// A nil clock is the real one.
func NewFinagle(c FinagleConfig, clock policies.Clock) (*Finagle, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	cost := int32(1)
	b := &Finagle{
		slice:   c.TTL.Milliseconds() / 10,
		watch:   policies.NewStopwatch(clock, time.Millisecond),
		account: account{window: newDriftingSum(9)},
	}
	b.account.roll = b.roll
	if c.PercentCanRetry != 0 {
		b.deposit, cost = 1000, int32(min(1000/c.PercentCanRetry, math.MaxInt32))
	}
	b.cost = int64(cost)
	b.reserve = int64(int32(c.MinRetriesPerSec) * int32(c.TTL/time.Second) * cost)
	b.rolled = b.now()
	return b, nil
}

// now returns whole milliseconds.
func (b *Finagle) now() int64 { return b.watch.Read() / int64(time.Millisecond) }

// roll brings the window up to date.
func (b *Finagle) roll() {
	now := b.now()
	if elapsed := now - b.rolled; elapsed >= b.slice {
		b.window.roll(elapsed/b.slice - 1)
		b.rolled = now
	}
}

// Balance returns how many retries would be granted now; where the constant
// has overflowed it can be negative.
func (b *Finagle) Balance() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll()
	return b.balance() / b.cost
}

// RequeueLimit returns how often Finagle's RequeueFilter would retry a single
// request that starts now: a fifth of the balance, rounded up.
func (b *Finagle) RequeueLimit() int { return int(math.Ceil(0.2 * float64(b.Balance()))) }
