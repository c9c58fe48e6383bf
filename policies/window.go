package policies

import (
	"fmt"
	"strings"
	"time"
)

// A WindowKind names the way a window chooses the outcomes it counts.
type WindowKind string

// The kinds of window. In all of them the order is that of the results, not
// of the permits.
const (
	// CountWindow holds the last Calls outcomes, however old they are.
	CountWindow WindowKind = "count"
	// TimeWindow holds every outcome younger than Length: an outcome leaves
	// at the instant it is Length old, so the window is (now-Length, now].
	// It keeps 8 to 16 bytes for each call in it, and the memory of its
	// busiest moment; where a surge could make that too much, set MaxCalls or
	// take buckets.
	TimeWindow WindowKind = "time"
	// BucketWindow cuts the clock into slices of Length/Buckets, starting at
	// the clock's origin, and holds the current slice and the Buckets-1
	// before it. Old outcomes leave one slice at a time, so the true length
	// is between Length-Length/Buckets and Length.
	BucketWindow WindowKind = "buckets"
)

// Limits on sizes, so that a slip of the pen cannot exhaust the memory. The
// largest count window takes 4 MiB, the most buckets 2 MiB, a time window
// bounded by the largest MaxCalls 256 MiB.
const (
	maxCalls   = 1 << 24
	maxBuckets = 1 << 16
	maxLength  = 365 * 24 * time.Hour
)

// A WindowConfig describes a window. Each kind reads its own fields and
// ignores the others.
type WindowConfig struct {
	Kind    WindowKind
	Calls   int           // count: outcomes held, 1 to 16,777,216
	Length  time.Duration // time and buckets: age at which an outcome leaves, 1 ns to 8760 h
	Buckets int           // buckets: number of slices, 1 to 65,536; must divide Length

	// MaxCalls bounds the memory of a time window: the most outcomes held, up
	// to 16,777,216. When there are more, the oldest leave early, and the
	// window is no longer as long as it says. 0 means no bound.
	MaxCalls int
}

// A windowKind is one entry of the table of kinds: a new kind of window is
// added there and nowhere else.
type windowKind struct {
	kind     WindowKind
	validate func(WindowConfig) error
	make     func(WindowConfig, limits) window
	clocked  bool                             // record needs the time
	capacity func(WindowConfig) int           // most calls it can hold; nil if there is no limit
	slice    func(WindowConfig) time.Duration // what it aligns with the clock; nil if nothing
}

var windowKinds = []windowKind{
	{kind: CountWindow, validate: validateCount, make: newCountWindow, capacity: callsOf},
	{kind: TimeWindow, validate: validateTime, make: newTimeWindow, clocked: true, capacity: maxCallsOf},
	{kind: BucketWindow, validate: validateBuckets, make: newBucketWindow, clocked: true, slice: sliceOf},
}

// lookup returns the kind's entry in the table, or an error that lists the
// known kinds.
func (c WindowConfig) lookup() (windowKind, error) {
	known := make([]string, len(windowKinds))
	for i, k := range windowKinds {
		if k.kind == c.Kind {
			return k, nil
		}
		known[i] = string(k.kind)
	}
	return windowKind{}, fmt.Errorf("policies: window kind %q, want one of %s", c.Kind, strings.Join(known, ", "))
}

// Validate reports the first field that makes no sense.
func (c WindowConfig) Validate() error {
	k, err := c.lookup()
	if err != nil {
		return err
	}
	return k.validate(c)
}

// most returns how many calls a window can hold, and false if any number.
func (c WindowConfig) most() (int, bool) {
	k, err := c.lookup()
	if err != nil || k.capacity == nil {
		return 0, false
	}
	calls := k.capacity(c)
	return calls, calls > 0
}

// validateLength is shared by the kinds that have a length.
func (c WindowConfig) validateLength() error {
	if c.Length < 1 || c.Length > maxLength {
		return fmt.Errorf("policies: %s window: length %v, want 1ns to %v", c.Kind, c.Length, maxLength)
	}
	return nil
}

// Counts are the figures of a window: outcomes held, and how many of them
// failed and how many were slow. A call can be both.
type Counts struct {
	Calls    int
	Failures int
	Slow     int
}

func (c *Counts) add(d Counts) {
	c.Calls += d.Calls
	c.Failures += d.Failures
	c.Slow += d.Slow
}

// An entry is what a window keeps of an outcome.
type entry uint8

const (
	entryFailed entry = 1 << iota
	entrySlow

	entryBits = 2
	entryMask = 1<<entryBits - 1
)

func makeEntry(failed, slow bool) (e entry) {
	if failed {
		e = entryFailed
	}
	if slow {
		e |= entrySlow
	}
	return e
}

// failed and slow are 0 or 1, to be added up.
func (e entry) failed() int { return int(e & entryFailed) }
func (e entry) slow() int   { return int(e >> 1) }

// A window holds recent outcomes and their counts. Instants are nanoseconds
// since any origin; one before the latest seen is taken as the latest.
type window interface {
	// record adds an outcome and reports whether the window, this outcome
	// included, has reached the limits.
	record(now int64, e entry) bool
	// counts drops what is too old and returns what the window holds.
	counts(now int64) Counts
	// newest refers to the outcome recorded last.
	newest() uint64
	// amend turns an outcome into a failed one if it is still held, and
	// reports whether it was. The outcome must not have failed before.
	amend(ref uint64) bool
	// reset empties the window and keeps its memory.
	reset()
}
