package model

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
	"pgregory.net/rapid"
)

func draws(replication uint64) sim.Draws { return sim.NewDraws(1, replication, "trace/db") }

// generate returns all segments of a generator.
func generate(t testing.TB, g Generator, d sim.Draws) []Segment {
	t.Helper()
	source, err := g.Source(d)
	if err != nil {
		t.Fatal(err)
	}
	var all []Segment
	for s, ok := source.Next(); ok; s, ok = source.Next() {
		all = append(all, s)
	}
	return all
}

// sixHours is the trace of the published false trips.
func sixHours(gl Glitches) Generator {
	gl.Length, gl.Condition = 5*time.Second, Condition{ErrorRatio: 0.3}
	return Generator{Node: "db", Horizon: 6 * time.Hour, Baseline: Condition{ErrorRatio: 0.02}, Glitches: gl}
}

func TestGeneratorValidate(t *testing.T) {
	valid := Generator{
		Node: "db", Horizon: 10 * time.Minute,
		Glitches: Glitches{Count: 10, Length: time.Second},
		Outage:   Outage{Start: time.Minute, Length: time.Hour},
	}
	for _, tc := range []struct {
		change func(*Generator)
		want   string
	}{
		{func(g *Generator) {}, ""},
		{func(g *Generator) { *g = Generator{Horizon: 1} }, ""},
		{func(g *Generator) { g.Node = " " }, `model: generator of " ": node " ", want no spaces at either end`},
		{func(g *Generator) { g.Baseline.ErrorRatio = 2 }, `model: generator of "db": error_ratio 2, want a number from 0 to 1`},
		{func(g *Generator) { g.RateRPS = Known(-1.0) }, `model: generator of "db": rate_rps -1, want a number from 0 to 1e9`},
		{func(g *Generator) { g.Horizon = 0 }, `model: generator of "db": horizon 0s, want above 0`},
		{func(g *Generator) { g.Glitches.PerMinute = 0.1 }, `model: generator of "db": glitches: count 10 and per minute 0.1, want one of them`},
		{func(g *Generator) { g.Glitches.PerMinute = math.NaN() }, `model: generator of "db": glitches: per minute NaN, want from 0 to 1`},
		{func(g *Generator) { g.Glitches.PerMinute = 5 }, `model: generator of "db": glitches: per minute 5, want from 0 to 1`},
		{func(g *Generator) { g.Glitches.Count = -1 }, `model: generator of "db": glitches: count -1, want at least 0`},
		{func(g *Generator) { g.Glitches.Count = 11 }, `model: generator of "db": glitches: count 11, want at most one for each of the 10 whole minutes`},
		{func(g *Generator) { g.Glitches.Length = 0 }, `model: generator of "db": glitches: length 0s, want above 0`},
		{func(g *Generator) { g.Glitches.Condition.ErrorRatio = -1 }, `model: generator of "db": glitches: error_ratio -1, want a number from 0 to 1`},
		{func(g *Generator) { g.Outage.Length = 0 }, `model: generator of "db": outage: length 0s, want above 0`},
		{func(g *Generator) { g.Outage.Start = -1 }, `model: generator of "db": outage: start -1ns, want from 0 to below the horizon 10m0s`},
		{func(g *Generator) { g.Outage.Start = g.Horizon }, `model: generator of "db": outage: start 10m0s, want from 0 to below the horizon 10m0s`},
		{func(g *Generator) { g.Outage.Condition.ErrorRatio = 2 }, `model: generator of "db": outage: error_ratio 2, want a number from 0 to 1`},
		{func(g *Generator) { g.Outage.Injected = "\t" }, `model: generator of "db": outage: injected "\t", want no spaces at either end`},
	} {
		g := valid
		tc.change(&g)
		got := ""
		if err := g.Validate(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v:\n got %q\nwant %q", g, got, tc.want)
		}
		if _, err := g.Trace(draws(0)); (err == nil) != (tc.want == "") {
			t.Errorf("%+v: Trace gives error %v", g, err)
		}
	}
}

// uniformly draws from 1 to limit without the preference of rapid's ranges for
// small numbers.
func uniformly(t *rapid.T, label string, limit time.Duration) time.Duration {
	u := sim.NewDraws(rapid.Uint64().Draw(t, label), 0, label)
	return min(1+time.Duration(u.Float64(0, 0)*float64(limit)), limit)
}

