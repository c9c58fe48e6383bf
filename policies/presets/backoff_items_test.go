package presets

import (
	"sync"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A last result that is not acceptable counts as two attempts, or as three and
// two failures.
func TestResilience4jRetryCounts(t *testing.T) {
	for _, test := range []struct {
		fail bool
		end  Resilience4jEnd
		want Resilience4jCounts
	}{
		{false, EndsWithResult, Resilience4jCounts{FailedWithRetry: 1, Total: 3}},
		{true, MaxRetriesExceeded, Resilience4jCounts{FailedWithRetry: 2, Total: 4}},
	} {
		c := Resilience4jRetryDefaults()
		c.MaxAttempts, c.FailAfterMaxAttempts = 2, test.fail
		r, err := c.New()
		if err != nil {
			t.Fatal(err)
		}
		if ms, end := r.After(ErrorRetried, 1, 0); ms != 500 || end != GoesOn {
			t.Errorf("after the first attempt %d ms, %d", ms, end)
		}
		if _, end := r.After(ResultRetried, 2, 0); end != test.end {
			t.Errorf("end %d, want %d", end, test.end)
		}
		if got := r.Counts(); got != test.want {
			t.Errorf("counts %+v, want %+v", got, test.want)
		}
		if n := testing.AllocsPerRun(100, func() { r.After(ErrorRetried, 1, 0.5) }); n > 0 {
			t.Errorf("%v allocations, want 0", n)
		}
	}
}

// Retry stops if the wait would end after MaxElapsedTime, not at it.
func TestCenkaltiElapsed(t *testing.T) {
	c := CenkaltiDefaults()
	c.RandomizationFactor, c.MaxElapsedTime = 0, time.Second
	b, err := c.New()
	if err != nil {
		t.Fatal(err)
	}
	if wait, again := b.Next(1, 500*time.Millisecond, 0); !again || wait != 500*time.Millisecond {
		t.Errorf("wait %v, %v at the limit", wait, again)
	}
	if _, again := b.Next(1, 500*time.Millisecond+1, 0); again {
		t.Error("another attempt above the limit")
	}
}

// A manualClock is set by hand.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestFlowcontrol(t *testing.T) {
	clock := &manualClock{now: time.Unix(946684800, 0)}
	b, err := FlowcontrolConfig{Initial: time.Second, Max: 10 * time.Second}.New(policies.Host{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	b.Next("a", 0)
	clock.add(time.Second - 1)
	if !b.InBackOff("a") || b.InBackOff("b") {
		t.Error("only a is to wait")
	}
	if clock.add(1); b.InBackOff("a") {
		t.Error("a is to wait at the end of its wait")
	}
	b.Next("a", 0)
	if clock.add(20 * time.Second); b.Get("a") != 2*time.Second {
		t.Errorf("wait %v, want 2s", b.Get("a"))
	}
	if b.GC(); b.Get("a") == 0 {
		t.Error("forgotten after exactly twice the maximum")
	}
	clock.add(1)
	if b.GC(); b.Get("a") != 0 {
		t.Error("not forgotten after more than twice the maximum")
	}
	b.Next("a", 0)
	if n := testing.AllocsPerRun(100, func() { b.Next("a", 0.5); b.InBackOff("a") }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestBackoffItemsConcurrent(t *testing.T) {
	clock := &manualClock{now: time.Unix(946684800, 0)}
	b, err := FlowcontrolExample().New(policies.Host{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorkqueueDefaults().New()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 250 {
				b.Next("a", 0.5)
				b.InBackOff("a")
				b.GC()
				clock.add(time.Millisecond)
				w.When("a")
			}
		})
	}
	group.Wait()
	if n := w.NumRequeues("a"); n != 1000 {
		t.Errorf("%d failures, want 1000", n)
	}
	if d := w.When("a"); d != 1000*time.Second {
		t.Errorf("wait %v, want that of the maximum", d)
	}
	if n := testing.AllocsPerRun(100, func() { w.When("a") }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
	w.Forget("a")
	if d := w.When("a"); d != 5*time.Millisecond {
		t.Errorf("wait %v after Forget, want 5ms", d)
	}
}
