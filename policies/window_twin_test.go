package policies

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A windowTwin is a window as one would write it without a thought for speed:
// it keeps every outcome for ever and counts anew each time.
type windowTwin struct {
	c       WindowConfig
	last    time.Duration
	started bool
	all     []twinOutcome
}

type twinOutcome struct {
	at           time.Duration
	failed, slow bool
}

// clamp takes a time that goes back as the latest seen.
func (w *windowTwin) clamp(now time.Duration) time.Duration {
	if w.started && now < w.last {
		now = w.last
	}
	w.last, w.started = now, true
	return now
}

func (w *windowTwin) record(now time.Duration, failed, slow bool) int {
	w.all = append(w.all, twinOutcome{w.clamp(now), failed, slow})
	return len(w.all) - 1
}

func floorDiv(a, b time.Duration) time.Duration {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// holds reports whether outcome i is in the window at now.
func (w *windowTwin) holds(i int, now time.Duration) bool {
	newer := len(w.all) - 1 - i
	at := w.all[i].at
	switch w.c.Kind {
	case CountWindow:
		return newer < w.c.Calls
	case TimeWindow:
		return now-at < w.c.Length && (w.c.MaxCalls == 0 || newer < w.c.MaxCalls)
	case BucketWindow:
		slice := w.c.Length / time.Duration(w.c.Buckets)
		return floorDiv(at, slice) > floorDiv(now, slice)-time.Duration(w.c.Buckets)
	}
	panic(w.c.Kind)
}

func (w *windowTwin) counts(now time.Duration) (held Counts) {
	now = w.clamp(now)
	for i, o := range w.all {
		if w.holds(i, now) {
			held.Calls++
			if o.failed {
				held.Failures++
			}
			if o.slow {
				held.Slow++
			}
		}
	}
	return held
}

func drawWindow(t *rapid.T) WindowConfig {
	c := WindowConfig{Kind: rapid.SampledFrom([]WindowKind{CountWindow, TimeWindow, BucketWindow}).Draw(t, "kind")}
	switch c.Kind {
	case CountWindow:
		c.Calls = rapid.SampledFrom([]int{1, 2, 5, 31, 32, 33, 64, 70}).Draw(t, "calls")
	case TimeWindow:
		c.Length = rapid.SampledFrom([]time.Duration{1, 7, sec, 10 * sec}).Draw(t, "length")
		c.MaxCalls = rapid.SampledFrom([]int{0, 0, 0, 1, 16, 20}).Draw(t, "at most")
	case BucketWindow:
		c.Buckets = rapid.SampledFrom([]int{1, 2, 3, 10}).Draw(t, "buckets")
		c.Length = time.Duration(c.Buckets) * rapid.SampledFrom([]time.Duration{1, 3, sec}).Draw(t, "slice")
	}
	return c
}

// drawPause returns a time to the next event that often hits a boundary of the
// window exactly.
func drawPause(t *rapid.T, c WindowConfig) time.Duration {
	length := max(c.Length, 1)
	slice := length / time.Duration(max(c.Buckets, 1))
	return rapid.OneOf(
		rapid.Just(time.Duration(0)),
		rapid.SampledFrom([]time.Duration{1, slice, length - 1, length, length + 1, -1, -length}),
		rapid.Map(rapid.Int64Range(0, int64(length)), func(ns int64) time.Duration { return time.Duration(ns / 4) }),
	).Draw(t, "pause")
}

// Whatever is recorded and whenever one looks, a window holds what its twin
// counts, and the rule trips when the twin's counts say so.
func TestWindowsAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := RuleConfig{
			Window:      drawWindow(t),
			MinCalls:    rapid.IntRange(1, 8).Draw(t, "minimum"),
			FailureRate: rapid.SampledFrom([]float64{0, 0.2, 0.5, 1}).Draw(t, "failure rate"),
			SlowRate:    rapid.SampledFrom([]float64{0.3, 1}).Draw(t, "slow rate"),
			SlowAfter:   1,
		}
		r, err := NewRule(c)
		if err != nil {
			t.Fatal(err)
		}
		twin := &windowTwin{c: c.Window}
		now := rapid.SampledFrom([]time.Duration{0, sec, -hour, 1 << 60}).Draw(t, "start")
		refs := map[int]uint64{} // twin's outcome to the window's
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			now += drawPause(t, c.Window)
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				if got, want := r.Counts(now), twin.counts(now); got != want {
					t.Fatalf("at %v: %+v, want %+v", now, got, want)
				}
			case 1:
				checkAmend(t, r, twin, refs, now)
			case 2:
				if rapid.IntRange(0, 9).Draw(t, "reset") == 0 {
					r.Reset()
					twin, refs = &windowTwin{c: c.Window}, map[int]uint64{}
				}
			default:
				failed, slow := rapid.Bool().Draw(t, "failed"), rapid.Bool().Draw(t, "slow")
				trip := r.Observe(now, failed, slow)
				i := twin.record(now, failed, slow)
				refs[i] = r.window.newest()
				held := twin.counts(now)
				if got := r.Counts(now); got != held {
					t.Fatalf("recorded at %v: %+v, want %+v", now, got, held)
				}
				if want := twinTrips(c, held); trip != want {
					t.Fatalf("%+v with %+v: trip %v, want %v", c, held, trip, want)
				}
			}
		}
	})
}

