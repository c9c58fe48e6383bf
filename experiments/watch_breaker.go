package experiments

import (
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A breakerWatch is a whole breaker in front of the calls: it refuses while it
// is open. Calls are instant, so each is recorded before the next is made.
type breakerWatch struct {
	maker    policies.BreakerMaker
	host     policies.Host
	breaker  policies.CircuitBreaker
	clock    handClock
	from, to sim.Time // openings are counted in [from, to)

	// anew makes the breaker anew at the instant at which it opens, so that it
	// only observes. A call that it would have refused is made all the same.
	anew      bool
	flap      sim.Time // an opening so soon after the last return is a flap
	firstOnly bool     // what comes after the first opening does not matter

	openings    int64 // of a closed breaker
	flaps       int64 // those of them
	reopenings  int64 // of a half-open breaker
	first       sim.Time
	returned    sim.Time // instant of the last return to closed, or before all
	opened      sim.Time // of the last opening, whenever
	tripped     bool     // it has opened and is to be made anew
	openSince   sim.Time // start of the present time open, or MaxTime
	open        sim.Time // time open in [from, to)
	good        int64    // calls from then on that would have succeeded
	goodRefused int64    // those of them that were refused

	badCalls     int64    // failing calls made from then on until the first opening
	refused      int64    // calls refused from then on
	firstRefused sim.Time // meaningful if refused > 0
	lastRefused  sim.Time // the same
	lastCall     sim.Time // the last call, made or refused
}

// liveBreaker is the breaker of a rule that refuses for a time and then lets
// probes decide all together.
func liveBreaker(rule policies.RuleConfig, openFor time.Duration, probes int) policies.BreakerMaker {
	return policies.BreakerConfig{Rule: rule, OpenFor: openFor, Probes: probes, HalfOpen: policies.CollectAll, Unshared: true}
}

// newBreakerWatch makes a breaker at instant 0. A breaker that refuses at
// random draws from source, which may be nil for others.
func newBreakerWatch(maker policies.BreakerMaker, source *sim.Rand, from, to sim.Time) (*breakerWatch, error) {
	w := &breakerWatch{maker: maker, from: from, to: to, openSince: sim.MaxTime, returned: -sim.MaxTime}
	w.host = policies.Host{Clock: &w.clock, OnChange: w.changed}
	if source != nil {
		w.host.Uniform = policies.NewUniform(source)
	}
	var err error
	w.breaker, err = maker.NewCircuitBreaker(w.host)
	return w, err
}

// changed is told of every change. A breaker may notice one late that came by
// time alone.
func (w *breakerWatch) changed(c policies.Change) {
	at := sim.Time(c.At.UnixNano())
	if c.To == policies.Open {
		w.opened, w.tripped = at, w.anew
		w.countOpening(at, c.From)
		w.openSince = at
		return
	}
	if c.From == policies.Open {
		w.addOpen(at)
	}
	if c.To == policies.Closed {
		w.returned = at
	}
}

// countOpening counts an opening. One after failed probes ends no healthy
// state: it goes on with the one that was declared open before.
func (w *breakerWatch) countOpening(at sim.Time, from policies.State) {
	switch {
	case at < w.from || at >= w.to:
	case from != policies.Closed:
		w.reopenings++
	default:
		if w.openings == 0 {
			w.first = at
		}
		w.openings++
		if w.flap > 0 && w.returned >= 0 && at-w.returned <= w.flap {
			w.flaps++
		}
	}
}

// addOpen ends a time open, which is counted in [from, to).
func (w *breakerWatch) addOpen(until sim.Time) {
	if start, end := max(w.openSince, w.from), min(until, w.to); end > start {
		w.open += end - start
	}
	w.openSince = sim.MaxTime
}

// openRatio is the share of the time counted in which the breaker was open, up
// to its end.
func (w *breakerWatch) openRatio() float64 {
	open := w.open
	if start := max(w.openSince, w.from); start < w.to {
		open += w.to - start
	}
	return float64(open) / float64(w.to-w.from)
}

// renew makes the breaker anew as of its opening.
func (w *breakerWatch) renew(now sim.Time) {
	var err error
	w.tripped, w.openSince, w.clock.now = false, sim.MaxTime, w.opened
	if w.breaker, err = w.maker.NewCircuitBreaker(w.host); err != nil {
		panic(fmt.Sprintf("experiments: a breaker that could be made once: %v", err))
	}
	w.clock.now = now
}

// Watch implements model.Watcher.
func (w *breakerWatch) Watch(b *model.Batch) {
	for i := range b.At {
		if w.firstOnly && w.openings > 0 {
			return
		}
		var latency time.Duration
		if b.Latency != nil {
			latency = b.Latency[i]
		}
		w.call(sim.Time(b.At[i]), b.Failed[i], latency)
	}
}

// call makes a call that ends at once.
func (w *breakerWatch) call(at sim.Time, failed bool, latency time.Duration) {
	w.clock.now, w.lastCall = at, at
	counted := at >= w.from
	good := counted && !failed
	if good {
		w.good++
	}
	p, ok := w.breaker.Allow()
	if w.tripped {
		w.renew(at)
		p, ok = w.breaker.Allow()
	}
	if !ok {
		if good {
			w.goodRefused++
		}
		if counted {
			w.refuse(at)
		}
		return
	}
	if failed && counted && w.openings == 0 && w.refused == 0 {
		w.badCalls++
	}
	o := policies.Outcome{Latency: latency}
	if failed {
		o.Err = policies.ErrOther
	}
	w.breaker.Record(p, o)
	if w.tripped {
		w.renew(at)
	}
}

func (w *breakerWatch) refuse(at sim.Time) {
	if w.refused == 0 {
		w.firstRefused = at
	}
	w.lastRefused = at
	w.refused++
}

// delay is the time from a start to the first opening, s; +Inf if there was
// none.
func (w *breakerWatch) delay(start sim.Time) float64 {
	if w.openings == 0 {
		return math.Inf(1)
	}
	return w.first.Sub(start).Seconds()
}
