package model

import (
	"cmp"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A bucket lets calls in at a rate: it holds up to burst calls, full at first,
// and fills at one call each period. It keeps the instant at which it will be
// full, and of both the fraction of a nanosecond, in 2^-32 ns.
type bucket struct {
	period     time.Duration
	fraction   uint64
	burst      time.Duration // time that fills it
	full       sim.Time
	fullBeyond uint64
}

func newBucket(rate float64, burst int) bucket {
	whole, part := math.Modf(1e9 / rate)
	b := bucket{period: time.Duration(whole), fraction: uint64(part * (1 << 32))}
	b.burst = nanoseconds(math.Ceil(1e9 / rate * float64(max(1, burst))))
	return b
}

// next returns when the bucket will be full if a call enters now, and false if
// there is no room for it.
func (b *bucket) next(now sim.Time) (full sim.Time, beyond uint64, ok bool) {
	full, beyond = b.full, b.fullBeyond
	if full < now {
		full, beyond = now, 0
	}
	beyond += b.fraction
	full = full.Add(b.period + time.Duration(beyond>>32))
	return full, beyond & (1<<32 - 1), full.Sub(now) <= b.burst
}

// has reports whether a call may enter now, take lets it in.
func (b *bucket) has(now sim.Time) bool {
	_, _, ok := b.next(now)
	return ok
}

func (b *bucket) take(now sim.Time) { b.full, b.fullBeyond, _ = b.next(now) }

// A limitFault is a limit fault at a server, with its bucket while it holds.
type limitFault struct {
	fault  *Fault
	on     bool
	bucket bucket
}

// admits lets a call in if all the limits on the rate of a server have room
// for it. Otherwise it returns the answer of the first that has none.
func (sv *server) admits(now sim.Time) (code policies.ErrorCode, ok bool) {
	if !sv.sheds && len(sv.limits) == 0 {
		return 0, true
	}
	if sv.sheds && !sv.shed.has(now) {
		return cmp.Or(sv.node.config.Shed.Code, unavailable), false
	}
	for i := range sv.limits {
		if l := &sv.limits[i]; l.on && !l.bucket.has(now) {
			return cmp.Or(l.fault.Code, unavailable), false
		}
	}
	if sv.sheds {
		sv.shed.take(now)
	}
	for i := range sv.limits {
		if l := &sv.limits[i]; l.on {
			l.bucket.take(now)
		}
	}
	return 0, true
}
