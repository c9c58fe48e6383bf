package presets

import (
	"math"
	"sync"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Two back-offs per item of Kubernetes' client-go v0.37.2; both recorded:
// util/workqueue/default_rate_limiters.go
// (TypedItemExponentialFailureRateLimiter) and util/flowcontrol/backoff.go.
//
// The queue's has no jitter and forgets nothing by itself. The other one
// forgets an item whose last failure is more than twice the maximum ago,
// strictly; its first wait may be above the maximum.

// WorkqueueConfig describes the wait of an item that has failed n times in a
// row: BaseDelay*2^(n-1), at most MaxDelay.
type WorkqueueConfig struct {
	BaseDelay time.Duration // the first wait, above 0
	MaxDelay  time.Duration // the longest wait, above 0; it may be below the base
}

// WorkqueueDefaults is that of the default limiter of controllers: 5 ms up to
// 1000 s. It also has a bucket of 10 a second for all items, and takes the
// longer wait of the two.
func WorkqueueDefaults() WorkqueueConfig {
	return WorkqueueConfig{BaseDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c WorkqueueConfig) Validate() error {
	f := fields{library: "client-go workqueue"}
	f.duration("BaseDelay", c.BaseDelay, 1)
	f.duration("MaxDelay", c.MaxDelay, 1)
	return f.err
}

// NewDelays returns the waits of one item, or the error of Validate.
func (c WorkqueueConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var steps waits[int64]
	for n := 0; ; n++ {
		wait := min(truncate(float64(c.BaseDelay)*math.Pow(2, float64(n))), int64(c.MaxDelay))
		if steps = append(steps, wait); wait == int64(c.MaxDelay) {
			return &stepped[int64]{steps: steps, draw: unjittered}, nil
		}
	}
}

// New returns the limiter of items, or the error of Validate.
func (c WorkqueueConfig) New() (*Workqueue, error) {
	d, err := c.NewDelays()
	if err != nil {
		return nil, err
	}
	return &Workqueue{delays: d, failures: make(map[string]int)}, nil
}

// A Workqueue counts the failures of items. It is safe for concurrent use.
type Workqueue struct {
	mu       sync.Mutex
	delays   policies.Delays
	failures map[string]int
}

// When counts a failure and returns the wait after it.
func (w *Workqueue) When(item string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.failures[item] + 1
	w.failures[item] = n
	return w.delays.Delay(n, 0, 0)
}

// Forget forgets the failures of an item.
func (w *Workqueue) Forget(item string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.failures, item)
}

// NumRequeues returns the failures of an item.
func (w *Workqueue) NumRequeues(item string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failures[item]
}

// FlowcontrolConfig describes the back-off of items that forgets.
type FlowcontrolConfig struct {
	Initial time.Duration // the first wait, above 0; it is not cut to the maximum
	Max     time.Duration // the longest later wait, above 0
	// MaxJitterFactor is the share of the last wait that the next one may have
	// in addition, 0 to 1; Max is applied after that.
	MaxJitterFactor float64 `unit:"ratio"`
}

// FlowcontrolExample is that of the kubelet for containers: 10 s up to 300 s.
// The library has no defaults.
func FlowcontrolExample() FlowcontrolConfig {
	return FlowcontrolConfig{Initial: 10 * time.Second, Max: 300 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c FlowcontrolConfig) Validate() error {
	f := fields{library: "client-go flowcontrol"}
	f.duration("Initial", c.Initial, 1)
	f.duration("Max", c.Max, 1)
	f.within("MaxJitterFactor", c.MaxJitterFactor, 0, 1)
	return f.err
}

// wait returns the wait that follows another; 0 is none.
func (c *FlowcontrolConfig) wait(previous time.Duration, u float64) time.Duration {
	if previous <= 0 {
		return c.Initial + c.jitter(c.Initial, u)
	}
	previous = min(previous, math.MaxInt64/4)
	return min(2*previous+c.jitter(previous, u), c.Max)
}

func (c *FlowcontrolConfig) jitter(wait time.Duration, u float64) time.Duration {
	return time.Duration(truncate(unit(u) * c.MaxJitterFactor * float64(wait)))
}

// NewDelays returns the waits of one item whose failures follow each other
// soon, or the error of Validate.
func (c FlowcontrolConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &flowcontrolDelays{c}, nil
}

type flowcontrolDelays struct{ cfg FlowcontrolConfig }

// Delay implements policies.Delays.
func (d *flowcontrolDelays) Delay(attempts int, previous time.Duration, u float64) time.Duration {
	if attempts <= 1 {
		previous = 0
	}
	return d.cfg.wait(previous, u)
}

// New returns the back-off of items, or the error of Validate.
func (c FlowcontrolConfig) New(host policies.Host) (*Flowcontrol, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Flowcontrol{cfg: c, watch: policies.NewStopwatch(host.Clock, 0), items: make(map[string]backedOff)}, nil
}

// A Flowcontrol knows when items failed. It is safe for concurrent use.
type Flowcontrol struct {
	mu    sync.Mutex
	cfg   FlowcontrolConfig
	watch policies.Stopwatch
	items map[string]backedOff
}

type backedOff struct {
	wait time.Duration
	last int64 // failure
}

func (b *Flowcontrol) expired(i backedOff, now int64) bool { return now-i.last > 2*int64(b.cfg.Max) }

// Next tells of a failure; u is uniform in [0, 1).
func (b *Flowcontrol) Next(item string, u float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.watch.Read()
	i, ok := b.items[item]
	if !ok || b.expired(i, now) {
		i.wait = 0
	}
	b.items[item] = backedOff{b.cfg.wait(i.wait, u), now}
}

// Get returns the wait of an item after its last failure, 0 if none is known.
func (b *Flowcontrol) Get(item string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.items[item].wait
}

// InBackOff reports whether an item is still to wait; the end of the wait is
// not in it.
func (b *Flowcontrol) InBackOff(item string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, ok := b.items[item]
	now := b.watch.Read()
	return ok && !b.expired(i, now) && now-i.last < int64(i.wait)
}

// Reset forgets an item.
func (b *Flowcontrol) Reset(item string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.items, item)
}

// GC forgets the items that Next would start again. It looks at all of them.
func (b *Flowcontrol) GC() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.watch.Read()
	for item, i := range b.items {
		if b.expired(i, now) {
			delete(b.items, item)
		}
	}
}
