package sim

import (
	"context"
	"time"
)

// WithTimeout returns WithDeadline(parent, Now + d).
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.WithDeadline(parent, c.Now().Add(d))
}

// WithDeadline returns a copy of parent that ends with
// context.DeadlineExceeded when virtual time reaches deadline, if it was not
// cancelled before. All that is derived from it ends in the same step, no
// goroutine is involved. Call cancel, from the engine's goroutine, to take the
// deadline out of the engine early; cancelling parent does not.
//
// One thing cannot be had without a goroutine: if parent can itself be
// cancelled, then a context derived from the result by package context reports
// context.Canceled at the deadline, and DeadlineExceeded only as its Cause.
func (c *Clock) WithDeadline(parent context.Context, deadline time.Time) (ctx context.Context, cancel context.CancelFunc) {
	if cur, ok := parent.Deadline(); ok && !cur.After(deadline) {
		return context.WithCancel(parent)
	}
	var inner context.Context
	var end context.CancelCauseFunc
	var expire func()
	if parent.Done() == nil {
		root := &expiry{Context: parent, done: make(chan struct{})}
		inner, end = context.WithCancelCause(root)
		expire = root.expire
	} else {
		inner, end = context.WithCancelCause(parent)
		expire = func() { end(context.DeadlineExceeded) }
	}
	ctx = &deadlineContext{inner, deadline}
	left := c.Until(deadline)
	if left <= 0 {
		expire()
		return ctx, func() {}
	}
	due := c.schedule(left, expire)
	return ctx, func() {
		c.engine().Cancel(due)
		end(nil)
	}
}

// A deadlineContext adds the deadline to the context that will be ended.
type deadlineContext struct {
	context.Context
	deadline time.Time
}

func (c *deadlineContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *deadlineContext) Err() error {
	err := c.Context.Err()
	if err == context.Canceled && context.Cause(c.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// An expiry is the parent, never cancelled by itself, of one context of
// package context, which asks it by AfterFunc to be told of the end. It is how
// that context comes to report DeadlineExceeded without a timer of real time.
type expiry struct {
	context.Context
	done chan struct{}
	err  error
	tell func()
}

func (x *expiry) Done() <-chan struct{} { return x.done }
func (x *expiry) Err() error            { return x.err }

func (x *expiry) AfterFunc(f func()) (stop func() bool) {
	x.tell = f
	return func() bool {
		pending := x.tell != nil
		x.tell = nil
		return pending
	}
}

func (x *expiry) expire() {
	x.err = context.DeadlineExceeded
	close(x.done)
	if tell := x.tell; tell != nil {
		x.tell = nil
		tell()
	}
}
