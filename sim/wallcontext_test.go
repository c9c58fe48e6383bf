package sim

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// state says what a context shows: "active", or its error and cause.
func state(ctx context.Context) string {
	closed := false
	select {
	case <-ctx.Done():
		closed = true
	default:
	}
	switch err, cause := ctx.Err(), context.Cause(ctx); {
	case err == nil && cause == nil && !closed:
		return "active"
	case !closed || err == nil:
		return "inconsistent"
	case errors.Is(cause, err):
		return err.Error()
	default:
		return err.Error() + " because " + cause.Error()
	}
}

const (
	exceeded = "context deadline exceeded"
	canceled = "context canceled"
)

func checkState(t *testing.T, name string, ctx context.Context, want string) {
	t.Helper()
	if got := state(ctx); got != want {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
}

func TestContextExpires(t *testing.T) {
	before := runtime.NumGoroutine()
	e := New()
	ctx, cancel := e.Clock().WithTimeout(context.Background(), 10*time.Second)
	if deadline, ok := ctx.Deadline(); !ok || !deadline.Equal(epoch.Add(10*time.Second)) {
		t.Errorf("Deadline is %v, %v", deadline, ok)
	}
	e.RunUntil(Time(10 * time.Second))
	checkState(t, "before the instant", ctx, "active")
	e.RunUntil(Time(10*time.Second + 1))
	checkState(t, "after the instant", ctx, exceeded)
	cancel()
	checkState(t, "cancelled later", ctx, exceeded)
	checkGoroutines(t, before)
}

func TestContextCancel(t *testing.T) {
	e := New()
	ctx, cancel := e.Clock().WithTimeout(context.Background(), 10*time.Second)
	if e.Pending() != 1 {
		t.Errorf("%d events pending, want the deadline", e.Pending())
	}
	cancel()
	checkState(t, "cancelled", ctx, canceled)
	if e.Pending() != 0 {
		t.Errorf("%d events pending after cancel", e.Pending())
	}
	cancel()
	e.RunUntil(Time(time.Minute))
	checkState(t, "after the deadline", ctx, canceled)
}

func TestContextDeadlinePassed(t *testing.T) {
	e := New()
	e.RunUntil(Time(time.Hour))
	c := e.Clock()
	for _, deadline := range []time.Time{c.Now(), c.Now().Add(-1), {}} {
		ctx, cancel := c.WithDeadline(context.Background(), deadline)
		checkState(t, deadline.String(), ctx, exceeded)
		cancel()
		checkState(t, deadline.String(), ctx, exceeded)
	}
	parent, stop := context.WithCancel(context.Background())
	defer stop()
	ctx, cancel := c.WithTimeout(parent, 0)
	defer cancel()
	checkState(t, "parent can be cancelled", ctx, exceeded)
	if e.Pending() != 0 {
		t.Errorf("%d events pending", e.Pending())
	}
}

type contextKey struct{}

// All that is derived from the context ends in the same step, with the same
// error, and without a goroutine.
func TestContextDerived(t *testing.T) {
	before := runtime.NumGoroutine()
	e := New()
	parent := context.WithValue(context.Background(), contextKey{}, "v")
	ctx, cancel := e.Clock().WithTimeout(parent, 10*time.Second)
	defer cancel()
	value := context.WithValue(ctx, contextKey{}, "w")
	child, cancelChild := context.WithCancel(value)
	defer cancelChild()
	grandchild, cancelGrandchild := context.WithCancel(child)
	defer cancelGrandchild()
	early, cancelEarly := context.WithCancel(ctx)
	if got := ctx.Value(contextKey{}); got != "v" {
		t.Errorf("value of the parent is %v", got)
	}
	if runtime.NumGoroutine() != before {
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	}
	cancelEarly()
	checkState(t, "child cancelled by itself", early, canceled)
	checkState(t, "its parent", ctx, "active")
	e.RunUntil(Time(11 * time.Second))
	checkState(t, "context", ctx, exceeded)
	checkState(t, "value", value, exceeded)
	checkState(t, "child", child, exceeded)
	checkState(t, "grandchild", grandchild, exceeded)
	checkState(t, "child cancelled by itself", early, canceled)
	late, cancelLate := context.WithCancel(ctx)
	defer cancelLate()
	checkState(t, "derived after the end", late, exceeded)
}

func TestContextParentCancelled(t *testing.T) {
	before := runtime.NumGoroutine()
	e := New()
	parent, cancelParent := context.WithCancel(context.Background())
	ctx, cancel := e.Clock().WithTimeout(parent, 10*time.Second)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	e.RunUntil(Time(5 * time.Second))
	checkState(t, "before", ctx, "active")
	cancelParent()
	checkState(t, "context", ctx, canceled)
	checkState(t, "child", child, canceled)
	e.RunUntil(Time(11 * time.Second))
	checkState(t, "after the deadline", ctx, canceled)
	checkGoroutines(t, before)
}

// The stated limit: with a parent that can be cancelled, what package context
// derives shows the deadline as its cause only.
func TestContextExpiresUnderParent(t *testing.T) {
	e := New()
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	ctx, cancel := e.Clock().WithTimeout(parent, 10*time.Second)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	e.RunUntil(Time(11 * time.Second))
	checkState(t, "parent", parent, "active")
	checkState(t, "context", ctx, exceeded)
	checkState(t, "child", child, canceled+" because "+exceeded)
}

func TestContextNested(t *testing.T) {
	e := New()
	c := e.Clock()
	outer, cancelOuter := c.WithTimeout(context.Background(), 10*time.Second)
	defer cancelOuter()
	inner, cancelInner := c.WithTimeout(outer, 5*time.Second)
	defer cancelInner()
	// A deadline later than the parent's adds nothing to the engine.
	pending := e.Pending()
	later, cancelLater := c.WithTimeout(outer, 20*time.Second)
	defer cancelLater()
	if e.Pending() != pending {
		t.Errorf("%d events pending, want %d", e.Pending(), pending)
	}
	if deadline, _ := later.Deadline(); !deadline.Equal(epoch.Add(10 * time.Second)) {
		t.Errorf("deadline under a parent of 10s is %v", deadline)
	}
	e.RunUntil(Time(6 * time.Second))
	checkState(t, "inner at 6s", inner, exceeded)
	checkState(t, "outer at 6s", outer, "active")
	e.RunUntil(Time(11 * time.Second))
	checkState(t, "outer at 11s", outer, exceeded)
	checkState(t, "later at 11s", later, exceeded)
}

// The outer deadline ends an inner context of a longer life span.
func TestContextOuterEndsInner(t *testing.T) {
	e := New()
	c := e.Clock()
	outer, cancelOuter := c.WithTimeout(context.Background(), 10*time.Second)
	inner, cancelInner := c.WithTimeout(outer, 5*time.Second)
	defer cancelInner()
	cancelOuter()
	checkState(t, "inner", inner, canceled)
}

// context.AfterFunc and a reader of Done see the end as with a real deadline.
func TestContextWakesGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	e := New()
	ctx, cancel := e.Clock().WithTimeout(context.Background(), time.Second)
	defer cancel()
	called, read := make(chan error), make(chan error)
	context.AfterFunc(ctx, func() { called <- ctx.Err() })
	stop := context.AfterFunc(ctx, func() { t.Error("AfterFunc ran though it was stopped") })
	stop()
	go func() {
		<-ctx.Done()
		read <- ctx.Err()
	}()
	e.Run()
	if err := <-called; err != context.DeadlineExceeded {
		t.Errorf("AfterFunc saw %v", err)
	}
	if err := <-read; err != context.DeadlineExceeded {
		t.Errorf("a reader of Done saw %v", err)
	}
	checkGoroutines(t, before)
}
