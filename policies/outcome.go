package policies

import "time"

// An Outcome is all that a caller knows when an attempt ends.
type Outcome struct {
	Latency time.Duration // from send to answer, or to the timeout
	Err     error         // nil on success
}

// A Class is what an outcome counts as.
type Class uint8

// The classes of outcomes. A value that is none of them counts as Failure.
const (
	Success Class = iota
	Failure
	// Ignored outcomes say nothing about the health of the callee, such as an
	// answer "not found" or a call that the caller gave up. They are neither
	// success nor failure and do not enter the number of calls.
	Ignored
)

// String returns "success", "failure" or "ignored".
func (c Class) String() string {
	switch c {
	case Success:
		return "success"
	case Ignored:
		return "ignored"
	}
	return "failure"
}
