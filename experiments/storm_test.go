package experiments

import (
	"math"
	"strings"
	"testing"
)

// A node that is down: every second as computed, to the last call.
func TestStormOfANodeThatIsDown(t *testing.T) {
	r := mustRun(t, storm(), Options{Seed: 1, Reps: 1, Set: map[string]string{"failure": "error,hang", "topology": "1,4,4*3,3-3,4-3,2-3-2,3-1-2*2", "timeout_s": "0.75,3", "rate_rps": "100"}})
	checked := 0
	for i, c := range r.Plan.Cells {
		for _, m := range r.Plan.Experiment.Metrics[:5] {
			s := r.Stat(i, m.Name)
			if math.IsNaN(s.Exact) {
				continue
			}
			checked++
			if math.IsInf(s.Exact, 1) && s.N == 0 {
				continue
			}
			if math.Abs(s.Mean-s.Exact) > 1e-9*s.Exact {
				t.Errorf("%s: %s %v, closed form %v", c, m.Name, s.Mean, s.Exact)
			}
		}
	}
	if checked < 120 {
		t.Errorf("%d closed forms, want at least 120", checked)
	}
}

// The article's twelvefold: which topologies make it, and that timeouts of 3 s
// make none of it within two seconds.
func TestStormTwelvefold(t *testing.T) {
	r := mustRun(t, storm(), Options{Reps: 1, Set: map[string]string{"failure": "error,hang", "topology": "4,4*3,4-3", "claim_ratio": "12", "rate_rps": "500"}})
	for _, want := range []struct {
		failure, topology         string
		soon, load, growth, reach float64
	}{
		{"error", "4", 2000, 4, 4, math.Inf(1)},
		{"error", "4*3", 6000, 12, 4, math.Inf(1)},
		{"error", "4-3", 6000, 12, 12, 1},
		{"hang", "4", 500, 4, 4, math.Inf(1)},
		{"hang", "4*3", 1500, 12, 4, math.Inf(1)},
		{"hang", "4-3", 500, 12, 12, 16},
	} {
		i := r.Find(map[string]string{"failure": want.failure, "topology": want.topology})
		got := []float64{r.Stat(i, "load_after_2s_rps").Mean, r.Stat(i, "load_ratio").Mean, r.Stat(i, "growth_ratio").Mean, r.Values(i, "reach_s")[0]}
		for k, v := range []float64{want.soon, want.load, want.growth, want.reach} {
			if got[k] != v {
				t.Errorf("%s, %s: %v, want %v", want.failure, want.topology, got, want)
				break
			}
		}
	}
}

// 0.3 % at random are 1.003 times the load; the same in a stall, with little
// capacity to spare, all attempts of all requests.
func TestStormOfFewFailures(t *testing.T) {
	r := mustRun(t, storm(), Options{Seed: 1, Reps: 4, Set: map[string]string{"failure": "random", "topology": "4,4-3*2", "capacity_ratio": "2", "rate_rps": "200", "failure_ratio": "0.003,0.05"}})
	mustBeExact(t, r, 4)
	r = mustRun(t, storm(), Options{Seed: 1, Reps: 1, Set: map[string]string{"failure": "stall", "topology": "4-3", "capacity_ratio": "1.2,3", "rate_rps": "100"}})
	if v := r.Stat(0, "mean_growth_ratio").Mean; v < 11 {
		t.Errorf("capacity 1.2: growth %v after the stall, want all 12 attempts", v)
	}
	if v := r.Stat(1, "mean_growth_ratio").Mean; v > 1.01 {
		t.Errorf("capacity 3: growth %v after the stall, want none", v)
	}
}

// What the notes say of a configuration is what its runs did: with requests at
// random, 9 attempts for each make a second of ten times the load in some runs.
func TestStormNotesFollowTheRuns(t *testing.T) {
	r := mustRun(t, storm(), Options{Seed: 1, Reps: 6, Set: map[string]string{"failure": "stall", "topology": "4,3-3,4-3", "capacity_ratio": "1.2,3", "rate_rps": "50"}})
	texts := reportStorm(r)
	if len(texts) != 1 {
		t.Fatalf("%d tables, want 1", len(texts))
	}
	seen := map[string]int{}
	for i, c := range r.Plan.Cells {
		reach := r.Stat(i, "reach_s")
		want := "load in every run"
		switch {
		case reach.N == 0 && c.topology().product() < 10:
			want = "Not reached with fewer than 10 attempts"
		case reach.N == 0:
			want = "Not reached though there are attempts enough"
		case reach.Censored > 0:
			want = "load in some runs"
		}
		seen[want]++
		for _, n := range texts[0].Notes {
			lists := strings.Contains(n, " load in ") || strings.HasPrefix(n, "Not reached")
			_, list, _ := strings.Cut(n, ": ")
			has := false
			for _, part := range strings.Split(strings.TrimSuffix(list, "."), "; ") {
				name, capacities, _ := strings.Cut(part, " (capacity ")
				has = has || name == c.topology().String() && strings.Contains(" "+capacities, " "+c.Text("capacity_ratio"))
			}
			if lists && strings.Contains(n, want) != has {
				t.Errorf("%s: reached in %d of %d runs, note %q", c, reach.N, reach.N+reach.Censored, n)
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("outcomes %v, want at least three kinds", seen)
	}
}

func TestTopologySpec(t *testing.T) {
	for text, want := range map[string]string{"4": "1 layer: 4 attempts", "4*3": "1 layer: 4 attempts, 3 copies", "3-4-5": "3 layers: 3 × 4 × 5 attempts", "4*1": "1 layer: 4 attempts"} {
		s, err := parseTopology(text)
		if err != nil || s.String() != want {
			t.Errorf("%s: %q, error %v, want %q", text, s, err, want)
		}
	}
	for text, part := range map[string]string{"": `"" attempts`, "0": `"0" attempts`, "4*0": `"0" copies`, "4-": `"" attempts`, "50-50-50": "too many", "x": `"x" attempts`, "1-1-1-1-1-1-1-1-1-1-1": "too many"} {
		mustRefuse(t, storm(), map[string]string{"topology": text}, part)
	}
	mustRefuse(t, storm(), map[string]string{"rate_rps": "100000", "length_s": "100000"}, "want at most")
}
