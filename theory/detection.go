package theory

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
)

// An Outage is a total outage under evenly spaced calls: call i = 0, 1, 2, … is
// due at i/RateRPS, rounded to the nearest nanosecond, and its outcome is
// recorded at that instant. Calls due before Start succeed, those due at Start
// or later fail. The breaker's window is empty at 0.
//
// To have a full window, let Start be at least the time that fills it. If a
// call is due exactly at Start, the first failing call is at delay 0.
type Outage struct {
	RateRPS float64       // calls per second, above 0; its shortest decimal form is taken as exact
	Start   time.Duration // at least 0
}

// A Detection says when a breaker notices an outage.
type Detection struct {
	Never       bool          // it does not trip, however long the outage lasts
	FailedCalls int64         // failing calls up to and including the one that trips; 0 if never
	Delay       time.Duration // from the start of the outage to that call; 0 if never
}

// CountWindow returns the detection by a count window. A window of N calls
// that is full of successes trips at the ⌈fN⌉-th failing call, that is after
// (⌈fN⌉-1)/r, for a failure rate f and r calls per second.
func (o Outage) CountWindow(rule CountRule) (Detection, error) {
	if err := rule.Validate(); err != nil {
		return Detection{}, err
	}
	rate, err := o.rate()
	if err != nil {
		return Detection{}, err
	}
	return o.detect(rate, int64(rule.Calls), int64(rule.minCalls()), rule.FailureRate)
}

// TimeWindow returns the detection by an exact sliding time window, from which
// an entry leaves when its age reaches length. It holds at most C = ⌈length·r⌉
// calls. Full of successes, it trips at the ⌈fC⌉-th failing call, and never if
// C is below minCalls.
//
// The ages are compared in exact arithmetic. Nanosecond clocks agree with it
// unless a whole number of gaps 1/r misses the length by less than 1 ns
// without being equal to it.
func (o Outage) TimeWindow(length time.Duration, minCalls int, failureRate float64) (Detection, error) {
	const what = "time window"
	if length <= 0 {
		return Detection{}, fmt.Errorf("theory: %s: length %v, want above 0", what, length)
	}
	if err := checkAtLeast(what, "minimum calls", int64(minCalls), 1); err != nil {
		return Detection{}, err
	}
	if err := checkFailureRate(what, failureRate); err != nil {
		return Detection{}, err
	}
	rate, err := o.rate()
	if err != nil {
		return Detection{}, err
	}
	most := ceil(callsIn(length, rate))
	if !most.IsInt64() || most.Int64() > maxWindowCalls {
		return Detection{}, fmt.Errorf("theory: %s: %v at %v calls per second hold %v calls, want at most %d", what, length, o.RateRPS, most, int64(maxWindowCalls))
	}
	return o.detect(rate, most.Int64(), int64(minCalls), failureRate)
}

// maxWindowCalls keeps counts of calls exact in a float64.
const maxWindowCalls = 1 << 53

// rate validates the outage and returns its calls per second as a fraction.
func (o Outage) rate() (*big.Rat, error) {
	if err := checkPositive("outage", "calls per second", o.RateRPS); err != nil {
		return nil, err
	}
	if o.Start < 0 {
		return nil, fmt.Errorf("theory: outage: start %v, want at least 0", o.Start)
	}
	rate, ok := new(big.Rat).SetString(strconv.FormatFloat(o.RateRPS, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("theory: outage: %v is no decimal", o.RateRPS))
	}
	return rate, nil
}

// detect finds the first failing call after which a window of the last most
// calls trips. From one failing call to the next the share of failures does
// not fall: either the window grows by a failure, or a failure replaces a
// success. So the first one is found by bisection.
func (o Outage) detect(rate *big.Rat, most, minCalls int64, failureRate float64) (Detection, error) {
	before := o.callsBefore(rate) // this is also the index of the first failing call
	healthy := int64(math.MaxInt64)
	if before.IsInt64() {
		healthy = before.Int64()
	}
	trips := func(failed int64) bool {
		held := most
		if healthy < most-failed {
			held = healthy + failed
		}
		return held >= minCalls && reachesRate(min(failed, held), held, failureRate)
	}
	if !trips(most) {
		return Detection{Never: true}, nil
	}
	low, high := int64(0), most // the first failing call that trips is in (low, high]
	for high-low > 1 {
		if mid := low + (high-low)/2; trips(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	at, ok := dueAt(before.Add(before, big.NewInt(high-1)), rate)
	if !ok {
		return Detection{}, fmt.Errorf("theory: outage: calls per second %v, want a trip within 292 years", o.RateRPS)
	}
	return Detection{FailedCalls: high, Delay: at - o.Start}, nil
}

// CallsIn counts the calls of a fixed rate that are due in [from, to), as
// Outage has them: call i at i/rate, rounded to the nearest nanosecond.
func CallsIn(rateRPS float64, from, to time.Duration) (int64, error) {
	if to < from {
		return 0, fmt.Errorf("theory: calls from %v to %v, want an interval", from, to)
	}
	a, b := Outage{rateRPS, from}, Outage{rateRPS, to}
	rate, err := a.rate()
	if err != nil {
		return 0, err
	}
	n := new(big.Int).Sub(b.callsBefore(rate), a.callsBefore(rate))
	if !n.IsInt64() {
		return 0, fmt.Errorf("theory: %v calls from %v to %v, want at most %d", n, from, to, int64(math.MaxInt64))
	}
	return n.Int64(), nil
}

// callsBefore counts the calls that are due before Start once their instants
// are rounded: those with index/rate + 1/2 ns below Start.
func (o Outage) callsBefore(rate *big.Rat) *big.Int {
	if o.Start == 0 {
		return new(big.Int)
	}
	half := new(big.Rat).Mul(big.NewRat(1, 2*int64(time.Second)), rate)
	return ceil(half.Sub(callsIn(o.Start, rate), half))
}

// callsIn is the length of d in gaps between calls.
func callsIn(d time.Duration, rate *big.Rat) *big.Rat {
	seconds := big.NewRat(int64(d), int64(time.Second))
	return seconds.Mul(seconds, rate)
}

func ceil(x *big.Rat) *big.Int {
	q, r := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// dueAt is the instant of a call: index/rate to the nearest nanosecond, halves
// up. It reports false if that does not fit.
func dueAt(index *big.Int, rate *big.Rat) (time.Duration, bool) {
	t := new(big.Rat).Mul(new(big.Rat).SetInt(index), big.NewRat(int64(time.Second), 1))
	t.Quo(t, rate)
	t.Add(t, big.NewRat(1, 2))
	ns := new(big.Int).Div(t.Num(), t.Denom())
	return time.Duration(ns.Int64()), ns.IsInt64()
}
