package traffic

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A wallclock shows what it is told.
type wallclock struct{ now time.Time }

func (w *wallclock) Now() time.Time { return w.now }

// A player agrees with one that sorts all starts and ends into one list and
// shows them to the breaker.
func TestPlayerAgainstASortedList(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		var calls []Call
		var at time.Duration
		for range 400 {
			at += time.Duration(random.IntN(3)) * time.Second // many equal instants
			c := Call{Latency: time.Duration(random.IntN(4)) * time.Second, Failed: random.Float64() < 0.4}
			if seed%3 == 0 {
				c.Latency = 0
			}
			c.End = at + c.Latency
			calls = append(calls, c)
		}
		slices.SortStableFunc(calls, func(a, b Call) int { return cmp.Compare(a.End, b.End) })
		p := play(t, &Traffic{Calls: calls}, PlayOptions{}, flaky).Plays[0]

		type event struct {
			at   time.Duration
			kind int // 0 ends, 1 starts
			call int
		}
		var events []event
		for i, c := range calls {
			events = append(events, event{c.Start(), 1, i})
			if c.Latency > 0 {
				events = append(events, event{c.End, 0, i})
			}
		}
		slices.SortFunc(events, func(a, b event) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.call, b.call))
		})
		base := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		w := &wallclock{base}
		b, err := flaky.Maker.NewCircuitBreaker(policies.Host{Clock: w})
		if err != nil {
			t.Fatal(err)
		}
		permits := make(map[int]policies.Permit)
		refused, good := 0, 0
		for _, e := range events {
			w.now = base.Add(e.at)
			c := calls[e.call]
			if e.kind == 1 {
				permit, ok := b.Allow()
				if !ok {
					refused++
					good += asInt(!c.Failed)
					continue
				}
				permits[e.call] = permit
			}
			if permit, ok := permits[e.call]; ok && (e.kind == 0 || c.Latency == 0) {
				b.Record(permit, outcome(c))
				delete(permits, e.call)
			}
		}
		s := b.Stats()
		openings := 0
		for _, o := range p.Openings {
			openings += 1 + o.Reopened
		}
		if refused == 0 || p.Refused != refused || p.Good != good || uint64(openings) != s.Openings {
			t.Errorf("seed %d: %d refused, %d good, %d openings; want %d, %d, %d", seed, p.Refused, p.Good, openings, refused, good, s.Openings)
		}
	}
}

// flaky opens easily and probes soon.
var flaky = Breaker{"flaky", policies.BreakerConfig{
	Rule:    policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.TimeWindow, Length: 7 * time.Second}, MinCalls: 3, FailureRate: 0.5},
	OpenFor: 4 * time.Second, Probes: 2,
}}

func TestCallsOfOneInstantKeepTheirOrder(t *testing.T) {
	got := read(t, "x", "ts,status\n1760000000,500\n1760000000,200\n1760000000,500\n", Options{})
	if !got.Calls[0].Failed || got.Calls[1].Failed || !got.Calls[2].Failed {
		t.Errorf("calls %+v, want the order of the file", got.Calls)
	}
	if !strings.Contains(strings.Join(got.Report.Notes, "\n"), "whole seconds") {
		t.Errorf("notes %q do not tell of whole seconds", got.Report.Notes)
	}
}

func TestWholeJobs(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	whole := outage()
	header, rows, _ := strings.Cut(whole, "\n")
	half := strings.Index(rows, "\n1772446590") + 1
	for name, part := range map[string]string{"b.csv": rows[half:], "a.csv": rows[:half]} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(header+"\n"+part), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	var report, trace, replay, csv bytes.Buffer
	if err := Import(&report, &trace, paths, Options{Node: "stock"}); err != nil {
		t.Fatal(err)
	}
	if want := ": 180 calls, 30 failed (16.7 %)"; !strings.Contains(report.String(), want) {
		t.Errorf("report:\n%s\nwant %s", report.String(), want)
	}
	if want := "start_s,end_s,node,rate_rps,error_ratio,latency_mean_s"; !strings.HasPrefix(trace.String(), want) {
		t.Errorf("trace begins %.80q, want %s", trace.String(), want)
	}
	if err := ReplayFiles(context.Background(), &replay, &csv, paths, Options{}, []Breaker{strict, flaky}, PlayOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"strict would have opened at 2026-03-02 10:16:04.1 UTC (+4s", "breaker  openings", "flaky "} {
		if !strings.Contains(replay.String(), want) {
			t.Errorf("replay:\n%s\nwant %s", replay.String(), want)
		}
	}
	if n := strings.Count(csv.String(), "\n"); n < 3 {
		t.Errorf("%d rows, want a header and an opening of each", n)
	}
}

func TestReplayNeedsFailuresAndRates(t *testing.T) {
	for want, text := range map[string]string{
		"no failures were recorded": prometheusRate,
		"no rate_rps":               incidentRows,
	} {
		_, err := read(t, "x", text, Options{}).Play(context.Background(), []Breaker{strict}, PlayOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
