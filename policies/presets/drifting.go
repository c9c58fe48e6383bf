package presets

import (
	"math"
	"sync"
)

// A driftingSum adds up what was written in the last slices of time: some that
// are stored, and the one being written. It has no clock. Its owner rolls it
// at the first operation after the end of a slice, and the next slice begins
// then: so the edges drift with the traffic.
type driftingSum struct {
	stored  []int64
	at      int   // where the slice being written will be stored
	old     int64 // sum of the stored ones
	writing int64
}

func newDriftingSum(stored int) driftingSum { return driftingSum{stored: make([]int64, stored)} }

func (s *driftingSum) add(n int64) { s.writing += n }

func (s *driftingSum) sum() int64 { return s.old + s.writing }

// roll stores the slice being written and begins another, before which some
// more passed without an operation.
func (s *driftingSum) roll(passed int64) {
	s.put(s.writing)
	s.writing = 0
	for n := min(passed, int64(len(s.stored))); n > 0; n-- {
		s.put(0)
	}
}

func (s *driftingSum) put(n int64) {
	s.old += n - s.stored[s.at]
	s.stored[s.at] = n
	if s.at++; s.at == len(s.stored) {
		s.at = 0
	}
}

// An account is a retry budget over a driftingSum: requests deposit, retries
// withdraw what they cost, as long as the sum and a constant reserve cover it.
type account struct {
	deposit, cost int64
	reserve       int64

	mu     sync.Mutex
	window driftingSum
	roll   func() // brings the window up to date, under the lock
}

// Deposit earns what a request is worth.
func (a *account) Deposit() {
	a.mu.Lock()
	a.roll()
	a.window.add(a.deposit)
	a.mu.Unlock()
}

// Withdraw asks for a retry and takes its cost.
func (a *account) Withdraw() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roll()
	if a.balance() < a.cost {
		return false
	}
	a.window.add(-a.cost)
	return true
}

// balance is the sum of the window and the constant, or the largest number.
func (a *account) balance() int64 {
	sum := a.window.sum()
	if sum > 0 && a.reserve > math.MaxInt64-sum {
		return math.MaxInt64
	}
	return sum + a.reserve
}

// Request implements [policies.Budget]: it deposits.
func (a *account) Request() { a.Deposit() }

// TryRetry withdraws.
func (a *account) TryRetry(bool) bool { return a.Withdraw() }

// WaitDone does nothing.
func (a *account) WaitDone() {}

// Done does nothing.
func (a *account) Done(_, _ bool) {}
