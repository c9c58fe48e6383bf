package experiments

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A tripWatch is a trip rule that only observes: after a trip its window is
// emptied at once and observation goes on.
type tripWatch struct {
	rule      *policies.Rule
	slowAfter time.Duration
	from, to  sim.Time // trips are counted in [from, to)
	badCalls  int64    // failing calls in [from, to) up to and including the first trip
	trips     int64
	first     sim.Time // of the first trip counted; meaningful if trips > 0
	onTrip    func(at sim.Time)
}

func newTripWatch(cfg policies.RuleConfig, from, to sim.Time) (*tripWatch, error) {
	rule, err := policies.NewRule(cfg)
	if err != nil {
		return nil, err
	}
	return &tripWatch{rule: rule, slowAfter: cfg.SlowAfter, from: from, to: to}, nil
}

// Watch implements model.Watcher.
func (w *tripWatch) Watch(b *model.Batch) {
	for i := 0; i < len(b.At); i++ {
		trip := i + w.observe(b, i)
		if w.trips == 0 {
			w.countBad(b, i, min(trip+1, len(b.At)))
		}
		if i = trip; i < len(b.At) {
			w.trip(sim.Time(b.At[i]))
		}
	}
}

// observe shows the rule the batch from call i on, up to the first trip, and
// returns how many calls came before that.
func (w *tripWatch) observe(b *model.Batch, i int) int {
	if b.Latency == nil {
		return w.rule.ObserveAll(b.At[i:], b.Failed[i:])
	}
	for k := i; k < len(b.At); k++ {
		if w.rule.Observe(b.At[k], b.Failed[k], b.Latency[k] > w.slowAfter) {
			return k - i
		}
	}
	return len(b.At) - i
}

// countBad counts the failing calls in [from, to) of the batch that were made
// since counting began.
func (w *tripWatch) countBad(b *model.Batch, from, to int) {
	for i := from; i < to; i++ {
		if b.Failed[i] && sim.Time(b.At[i]) >= w.from {
			w.badCalls++
		}
	}
}

func (w *tripWatch) trip(at sim.Time) {
	w.rule.Reset()
	if at < w.from || at >= w.to {
		return
	}
	if w.trips == 0 {
		w.first = at
	}
	w.trips++
	if w.onTrip != nil {
		w.onTrip(at)
	}
}

// delay returns the time from the given start to the first trip counted, in
// seconds of the given ticks; +Inf if there was none.
func (w *tripWatch) delay(start sim.Time, ticksPerSecond float64) float64 {
	if w.trips == 0 {
		return math.Inf(1)
	}
	return float64(w.first-start) / ticksPerSecond
}

// A handClock is a clock that its owner sets.
type handClock struct {
	now    sim.Time
	base   time.Time // the last instant that Since was asked about
	offset time.Duration
}

// Now implements policies.Clock.
func (c *handClock) Now() time.Time { return time.Unix(0, int64(c.now)).UTC() }

// Since is asked about the same instant for ever, so it remembers the last.
func (c *handClock) Since(t time.Time) time.Duration {
	if t != c.base {
		c.base, c.offset = t, time.Duration(t.UnixNano())
	}
	return time.Duration(c.now) - c.offset
}
