package model

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// seg is a segment of whole seconds.
func seg(node string, start, end int, errorRatio float64) Segment {
	return Segment{
		Node: node, Start: time.Duration(start) * time.Second, End: time.Duration(end) * time.Second,
		Condition: Condition{ErrorRatio: errorRatio},
	}
}

func mustTrace(t testing.TB, segments ...Segment) *Trace {
	t.Helper()
	trace, err := NewTrace(segments)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func petshop(t testing.TB) *Trace {
	t.Helper()
	const name = "../examples/petshop-high.csv"
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := ReadTrace(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestNewTrace(t *testing.T) {
	with := func(change func(*Segment)) Segment {
		s := seg("db", 1, 2, 0.5)
		change(&s)
		return s
	}
	nan := math.NaN()
	for _, tc := range []struct {
		segments []Segment
		want     string
	}{
		{nil, "model: trace: no segments, want at least one"},
		{[]Segment{seg("db", 1, 2, 0), seg("db", 2, 3, 1), seg("web", 0, 9, 0.5)}, ""},
		{[]Segment{seg("db", 5, 9, 0), seg("db", 0, 6, 1)}, `model: trace: node "db": segment [5s, 9s) overlaps [0s, 6s)`},
		{[]Segment{seg("db", 5, 9, 0), seg("db", 5, 9, 0)}, `model: trace: node "db": segment [5s, 9s) overlaps [5s, 9s)`},
		{[]Segment{seg("", 1, 2, 0)}, `model: trace: node "", segment from 1s: node "", want a name`},
		{[]Segment{seg(" db", 1, 2, 0)}, `model: trace: node " db", segment from 1s: node " db", want no spaces at either end`},
		{[]Segment{seg("d\nb", 1, 2, 0)}, `model: trace: node "d\nb", segment from 1s: node "d\nb", want printable characters only`},
		{[]Segment{seg("d\xffb", 1, 2, 0)}, `model: trace: node "d\xffb", segment from 1s: node "d\xffb", want UTF-8`},
		{[]Segment{seg("db", -1, 2, 0)}, `model: trace: node "db", segment from -1s: start_s -1, want at least 0`},
		{[]Segment{seg("db", 2, 2, 0)}, `model: trace: node "db", segment from 2s: end_s 2, want above start_s 2`},
		{[]Segment{seg("db", 1, 2, 1.5)}, `model: trace: node "db", segment from 1s: error_ratio 1.5, want a number from 0 to 1`},
		{[]Segment{seg("db", 1, 2, nan)}, `model: trace: node "db", segment from 1s: error_ratio NaN, want a number from 0 to 1`},
		{[]Segment{with(func(s *Segment) { s.RateRPS = Known(-1.0) })}, `model: trace: node "db", segment from 1s: rate_rps -1, want a number from 0 to 1e9`},
		{[]Segment{with(func(s *Segment) { s.RateRPS = Known(math.Inf(1)) })}, `model: trace: node "db", segment from 1s: rate_rps +Inf, want a number from 0 to 1e9`},
		{[]Segment{with(func(s *Segment) { s.CapacityFactor = Known(1.1) })}, `model: trace: node "db", segment from 1s: capacity_factor 1.1, want a number from 0 to 1`},
		{[]Segment{with(func(s *Segment) { s.LatencyMean = Known(-ms) })}, `model: trace: node "db", segment from 1s: latency_mean_s -0.001, want at least 0`},
		{[]Segment{with(func(s *Segment) { s.LatencyP90 = Known(-ms) })}, `model: trace: node "db", segment from 1s: latency_p90_s -0.001, want at least 0`},
		{[]Segment{with(func(s *Segment) { s.LatencyP50, s.LatencyP99 = Known(2*ms), Known(ms) })},
			`model: trace: node "db", segment from 1s: latency_p99_s 0.001, want at least latency_p50_s 0.002`},
		{[]Segment{with(func(s *Segment) { s.Injected = "x " })}, `model: trace: node "db", segment from 1s: injected "x ", want no spaces at either end`},
	} {
		got := ""
		if _, err := NewTrace(tc.segments); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v:\n got %q\nwant %q", tc.segments, got, tc.want)
		}
	}
}

func TestTraceQueries(t *testing.T) {
	trace := mustTrace(t, seg("web", 5, 6, 0), seg("db", 20, 30, 0.2), seg("db", 0, 10, 0.1), seg("db", 10, 12, 0.3))
	if got := trace.Nodes(); !slices.Equal(got, []string{"db", "web"}) {
		t.Errorf("nodes %v, want db first: it is observed first", got)
	}
	if trace.End() != 30*time.Second || trace.Len() != 4 {
		t.Errorf("end %v, %d segments", trace.End(), trace.Len())
	}
	if got := trace.Segments("cache"); len(got) != 0 {
		t.Errorf("segments of an unknown node: %v", got)
	}
	if _, err := trace.Cursor("cache"); err == nil || err.Error() != `model: trace: unknown node "cache", want one of db, web` {
		t.Errorf("cursor of an unknown node: %v", err)
	}
	const s = time.Second
	for _, tc := range []struct {
		at   time.Duration
		want float64 // negative: not observed
	}{{0, 0.1}, {10*s - 1, 0.1}, {10 * s, 0.3}, {12*s - 1, 0.3}, {12 * s, -1}, {20*s - 1, -1}, {20 * s, 0.2}, {30 * s, -1}} {
		got, ok := trace.At("db", tc.at)
		if ok != (tc.want >= 0) || ok && got.ErrorRatio != tc.want {
			t.Errorf("at %v: %v, %t; want %v", tc.at, got.ErrorRatio, ok, tc.want)
		}
	}
}

// drawSegments are segments of one node in order, with and without gaps.
func drawSegments(t *rapid.T, node string) []Segment {
	var all []Segment
	at := time.Duration(0)
	for range rapid.IntRange(1, 12).Draw(t, "segments") {
		at += time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 1e9}).Draw(t, "gap"))
		end := at + time.Duration(rapid.Int64Range(1, 3e9).Draw(t, "length"))
		all = append(all, Segment{Node: node, Start: at, End: end, Condition: Condition{ErrorRatio: rapid.Float64Range(0, 1).Draw(t, "ratio")}})
		at = end
	}
	return all
}

func TestCursorAgainstLinearSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := drawSegments(t, "db")
		trace, err := NewTrace(segments)
		if err != nil {
			t.Fatal(err)
		}
		cursor, err := trace.Cursor("db")
		if err != nil {
			t.Fatal(err)
		}
		times := rapid.SliceOf(rapid.Int64Range(0, int64(trace.End()+10))).Draw(t, "times")
		for _, s := range segments { // and the boundaries
			times = append(times, int64(s.Start), int64(s.End)-1, int64(s.End))
		}
		slices.Sort(times)
		for _, at := range times {
			at := time.Duration(at)
			i := slices.IndexFunc(segments, func(s Segment) bool { return s.Start <= at && at < s.End })
			var want Segment
			if i >= 0 {
				want = segments[i]
			}
			if got, ok := cursor.At(at); ok != (i >= 0) || got != want {
				t.Fatalf("at %d: cursor has %+v, %t; linear search %+v", at, got, ok, want)
			}
			if got, ok := trace.At("db", at); ok != (i >= 0) || got != want {
				t.Fatalf("at %d: trace has %+v, %t; linear search %+v", at, got, ok, want)
			}
			until := time.Duration(math.MaxInt64)
			for _, s := range segments {
				for _, edge := range []time.Duration{s.Start, s.End} {
					if edge > at {
						until = min(until, edge)
					}
				}
			}
			if got := cursor.Until(); got != until {
				t.Fatalf("at %d: until %d, want %d", at, got, until)
			}
		}
	})
}