// twinTrips states the rule of RuleConfig once more.
func twinTrips(c RuleConfig, held Counts) bool {
	minimum := c.MinCalls
	switch {
	case c.Window.Kind == CountWindow:
		minimum = min(minimum, c.Window.Calls)
	case c.Window.Kind == TimeWindow && c.Window.MaxCalls > 0:
		minimum = min(minimum, c.Window.MaxCalls)
	}
	if held.Calls < minimum {
		return false
	}
	n := float64(held.Calls)
	return c.FailureRate > 0 && float64(held.Failures)/n >= c.FailureRate ||
		c.SlowRate > 0 && float64(held.Slow)/n >= c.SlowRate
}

// checkAmend turns an outcome into a failure in both, as far as it is held.
func checkAmend(t *rapid.T, r *Rule, twin *windowTwin, refs map[int]uint64, now time.Duration) {
	if len(twin.all) == 0 {
		return
	}
	i := rapid.IntRange(0, len(twin.all)-1).Draw(t, "amend")
	now = twin.clamp(now)
	r.Counts(now)
	if twin.all[i].failed {
		return
	}
	held := twin.holds(i, now)
	if held {
		twin.all[i].failed = true
	}
	if got := r.window.amend(refs[i]); got != held {
		t.Fatalf("amended outcome %d of %d: %v, want %v", i, len(twin.all), got, held)
	}
	if got, want := r.Counts(now), twin.counts(now); got != want {
		t.Fatalf("amended at %v: %+v, want %+v", now, got, want)
	}
}

// A time window that never empties keeps the right figures for longer than its
// packed instants last at a time: here for 290 years.
func TestTimeWindowMovesItsBase(t *testing.T) {
	const year = 8760 * hour
	c := WindowConfig{Kind: TimeWindow, Length: year}
	r := mustRule(t, RuleConfig{Window: c, MinCalls: 1, FailureRate: 1})
	w := r.window.(*timeWindow)
	twin := &windowTwin{c: c}
	bases := map[int64]bool{}
	for now, i := -145*year, 0; now < 145*year; now, i = now+year/7+1, i+1 {
		r.Observe(now, i%3 == 0, i%5 == 0)
		twin.record(now, i%3 == 0, i%5 == 0)
		if len(twin.all) > 10 {
			twin.all = twin.all[1:]
		}
		if got, want := r.Counts(now), twin.counts(now); got != want {
			t.Fatalf("at %v years: %+v, want %+v", now/year, got, want)
		}
		bases[w.base] = true
	}
	if len(bases) < 5 {
		t.Errorf("%d bases in 290 years, want several", len(bases))
	}
}

// The memory of a time window is bounded by the calls in it: 500/s for 60 s
// are 30,000, which fit into 2^15 words, for however long it goes on.
func TestTimeWindowMemory(t *testing.T) {
	for _, tt := range []struct {
		rate, most int
		places     int
	}{
		{500, 0, 1 << 15},
		{500, 1000, 1 << 10},
		{10_000, 1000, 1 << 10},
	} {
		t.Run(fmt.Sprintf("%d per second at most %d", tt.rate, tt.most), func(t *testing.T) {
			r := mustRule(t, RuleConfig{
				Window:   WindowConfig{Kind: TimeWindow, Length: 60 * sec, MaxCalls: tt.most},
				MinCalls: 20, FailureRate: 0.2,
			})
			w := r.window.(*timeWindow)
			for i := range 300 * tt.rate {
				r.Observe(time.Duration(i)*sec/time.Duration(tt.rate), i%50 == 0, false)
			}
			if len(w.ring) != tt.places {
				t.Errorf("%d places, want %d", len(w.ring), tt.places)
			}
			r.Reset()
			if len(w.ring) != tt.places {
				t.Errorf("after a reset %d places, want %d", len(w.ring), tt.places)
			}
		})
	}
}

// Buckets take the same memory at any rate, and a silence costs nothing.
func TestBucketWindowMemory(t *testing.T) {
	r := mustRule(t, RuleConfig{
		Window:   WindowConfig{Kind: BucketWindow, Length: 60 * sec, Buckets: 60},
		MinCalls: 1, FailureRate: 1,
	})
	w := r.window.(*bucketWindow)
	for i := range 100_000 {
		r.Observe(time.Duration(i)*sec/500, false, false)
	}
	r.Observe(1000*hour, true, false)
	if len(w.ring) != 64 {
		t.Errorf("%d places, want 64", len(w.ring))
	}
	if got, want := r.Counts(1000*hour), (Counts{1, 1, 0}); got != want {
		t.Errorf("after the silence %+v, want %+v", got, want)
	}
}
