package presets

import (
	"sync"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The rolling number of Hystrix: Netflix/Hystrix at 69b76826 (v1.4.26),
// hystrix-core/src/main/java/com/netflix/hystrix/util/HystrixRollingNumber.java.
//
//   - The first bucket begins with the first touch after creation or a reset;
//     adding and reading both touch. The running bucket is part of the sum.
//   - A touch catches up with the missing buckets. If it comes more than one
//     window after the end of the last one, all are dropped and a bucket begins
//     with the touch. At exactly one window, the catching-up stops one bucket
//     short: what is added goes to a bucket that has just ended.

// A HystrixRollingNumber sums what was added within a window of buckets. It is
// safe for concurrent use.
type HystrixRollingNumber struct {
	mu    sync.Mutex
	watch policies.Stopwatch
	last  int64 // ms
	ring  rollingRing
	total int // of all that was added
}

// NewHystrixRollingNumber returns one at 0. The window is in whole ms, at least
// 1 ms, and the buckets divide it. A nil clock is the real one.
func NewHystrixRollingNumber(window time.Duration, buckets int, clock policies.Clock) (*HystrixRollingNumber, error) {
	f := fields{library: "hystrix rolling number"}
	f.rolling(window, buckets)
	if f.err != nil {
		return nil, f.err
	}
	n := &HystrixRollingNumber{watch: policies.NewStopwatch(clock, time.Millisecond), ring: newRollingRing(window, buckets)}
	n.last = milliseconds(n.watch.Read())
	return n, nil
}

// rolling checks a window of buckets.
func (f *fields) rolling(window time.Duration, buckets int) {
	f.milliseconds("window", window, time.Millisecond)
	f.count("buckets", buckets, 1)
	if f.err == nil && window.Milliseconds()%int64(buckets) != 0 {
		f.fail("buckets %d, want a divisor of the %d ms of the window", buckets, window.Milliseconds())
	}
}

// lock takes the lock and reads the clock, in ms.
func (n *HystrixRollingNumber) lock() int64 {
	read := milliseconds(n.watch.Read())
	n.mu.Lock()
	n.last = max(read, n.last)
	return n.last
}

// Add adds to the present bucket.
func (n *HystrixRollingNumber) Add(value int) {
	now := n.lock()
	defer n.mu.Unlock()
	n.ring.add(now, policies.Counts{Calls: value})
	n.total += value
}

// Sum returns what is in all buckets.
func (n *HystrixRollingNumber) Sum() int {
	now := n.lock()
	defer n.mu.Unlock()
	n.ring.touch(now)
	return n.ring.held.Calls
}

// Latest returns what is in the present bucket.
func (n *HystrixRollingNumber) Latest() int {
	now := n.lock()
	defer n.mu.Unlock()
	n.ring.touch(now)
	return n.ring.slices[n.ring.at].Calls
}

// Max returns what is in the largest bucket.
func (n *HystrixRollingNumber) Max() int {
	now := n.lock()
	defer n.mu.Unlock()
	n.ring.touch(now)
	return n.ring.most()
}

// Cumulative returns the sum of everything that was ever added.
func (n *HystrixRollingNumber) Cumulative() int {
	now := n.lock()
	defer n.mu.Unlock()
	n.ring.touch(now)
	return n.total
}

// Buckets returns the number of buckets held. It does not touch them.
func (n *HystrixRollingNumber) Buckets() int {
	n.lock()
	defer n.mu.Unlock()
	return n.ring.begun
}

// Reset drops all buckets. The cumulative sum stays.
func (n *HystrixRollingNumber) Reset() {
	n.lock()
	defer n.mu.Unlock()
	n.ring.reset()
}

// A rollingRing holds the buckets of a rolling number. Instants are in ms.
type rollingRing struct {
	sliceRing
	length int64
	begun  int   // buckets that exist
	start  int64 // of the present one, if any
}

func newRollingRing(window time.Duration, buckets int) rollingRing {
	return rollingRing{sliceRing: newSliceRing(buckets), length: window.Milliseconds() / int64(buckets)}
}

// touch makes the bucket of the instant the present one.
func (r *rollingRing) touch(now int64) {
	n := int64(len(r.slices))
	late := now - (r.start + r.length) // since the end of the present bucket
	switch {
	case r.begun == 0 || late > n*r.length:
		r.reset()
		r.begun, r.start = 1, now
	case late >= 0:
		steps := min(late/r.length+1, n)
		r.roll(steps)
		r.start += steps * r.length
		r.begun = int(min(int64(r.begun)+steps, n))
	}
}

func (r *rollingRing) add(now int64, c policies.Counts) {
	r.touch(now)
	r.sliceRing.add(c)
}

func (r *rollingRing) reset() {
	if r.begun > 0 {
		r.clear()
		r.begun = 0
	}
}

// most is the count of calls in the largest bucket.
func (r *rollingRing) most() int {
	m := r.slices[r.at].Calls
	for i := 1; i < r.begun; i++ {
		m = max(m, r.slices[(r.at-i+len(r.slices))%len(r.slices)].Calls)
	}
	return m
}

// milliseconds is a reading in whole ms.
func milliseconds(reading int64) int64 { return reading / int64(time.Millisecond) }
