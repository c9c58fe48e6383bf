package policies

import (
	"fmt"
	"math"
	"strings"
	"sync"
)

// An ActiveRule names the requests that a [ShareBudget] takes its share of.
type ActiveRule string

// The rules. They differ while retries wait: long back-offs shrink the share
// under ActiveAttempts, just when there are many of them.
const (
	// ActiveRequests counts a request from Request to Done, also while it
	// waits for a retry.
	ActiveRequests ActiveRule = "requests"
	// ActiveAttempts counts a request while an attempt of it is under way:
	// from Request or WaitDone until a retry is granted or it is done. The
	// attempt that has just failed still counts when TryRetry is asked about
	// its retry. This is Envoy's rule for answers that say they failed
	// (envoyproxy/envoy, source/common/upstream/resource_manager_impl.h); one
	// that ran into Envoy's own timeout per attempt no longer counts there.
	ActiveAttempts ActiveRule = "attempts"
	// ActiveOthers is ActiveAttempts without the request that asks: the share
	// is one of the others.
	ActiveOthers ActiveRule = "others"
)

// A ShareConfig describes a budget that grants a retry if with it
//
//	retries in progress <= max(Floor, Share*active requests),
//
// both counted at the instant of the question.
type ShareConfig struct {
	Share  float64    // 0 to 1, with at most 9 decimals
	Floor  int        // retries in progress that are always granted, 0 to 2,147,483,647
	Active ActiveRule // empty means ActiveRequests

	// Unshared is the caller's promise that calls never overlap, as in a
	// simulator with a single thread: the budget then does without its lock.
	// The zero value is safe for concurrent use.
	Unshared bool
}

// Validate reports the first field that makes no sense.
func (c ShareConfig) Validate() error {
	_, err := c.ratio()
	return err
}

func (c ShareConfig) ratio() (fraction, error) {
	f, err := ratioOf("share budget", "share", c.Share)
	if err != nil {
		return f, err
	}
	if c.Floor < 0 || c.Floor > math.MaxInt32 {
		return f, fmt.Errorf("policies: share budget: floor %d, want 0 to %d", c.Floor, math.MaxInt32)
	}
	switch c.Active {
	case "", ActiveRequests, ActiveAttempts, ActiveOthers:
		return f, nil
	}
	known := strings.Join([]string{string(ActiveRequests), string(ActiveAttempts), string(ActiveOthers)}, ", ")
	return f, fmt.Errorf("policies: share budget: active %q, want one of %s", c.Active, known)
}

// A ShareBudget keeps the retries in progress to a share of the requests in
// flight. Each retry holds its place through its back-off and its attempt.
type ShareBudget struct {
	share    fraction
	floor    int64
	attempts bool  // requests that wait for a retry do not count
	asking   int64 // 1 if the request that asks does not count either
	unshared bool

	mu       sync.Mutex
	requests int64
	waiting  int64
	retries  int64 // waiting ones included
}

// NewShareBudget returns a budget, or the error of Validate.
func NewShareBudget(c ShareConfig) (*ShareBudget, error) {
	f, err := c.ratio()
	if err != nil {
		return nil, err
	}
	b := &ShareBudget{share: f, floor: int64(c.Floor), unshared: c.Unshared}
	switch c.Active {
	case ActiveAttempts:
		b.attempts = true
	case ActiveOthers:
		b.attempts, b.asking = true, 1
	}
	return b, nil
}

func (b *ShareBudget) lock() {
	if !b.unshared {
		b.mu.Lock()
	}
}

func (b *ShareBudget) unlock() {
	if !b.unshared {
		b.mu.Unlock()
	}
}

// Request counts a request in.
func (b *ShareBudget) Request() {
	b.lock()
	b.requests++
	b.unlock()
}

// TryRetry takes a place, if the share leaves one. A held place is given back
// first, so a request can lose it when others have ended meanwhile.
func (b *ShareBudget) TryRetry(held bool) bool {
	b.lock()
	others := b.retries
	if held {
		others--
	}
	ok := others < b.floor || (others+1)*b.share.den <= (b.active()-b.asking)*b.share.num
	b.retries = others
	if ok {
		b.retries++
		b.waiting++
	}
	b.unlock()
	if others < 0 {
		panic(fmt.Sprintf("policies: share budget: TryRetry(held) with %d retries in progress", others+1))
	}
	return ok
}

// active is the number of requests that the share is taken of.
func (b *ShareBudget) active() int64 {
	if b.attempts {
		return b.requests - b.waiting
	}
	return b.requests
}

// WaitDone counts a granted retry as under way.
func (b *ShareBudget) WaitDone() {
	b.lock()
	b.waiting--
	waiting := b.waiting
	b.unlock()
	if waiting < 0 {
		panic(fmt.Sprintf("policies: share budget: WaitDone with %d retries waiting", waiting+1))
	}
}

// Done counts a request out and frees its place, if it holds one. It panics
// if there is none: then somebody gave it back twice.
func (b *ShareBudget) Done(held, _ bool) {
	b.lock()
	b.requests--
	if held {
		b.retries--
	}
	requests, retries := b.requests, b.retries
	b.unlock()
	if requests < 0 || retries < 0 {
		panic(fmt.Sprintf("policies: share budget: Done(held %v) left %d requests, %d retries in progress, want 0 or more",
			held, requests, retries))
	}
}

// Counts returns the requests that count as active and the retries in
// progress, as they are now; with ActiveOthers nobody asks now, so none is left
// out.
func (b *ShareBudget) Counts() (active, retries int) {
	b.lock()
	defer b.unlock()
	return int(b.active()), int(b.retries)
}
