package policies

import (
	"math"
	"math/bits"
	"time"
)

// A Clock tells the time, such as those of github.com/benbjohnson/clock. Where
// a policy takes one, nil means the real clock.
//
// A clock that also has a method Since(time.Time) time.Duration is asked by
// that method, which for the real clock costs half as much as Now.
type Clock interface {
	Now() time.Time
}

// A Stopwatch reads a clock as nanoseconds since an instant a little before
// its creation, for policies that count in integers.
type Stopwatch struct {
	since  func(time.Time) time.Duration // nil for the real clock
	start  time.Time
	offset int64 // reading at start
}

// NewStopwatch returns a stopwatch whose readings are multiples of slice when
// the clock's Unix time is one. A slice of 0 asks for no alignment.
func NewStopwatch(c Clock, slice time.Duration) Stopwatch {
	s := Stopwatch{start: time.Now()}
	if c != nil {
		s.start = c.Now()
		s.since = func(t time.Time) time.Duration { return c.Now().Sub(t) }
		if direct, ok := c.(interface {
			Since(time.Time) time.Duration
		}); ok {
			s.since = direct.Since
		}
	}
	if slice > 0 {
		s.offset = unixRemainder(s.start, slice)
	}
	return s
}

// unixRemainder is the Unix time of t in nanoseconds modulo d, at least 0,
// also where that time does not fit into 64 bits.
func unixRemainder(t time.Time, d time.Duration) int64 {
	n := uint64(d)
	seconds := t.Unix() % int64(d)
	if seconds < 0 {
		seconds += int64(d)
	}
	high, low := bits.Mul64(uint64(seconds), uint64(time.Second))
	return int64((bits.Rem64(high, low, n) + uint64(t.Nanosecond())%n) % n)
}

// Read returns the nanoseconds since start, and never less than offset.
func (s *Stopwatch) Read() int64 {
	if s.since == nil {
		return s.offset + int64(time.Since(s.start))
	}
	elapsed := max(int64(s.since(s.start)), 0)
	if elapsed > math.MaxInt64-s.offset {
		return math.MaxInt64
	}
	return s.offset + elapsed
}

// Time returns the clock's time at a reading.
func (s *Stopwatch) Time(reading int64) time.Time {
	return s.start.Add(time.Duration(reading - s.offset))
}
