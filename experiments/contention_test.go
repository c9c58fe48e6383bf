package experiments

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
)

// A published number is a mean of 100 runs without its decimals: with our mean
// m it must be consistent, from m - 1 of its units to m, widened by 3.5
// standard errors of the difference. Beside that, none may be far off.
func TestContentionReproducesThePublishedTable(t *testing.T) {
	const theirRuns = 100
	r := mustRun(t, contention(), Options{Seed: 1, Reps: 400})
	n := 0
	for i, c := range r.Plan.Cells {
		calls, completion := publishedOf(c)
		if math.IsNaN(calls) {
			t.Errorf("%v: nothing is published", c)
			continue
		}
		n++
		for _, m := range []struct {
			name        string
			their, unit float64
			near        float64 // largest relative distance
		}{{"calls_count", calls, 1, 0.015}, {"completion_s", completion, 0.001, 0.03}} {
			s := r.Stat(i, m.name)
			se := s.SD * math.Sqrt(1/float64(s.N)+1.0/theirRuns)
			if m.their < s.Mean-m.unit-3.5*se || m.their > s.Mean+3.5*se {
				t.Errorf("%v: %s %v ± %v, published %v", c, m.name, s.Mean, se, m.their)
			}
			// Ten clients have too much luck for an exponential back-off.
			if far := math.Max(m.their-s.Mean, s.Mean-m.their-m.unit); far > m.near*s.Mean && se < m.near*s.Mean/2 {
				t.Errorf("%v: %s %v, published %v, want within %v", c, m.name, s.Mean, m.their, m.near)
			}
		}
	}
	if n != 15 {
		t.Errorf("%d cells are published, want 15", n)
	}
	if s, _ := r.Lookup(map[string]string{"clients": "100", "backoff": "decorrelated"}, "completion_s"); s.Mean < 4.41 || s.Mean > 4.66 {
		t.Errorf("decorrelated: %v s, want 4.41 to 4.66", s.Mean)
	}
}

// What the article concludes, in every set of 30 replications.
func TestContentionPattern(t *testing.T) {
	for seed := range uint64(3) {
		r := mustRun(t, contention(), Options{Seed: seed, Reps: 30, Set: map[string]string{"clients": "50,100"}})
		for _, clients := range []string{"50", "100"} {
			get := func(kind, metric string) Stat {
				s, ok := r.Lookup(map[string]string{"clients": clients, "backoff": kind}, metric)
				if !ok {
					t.Fatalf("no cell of %s", kind)
				}
				return s
			}
			inOrder := func(metric string, kinds ...string) {
				for i := 1; i < len(kinds); i++ {
					if a, b := get(kinds[i-1], metric), get(kinds[i], metric); a.Hi >= b.Lo {
						t.Errorf("seed %d, %s clients, %s: %s %v to %v, %s %v to %v, want in this order", seed, clients, metric,
							kinds[i-1], a.Lo, a.Hi, kinds[i], b.Lo, b.Hi)
					}
				}
			}
			inOrder("calls_count", "full", "equal", "decorrelated", "exponential", "none")
			inOrder("completion_s", "none", "decorrelated", "equal", "exponential")
			inOrder("completion_s", "none", "full", "equal")
			if full, none := get("full", "calls_count").Mean, get("none", "calls_count").Mean; full > none/2 {
				t.Errorf("full jitter needs %v calls of %v without back-off, want less than half", full, none)
			}
		}
	}
}

// Closed forms: exact ones exactly, means by interval.
func TestContentionClosedForms(t *testing.T) {
	all := "none,exponential,equal,full,decorrelated,fixed"
	for _, set := range []map[string]string{
		{"clients": "1,2", "backoff": all, "network_sd_s": "0"},
		{"clients": "2", "backoff": all, "network_sd_s": "0", "cap_s": "0.008", "network_mean_s": "0"},
		{"clients": "3,40,100", "backoff": "none,exponential,fixed", "network_sd_s": "0"},
		{"clients": "1", "network_mean_s": "0,0.001,0.01"},
	} {
		r := mustRun(t, contention(), Options{Seed: 2, Reps: 500, Set: set})
		for i, c := range r.Plan.Cells {
			for _, m := range r.Plan.Experiment.Metrics {
				s := r.Stat(i, m.Name)
				switch {
				case math.IsNaN(s.Exact):
					t.Errorf("%v: %s has no closed form", c, m.Name)
				case s.SD == 0 && math.Abs(s.Mean-s.Exact) > 1e-12*s.Exact, s.SD > 0 && math.Abs(s.Z) > 4:
					t.Errorf("%v: %s %v, closed form %v, z %v", c, m.Name, s.Mean, s.Exact, s.Z)
				}
				kind := policies.BackoffKind(c.Text("backoff"))
				if random := m.Name == "completion_s" && (c.Float("network_sd_s") > 0 || jittered(kind) && c.Text("clients") != "1"); random != (s.SD > 1e-12) {
					t.Errorf("%v: standard deviation of %s is %v", c, m.Name, s.SD)
				}
			}
		}
	}
	for _, set := range []map[string]string{
		{"clients": "3", "backoff": "full,equal,decorrelated", "network_sd_s": "0"},
		{"clients": "2"},
	} {
		r := mustRun(t, contention(), Options{Reps: 2, Set: set})
		for i, c := range r.Plan.Cells {
			if s := r.Stat(i, "completion_s"); !math.IsNaN(s.Exact) {
				t.Errorf("%v: closed form %v, want none", c, s.Exact)
			}
		}
	}
}