// The generator against a plain twin: it lists every single glitch, then asks
// at every boundary which condition holds.
func TestGeneratorAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.SampledFrom([]time.Duration{1, time.Second, 50 * time.Second, 3 * time.Minute, math.MaxInt64})
		g := Generator{
			Node:     "db",
			Horizon:  uniformly(t, "horizon", 20*time.Minute),
			Baseline: Condition{ErrorRatio: 0.02},
			Glitches: Glitches{Length: length.Draw(t, "length"), Condition: Condition{ErrorRatio: 0.3}},
		}
		if whole := int64(g.Horizon / time.Minute); rapid.Bool().Draw(t, "exact") && whole > 0 {
			g.Glitches.Count = rapid.Int64Range(1, whole).Draw(t, "count")
		} else {
			g.Glitches.PerMinute = rapid.Float64Range(0, 1).Draw(t, "per minute")
		}
		if rapid.Bool().Draw(t, "outage") {
			g.Outage.Start = uniformly(t, "start", g.Horizon) - 1
			g.Outage.Length = length.Draw(t, "outage length")
		}
		d := draws(rapid.Uint64().Draw(t, "replication"))

		var spans []span
		starts := newGlitchSource(g, d)
		for s := starts.next; s != never; s = starts.single() {
			spans = append(spans, s)
		}
		if n := g.Glitches.Count; n > 0 && int64(len(spans)) != n {
			t.Fatalf("%d glitches, want exactly %d", len(spans), n)
		}
		condition := func(at time.Duration) float64 {
			if g.Outage.Length > 0 && at >= g.Outage.Start && at-g.Outage.Start < g.Outage.Length {
				return 1
			}
			for _, s := range spans {
				if s.holds(at) {
					return 0.3
				}
			}
			return 0.02
		}
		end := time.Duration(0)
		previous := -1.0
		source, err := g.Source(d)
		if err != nil {
			t.Fatal(err)
		}
		for s, ok := source.Next(); ok; s, ok = source.Next() {
			if s.Start != end || s.End <= s.Start || s.Validate() != nil {
				t.Fatalf("%+v after %v", s, end)
			}
			end = s.End
			if s.ErrorRatio == previous {
				t.Fatalf("%+v continues the segment before it", s)
			}
			previous = s.ErrorRatio
			if (s.Injected == "outage") != (s.ErrorRatio == 1) {
				t.Fatalf("%+v: label", s)
			}
			for _, at := range []time.Duration{s.Start, s.Start + (s.End-s.Start)/2, s.End - 1} {
				if want := condition(at); s.ErrorRatio != want {
					t.Fatalf("%+v, want ratio %v at %v", s, want, at)
				}
			}
			for _, g := range spans {
				if c := condition(g.start); g.start > s.Start && g.start < s.End && c != s.ErrorRatio {
					t.Fatalf("%+v: ratio %v from %v", s, c, g.start)
				}
			}
		}
		if end != g.Horizon {
			t.Fatalf("ends at %v, horizon %v", end, g.Horizon)
		}
	})
}

// Exactly 18 glitches in 360 minutes: each minute is chosen equally often, and
// so is each part of a minute (χ² with 35 degrees of freedom, 0.1 % quantile).
func TestExactGlitchesAreUniform(t *testing.T) {
	const replications, bins = 2000, 36
	var minutes, offsets [bins]float64
	for r := range uint64(replications) {
		s := newGlitchSource(sixHours(Glitches{Count: 18}), draws(r))
		n := 0
		for g := s.next; g != never; g = s.single() {
			minutes[g.start/(10*time.Minute)]++
			offsets[g.start%time.Minute*bins/time.Minute]++
			n++
		}
		if n != 18 {
			t.Fatalf("replication %d has %d glitches, want 18", r, n)
		}
	}
	for name, counts := range map[string][bins]float64{"ten minutes": minutes, "part of the minute": offsets} {
		const want = replications * 18 / bins
		chi := 0.0
		for _, n := range counts {
			chi += (n - want) * (n - want) / want
		}
		if chi > 66.6 {
			t.Errorf("%s: χ² %.1f, want at most 66.6", name, chi)
		}
	}
}

