package traffic

import (
	"bytes"
	"cmp"
	"context"
	"io"
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
				o := policies.Outcome{Latency: c.Latency}
				if c.Failed {
					o.Err = c.Code
				}
				b.Record(permit, o)
				delete(permits, e.call)
			}
		}
		s := b.Stats()
		told, reopened := 0, 0
		for _, o := range p.Trips {
			told += 1 + o.Reopened
			reopened += o.Reopened
		}
		if refused == 0 || p.Refused != refused || p.Good != good || uint64(p.Openings) != s.Openings || told != p.Openings || reopened != p.Reopenings {
			t.Errorf("seed %d: %d refused, %d good, %d openings, %d in trips; want %d, %d, %d", seed, p.Refused, p.Good, p.Openings, told, refused, good, s.Openings)
		}
	}
}

// flaky opens easily and probes soon.
var flaky = Breaker{Name: "flaky", Maker: policies.BreakerConfig{
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
	tr, err := ReadFiles(paths, Options{Node: "stock"})
	if err != nil {
		t.Fatal(err)
	}
	r := play(t, tr, PlayOptions{}, strict, flaky)
	for _, c := range []struct {
		write func(io.Writer) error
		want  []string
	}{
		{tr.Report.Write, []string{": 180 calls, 30 failed (16.7 %)"}},
		{tr.WriteTrace, []string{"start_s,end_s,node,rate_rps,error_ratio,latency_mean_s"}},
		{r.Write, []string{"strict would have opened at 2026-03-02 10:16:04.1 UTC (+4s", "breaker  openings", "flaky "}},
		{r.Table().WriteCSV, []string{"breaker,replication,failures,failures_began_s,opened_s,delay_s,closed_s,openings_count,reopenings_count,refused_count,refused_good_count\n", "\nstrict,0,1,", "\nflaky,0,1,"}},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("got:\n%s\nwant %s", b.String(), want)
			}
		}
	}
}

func TestReplayNeedsFailuresAndRates(t *testing.T) {
	for want, text := range map[string]string{
		"no failures were recorded":           prometheusRate,
		"the interval from 0s states no rate": incidentRows,
	} {
		tr := read(t, "x", text, Options{})
		_, err := tr.Play(context.Background(), []Breaker{strict}, PlayOptions{})
		for _, err := range []error{err, tr.CanPlay()} {
			if err == nil || !strings.HasPrefix(err.Error(), "x: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want x: %s", err, want)
			}
		}
	}
}
