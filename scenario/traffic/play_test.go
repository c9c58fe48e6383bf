package traffic

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// strict opens at the fifth failure of five calls in a row and closes after
// one good probe, 10 s later.
var strict = Breaker{Name: "strict", Maker: policies.BreakerConfig{
	Rule:    policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: 5}, MinCalls: 5, FailureRate: 1},
	OpenFor: 10 * time.Second, Probes: 1,
}}

// outage is a log with a call each second, of 100 ms, all of which fail in
// [60 s, 90 s).
func outage() string {
	var b strings.Builder
	b.WriteString("ts,status,duration_ms\n")
	for i := range 180 {
		status := 200
		if i >= 60 && i < 90 {
			status = 503
		}
		fmt.Fprintf(&b, "%d.1,%d,100\n", 1772446500+i, status) // 2026-03-02 10:15:00 UTC
	}
	return b.String()
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func play(t *testing.T, tr *Traffic, o PlayOptions, breakers ...Breaker) *Replay {
	t.Helper()
	r, err := tr.Play(context.Background(), breakers, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReplayOfRecordedCalls(t *testing.T) {
	r := play(t, read(t, "x", outage(), Options{}), PlayOptions{}, strict)
	if len(r.Stretches) != 1 || r.Stretches[0].Start != 60100*time.Millisecond || r.Stretches[0].End != 89100*time.Millisecond {
		t.Fatalf("stretches %v, want one from 1m0.1s to 1m29.1s", r.Stretches)
	}
	p := r.Plays[0]
	if len(p.Trips) != 1 {
		t.Fatalf("openings %+v, want one", p.Trips)
	}
	// The calls that start at 60..64 s fail, the fifth ends at 64.1 s. Those
	// of 65..74 s are refused; the probe of 75 s fails at 75.1 s, so 76..85 s
	// are refused, then that of 86 s fails at 86.1 s: 87..96 s, of which those
	// from 90 s on would have succeeded. The probe of 97 s ends at 97.1 s.
	o := p.Trips[0]
	if o.At != 64100*time.Millisecond || o.Refused != 30 || o.Good != 7 || o.Reopened != 2 || o.Closed.Value != 97100*time.Millisecond || o.Stretch != 0 {
		t.Errorf("opening %+v, want at 64.1 s, 30 refused, 7 good, reopened twice, closed at 97.1 s", o)
	}
	if p.Openings != 3 || p.Reopenings != 2 || p.Outside != 0 || p.Calls != 180 || p.Failed != 30 || p.Refused != 30 {
		t.Errorf("play %+v", p)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "strict would have opened at 2026-03-02 10:16:04.1 UTC (+4s after failures 1 began), refused 30 calls of which 7 would have succeeded, opened again 2 times, closed at 2026-03-02 10:16:37.1 UTC (+33s)"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	if err := r.Table().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if want := "strict,0,1,60.1,64.1,4,97.1,3,2,30,7\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got rows:\n%s", b.String())
	}
}

// A call whose end is not told apart from its start is asked and told at once,
// and does not hold up the others.
func TestReplayWithoutLatencies(t *testing.T) {
	text := "ts,status\n"
	for i := range 20 {
		text += fmt.Sprintf("%d,%d\n", 1772446500+i, 500)
	}
	r := play(t, read(t, "x", text, Options{}), PlayOptions{}, strict)
	// Open at 4 s, a probe at 14 s, open again: 5..13 s and 15..19 s are refused.
	if p := r.Plays[0]; len(p.Trips) != 1 || p.Trips[0].At != 4*time.Second || p.Refused != 14 || p.Trips[0].Reopened != 1 {
		t.Errorf("play %+v, want an opening at 4 s, 14 refused, opened again once", p)
	}
}

func TestReplayOfRates(t *testing.T) {
	tr := read(t, "x", incidentRows, Options{RateRPS: 10})
	r := play(t, tr, PlayOptions{Replications: 5, Seed: 3}, strict)
	if r.Drawn != 5 || len(r.Plays) != 5 || len(r.Stretches) != 2 {
		t.Fatalf("%d plays of %d draws, stretches %v", len(r.Plays), r.Drawn, r.Stretches)
	}
	for _, p := range r.Plays {
		o, ok := p.first(1)
		if !ok || o.At < 7200*time.Second || o.At > 7204*time.Second {
			t.Errorf("opening %+v, want at most 4 s after 7200 s: calls take 1 s on average, and 10 a second fail", o)
		}
	}
	again := play(t, tr, PlayOptions{Replications: 5, Seed: 3, Workers: 4}, strict)
	if fmt.Sprint(r.Plays) != fmt.Sprint(again.Plays) {
		t.Error("the same seed gives other plays")
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "in 5 of 5 draws") {
		t.Errorf("got:\n%s", b.String())
	}
}

// All presets take a real record.
func TestReplayOfPresets(t *testing.T) {
	all, err := Presets()
	if err != nil {
		t.Fatal(err)
	}
	r := play(t, read(t, "x", outage(), Options{}), PlayOptions{}, all...)
	opened := 0
	for _, p := range r.Plays {
		opened += asInt(len(p.Trips) > 0)
		if p.Good > p.Refused || p.Failed != 30 || p.Calls != 180 {
			t.Errorf("play %+v does not add up", p)
		}
	}
	if opened == 0 {
		t.Error("no preset opened")
	}
	if _, err := Presets("polly", "poly"); err == nil || !strings.Contains(err.Error(), "hystrix-1.5.13") {
		t.Errorf("error %v, want the known names", err)
	}
}

func TestStretches(t *testing.T) {
	calls := func(text string) (list []Call) {
		for i, c := range text {
			list = append(list, Call{End: time.Duration(i), Failed: c == 'x'})
		}
		return list
	}
	good := strings.Repeat(".", 60)
	for text, want := range map[string]string{
		good + "xxxx" + good:                             "[]",
		good + "xxxxxx" + good:                           "[{60ns 65ns}]",
		good + "x" + good + "xxx.xxx" + good:             "[{121ns 127ns}]",
		"xxxxxxxx" + good + "." + "xxxxxxxx":             "[{0s 7ns} {69ns 76ns}]",
		strings.Repeat("x"+strings.Repeat(".", 10), 100): "[]",
	} {
		if got := fmt.Sprint(badCalls(calls(text), 0.1)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A stretch has more than the share of failures: as much as the share is none,
// in rates as in calls.
func TestStretchesAtTheShare(t *testing.T) {
	var segments []model.Segment
	for i, ratio := range []float64{0.1, math.Nextafter(0.1, 1), 1, 0.1} {
		s := model.Segment{Start: time.Duration(i), End: time.Duration(i + 1)}
		s.ErrorRatio = ratio
		segments = append(segments, s)
	}
	if got := fmt.Sprint(badSegments(segments, 0.1)); got != "[{1ns 3ns}]" {
		t.Errorf("%s, want [{1ns 3ns}]", got)
	}
	for every, want := range map[int]int{10: 0, 9: 1} {
		var calls []Call
		for i := range 10_000 {
			calls = append(calls, Call{End: time.Duration(i), Failed: i%every == 0})
		}
		if got := badCalls(calls, 0.1); len(got) != want {
			t.Errorf("one of %d fails: %v, want %d stretches", every, got, want)
		}
	}
}

// The rank of a quantile is the share of the values rounded up, whatever their
// number.
func TestQuantile(t *testing.T) {
	for n := range 1000 {
		sorted := make([]int, n+1)
		for i := range sorted {
			sorted[i] = i + 1
		}
		for _, percent := range []int{0, 1, 5, 7, 50, 90, 95, 99, 100} {
			got := quantile(sorted, percent)
			if got*100 < percent*len(sorted) || got > 1 && (got-1)*100 >= percent*len(sorted) {
				t.Errorf("%d %% of 1 to %d: %d", percent, len(sorted), got)
			}
		}
	}
}
