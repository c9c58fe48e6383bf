package policies

import (
	"fmt"
	"math"
	"sync/atomic"
)

// A CounterConfig describes a budget of two counters, of requests and of
// retries. A retry is refused if
//
//	requests > Grace and retries/requests > Ratio,
//
// where retries are those granted before. Both counters go to 0 when the
// requests reach ResetAt. So the first Grace requests, and those after each
// reset, may retry as often as they like.
type CounterConfig struct {
	Ratio   float64 // largest share of retries at which one more is granted, 0 to 1, at most 9 decimals
	Grace   int     // requests up to which nothing is refused, 0 or more
	ResetAt int     // requests that empty the counters, above Grace, at most 2,147,483,647
}

// Validate reports the first field that makes no sense.
func (c CounterConfig) Validate() error {
	_, err := c.ratio()
	return err
}

func (c CounterConfig) ratio() (fraction, error) {
	f, err := ratioOf("counter budget", "ratio", c.Ratio)
	if err != nil {
		return f, err
	}
	if c.Grace < 0 {
		return f, fmt.Errorf("policies: counter budget: grace %d, want 0 or more", c.Grace)
	}
	if c.ResetAt <= c.Grace || c.ResetAt > math.MaxInt32 {
		return f, fmt.Errorf("policies: counter budget: reset at %d, want more than the grace %d, at most %d",
			c.ResetAt, c.Grace, math.MaxInt32)
	}
	return f, nil
}

// A CounterBudget grants a share of the requests seen since it was last
// reset, compared exactly.
type CounterBudget struct {
	counts  atomic.Uint64 // requests<<32 | retries
	ratio   fraction
	grace   uint64
	resetAt uint64
}

// NewCounterBudget returns a budget, or the error of Validate.
func NewCounterBudget(c CounterConfig) (*CounterBudget, error) {
	f, err := c.ratio()
	if err != nil {
		return nil, err
	}
	return &CounterBudget{ratio: f, grace: uint64(c.Grace), resetAt: uint64(c.ResetAt)}, nil
}

// Request counts a request. The one that reaches ResetAt is not counted, but
// empties the counters.
func (b *CounterBudget) Request() {
	for {
		old := b.counts.Load()
		next := old + 1<<32
		if next>>32 >= b.resetAt {
			next = 0
		}
		if b.counts.CompareAndSwap(old, next) {
			return
		}
	}
}

// TryRetry grants and counts a retry, unless there were too many.
func (b *CounterBudget) TryRetry(bool) bool {
	for {
		old := b.counts.Load()
		requests, retries := old>>32, old&math.MaxUint32
		if requests > b.grace && retries*uint64(b.ratio.den) > requests*uint64(b.ratio.num) {
			return false
		}
		if retries == math.MaxUint32 { // saturates
			return true
		}
		if b.counts.CompareAndSwap(old, old+1) {
			return true
		}
	}
}

// WaitDone does nothing.
func (b *CounterBudget) WaitDone() {}

// Done does nothing.
func (b *CounterBudget) Done(_, _ bool) {}

// Counts returns both counters as they are now.
func (b *CounterBudget) Counts() (requests, retries int) {
	counts := b.counts.Load()
	return int(counts >> 32), int(counts & math.MaxUint32)
}
