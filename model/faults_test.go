package model_test

import (
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Each user makes one request of a node, and all instants are worked out by
// hand. Unless it says otherwise a service takes 100 ms.

// A user is a request and what is to become of it.
type user struct {
	at    time.Duration
	takes time.Duration
	code  policies.ErrorCode // what the user sees, or one of the following
}

const (
	okay  = policies.ErrorCode(0)    // succeeds
	waits = policies.ErrorCode(1000) // never ends
)

// visit lets users call the first node.
func visit(t *testing.T, name string, nodes []model.Node, call model.Call, users ...user) *model.Ledger {
	t.Helper()
	cfg := model.Config{Nodes: nodes, Horizon: 10 * sec}
	call.To = nodes[0].Name
	for i, u := range users {
		cfg.Clients = append(cfg.Clients, model.Client{
			Name: string(rune('a' + i)), Arrivals: evenly(1), Start: u.at, Requests: 1, Steps: one(call),
		})
	}
	l := mustRun(t, cfg, 0).Ledger()
	for i, u := range users {
		c := l.Clients[i]
		switch {
		case u.code == waits:
			if c.InFlight != 1 {
				t.Errorf("%s: user %s: %+v, want in flight", name, c.Name, c)
			}
		case c.InFlight != 0 || c.Latency != u.takes || (u.code == okay) != (c.Succeeded == 1) || u.code != okay && c.ByCode[u.code] != 1:
			t.Errorf("%s: user %s: %+v, want code %v after %v", name, c.Name, c, u.code, u.takes)
		}
	}
	return l
}

func TestFaults(t *testing.T) {
	during := func(f model.Fault) model.Fault {
		f.Start, f.End = 50*ms, 150*ms
		return f
	}
	for _, test := range []struct {
		name    string
		faults  []model.Fault
		workers int
		stack   model.Stack
		users   []user // before, during and after
	}{
		{"none", nil, 1, nil, []user{{0, 100 * ms, okay}, {60 * ms, 140 * ms, okay}, {150 * ms, 150 * ms, okay}}},
		{"pause", []model.Fault{{Kind: model.FaultPause}}, model.Unlimited, nil,
			[]user{{0, 200 * ms, okay}, {60 * ms, 190 * ms, okay}, {150 * ms, 100 * ms, okay}}},
		{"stall", []model.Fault{{Kind: model.FaultStall}}, model.Unlimited, nil,
			[]user{{0, 100 * ms, okay}, {60 * ms, 190 * ms, okay}, {150 * ms, 100 * ms, okay}}},
		{"crash", []model.Fault{{Kind: model.FaultCrash}}, 1, nil,
			[]user{{0, 50 * ms, policies.ErrReset}, {10 * ms, 40 * ms, policies.ErrReset}, {60 * ms, 0, policies.ErrConnect}, {150 * ms, 100 * ms, okay}}},
		{"crash without answer", []model.Fault{{Kind: model.FaultCrash, Silent: true}}, 1, nil,
			[]user{{0, 0, waits}, {10 * ms, 0, waits}, {60 * ms, 0, waits}, {150 * ms, 100 * ms, okay}}},
		{"crash without answer, a timeout", []model.Fault{{Kind: model.FaultCrash, Silent: true}}, 1, model.Stack{timeout(sec)},
			[]user{{0, sec, policies.ErrTimeout}, {60 * ms, sec, policies.ErrTimeout}, {150 * ms, 100 * ms, okay}}},
		{"slow", []model.Fault{{Kind: model.FaultSlow, Factor: 3}}, model.Unlimited, nil,
			[]user{{0, 100 * ms, okay}, {50 * ms, 300 * ms, okay}, {150 * ms, 100 * ms, okay}}},
		{"slow twice", []model.Fault{{Kind: model.FaultSlow, Factor: 3}, {Kind: model.FaultSlow, Factor: 0.5}}, model.Unlimited, nil,
			[]user{{0, 100 * ms, okay}, {50 * ms, 150 * ms, okay}}},
		{"half of the workers", []model.Fault{{Kind: model.FaultCapacity, Factor: 0.5}}, 2, nil,
			[]user{{50 * ms, 100 * ms, okay}, {50 * ms, 200 * ms, okay}, {150 * ms, 100 * ms, okay}}},
		{"half of a worker", []model.Fault{{Kind: model.FaultCapacity, Factor: 0.5}}, 1, nil,
			[]user{{0, 100 * ms, okay}, {50 * ms, 250 * ms, okay}, {200 * ms, 200 * ms, okay}}},
		{"no worker", []model.Fault{{Kind: model.FaultCapacity}}, 2, nil,
			[]user{{0, 100 * ms, okay}, {60 * ms, 190 * ms, okay}, {150 * ms, 100 * ms, okay}}},
		{"none of any number", []model.Fault{{Kind: model.FaultCapacity}}, model.Unlimited, nil,
			[]user{{60 * ms, 190 * ms, okay}, {150 * ms, 100 * ms, okay}}},
		{"limit", []model.Fault{{Kind: model.FaultLimit, RateRPS: 20}}, model.Unlimited, nil,
			[]user{{0, 100 * ms, okay}, {50 * ms, 100 * ms, okay}, {99 * ms, 0, 503}, {100 * ms, 100 * ms, okay}, {150 * ms, 100 * ms, okay}, {151 * ms, 100 * ms, okay}}},
		{"limit with a burst", []model.Fault{{Kind: model.FaultLimit, RateRPS: 20, Burst: 2}}, model.Unlimited, nil,
			[]user{{50 * ms, 100 * ms, okay}, {51 * ms, 100 * ms, okay}, {99 * ms, 0, 503}, {100 * ms, 100 * ms, okay}, {101 * ms, 0, 503}}},
		{"error", []model.Fault{{Kind: model.FaultError, Code: 404}}, model.Unlimited, nil,
			[]user{{49 * ms, 100 * ms, okay}, {50 * ms, 100 * ms, 404}, {149 * ms, 100 * ms, 404}, {150 * ms, 100 * ms, okay}}},
		{"error at once", []model.Fault{{Kind: model.FaultError, Fast: true}}, 1, nil,
			[]user{{0, 100 * ms, okay}, {60 * ms, 0, 503}, {60 * ms, 0, 503}, {150 * ms, 100 * ms, okay}}},
		{"the error of a service that begins later", []model.Fault{{Kind: model.FaultError}}, 1, nil,
			[]user{{0, 100 * ms, okay}, {0, 200 * ms, 503}, {0, 300 * ms, okay}}},
		{"the first of two errors", []model.Fault{{Kind: model.FaultError, Code: 404}, {Kind: model.FaultError, Code: 500}}, model.Unlimited, nil,
			[]user{{60 * ms, 100 * ms, 404}}},
		{"pause of a queue that is full", []model.Fault{{Kind: model.FaultPause}, {Kind: model.FaultStall}}, 1, nil,
			[]user{{0, 200 * ms, okay}, {60 * ms, 240 * ms, okay}}},
	} {
		b := backend("B", 100*ms)
		b.Workers = test.workers
		for _, f := range test.faults {
			b.Faults = append(b.Faults, during(f))
		}
		visit(t, test.name, []model.Node{b}, model.Call{Stack: test.stack}, test.users...)
	}
}

// A fault of one replica of two, with the calls in turn.
func TestFaultOfAReplica(t *testing.T) {
	for replica, kind := range []string{model.FaultError, model.FaultCrash} {
		b := backend("B", 100*ms, model.Fault{Kind: kind, Start: sec, Replica: model.Known(replica)})
		b.Replicas = 2
		l := mustRun(t, model.Config{
			Nodes:   []model.Node{b},
			Clients: []model.Client{{Name: "client", Arrivals: evenly(100), Requests: 300, Steps: one(model.Call{To: "B"})}},
			Horizon: 10 * sec,
		}, 0).Ledger().Client("client")
		lost := l.ByCode[policies.ErrReset] // those that were under way
		if l.Failed != 100+lost || kind == model.FaultError && lost != 0 || kind == model.FaultCrash && lost != 5 {
			t.Errorf("%s: %d of 300 fail, by code %v, want every other one from 1 s on", kind, l.Failed, l.ByCode)
		}
	}
}

// A trace is errors, capacity and latency at a time.
func TestFaultsOfATrace(t *testing.T) {
	b := backend("B", 100*ms)
	b.Workers = 2
	b.Trace = []model.Segment{
		{Node: "B", Start: sec, End: 2 * sec, Condition: model.Condition{ErrorRatio: 1}},
		{Node: "B", Start: 2 * sec, End: 3 * sec, Condition: model.Condition{CapacityFactor: model.Known(0.5)}},
		{Node: "B", Start: 4 * sec, End: 5 * sec, Condition: model.Condition{CapacityFactor: model.Known(0.0)}},
		{Node: "B", Start: 6 * sec, End: 7 * sec, Condition: model.Condition{LatencyMean: model.Known(time.Duration(0))}},
	}
	visit(t, "trace", []model.Node{b}, model.Call{},
		user{0, 100 * ms, okay}, user{1500 * ms, 100 * ms, 503}, user{2500 * ms, 100 * ms, okay}, user{2500 * ms, 200 * ms, okay},
		user{3500 * ms, 100 * ms, okay}, user{3500 * ms, 100 * ms, okay}, user{4500 * ms, 600 * ms, okay}, user{6500 * ms, 0, okay})
}

// The share of calls that fail, and the share of the capacity that is left,
// in the long run.
func TestFaultShares(t *testing.T) {
	saturated := func(b model.Node) *model.NodeLedger {
		cfg := model.Config{
			Nodes:   []model.Node{b},
			Clients: []model.Client{{Name: "client", Loop: model.ClosedLoop{Clients: 50}, Steps: one(model.Call{To: "B"})}},
			Horizon: 1000 * sec,
		}
		return mustRun(t, cfg, 0).Ledger().Node("B")
	}
	b := backend("B", 100*ms, model.Fault{Kind: model.FaultError, Ratio: 0.3})
	b.Workers = 4
	l := saturated(b)
	n := float64(l.Succeeded + l.Failed)
	if got, sd := float64(l.Failed)/n, math.Sqrt(0.3*0.7/n); math.Abs(got-0.3) > 4*sd {
		t.Errorf("%v of the calls fail, want 0.3 ± %v", got, 4*sd)
	}
	for _, share := range []float64{1, 0.9, 0.75, 0.5, 0.3, 0.25, 0.1, 0.01} {
		b := backend("B", 100*ms, model.Fault{Kind: model.FaultCapacity, Factor: share})
		b.Workers = 4
		if got, want := float64(saturated(b).Succeeded), share*40*1000; math.Abs(got-want) > 5 {
			t.Errorf("capacity %v: %v calls in 1000 s, want %v", share, got, want)
		}
	}
}
