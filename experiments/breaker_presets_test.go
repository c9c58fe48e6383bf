package experiments

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// phaseDelays are the delays of a breaker at all phases.
func phaseDelays(t *testing.T, set map[string]string) map[string][]float64 {
	t.Helper()
	p := mustPlan(t, breakerPresets(), Options{Seed: 1, Set: set})
	job := p.Job(0, 0)
	job.Cells = p.Cells
	outages, err := presetOutages(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	delays := map[string][]float64{}
	for i, phases := range outages {
		for _, o := range phases {
			delays[p.Cells[i].Text("breaker")] = append(delays[p.Cells[i].Text("breaker")], math.Round(o.delay*1e6)/1e6)
		}
	}
	return delays
}

// The sawtooth of a window in whole seconds, as measured on the library, and
// the exact window, which is flat to a call.
func TestPresetDelayByPhase(t *testing.T) {
	delays := phaseDelays(t, map[string]string{"rate_rps": "20", "minimum": "10", "settings": "common", "breaker": "time-window,resilience4j-time,count-window"})
	want := []float64{4.95, 4.90, 4.75, 4.65, 4.50, 4.60, 4.70, 4.85}
	if got := delays["resilience4j-time"]; !slices.Equal(got, want) {
		t.Errorf("resilience4j-time: %v, want %v", got, want)
	}
	for _, d := range delays["time-window"] {
		if d < 4.95 || d > 5 {
			t.Errorf("time-window: %v, want all within a call of 4.95 s", delays["time-window"])
		}
	}
	for _, d := range delays["count-window"] {
		if d != 0.45 {
			t.Errorf("count-window: %v, want 0.45 s at every phase", delays["count-window"])
		}
	}
}

// The delays of the libraries at several rates: exact where the failures start
// with a second, a range over the phases for Hystrix, +Inf for never.
func TestPresetDelayByRate(t *testing.T) {
	never := math.Inf(1)
	for _, test := range []struct {
		rate         string
		count, time  float64
		h1518, h14lo [2]float64
	}{
		{"0.5", 18, never, [2]float64{never, never}, [2]float64{never, never}},
		{"1", 9, 4, [2]float64{5, 5}, [2]float64{never, never}},
		{"2", 4.5, 4.5, [2]float64{5, 5}, [2]float64{4.5, 5}},
		{"5", 1.8, 4.8, [2]float64{5, 5.4}, [2]float64{4.5, 5.2}},
		{"100", 0.09, 4.99, [2]float64{5, 5.4}, [2]float64{4.5, 5.2}},
		{"500", 0.018, 4.998, [2]float64{5, 5.4}, [2]float64{4.5, 5.2}},
	} {
		delays := phaseDelays(t, map[string]string{
			"rate_rps": test.rate, "minimum": "10", "settings": "common", "observe_s": "1", "healthy_s": "60",
			"breaker": "resilience4j-count,resilience4j-time,hystrix-1.4,hystrix-1.5.18",
		})
		if got := delays["resilience4j-count"][0]; got != test.count {
			t.Errorf("%s/s: count window %v s, want %v", test.rate, got, test.count)
		}
		if got := delays["resilience4j-time"][0]; got != test.time {
			t.Errorf("%s/s: time window %v s, want %v", test.rate, got, test.time)
		}
		for name, want := range map[string][2]float64{"hystrix-1.5.18": test.h1518, "hystrix-1.4": test.h14lo} {
			got := delays[name]
			if test.rate == "1" {
				got = got[:1] // later in a second the buckets hold a call more
			}
			for phase, d := range got {
				if d != want[0] && (d < want[0]-1/mustNumber(t, test.rate) || d > want[1]+1/mustNumber(t, test.rate)) {
					t.Errorf("%s/s, phase %d: %s %v s, want %v to %v, to a call", test.rate, phase, name, d, want[0], want[1])
				}
			}
		}
	}
}

func mustNumber(t *testing.T, text string) float64 {
	t.Helper()
	v, err := parseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// In t4b the exact windows do what false-trips observes on the same trace, and
// buckets of a second trip more often than an exact window.
func TestPresetT4b(t *testing.T) {
	if testing.Short() {
		t.Skip("long runs")
	}
	const reps = 6
	r := mustRun(t, breakerPresets(), Options{Seed: 1, Reps: reps, Set: map[string]string{
		"settings": "t4b", "breaker": "count-window,time-window,resilience4j-time", "outage_s": "1", "observe_s": "1",
	}})
	observed := mustRun(t, falseTrips(), Options{Seed: 1, Reps: reps, Set: map[string]string{
		"trace": "glitches", "policy": "count-20-20-20,time-10s-20-20",
	}})
	for i, policy := range []string{"count-20-20-20", "time-10s-20-20"} {
		if got, want := r.Values(i, "false_trips_count"), observed.Values(i, "false_trips_count"); !slices.Equal(got, want) {
			t.Errorf("%s: %v trips, false-trips observes %v", policy, got, want)
		}
	}
	exact, whole := r.Stat(1, "false_trips_count"), r.Stat(2, "false_trips_count")
	if !(whole.Mean > exact.Mean+0.3 && whole.Mean < 4) {
		t.Errorf("%v trips in buckets of a second, %v of the exact window: want about one more", whole.Mean, exact.Mean)
	}
	if s := r.Stat(0, "false_trips_count"); math.Abs(s.Mean-s.Exact) > 4*s.SD/math.Sqrt(reps) {
		t.Errorf("count window: %v trips, closed form %v", s.Mean, s.Exact)
	}
}

// Every breaker of the registry can be watched, and its row is consistent.
func TestPresetRows(t *testing.T) {
	r := mustRun(t, breakerPresets(), Options{Seed: 2, Reps: 2, Set: map[string]string{"hours": "0.2", "healthy_s": "121", "observe_s": "80"}})
	for i, c := range r.Plan.Cells {
		p := c.preset()
		get := func(m string) Stat { return r.Stat(i, m) }
		if presetMaker(c) == nil {
			if get("bad_calls_count").Applies() || get("good_refused_ratio").Applies() {
				t.Errorf("%s: numbers without such settings", c)
			}
			continue
		}
		if get("false_trips_count").Applies() == p.Throttle {
			t.Errorf("%s: openings %v of a throttle %v", c, get("false_trips_count").Mean, p.Throttle)
		}
		delay := get("detection_delay_s")
		if least, most := get("detection_min_s").Mean, get("detection_max_s").Mean; delay.N > 0 && !(least <= delay.Mean && delay.Mean <= most) {
			t.Errorf("%s: delay %v is not within %v and %v", c, delay.Mean, least, most)
		}
		if exact := delay.Exact; !math.IsNaN(exact) && math.Abs(exact-delay.Mean) > 1e-9 {
			t.Errorf("%s: delay %v, closed form %v", c, delay.Mean, exact)
		}
		if refused, open := get("good_refused_ratio").Mean, get("open_ratio").Mean; get("open_ratio").Applies() && refused > open+0.02 {
			t.Errorf("%s: %v of the good calls refused, open %v of the time", c, refused, open)
		}
		if trips, flaps := get("false_trips_count").Mean, get("flaps_count").Mean; flaps > trips {
			t.Errorf("%s: %v flaps of %v openings", c, flaps, trips)
		}
	}
	for _, text := range reportBreakerPresets(r) {
		if len(text.Notes) < 3 {
			t.Errorf("%q has the notes %q", text.Caption, text.Notes)
		}
	}
}

// What the notes say about half-open is found by trying.
func TestDrillPreset(t *testing.T) {
	m := policies.BreakerConfig{
		Rule:    policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: 10}, MinCalls: 5, FailureRate: 0.5},
		OpenFor: 3e9, Probes: 4,
	}
	d, ok := drillPreset(m, 10)
	if want := (presetDrill{open: 3e9, after: policies.Open, atOnce: 4, closes: 4}); !ok || d != want {
		t.Errorf("%+v, %v, want %+v", d, ok, want)
	}
	if _, ok := drillPreset(presets.GoogleSREDefaults(), 10); ok {
		t.Error("a throttle could be opened")
	}
}

