package policies

import (
	"fmt"
	"math"
	"math/big"
	"sync"
	"time"
)

// A WindowBudgetConfig describes a budget that grants a retry if with it
//
//	retries <= Ratio*requests + MinRPS*Length,
//
// both counted over the last Length: the requests that started and the
// retries that were granted. It is the rule of Finagle's RetryBudget and of
// its relatives in linkerd and tower, over an exact window in place of slices.
//
// A caller that retries less than MinRPS is never refused, however much of it
// fails.
type WindowBudgetConfig struct {
	Length time.Duration // of the window, above 0
	Ratio  float64       // retries for each request, 0 to 1, with at most 9 decimals
	MinRPS float64       // retries a second beside them, from 0 to below 1e9, with at most 9 decimals

	// Unshared is the caller's promise that calls never overlap, as in a
	// simulator with a single thread: the budget then does without its lock.
	// The zero value is safe for concurrent use.
	Unshared bool
}

// Validate reports the first field that makes no sense.
func (c WindowBudgetConfig) Validate() error {
	_, _, err := c.limits()
	return err
}

// limits returns the ratio num/den, and the largest integer that
// den*retries - num*requests may be.
func (c WindowBudgetConfig) limits() (fraction, int64, error) {
	ratio, err := ratioOf("window budget", "ratio", c.Ratio)
	if err != nil {
		return ratio, 0, err
	}
	rps, err := decimal(c.MinRPS)
	if err != nil {
		return ratio, 0, fmt.Errorf("policies: window budget: min rps %v, %w", c.MinRPS, err)
	}
	if c.Length <= 0 {
		return ratio, 0, fmt.Errorf("policies: window budget: length %v, want above 0s", c.Length)
	}
	spare := big.NewInt(int64(c.Length))
	spare.Mul(spare, big.NewInt(rps.num))
	spare.Mul(spare, big.NewInt(ratio.den))
	spare.Quo(spare, new(big.Int).Mul(big.NewInt(rps.den), big.NewInt(int64(time.Second))))
	if !spare.IsInt64() {
		return ratio, math.MaxInt64, nil
	}
	return ratio, spare.Int64(), nil
}

// A WindowBudget grants a share of the recent requests and a number of
// retries per second besides, counted exactly. It takes 8 bytes for each
// request and each retry in the window, and keeps them for reuse.
type WindowBudget struct {
	ratio    fraction
	spare    int64
	length   int64
	unshared bool
	watch    Stopwatch

	mu       sync.Mutex
	last     int64 // latest instant seen
	requests recent
	retries  recent
}

// NewWindowBudget returns a budget, or the error of Validate. A nil clock is
// the real one. A time before the latest one seen is taken as that.
func NewWindowBudget(c WindowBudgetConfig, clock Clock) (*WindowBudget, error) {
	ratio, spare, err := c.limits()
	if err != nil {
		return nil, err
	}
	return &WindowBudget{
		ratio: ratio, spare: spare, length: int64(c.Length), unshared: c.Unshared,
		watch: NewStopwatch(clock, 0), requests: newRecent(), retries: newRecent(),
	}, nil
}

func (b *WindowBudget) lock() {
	if !b.unshared {
		b.mu.Lock()
	}
}

func (b *WindowBudget) unlock() {
	if !b.unshared {
		b.mu.Unlock()
	}
}

// expire reads the clock and drops what is Length old or older.
func (b *WindowBudget) expire() (now int64) {
	b.last = max(b.last, b.watch.Read())
	b.requests.drop(b.last - b.length)
	b.retries.drop(b.last - b.length)
	return b.last
}

// Request counts a request.
func (b *WindowBudget) Request() {
	b.lock()
	b.requests.add(b.expire())
	b.unlock()
}

// TryRetry grants and counts a retry, unless there were too many.
func (b *WindowBudget) TryRetry(bool) bool {
	b.lock()
	now := b.expire()
	ok := (b.retries.held()+1)*b.ratio.den-b.requests.held()*b.ratio.num <= b.spare
	if ok {
		b.retries.add(now)
	}
	b.unlock()
	return ok
}

// WaitDone does nothing.
func (b *WindowBudget) WaitDone() {}

// Done does nothing.
func (b *WindowBudget) Done(_, _ bool) {}

// Counts returns the requests and the retries of the last Length.
func (b *WindowBudget) Counts() (requests, retries int) {
	b.lock()
	defer b.unlock()
	b.expire()
	return int(b.requests.held()), int(b.retries.held())
}

// recent is a ring of instants in the order in which they came. Places are
// counted up for ever and masked when used.
type recent struct {
	ring         []int64 // the length is a power of two
	oldest, next uint64
}

func newRecent() recent { return recent{ring: make([]int64, firstPlaces)} }

func (r *recent) held() int64 { return int64(r.next - r.oldest) }

func (r *recent) add(now int64) {
	if r.next-r.oldest == uint64(len(r.ring)) {
		old := r.ring
		r.ring = make([]int64, 2*len(old))
		for p := r.oldest; p != r.next; p++ {
			r.ring[p&uint64(len(r.ring)-1)] = old[p&uint64(len(old)-1)]
		}
	}
	r.ring[r.next&uint64(len(r.ring)-1)] = now
	r.next++
}

// drop drops the instants up to and including the given one.
func (r *recent) drop(until int64) {
	for r.oldest != r.next && r.ring[r.oldest&uint64(len(r.ring)-1)] <= until {
		r.oldest++
	}
}