func TestFoldedNormalMean(t *testing.T) {
	for _, c := range []struct{ m, s, want float64 }{
		{0, 1, math.Sqrt(2 / math.Pi)}, {10, 2, 10.00000021386}, {1, 1, 1.16663094}, {5, 0.01, 5},
	} {
		if got := foldedNormalMean(c.m, c.s); math.Abs(got-c.want) > 1e-7 {
			t.Errorf("mean of |N(%v, %v)| is %v, want %v", c.m, c.s, got, c.want)
		}
	}
}

func TestContentionRefuses(t *testing.T) {
	for _, c := range []struct {
		name, levels, want string
	}{
		{"clients", "0", "factor clients: 0, want a number from 1 to 10000"},
		{"clients", "1.5", "factor clients: 1.5, want a whole number"},
		{"clients", "10001", "factor clients: 10001, want a number from 1 to 10000"},
		{"backoff", "linear", `factor backoff: "linear"`},
		{"base_s", "0", "factor base_s: 0, want a number from 1e-09 to 31536000"},
		{"base_s", "3", "factor cap_s: 2, want at least base_s, 3"},
		{"cap_s", "31536001", "factor cap_s: 31536001, want a number from 1e-09 to 31536000"},
		{"first_exponent", "63", "factor first_exponent: 63, want a number from 0 to 62"},
		{"network_mean_s", "-1", "factor network_mean_s: -1, want a number from 0 to 1000000"},
		{"network_sd_s", "1e6", "contention: clients × longest attempt = 100 × "},
		{"network_sd_s", "NaN", "factor network_sd_s"},
	} {
		_, err := NewPlan(contention(), Options{Set: map[string]string{c.name: c.levels}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: error %v, want one with %q", c.name, c.levels, err, c.want)
		}
	}
	// Kinds that have no cap take any.
	mustPlan(t, contention(), Options{Set: map[string]string{"base_s": "3", "backoff": "none,fixed"}})
}

// The extremes that are allowed run, and end.
func TestContentionExtremes(t *testing.T) {
	for _, set := range []map[string]string{
		{"clients": "300", "network_mean_s": "0", "network_sd_s": "0", "backoff": "none"}, // all in one instant
		{"clients": "100", "cap_s": "31536000", "base_s": "31536000", "first_exponent": "62", "network_mean_s": "1000"},
		{"clients": "30", "network_mean_s": "0", "network_sd_s": "10000"},
		{"clients": "30", "base_s": "1e-9", "cap_s": "1e-9", "first_exponent": "0"},
	} {
		r := mustRun(t, contention(), Options{Reps: 2, Set: set})
		for i, c := range r.Plan.Cells {
			s, n := r.Stat(i, "calls_count"), c.Float("clients")
			if time := r.Stat(i, "completion_s").Mean; !(s.Mean >= n && s.Mean <= n*(n+1)/2) || !(time >= 0 && time < maxSeconds) {
				t.Errorf("%v: %v calls, %v s", c, s.Mean, time)
			}
		}
	}
}

// A run that is called off ends early.
func TestContentionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := mustPlan(t, contention(), Options{Set: map[string]string{"clients": "5000", "backoff": "none"}})
	if _, err := measureContention(ctx, p.Job(0, 0)); err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestContentionReport(t *testing.T) {
	report := func(set map[string]string) string {
		r := mustRun(t, contention(), Options{Reps: 30, Set: set})
		var b strings.Builder
		for _, text := range reportContention(r) {
			text.DropEmpty(Blank)
			if err := text.Write(&b); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	text := report(nil)
	for _, want := range []string{"2421", "62.862", "published", "At 100 clients, compared with an exponential back-off without jitter: equal jitter makes 44 % of the calls", "aws-samples/aws-arch-backoff-simulator"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the report:\n%s", want, text)
		}
	}
	// Other parameters have nothing published.
	text = report(map[string]string{"network_sd_s": "0", "clients": "2", "cap_s": "1,2"})
	for _, bad := range []string{"published", "Published"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in the report:\n%s", bad, text)
		}
	}
	if !strings.Contains(text, "exact") || !strings.Contains(text, "cap_s=1") {
		t.Errorf("no closed form, or rows that cannot be told apart:\n%s", text)
	}
}

func TestContentionPublishedTable(t *testing.T) {
	r := mustRun(t, contention(), Options{Reps: 1, Set: map[string]string{"clients": "10,20", "network_sd_s": "0.002,0.004"}})
	tables, err := publishedContention(context.Background(), r)
	if err != nil || len(tables) != 1 || len(tables[0].Rows) != 5 {
		t.Fatalf("%d tables, error %v, want one with the 5 kinds of 10 clients", len(tables), err)
	}
	row := tables[0].Select(map[string]string{"backoff": "decorrelated"})[0]
	if calls, s := tables[0].Value(row, "calls_count"), tables[0].Value(row, "completion_s"); calls != 37 || s != 0.434 {
		t.Errorf("%v calls, %v s, want 37 and 0.434", calls, s)
	}
	r = mustRun(t, contention(), Options{Reps: 1, Set: map[string]string{"clients": "7"}})
	if tables, err := publishedContention(context.Background(), r); err != nil || len(tables) != 0 {
		t.Errorf("%d tables, error %v, want none", len(tables), err)
	}
}