func TestBreakerPresetsRefuses(t *testing.T) {
	e := breakerPresets()
	mustRefuse(t, e, map[string]string{"window_s": "100"}, "want at least the window_s of 100 s each")
	mustRefuse(t, e, map[string]string{"breaker": "hystrix"}, "hystrix")
	mustRefuse(t, e, map[string]string{"open_s": "0.0015"}, "milliseconds")
	mustRefuse(t, e, map[string]string{"failure_pct": "101"}, "failure_pct")
	mustRefuse(t, e, map[string]string{"rate_rps": "1e-9", "settings": "defaults"}, "an outage with its healthy time takes")
}

// A breaker that is watched costs no memory for a call.
func TestBreakerWatchAllocatesNothing(t *testing.T) {
	w, err := newBreakerWatch(presets.Resilience4jTimeDefaults(), nil, 0, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	at := w.clock.now
	if n := testing.AllocsPerRun(1000, func() {
		at += 1e7
		w.call(at, at%7 == 0, 0)
	}); n > 0 {
		t.Errorf("%v allocations for a call", n)
	}
}

func TestPresetWordsNameTheLibraries(t *testing.T) {
	r := mustRun(t, breakerPresets(), Options{Seed: 1, Reps: 1, Set: map[string]string{"hours": "0.05", "rate_rps": "1", "settings": "common", "breaker": "count-window,time-window,google-sre"}})
	text := reportBreakerPresets(r)[0]
	notes := strings.Join(text.Notes, "\n")
	for _, want := range []string{
		"No such settings: google-sre", "in a window of 10 s there are 10 calls, fewer than the minimum of 20: time-window (at 2/s after 4.5 s).",
		"Good calls that close it, found by trying: 1: count-window.", "The state it reports an hour after its time open if nobody has called: open: count-window.",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in the notes:\n%s", want, notes)
		}
	}
}
