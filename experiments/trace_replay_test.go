package experiments

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// twoNodes is a trace with a gap, a node that fails entirely during its own
// incident, and one that fails because of it.
const twoNodes = `start_s,end_s,node,rate_rps,error_ratio,injected
0,100,web,10,0,
0,100,db,10,0,
100,200,web,10,1,
100,200,db,10,1,availability
1000,1100,web,10,0,
1000,1100,db,10,0,
`

func mustReplay(t *testing.T, csv string) *Experiment {
	t.Helper()
	trace, err := model.ReadTrace("t.csv", strings.NewReader(csv))
	if err != nil {
		t.Fatal(err)
	}
	e, err := replayTrace("t", trace)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestReplayJudgesOpenings(t *testing.T) {
	e := mustReplay(t, twoNodes)
	r := mustRun(t, e, Options{Reps: 1, Set: map[string]string{"arrivals": "fixed", "policy": "count-20-20-50"}})
	value := func(node, episode, metric string) float64 {
		i := r.Find(map[string]string{"node": node, "episode": episode})
		if i < 0 {
			t.Fatalf("no cell %s %s", node, episode)
		}
		return r.Values(i, metric)[0]
	}
	// 10/s from 100.05 s on: the 10th failure is at 100.95 s; emptied, the
	// window then trips every 20 calls: 2.95 s, 4.95 s, …
	if got := value("db", "availability@100", "detection_delay_s"); math.Abs(got-0.95) > 1e-9 {
		t.Errorf("delay %v s, want 0.95", got)
	}
	if got := value("db", "availability@100", "openings_count"); got != 1+49 {
		t.Errorf("%v openings, want 50: one at the 10th failure, then one per 20 calls", got)
	}
	if got := value("web", elsewhere, "openings_count"); got != 50 {
		t.Errorf("web: %v openings while the incident is on at db, want 50", got)
	}
	for _, node := range []string{"web", "db"} {
		if got := value(node, quiet, "openings_count"); got != 0 {
			t.Errorf("%s: %v openings while nothing is on, want 0: the window is emptied after the gap", node, got)
		}
	}
	if i := r.Find(map[string]string{"node": "web", "episode": "availability@100"}); i >= 0 {
		t.Error("web has a cell for the incident of db")
	}
}

func TestReplayObservedTimeLeavesOutGaps(t *testing.T) {
	trace, err := model.ReadTrace("t.csv", strings.NewReader(twoNodes))
	if err != nil {
		t.Fatal(err)
	}
	rp := newReplay(trace)
	got := rp.observed("web")
	if got[quiet] != 200*time.Second || got[elsewhere] != 100*time.Second {
		t.Errorf("observed %v, want 200 s quiet and 100 s elsewhere", got)
	}
}

func TestReplayNeedsRates(t *testing.T) {
	trace, err := model.ReadTrace("t.csv", strings.NewReader("start_s,end_s,node,error_ratio\n0,1,a,0\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := replayTrace("t", trace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(e, Options{}); err == nil || !contains(err.Error(), "rate_rps") {
		t.Errorf("error %v, want one that names rate_rps", err)
	}
	if _, err := NewPlan(e, Options{Set: map[string]string{"rate_rps": "5"}}); err != nil {
		t.Errorf("with a rate: %v", err)
	}
}
