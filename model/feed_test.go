package model

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// seen keeps what a feed shows.
type seen struct {
	at      []time.Duration
	failed  []bool
	latency []time.Duration
}

func (s *seen) Watch(b *Batch) {
	s.at = append(s.at, b.At...)
	s.failed = append(s.failed, b.Failed...)
	s.latency = append(s.latency, b.Latency...)
}

func fixedSource10(t *testing.T) Source {
	t.Helper()
	s, err := Arrivals{Kind: Fixed, RateRPS: 10}.Source(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func segment(start, end time.Duration, errorRatio float64) Segment {
	return Segment{Node: "n", Start: start, End: end, Condition: Condition{ErrorRatio: errorRatio}}
}

// Segments are half-open: the call due at the end of one belongs to the next,
// and in a gap no call is made.
func TestFeedFollowsTheTrace(t *testing.T) {
	w := &seen{}
	var gaps []time.Duration
	e := sim.New()
	f := &Feed{
		Arrivals: fixedSource10(t),
		Segments: List(segment(0, time.Second, 0), segment(time.Second, 2*time.Second, 1), segment(5*time.Second, 6*time.Second, 0)),
		Until:    sim.Time(10 * time.Second),
		Watchers: []Watcher{w},
		OnGap:    func() { gaps = append(gaps, time.Duration(e.Now())) },
	}
	if err := f.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	if len(w.at) != 30 {
		t.Fatalf("%d calls, want 10 in each of three seconds observed", len(w.at))
	}
	for i, at := range w.at {
		want := time.Duration(i) * 100 * time.Millisecond
		if i >= 20 {
			want += 3 * time.Second
		}
		if at != want || w.failed[i] != (i >= 10 && i < 20) {
			t.Errorf("call %d at %v, failed %v, want at %v, failed from 1 s to 2 s", i, at, w.failed[i], want)
		}
	}
	if len(gaps) != 1 || gaps[0] != 5*time.Second {
		t.Errorf("gaps ended at %v, want at 5 s once", gaps)
	}
	if w.latency != nil {
		t.Errorf("latencies %v, though none are drawn", w.latency)
	}
}

// A gap is told before the call that follows it, and after all calls before.
func TestFeedTellsGapsInOrder(t *testing.T) {
	w, before := &seen{}, 0
	f := &Feed{
		Arrivals: fixedSource10(t),
		Segments: List(segment(time.Second, 2*time.Second, 0), segment(3*time.Second, 4*time.Second, 0)),
		Until:    sim.Time(4 * time.Second),
		Watchers: []Watcher{w},
	}
	f.OnGap = func() { before = len(w.at) }
	if err := f.Run(context.Background(), sim.New()); err != nil {
		t.Fatal(err)
	}
	if before != 10 || len(w.at) != 20 {
		t.Errorf("%d calls seen before the last gap, %d in all, want 10 and 20", before, len(w.at))
	}
}

// An outcome is known when the answer comes, so slow calls overtake each other.
func TestFeedAnswersTakeTheirTime(t *testing.T) {
	w := &seen{}
	slow := segment(0, time.Second, 0)
	slow.LatencyMean = Known(2 * time.Second) // exponential
	f := &Feed{
		Arrivals:  fixedSource10(t),
		Segments:  List(slow, segment(time.Second, 20*time.Second, 1)),
		Fate:      sim.NewDraws(1, 0, "fate"),
		Latencies: true,
		Until:     sim.Time(20 * time.Second),
		Watchers:  []Watcher{w},
	}
	if err := f.Run(context.Background(), sim.New()); err != nil {
		t.Fatal(err)
	}
	fast, late := 0, 0
	for i, at := range w.at {
		if i > 0 && at < w.at[i-1] {
			t.Fatalf("outcome %d at %v after one at %v", i, at, w.at[i-1])
		}
		if w.failed[i] {
			fast++
			continue
		}
		if sent := at - w.latency[i]; sent < 0 || sent >= time.Second || sent%(100*time.Millisecond) != 0 {
			t.Errorf("answer at %v after %v: sent at %v, want on the grid in the first second", at, w.latency[i], sent)
		}
		if at > time.Second {
			late++
		}
	}
	if fast != 190 || late == 0 {
		t.Errorf("%d answers of the second segment, %d late ones of the first, want 190 and some", fast, late)
	}
}

// The error ratio holds, and the same draws decide whatever it is.
func TestFeedFatesAreCommon(t *testing.T) {
	run := func(ratio float64) []bool {
		w := &seen{}
		source, err := Arrivals{Kind: Fixed, RateRPS: 1000}.Source(nil)
		if err != nil {
			t.Fatal(err)
		}
		f := &Feed{Arrivals: source, Segments: List(segment(0, 100*time.Second, ratio)), Fate: sim.NewDraws(7, 3, "fate"),
			Until: sim.Time(100 * time.Second), Watchers: []Watcher{w}}
		if err := f.Run(context.Background(), sim.New()); err != nil {
			t.Fatal(err)
		}
		return w.failed
	}
	few, many := run(0.02), run(0.3)
	count := 0
	for i := range few {
		if few[i] {
			count++
			if !many[i] {
				t.Fatalf("call %d fails at 2 %% and not at 30 %%", i)
			}
		}
	}
	if n := float64(len(few)); math.Abs(float64(count)-0.02*n) > 4*math.Sqrt(0.02*0.98*n) {
		t.Errorf("%d of %d calls fail, want 2 %% within 4 standard deviations", count, len(few))
	}
}

// An answer that comes in a gap, or after the trace, is not observed.
func TestFeedDropsAnswersInGaps(t *testing.T) {
	w := &seen{}
	slow := segment(0, time.Second, 0)
	slow.LatencyMean = Known(3 * time.Second)
	f := &Feed{
		Arrivals:  fixedSource10(t),
		Segments:  List(slow, segment(4*time.Second, 5*time.Second, 1)),
		Fate:      sim.NewDraws(1, 0, "fate"),
		Latencies: true,
		Until:     sim.Time(20 * time.Second),
		Watchers:  []Watcher{w},
	}
	if err := f.Run(context.Background(), sim.New()); err != nil {
		t.Fatal(err)
	}
	late := 0
	for i, at := range w.at {
		if at >= time.Second && at < 4*time.Second || at >= 5*time.Second {
			t.Errorf("an outcome at %v, where nothing is observed", at)
		}
		if at >= 4*time.Second && !w.failed[i] {
			late++
		}
	}
	if late == 0 {
		t.Error("no answer of the first segment comes in the second, want some: calls may outlast a gap")
	}
}

func TestFeedStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &seen{}
	source, err := Arrivals{Kind: Fixed, RateRPS: 1e6}.Source(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &Feed{Arrivals: source, Segments: List(segment(0, time.Hour, 0)), Until: sim.Time(time.Hour), Watchers: []Watcher{w, stopper(cancel)}}
	if err := f.Run(ctx, sim.New()); !errors.Is(err, context.Canceled) || len(w.at) > 100*batchCalls {
		t.Errorf("error %v after %d calls, want canceled soon", err, len(w.at))
	}
	if err := (&Feed{}).Run(context.Background(), sim.New()); err == nil {
		t.Error("a horizon of 0 is accepted")
	}
}

type stopper func()

func (s stopper) Watch(*Batch) { s() }

func TestFeedDoesNotAllocatePerCall(t *testing.T) {
	source := fixedSource10(t)
	f := &Feed{Arrivals: source, Segments: List(segment(0, 1000*time.Hour, 0.02)), Until: sim.Time(1000 * time.Hour), Watchers: []Watcher{stopper(func() {})}}
	e := sim.New()
	f.ctx = context.Background()
	f.nextSegment(0)
	f.schedule(e)
	for range 2 * batchCalls {
		e.Step()
	}
	if n := testing.AllocsPerRun(2000, func() { e.Step() }); n != 0 {
		t.Errorf("%v allocations per call, want 0", n)
	}
}
