package policies

import (
	"fmt"
	"sync/atomic"
)

// A ThrottleConfig describes the retry throttle of gRPC (proposal A6, "Client
// retries", 2017). A count of tokens starts at MaxTokens. An attempt that
// fails takes one token, though never below 0; one that succeeds adds Ratio,
// though never above MaxTokens. A retry is granted if the count is above half
// of MaxTokens, after the failure has been taken off.
//
// With a share p of attempts failing the count falls if p > Ratio/(1+Ratio),
// and in the end there are next to no retries.
type ThrottleConfig struct {
	MaxTokens int     // 1 to 1,000,000,000; gRPC allows 1000
	Ratio     float64 // tokens for each success, 0 to 1, with at most 9 decimals, of which gRPC keeps 3
}

// Validate reports the first field that makes no sense.
func (c ThrottleConfig) Validate() error {
	_, err := c.ratio()
	return err
}

func (c ThrottleConfig) ratio() (fraction, error) {
	f, err := ratioOf("throttle budget", "ratio", c.Ratio)
	if err != nil {
		return f, err
	}
	if c.MaxTokens < 1 || c.MaxTokens > maxTokens {
		return f, fmt.Errorf("policies: throttle budget: max tokens %d, want 1 to %d", c.MaxTokens, maxTokens)
	}
	return f, nil
}

// A ThrottleBudget stops all retries while too many attempts fail. Its tokens
// are exact.
type ThrottleBudget struct {
	level  atomic.Int64 // in units of 1/one
	one    int64        // a token
	credit int64
	most   int64
}

// NewThrottleBudget returns a full budget, or the error of Validate.
func NewThrottleBudget(c ThrottleConfig) (*ThrottleBudget, error) {
	f, err := c.ratio()
	if err != nil {
		return nil, err
	}
	b := &ThrottleBudget{one: f.den, credit: f.num, most: int64(c.MaxTokens) * f.den}
	b.level.Store(b.most)
	return b, nil
}

// Request does nothing.
func (b *ThrottleBudget) Request() {}

// Attempt adds the ratio for a success and takes a token for a failure.
func (b *ThrottleBudget) Attempt(c Class) {
	change := -b.one
	switch c {
	case Success:
		change = b.credit
	case Ignored:
		return
	}
	for {
		old := b.level.Load()
		level := min(max(old+change, 0), b.most)
		if level == old || b.level.CompareAndSwap(old, level) {
			return
		}
	}
}

// TryRetry grants a retry while more than half of the tokens are there. It
// takes none.
func (b *ThrottleBudget) TryRetry(bool) bool { return 2*b.level.Load() > b.most }

// WaitDone does nothing.
func (b *ThrottleBudget) WaitDone() {}

// Done does nothing.
func (b *ThrottleBudget) Done(_, _ bool) {}

// Tokens returns the tokens held now, to the nearest float64.
func (b *ThrottleBudget) Tokens() float64 { return float64(b.level.Load()) / float64(b.one) }
