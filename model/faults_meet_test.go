package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
)

// Every pair of faults, at every way in which their instants can coincide,
// leaves a ledger that balances.
func TestFaultsThatMeet(t *testing.T) {
	kinds := []model.Fault{
		{Kind: model.FaultError, Ratio: 0.5}, {Kind: model.FaultError, Fast: true}, {Kind: model.FaultSlow, Factor: 3},
		{Kind: model.FaultCapacity, Factor: 0.3}, {Kind: model.FaultCapacity}, {Kind: model.FaultLimit, RateRPS: 20},
		{Kind: model.FaultStall}, {Kind: model.FaultPause}, {Kind: model.FaultCrash}, {Kind: model.FaultCrash, Silent: true},
	}
	spans := [][4]int{{1, 2, 1, 2}, {1, 2, 2, 3}, {2, 3, 1, 2}, {1, 3, 1, 2}, {1, 3, 2, 3}, {0, 1, 0, 2}}
	for i, a := range kinds {
		for k, b := range kinds {
			for _, s := range spans {
				a.Start, a.End = time.Duration(s[0])*sec, time.Duration(s[1])*sec
				b.Start, b.End = time.Duration(s[2])*sec, time.Duration(s[3])*sec
				t.Run(fmt.Sprint(i, k, s), func(t *testing.T) {
					law := model.Law{Kind: model.Exponential, Mean: 50 * ms}
					mustRun(t, model.Config{
						Nodes: []model.Node{
							{Name: "A", Workers: 4, Service: law, Faults: []model.Fault{a, b},
								Steps: one(model.Call{To: "B", Stack: model.Stack{retries(2, nil), timeout(100 * ms)}})},
							{Name: "B", Workers: 4, Service: law, Cancel: true, Faults: []model.Fault{b}},
						},
						Clients: []model.Client{{Name: "x", Arrivals: evenly(40),
							Steps: one(model.Call{To: "A", Stack: model.Stack{retries(2, nil), timeout(200 * ms)}})}},
						Horizon: 4 * sec,
					}, 0)
				})
			}
		}
	}
}

// Of two limits the stricter one counts, in any order, and other faults leave
// their buckets alone.
func TestLimitsThatMeet(t *testing.T) {
	for _, rates := range [][2]float64{{1, 50}, {50, 1}} {
		faults := []model.Fault{{Kind: model.FaultLimit, RateRPS: rates[0]}, {Kind: model.FaultLimit, RateRPS: rates[1]}}
		for at := range 100 {
			faults = append(faults, model.Fault{Kind: model.FaultSlow, Factor: 1, Start: time.Duration(100*at+37) * ms, End: time.Duration(100*at+53) * ms})
		}
		s := mustRun(t, model.Config{
			Nodes:   []model.Node{backend("A", 0, faults...)},
			Clients: []model.Client{{Name: "x", Arrivals: evenly(100), Steps: one(model.Call{To: "A"})}},
			Horizon: 10 * sec,
		}, 0)
		if got := s.Ledger().Node("A").Succeeded; got != 10 {
			t.Errorf("limits %v: %d calls let in during 10 s, want 10", rates, got)
		}
	}
}

// A call that has expired on its way is not served, although a worker is free.
func TestExpiredAtTheDoor(t *testing.T) {
	s := mustRun(t, model.Config{
		Nodes: []model.Node{{Name: "A", Workers: 1, Service: constant(ms), Queue: model.Queue{DropExpired: true}}},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(10), Steps: one(model.Call{To: "A", PropagateDeadline: true,
			Request: constant(50 * ms), Stack: model.Stack{timeout(20 * ms)}})}},
		Horizon: 10 * sec,
	}, 0)
	if n := s.Ledger().Node("A"); n.Begun != 0 || n.Rejected != n.Attempts || n.Attempts < 99 {
		t.Errorf("%d of %d served and %d rejected, want none and all", n.Begun, n.Attempts, n.Rejected)
	}
}

// The least share of the capacity still is a worker, if a slow one.
func TestTinyCapacity(t *testing.T) {
	s := mustRun(t, model.Config{
		Nodes:   []model.Node{{Name: "A", Workers: 4, Service: constant(ms), Faults: []model.Fault{{Kind: model.FaultCapacity, Factor: 1e-10}}}},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(10), Steps: one(model.Call{To: "A"})}}, Horizon: sec,
	}, 0)
	if n := s.Ledger().Node("A"); n.Begun != 1 {
		t.Errorf("%d services begun, want 1 that does not end", n.Begun)
	}
}

// In a pause nothing leaves the node, also if its own call has ended.
func TestPauseHoldsAnswers(t *testing.T) {
	s := mustRun(t, model.Config{
		Nodes: []model.Node{
			{Name: "A", Workers: 1, Steps: one(model.Call{To: "B"}), Faults: []model.Fault{{Kind: model.FaultPause, Start: 5 * ms, End: 500 * ms}}},
			backend("B", 20*ms),
		},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(1), Requests: 1, Steps: one(model.Call{To: "A"})}}, Horizon: sec,
	}, 0)
	if got := s.Ledger().Client("x").Latency; got != 500*ms {
		t.Errorf("answered after %v, want 500 ms", got)
	}
}

// Sums of time that cannot be counted are an error, not a number.
func TestTooMuchTime(t *testing.T) {
	s := mustSystem(t, model.Config{
		Nodes:   []model.Node{{Name: "A", Workers: 1, Service: constant(1000 * time.Hour)}},
		Clients: []model.Client{{Name: "x", Arrivals: evenly(0.01), Steps: one(model.Call{To: "A"})}}, Horizon: 2000 * time.Hour,
	}, 0)
	want := `model: node "A": waits or services of more than 146 years in all`
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