func TestGlitchProbability(t *testing.T) {
	g := sixHours(Glitches{PerMinute: 0.05})
	g.Horizon = 10_000 * time.Hour
	n := 0
	s := newGlitchSource(g, draws(0))
	for x := s.next; x != never; x = s.single() {
		n++
	}
	checkPoisson(t, "glitches in 600,000 minutes", n, 30_000) // a little wider than the binomial
}

// Common random numbers: what a minute holds does not depend on the horizon,
// and a glitch stays where it is when glitches become more frequent.
func TestMinutesDoNotDisturbEachOther(t *testing.T) {
	starts := func(change func(*Generator)) []time.Duration {
		g := sixHours(Glitches{PerMinute: 0.05})
		change(&g)
		var all []time.Duration
		s := newGlitchSource(g, draws(3))
		for x := s.next; x != never; x = s.single() {
			all = append(all, x.start)
		}
		return all
	}
	base := starts(func(g *Generator) {})
	longer := starts(func(g *Generator) { g.Horizon *= 2 })
	if len(base) == 0 || !slices.Equal(base, longer[:len(base)]) {
		t.Errorf("a longer horizon moves glitches: %v, %v", base, longer)
	}
	more := starts(func(g *Generator) { g.Glitches.PerMinute = 0.1 })
	for _, s := range base {
		if !slices.Contains(more, s) {
			t.Errorf("the glitch at %v is gone at a higher probability", s)
		}
	}
}

func TestOutageReplacesGlitches(t *testing.T) {
	slow := Condition{LatencyMean: Known(time.Second), CapacityFactor: Known(0.5)}
	g := Generator{
		Horizon:  3 * time.Minute,
		RateRPS:  Known(50.0),
		Glitches: Glitches{PerMinute: 1, Length: time.Hour, Condition: slow},
		Outage:   Outage{Start: 90 * time.Second, Length: 30 * time.Second, Injected: "down"},
	}
	all := generate(t, g, draws(0))
	if len(all) != 4 {
		t.Fatalf("%+v, want baseline, glitch, outage, glitch", all)
	}
	from := all[0].End
	want := []Segment{
		{Node: "node", Start: 0, End: from},
		{Node: "node", Start: from, End: 90 * time.Second, Condition: slow},
		{Node: "node", Start: 90 * time.Second, End: 120 * time.Second, Condition: Condition{ErrorRatio: 1}, Injected: "down"},
		{Node: "node", Start: 120 * time.Second, End: 180 * time.Second, Condition: slow},
	}
	for i := range want {
		want[i].RateRPS = Known(50.0)
	}
	if !slices.Equal(all, want) {
		t.Errorf("got  %+v\nwant %+v", all, want)
	}
}

// The last minutes of the whole range of the clock, 2.5 million hours.
func TestGeneratorAtTheEndOfTheClock(t *testing.T) {
	for _, length := range []time.Duration{time.Second, time.Hour, math.MaxInt64} {
		g := Generator{Horizon: math.MaxInt64, Glitches: Glitches{PerMinute: 1, Length: length}}
		glitches := newGlitchSource(g, draws(0))
		glitches.minute = glitches.minutes - 5
		source := &generated{g: g, glitches: glitches, glitch: glitches.merged()}
		end := time.Duration(0)
		for s, ok := source.Next(); ok; s, ok = source.Next() {
			if s.Start != end || s.End <= s.Start {
				t.Fatalf("length %v: %+v after %v", length, s, end)
			}
			end = s.End
		}
		if end != math.MaxInt64 || glitches.minute != glitches.minutes {
			t.Errorf("length %v: ends at %v, minute %d of %d", length, end, glitches.minute, glitches.minutes)
		}
	}
}

func TestGeneratorTraceRefusesTooMany(t *testing.T) {
	g := Generator{Node: "db", Horizon: 5000 * time.Hour, Glitches: Glitches{PerMinute: 1, Length: time.Second}}
	_, err := g.Trace(draws(0))
	if want := fmt.Sprintf(`model: generator of "db": more than %d segments, use them one by one`, MaxTraceRows); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
