package model

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A bucket lets calls in at a rate: it holds up to burst calls, full at first,
// and fills at one call each period. It keeps the instant at which it will be
// full.
type bucket struct {
	period time.Duration // 0 lets everything in
	burst  time.Duration // time that fills it
	full   sim.Time
}

func newBucket(rate float64, burst int) bucket {
	if rate <= 0 {
		return bucket{}
	}
	period := time.Duration(math.Round(1e9 / rate))
	return bucket{period: max(1, period), burst: max(1, period) * time.Duration(max(1, burst))}
}

// take reports whether a call may enter now.
func (b *bucket) take(now sim.Time) bool {
	if b.period == 0 {
		return true
	}
	full := max(b.full, now).Add(b.period)
	if full.Sub(now) > b.burst {
		return false
	}
	b.full = full
	return true
}
