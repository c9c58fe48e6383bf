package experiments

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/model"
)

// oneRun is a plan of one replication of the first cell that can be logged.
func oneRun(t *testing.T, e *Experiment) *Plan {
	t.Helper()
	all, err := NewPlan(e, Options{Seed: 7, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all.Cells, e.Logs)
	if i < 0 {
		t.Fatalf("%s: no cell of the default levels has a log", e.Name)
	}
	set := map[string]string{}
	for k, f := range e.Factors {
		if !f.Panel {
			set[f.Name] = all.Cells[i].levels[k]
		}
	}
	p, err := NewPlan(e, Options{Seed: 7, Reps: 1, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every experiment that has a log tells every try once: the measures of the
// log are those of the table. And to be logged changes no result.
func TestLogs(t *testing.T) {
	for _, e := range All() {
		if e.Logs == nil {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			p := oneRun(t, e)
			var m model.Measures
			pending, done := false, 0
			logged, err := p.LogTries(func(y *model.Try) {
				m.Tries++
				if y.Number > 1 {
					m.Repeats++
					if y.OK {
						m.RepeatsSucceeded++
					}
				}
				m.MostAttempts = max(m.MostAttempts, uint64(y.Number))
				if pending && !y.Pending {
					t.Errorf("a try that has ended, %+v, after one that has not", *y)
				}
				pending = y.Pending
			}, func() { done++ })
			if err != nil {
				t.Fatal(err)
			}
			var tables [2]bytes.Buffer
			var with *Result
			for i, p := range []*Plan{p, logged} {
				if with, err = p.Run(context.Background(), 1, nil); err != nil {
					t.Fatal(err)
				}
				if err := with.Runs().WriteCSV(&tables[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(tables[0].Bytes(), tables[1].Bytes()) {
				t.Errorf("without and with a log:\n%s\n%s", &tables[0], &tables[1])
			}
			if m.Tries == 0 || done != 1 {
				t.Errorf("%d tries, done %d times", m.Tries, done)
			}
			if !e.has("retry_ratio") {
				t.Errorf("%s has a log, but no measures of retries", e.Name)
				return
			}
			for metric, want := range map[string]float64{
				"retry_ratio": m.RetryRatio(), "retry_success_ratio": m.RetrySuccessRatio(), "most_attempts_count": float64(m.MostAttempts),
			} {
				// Of panels, those that show the whole run have them.
				got := math.NaN()
				for i := range logged.Cells {
					if v := with.values[i][0][with.metric(metric)]; !math.IsNaN(v) {
						got = v
					}
				}
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s %v, of the log %v", metric, got, want)
				}
			}
		})
	}
}

func TestLogWants(t *testing.T) {
	none := func(*model.Try) {}
	for _, c := range []struct {
		exp  string
		set  map[string]string
		want string
	}{
		{"false-trips", nil, "false-trips has no log"},
		{"contention", nil, "contention has no log"},
		{"amplification", map[string]string{"policy": "retry-3"}, "want one level of each factor: set failure_ratio (has"},
		{"amplification", map[string]string{"failure_ratio": "1"}, "set policy (has"},
	} {
		e, err := Lookup(c.exp)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(e, Options{Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.LogTries(none, func() {}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: error %v, want one with %q", c.exp, c.set, err, c.want)
		}
	}
}
