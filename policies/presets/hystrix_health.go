package presets

import "github.com/stormglass/stormglass/policies"

// A hystrixHealth counts the calls of a Hystrix breaker. Instants are readings.
type hystrixHealth interface {
	// restart begins with nothing.
	restart(now int64)
	// closing is told of the success that closes the breaker.
	closing(now int64)
	// count is told how a call ended. One that is ignored does not count.
	count(now int64, c policies.Class)
	// look returns what a question for permission sees.
	look(now int64) policies.Counts
	// latest returns what was seen last.
	latest(now int64) policies.Counts
}

// A hystrixTrip is met by a whole-number percentage of errors.
type hystrixTrip struct{ volume, percent int }

func (t hystrixTrip) met(c policies.Counts) bool {
	return c.Calls >= t.volume && hystrixPercent(c) >= t.percent
}

// possible reports whether the trip can be met by the calls in the counts, or
// by some of them.
func (t hystrixTrip) possible(c policies.Counts) bool {
	return c.Calls >= t.volume && (c.Failures > 0 || t.percent <= 0)
}

// hystrixPercent is the percentage of errors, cut to a whole number. The
// library multiplies the quotient, so 29 of 100 are 28 percent.
func hystrixPercent(c policies.Counts) int {
	if c.Calls == 0 {
		return 0
	}
	return int(float64(c.Failures) / float64(c.Calls) * 100)
}

// hystrixCounts is what a call adds to the figures.
func hystrixCounts(c policies.Class) policies.Counts {
	if c == policies.Ignored {
		return policies.Counts{}
	}
	return one(c == policies.Failure, false)
}

// A hystrixSnapshot is the health of 1.4: a rolling number, looked at through a
// snapshot that a question renews when it is an interval old.
type hystrixSnapshot struct {
	interval int64 // ms
	ring     rollingRing
	seen     policies.Counts
	taken    int64 // ms
}

func newHystrixSnapshot(c HystrixConfig) *hystrixSnapshot {
	return &hystrixSnapshot{interval: c.SnapshotInterval.Milliseconds(), ring: newRollingRing(c.Window, c.Buckets)}
}

func (h *hystrixSnapshot) restart(now int64) {
	h.ring.reset()
	h.seen, h.taken = policies.Counts{}, milliseconds(now)
}

// closing wipes the success with the rest.
func (h *hystrixSnapshot) closing(now int64) { h.restart(now) }

// count touches the buckets for an ignored call, too: the library counts bad
// requests in them. (A whole command touches them when it starts, for its
// number of calls under way; the recordings are of the breaker and the health
// figures alone, and have no such touch.)
func (h *hystrixSnapshot) count(now int64, c policies.Class) {
	h.ring.add(milliseconds(now), hystrixCounts(c))
}

func (h *hystrixSnapshot) look(now int64) policies.Counts {
	if ms := milliseconds(now); ms-h.taken >= h.interval {
		// The library adds up five numbers, each with a touch. The first may
		// stop short of the present bucket, the others cannot.
		h.ring.touch(ms)
		h.ring.touch(ms)
		h.seen, h.taken = h.ring.held, ms
	}
	return h.seen
}

func (h *hystrixSnapshot) latest(int64) policies.Counts { return h.seen }

// A hystrixStream is the health of the 1.5 lines: buckets of one interval from
// the start of the stream on, which count when they have ended.
type hystrixStream struct {
	interval int64
	begun    int64 // start of the running bucket
	running  policies.Counts
	ended    sliceRing
}

func newHystrixStream(c HystrixConfig) *hystrixStream {
	return &hystrixStream{interval: int64(c.SnapshotInterval), ended: newSliceRing(int(c.Window / c.SnapshotInterval))}
}

func (h *hystrixStream) restart(now int64) {
	h.begun, h.running = now, policies.Counts{}
	h.ended.clear()
}

// closing counts the success in the first new bucket.
func (h *hystrixStream) closing(now int64) {
	h.restart(now)
	h.count(now, policies.Success)
}

// advance ends the buckets whose time has come.
func (h *hystrixStream) advance(now int64) {
	if now-h.begun < h.interval {
		return
	}
	n := (now - h.begun) / h.interval
	h.begun += n * h.interval
	h.ended.roll(1)
	h.ended.add(h.running)
	h.running = policies.Counts{}
	h.ended.roll(n - 1)
}

func (h *hystrixStream) count(now int64, c policies.Class) {
	h.advance(now)
	plus(&h.running, hystrixCounts(c))
}

func (h *hystrixStream) look(now int64) policies.Counts {
	h.advance(now)
	return h.ended.held
}

func (h *hystrixStream) latest(now int64) policies.Counts { return h.look(now) }

// next is the end of the first bucket that can meet a trip, or never.
func (h *hystrixStream) next(t hystrixTrip) int64 {
	all := h.ended.held
	plus(&all, h.running)
	if !t.possible(all) || h.begun > never-h.interval {
		return never
	}
	return h.begun + h.interval
}
