package policies

import "time"

// A CircuitBreaker stands before the calls to a callee and refuses them while
// the callee seems to be down. [Breaker] is one, and so are the breakers and
// throttles of real libraries in package presets.
//
// Ask Allow before each call, and hand the permit back to Record or Cancel
// exactly once. All of them are safe for concurrent use.
//
// What follows from an answer that comes after the state has changed is a rule
// of the breaker: [Breaker] drops it, some libraries count it in the new state.
type CircuitBreaker interface {
	// Allow reports whether a call may start now.
	Allow() (Permit, bool)
	// Record tells how a call ended that was allowed.
	Record(Permit, Outcome)
	// Cancel gives a permit back whose call never ran or does not count.
	Cancel(Permit)

	// State returns the state as of now, Stats the totals.
	State() State
	Stats() Stats

	// Advance does what is due by now without a call, and NextDeadline says
	// when that will be, if ever. Every other method advances too; a host that
	// wants to know of a change at once calls Advance at NextDeadline.
	Advance()
	NextDeadline() (time.Time, bool)
}

// A UniformSource gives random numbers in [0, 1). [Uniform] is one.
type UniformSource interface{ Next() float64 }

// A Host is what a breaker takes from the program around it. The zero value is
// a real program that does not watch.
type Host struct {
	Clock Clock // nil is the real clock

	// Uniform gives the random numbers of a breaker that refuses at random. It
	// is asked under the lock of the breaker, and must not panic. Nil means one
	// that is seeded at random.
	Uniform UniformSource

	// Classify says what an outcome counts as; nil means Failure if there is an
	// error, otherwise Success.
	Classify func(Outcome) Class

	// OnChange is told of every change of state, in order and one at a time,
	// without the lock. Nil means nobody is told.
	OnChange func(Change)
}

// A BreakerMaker is the configuration of a CircuitBreaker: plain data that can
// be checked, and made into as many breakers as there are instances.
type BreakerMaker interface {
	Validate() error
	NewCircuitBreaker(Host) (CircuitBreaker, error)
}

// NewCircuitBreaker implements [BreakerMaker]. What the host says goes before
// what the configuration says.
func (c BreakerConfig) NewCircuitBreaker(h Host) (CircuitBreaker, error) {
	if h.Classify != nil {
		c.Classify = h.Classify
	}
	if h.OnChange != nil {
		c.OnChange = h.OnChange
	}
	b, err := NewBreaker(c, h.Clock)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// elsewhere is the epoch of permits that other packages made.
var elsewhere epoch

// MakePermit returns a permit that carries a number, for breakers outside this
// package.
func MakePermit(number uint64) Permit { return Permit{&elsewhere, callID(number)} }

// Number returns what MakePermit was given, and false for any other permit.
func (p Permit) Number() (uint64, bool) { return uint64(p.call), p.epoch == &elsewhere }
