package model

import (
	"math"
	"time"

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
	limits     bool
}

func newBucket(rate float64, burst int) bucket {
	if rate <= 0 {
		return bucket{}
	}
	whole, part := math.Modf(1e9 / rate)
	b := bucket{limits: true, period: time.Duration(whole), fraction: uint64(part * (1 << 32))}
	b.burst = nanoseconds(math.Ceil(1e9 / rate * float64(max(1, burst))))
	return b
}

// take reports whether a call may enter now.
func (b *bucket) take(now sim.Time) bool {
	if !b.limits {
		return true
	}
	full, beyond := b.full, b.fullBeyond
	if full < now {
		full, beyond = now, 0
	}
	beyond += b.fraction
	full = full.Add(b.period + time.Duration(beyond>>32))
	if full.Sub(now) > b.burst {
		return false
	}
	b.full, b.fullBeyond = full, beyond&(1<<32-1)
	return true
}

// like reports whether two buckets have the same rate and size.
func (b *bucket) like(c *bucket) bool {
	return b.limits == c.limits && b.period == c.period && b.fraction == c.fraction && b.burst == c.burst
}
