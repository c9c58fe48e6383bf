package experiments

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A presetDrill is what a breaker does once it is open, found by trying.
type presetDrill struct {
	open   time.Duration  // until a call is let through
	after  policies.State // what it says to be an hour after that, if no call asks
	atOnce int            // calls let through before one has ended; mostAtOnce and more are that
	closes int            // good calls until it is closed; 0 if it needs none, mostToClose if that many do not do
}

// Bounds of the trials.
const (
	drillStep   = 10 * time.Millisecond
	longestOpen = 10 * time.Minute
	mostAtOnce  = 1000
	mostToClose = 1000
)

// A trial is a breaker that calls are made to by hand.
type trial struct {
	clock handClock
	b     policies.CircuitBreaker
}

// openedTrial is a breaker that has just been opened by failing calls at a
// rate; false if a number of them does not open it.
func openedTrial(m policies.BreakerMaker, rate float64) (*trial, bool) {
	t := &trial{}
	var err error
	if t.b, err = m.NewCircuitBreaker(policies.Host{Clock: &t.clock}); err != nil {
		return nil, false
	}
	gap := max(1, sim.Time(1e9/rate))
	for range 10_000 {
		if p, ok := t.b.Allow(); ok {
			t.b.Record(p, policies.Outcome{Err: policies.ErrOther})
		}
		if t.b.State() == policies.Open {
			return t, true
		}
		if t.clock.now > sim.MaxTime/2 {
			break
		}
		t.clock.now += gap
	}
	return nil, false
}

// drillPreset tries a breaker; false if it cannot be opened, or stays open.
func drillPreset(m policies.BreakerMaker, rate float64) (d presetDrill, ok bool) {
	t, ok := openedTrial(m, rate)
	if !ok {
		return d, false
	}
	start := t.clock.now
	for {
		t.clock.now += sim.Time(drillStep)
		d.open = time.Duration(t.clock.now - start)
		if d.open > longestOpen {
			return d, false
		}
		if p, ok := t.b.Allow(); ok {
			d.closes = t.close(p)
			break
		}
	}
	// The same again, to see how many pass at once, and what time alone does.
	if t, ok = openedTrial(m, rate); !ok {
		return d, false
	}
	t.clock.now += sim.Time(d.open)
	for d.atOnce < mostAtOnce {
		if _, ok := t.b.Allow(); !ok {
			break
		}
		d.atOnce++
	}
	if t, ok = openedTrial(m, rate); !ok {
		return d, false
	}
	t.clock.now += sim.Time(d.open + time.Hour)
	t.b.Advance()
	d.after = t.b.State()
	return d, true
}

// close makes good calls, the first of which is let through already, until the
// breaker is closed, and returns how many that took.
func (t *trial) close(p policies.Permit) int {
	if t.b.State() == policies.Closed {
		return 0
	}
	for n, ok := 0, true; n < mostToClose; {
		if ok {
			t.b.Record(p, policies.Outcome{})
			n++
		}
		if t.b.State() == policies.Closed {
			return n
		}
		t.clock.now += sim.Time(drillStep)
		if p, ok = t.b.Allow(); !ok && t.clock.now > sim.Time(2*time.Hour) {
			break
		}
	}
	return mostToClose
}

// A trialMean is the response to the outages of all phases.
type trialMean struct {
	delay, bad float64
	same       bool // the bad calls are as many at every phase
}

// trialOutages are the responses of a cell's breaker to its outages, at another
// rate of calls that come evenly; false if that takes too many calls or an
// outage passes unnoticed.
func trialOutages(c Cell, m policies.BreakerMaker, rate float64) (trialMean, bool) {
	mean := trialMean{same: true}
	first := 0.0
	for k := range outagePhases {
		p, ok := trialOutage(c, m, rate, k)
		if !ok || math.IsInf(p.delay, 1) {
			return mean, false
		}
		if k == 0 {
			first = p.bad
		}
		mean.same = mean.same && p.bad == first
		mean.delay, mean.bad = mean.delay+p.delay/outagePhases, mean.bad+p.bad/outagePhases
	}
	return mean, true
}

// trialOutage is the response to the outage of one phase.
func trialOutage(c Cell, m policies.BreakerMaker, rate float64, phase int) (presetResponse, bool) {
	o := presetOutage(c, phase)
	if (o.to.Seconds())*rate > 4e6 {
		return presetResponse{}, false
	}
	w, err := newBreakerWatch(m, nil, sim.Time(o.from), sim.Time(o.to))
	if err != nil {
		return presetResponse{}, false
	}
	for _, leg := range [][2]time.Duration{{0, o.from}, {o.from, o.to}} {
		for k := 0.0; ; k++ {
			at := leg[0] + time.Duration(math.Round(k/rate*1e9))
			if at >= leg[1] || w.openings > 0 {
				break
			}
			w.call(sim.Time(at), leg[0] == o.from, 0)
		}
	}
	return responseOf(w, false, o), true
}
