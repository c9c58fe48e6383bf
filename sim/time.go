package sim

import (
	"math"
	"time"
)

// A Time is an instant of virtual time: nanoseconds since the run began.
type Time int64

// MaxTime means never: an event at MaxTime stays pending but is never due.
const MaxTime Time = math.MaxInt64

// minTime is the other end of the scale; no event can be there.
const minTime Time = math.MinInt64

// Add returns t + d. A sum that does not fit becomes MaxTime (or, for a
// negative d, the earliest Time there is).
func (t Time) Add(d time.Duration) Time {
	s := t + Time(d)
	if d > 0 && s < t {
		return MaxTime
	}
	if d < 0 && s > t {
		return minTime
	}
	return s
}

// Sub returns t − u. A difference that does not fit becomes the longest
// duration of its sign.
func (t Time) Sub(u Time) time.Duration {
	d := t - u
	if t >= u && d < 0 {
		return math.MaxInt64
	}
	if t < u && d >= 0 {
		return math.MinInt64
	}
	return time.Duration(d)
}

// Seconds returns t in seconds, rounded to a float64.
func (t Time) Seconds() float64 { return time.Duration(t).Seconds() }

// String formats t as the time since the run began, such as "1m30s"; MaxTime
// is "never".
func (t Time) String() string {
	if t == MaxTime {
		return "never"
	}
	return time.Duration(t).String()
}
