package experiments

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A lateRun is one breaker before calls that take time.
type lateRun struct {
	breaker policies.CircuitBreaker
	clock   handClock
	outage  outageTimes
	calls   lateCalls
	source  model.Source
	drop    bool // late answers are thrown away

	free   []uint64 // slots of flying
	flying []lateCall
	sent   uint64
	epoch  int // changes of state so far

	late, lateChanges    int64
	wrongClosings        int64
	lateReopenings       int64
	opened               bool // since the start of the outage
	openedLate           bool // not before its end
	goodRefused, refused int64
	lastRefused          sim.Time
	lastCall             sim.Time
	changes              []policies.Change
	lateAt               []lateEnd // nil unless asked for
	keep                 bool
}

// A lateCall is a call under way.
type lateCall struct {
	permit  policies.Permit
	latency time.Duration
	failed  bool
	epoch   int // in which it was let through
}

// A lateEnd is the end of a late one.
type lateEnd struct {
	at      sim.Time
	failed  bool
	changes int // of state that it made
}

// lateCalls says what becomes of a call.
type lateCalls struct {
	hang                bool // late-failure, otherwise slow-success
	fast, slow, timeout time.Duration
	slowRatio           float64
	luck                sim.Draws
}

// fate is that of call k, sent in an outage or not.
func (l *lateCalls) fate(k uint64, outage bool) (failed bool, latency time.Duration) {
	switch {
	case outage && l.hang:
		return true, l.timeout
	case outage:
		return true, l.fast
	case !l.hang && l.luck.Float64(k, 0) < l.slowRatio:
		return false, l.slow
	}
	return false, l.fast
}

func newLateRun(j Job, c Cell, drop bool) (*lateRun, error) {
	return newLateRunOf(presetMaker(c), j, c, drop)
}

// newLateRunOf is the run of a cell with another breaker.
func newLateRunOf(m policies.BreakerMaker, j Job, c Cell, drop bool) (*lateRun, error) {
	r := &lateRun{
		outage: lateOutage(c, j.Draws("phase").Float64(0, 0)), drop: drop,
		calls: lateCalls{
			hang: c.Text("scenario") == lateFailure, fast: seconds(c.Float("fast_s")), slow: seconds(c.Float("slow_s")),
			timeout: seconds(c.Float("timeout_s")), slowRatio: c.Float("slow_ratio"), luck: j.Draws("slow"),
		},
	}
	var err error
	if r.source, err = arrivals(c).Source(j.Stream("arrivals")); err != nil {
		return nil, err
	}
	r.breaker, err = m.NewCircuitBreaker(policies.Host{
		Clock: &r.clock, OnChange: r.changed, Uniform: policies.NewUniform(j.Stream("throttle")),
	})
	return r, err
}

// run makes the calls up to the end of what is observed.
func (r *lateRun) run(ctx context.Context) error {
	e := sim.New()
	r.next(e)
	if err := runUntil(ctx, e, sim.Time(r.outage.end)); err != nil {
		return err
	}
	r.clock.now = sim.Time(r.outage.end) - 1
	r.breaker.Advance()
	return nil
}

func (r *lateRun) changed(c policies.Change) {
	r.epoch++
	r.changes = append(r.changes, c)
	at := time.Duration(c.At.UnixNano())
	if c.To == policies.Closed && at >= r.outage.from && at < r.outage.to {
		r.wrongClosings++
	}
	if c.To == policies.Open && at >= r.outage.from {
		switch after := at >= r.outage.to; {
		case !r.opened:
			r.opened, r.openedLate = true, after
		case after:
			r.lateReopenings++
		}
	}
}

// The events of a run: the next call, and the end of one.
const (
	lateSend = iota
	lateAnswer
)

// Handle implements sim.Handler.
func (r *lateRun) Handle(e *sim.Engine, ev sim.Event) {
	r.clock.now = e.Now()
	if ev.Kind == lateAnswer {
		r.end(ev.Arg)
		return
	}
	r.send(e)
	r.next(e)
}

func (r *lateRun) next(e *sim.Engine) {
	if t, ok := r.source.Next(); ok && t < sim.Time(r.outage.end) {
		e.At(t, r, sim.Event{Kind: lateSend})
	}
}

func (r *lateRun) send(e *sim.Engine) {
	now := e.Now()
	t := time.Duration(now)
	failed, latency := r.calls.fate(r.sent, t >= r.outage.from && t < r.outage.to)
	r.sent++
	r.lastCall = now
	p, ok := r.breaker.Allow()
	if !ok {
		if t >= r.outage.from {
			r.refused++
			r.lastRefused = now
			if !failed {
				r.goodRefused++
			}
		}
		return
	}
	call := lateCall{p, latency, failed, r.epoch}
	var slot uint64
	if n := len(r.free); n > 0 {
		slot, r.free = r.free[n-1], r.free[:n-1]
		r.flying[slot] = call
	} else {
		slot = uint64(len(r.flying))
		r.flying = append(r.flying, call)
	}
	e.After(latency, r, sim.Event{Kind: lateAnswer, Arg: slot})
}

func (r *lateRun) end(slot uint64) {
	call := r.flying[slot]
	r.free = append(r.free, slot)
	r.breaker.Advance() // what is due comes before the answer
	late := call.epoch != r.epoch
	if late && r.drop {
		return
	}
	o := policies.Outcome{Latency: call.latency}
	if call.failed {
		o.Err = policies.ErrOther
	}
	before := r.epoch
	r.breaker.Record(call.permit, o)
	if late && time.Duration(r.clock.now) >= r.outage.from {
		r.late++
		r.lateChanges += int64(r.epoch - before)
		if r.keep {
			r.lateAt = append(r.lateAt, lateEnd{r.clock.now, call.failed, r.epoch - before})
		}
	}
}

// recovery is the time from the end of the outage to the last refused call, s.
func (r *lateRun) recovery() float64 {
	switch end := sim.Time(r.outage.to); {
	case r.refused == 0:
		return 0
	case r.lastRefused == r.lastCall && r.lastCall >= end:
		return math.Inf(1)
	default:
		return max(0, r.lastRefused.Sub(end).Seconds())
	}
}

func measureLateAnswers(ctx context.Context, j Job) ([][]float64, error) {
	rows := make([][]float64, len(j.Cells))
	for i, c := range j.Cells {
		row, err := measureLate(ctx, j, c)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}

func measureLate(ctx context.Context, j Job, c Cell) ([]float64, error) {
	nan := math.NaN()
	if presetMaker(c) == nil {
		return []float64{nan, nan, nan, nan, nan, nan, nan, nan, nan}, nil
	}
	var runs [2]*lateRun
	for i := range runs {
		var err error
		if runs[i], err = newLateRun(j, c, i == 1); err != nil {
			return nil, err
		}
		if err = runs[i].run(ctx); err != nil {
			return nil, err
		}
	}
	r := runs[0]
	if c.preset().Throttle {
		return []float64{nan, nan, nan, nan, nan, r.recovery(), float64(r.goodRefused), nan, nan}, nil
	}
	same := slices.EqualFunc(r.changes, runs[1].changes, func(a, b policies.Change) bool { return a.To == b.To && a.At.Equal(b.At) })
	return []float64{
		float64(r.late), float64(r.lateChanges), indicate(!same),
		float64(r.wrongClosings), float64(r.lateReopenings), r.recovery(), float64(r.goodRefused),
		indicate(!r.opened), indicate(r.openedLate),
	}, nil
}