func TestCursorRefusesToGoBack(t *testing.T) {
	cursor := NewCursor(List(seg("db", 0, 10, 0)))
	cursor.At(5 * time.Second)
	defer func() {
		if got, want := fmt.Sprint(recover()), "model: cursor at 4s after 5s"; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	cursor.At(4 * time.Second)
}

func TestIncidents(t *testing.T) {
	label := func(s Segment, injected string) Segment { s.Injected = injected; return s }
	trace := mustTrace(t,
		label(seg("db", 0, 5, 0), "slow"), label(seg("db", 5, 10, 0), "slow"), // one
		label(seg("db", 11, 12, 0), "slow"), // after a gap: another
		label(seg("db", 12, 13, 0), "down"), // another kind
		seg("db", 13, 14, 1),                // not labelled
		label(seg("db", 14, 15, 0), "down"),
		label(seg("web", 2, 3, 0), "slow"),
	)
	const s = time.Second
	want := []Incident{
		{"db", "slow", 0, 10 * s}, {"web", "slow", 2 * s, 3 * s}, {"db", "slow", 11 * s, 12 * s},
		{"db", "down", 12 * s, 13 * s}, {"db", "down", 14 * s, 15 * s},
	}
	if got := trace.Incidents(); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestPetshop(t *testing.T) {
	trace := petshop(t)
	want := []string{"list-adoptions", "pay-for-adoption", "pet-info-table", "pet-search", "pet-site", "status-updater"}
	if got := trace.Nodes(); !slices.Equal(got, want) {
		t.Errorf("nodes %v", got)
	}
	if trace.Len() != 780 || trace.End() != 66_600*time.Second {
		t.Errorf("%d segments up to %v, want 780 up to 66600 s", trace.Len(), trace.End())
	}
	kinds, nodes := map[string]int{}, map[string]int{}
	for _, i := range trace.Incidents() {
		kinds[i.Kind]++
		nodes[i.Node]++
		if i.End-i.Start != 20*time.Minute {
			t.Errorf("%+v lasts %v, want four records of 5 minutes", i, i.End-i.Start)
		}
	}
	if kinds["availability"] != 12 || kinds["latency"] != 14 || len(kinds) != 2 {
		t.Errorf("incidents %v, want 12 of availability and 14 of latency", kinds)
	}
	if nodes["pet-search"] != 8 || nodes["pet-site"] != 0 {
		t.Errorf("incidents per node %v", nodes)
	}
}

// The numbers in the comment on LatencyLaw.
func TestLatencyLawAgainstReportedMeans(t *testing.T) {
	trace := petshop(t)
	var signed, absolute []float64
	for _, node := range trace.Nodes() {
		for _, s := range trace.Segments(node) {
			law, ok := s.LatencyLaw()
			if !ok || law.Validate() != nil {
				t.Fatalf("%+v: law %+v, %v", s, law, law.Validate())
			}
			d := law.MeanDuration().Seconds()/s.LatencyMean.Value.Seconds() - 1
			signed, absolute = append(signed, d), append(absolute, math.Abs(d))
		}
	}
	sort.Float64s(signed)
	sort.Float64s(absolute)
	if s, a := signed[390], absolute[390]; math.Abs(s-0.010) > 0.001 || math.Abs(a-0.075) > 0.001 {
		t.Errorf("median difference of the means %.4f, absolute %.4f; want 0.010 and 0.075", s, a)
	}
}

func TestLatencyLaw(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    Condition
		want string
	}{
		{"nothing", Condition{}, "false"},
		{"quantiles", Condition{LatencyP50: Known(ms), LatencyP99: Known(9 * ms), LatencyMean: Known(2 * ms)}, "true quantiles 0s [{0.5 1ms} {0.99 9ms}]"},
		{"mean", Condition{LatencyMean: Known(2 * ms)}, "true exponential 2ms []"},
		{"mean and one quantile", Condition{LatencyMean: Known(2 * ms), LatencyP50: Known(ms)}, "true exponential 2ms []"},
		{"median", Condition{LatencyP50: Known(time.Second)}, "true exponential 1.442695041s []"},
		{"p99", Condition{LatencyP99: Known(time.Second)}, "true exponential 217.147241ms []"},
		{"mean 0", Condition{LatencyMean: Known(time.Duration(0))}, "true constant 0s []"},
	} {
		law, ok := tc.c.LatencyLaw()
		got := fmt.Sprint(ok)
		if ok {
			got = fmt.Sprint(ok, " ", law.Kind, " ", law.Mean, " ", law.Points)
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}
