package policies

import (
	"fmt"
	"math"
	"sync/atomic"
)

// A ConcurrentBudget caps the retries in progress, as Envoy's max_retries
// does. A retry holds its place through its back-off and its attempt; the
// next retry of the same request takes the place over in one step. So a
// request gets all its retries or none, however busy the others are.
type ConcurrentBudget struct {
	retries atomic.Int64
	most    int64
}

// NewConcurrentBudget returns a budget of most retries at a time, 0 to
// 2,147,483,647.
func NewConcurrentBudget(most int) (*ConcurrentBudget, error) {
	if most < 0 || most > math.MaxInt32 {
		return nil, fmt.Errorf("policies: concurrent budget: retries %d, want 0 to %d", most, math.MaxInt32)
	}
	return &ConcurrentBudget{most: int64(most)}, nil
}

// Request does nothing.
func (b *ConcurrentBudget) Request() {}

// WaitDone does nothing.
func (b *ConcurrentBudget) WaitDone() {}

// TryRetry takes a place, if one is free or held already.
func (b *ConcurrentBudget) TryRetry(held bool) bool {
	if held {
		return true // there was room for it with the place it holds
	}
	for {
		retries := b.retries.Load()
		if retries >= b.most {
			return false
		}
		if b.retries.CompareAndSwap(retries, retries+1) {
			return true
		}
	}
}

// Done frees the place, if one is held. It panics if no retry is in progress:
// then somebody gave a place back twice.
func (b *ConcurrentBudget) Done(held, _ bool) {
	if held {
		if n := b.retries.Add(-1); n < 0 {
			panic(fmt.Sprintf("policies: concurrent budget: Done(held) with %d retries in progress", n+1))
		}
	}
}

// Retries returns the number of retries in progress.
func (b *ConcurrentBudget) Retries() int { return int(b.retries.Load()) }
