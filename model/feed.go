package model

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// batchCalls is how many calls a feed hands to its watchers at once. It
// amortises the watcher's call and keeps a batch inside the first-level cache.
const batchCalls = 512

// A Batch is a run of consecutive outcomes in the order in which they came.
type Batch struct {
	At      []time.Duration // when the outcome was known: the call's instant plus its latency
	Failed  []bool          // whether it failed
	Latency []time.Duration // how long it took, 0 where the trace does not say; nil unless the feed draws latencies
}

// A Watcher sees calls but cannot influence them. It must not keep the batch.
type Watcher interface{ Watch(b *Batch) }

// A SegmentSource yields the segments of one node in order of time, without
// overlap; after the first false there are no more. Where there is no segment
// nothing is known, and no calls are made.
type SegmentSource interface{ Next() (Segment, bool) }

// A Feed makes open-loop calls to one node whose fate is decided by the
// failure trace and by luck alone, and shows them to watchers. Since watchers
// cannot influence the calls, any number of policies can watch the very same
// ones.
type Feed struct {
	Arrivals Source
	Segments SegmentSource

	// Fate decides call k: it fails if the draw (k, 0) is below the segment's
	// error ratio; its latency is the law's quantile at the draw (k, 1).
	Fate sim.Draws

	// Latencies draws latencies too; without them a call is answered at once.
	// An answer that comes where there is no segment is not observed.
	Latencies bool
	Until     sim.Time // horizon: calls are made, and answers known, before it
	Watchers  []Watcher

	// OnGap, if not nil, is called when a call follows a stretch without
	// segments, before the watchers see the call.
	OnGap func()

	segment   Segment
	law       Law    // of the segment's latency
	observed  bool   // a segment is at hand
	threshold uint64 // a draw's top 63 bits below it mean failure
	gap       bool
	calls     uint64
	inFlight  slab[answer]
	flushes   uint64
	batch     Batch
	ctx       context.Context
}

// An answer is a call in flight.
type answer struct {
	failed  bool
	latency time.Duration
}

// The events of a feed: the next arrival, and the answer to a call.
const (
	feedArrival = iota
	feedAnswer
)

// Run makes the calls on the engine, from its present time up to the horizon,
// and returns early with the context's error when that ends.
func (f *Feed) Run(ctx context.Context, e *sim.Engine) error {
	if f.Until <= e.Now() {
		return fmt.Errorf("model: feed: horizon %v, want after %v", f.Until, e.Now())
	}
	f.ctx = ctx
	f.batch = Batch{At: make([]time.Duration, 0, batchCalls), Failed: make([]bool, 0, batchCalls)}
	f.nextSegment(0)
	f.schedule(e)
	e.RunUntil(f.Until)
	f.flush(e)
	return ctx.Err()
}

// Handle makes the call that is due and schedules the next, or takes an answer.
func (f *Feed) Handle(e *sim.Engine, ev sim.Event) {
	now := e.Now()
	if ev.Kind == feedAnswer {
		a := f.inFlight.take(ev.Arg)
		if f.observedAt(now) {
			f.know(e, a.failed, a.latency)
		}
		return
	}
	if f.observedAt(now) {
		f.call(e)
	}
	if f.observed { // otherwise the trace has ended
		f.schedule(e)
	}
}

// observedAt moves on to the segment of an instant and reports whether there is
// one.
func (f *Feed) observedAt(now sim.Time) bool {
	t := time.Duration(now)
	for f.observed && t >= f.segment.End {
		f.nextSegment(f.segment.End)
	}
	return f.observed && t >= f.segment.Start
}

func (f *Feed) call(e *sim.Engine) {
	if f.gap {
		f.gap = false
		if f.OnGap != nil {
			f.flush(e)
			f.OnGap()
		}
	}
	k := f.calls
	f.calls++
	failed := f.Fate.Uint64(k, 0)>>1 < f.threshold
	if !f.Latencies {
		f.know(e, failed, 0)
		return
	}
	a := answer{failed, f.law.Quantile(f.Fate.Float64(k, 1))}
	e.After(a.latency, f, sim.Event{Kind: feedAnswer, Arg: f.inFlight.put(a)})
}

// know adds an outcome to the batch.
func (f *Feed) know(e *sim.Engine, failed bool, latency time.Duration) {
	f.batch.At = append(f.batch.At, time.Duration(e.Now()))
	f.batch.Failed = append(f.batch.Failed, failed)
	if f.Latencies {
		f.batch.Latency = append(f.batch.Latency, latency)
	}
	if len(f.batch.At) == batchCalls {
		f.flush(e)
	}
}

// flush shows the batch to the watchers, and looks at the context now and then.
func (f *Feed) flush(e *sim.Engine) {
	if len(f.batch.At) > 0 {
		for _, w := range f.Watchers {
			w.Watch(&f.batch)
		}
	}
	f.batch.At, f.batch.Failed, f.batch.Latency = f.batch.At[:0], f.batch.Failed[:0], f.batch.Latency[:0]
	if f.flushes++; f.flushes%64 == 0 && f.ctx.Err() != nil {
		e.Stop()
	}
}

func (f *Feed) schedule(e *sim.Engine) {
	if t, ok := f.Arrivals.Next(); ok && t < f.Until {
		e.At(t, f, sim.Event{Kind: feedArrival})
	}
}

// nextSegment takes the next segment; end is where the last one ended.
func (f *Feed) nextSegment(end time.Duration) {
	f.segment, f.observed = f.Segments.Next()
	if !f.observed {
		return
	}
	f.gap = f.gap || f.segment.Start > end
	f.threshold = uint64(math.Round(f.segment.ErrorRatio * (1 << 63)))
	f.law, _ = f.segment.LatencyLaw() // the zero law, 0 s, where the trace does not say
}
