package policies

import "time"

// Delays says how long to wait before a retry. [Backoff] is one, and package
// presets has those of real libraries. It keeps no state, so many requests may
// share one, and the same arguments always give the same wait.
type Delays interface {
	// Delay returns the wait after the given number of attempts, at least 1,
	// the last of which has failed. Previous is the wait that was returned
	// before, 0 if there was none. U is uniform in [0, 1) and decides where
	// the wait lies in what the rule leaves open.
	Delay(attempts int, previous time.Duration, u float64) time.Duration
}

// MemoryDelays are Delays whose next wait depends on more than the previous
// one. [Retry] asks them by DelayFrom alone.
type MemoryDelays interface {
	Delays
	// DelayFrom is Delay with a number that the caller keeps from one wait of
	// a request to the next, 0 at first.
	DelayFrom(attempts int, memory, u float64) (delay time.Duration, next float64)
}

// A DelaysMaker is the configuration of Delays: plain data that can be checked.
type DelaysMaker interface {
	Validate() error
	NewDelays() (Delays, error)
}

// NewDelays implements [DelaysMaker].
func (c BackoffConfig) NewDelays() (Delays, error) {
	b, err := NewBackoff(c)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// A Carry is what a [Retry] remembers of a request from one decision to the
// next, if its budget or its delays need it. The zero value goes with the first
// attempt.
type Carry struct {
	memory float64
	cost   int32
}
