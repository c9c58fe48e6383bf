package model_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// one worker serves 100 ms.
func oneWorker(change func(b *model.Node)) []model.Node {
	b := backend("B", 100*ms)
	b.Workers = 1
	change(&b)
	return []model.Node{b}
}

func TestQueueOrders(t *testing.T) {
	visit(t, "FIFO", oneWorker(func(b *model.Node) { b.Queue.Order = model.FIFO }), model.Call{},
		user{0, 100 * ms, okay}, user{10 * ms, 190 * ms, okay}, user{20 * ms, 280 * ms, okay})
	visit(t, "LIFO", oneWorker(func(b *model.Node) { b.Queue.Order = model.LIFO }), model.Call{},
		user{0, 100 * ms, okay}, user{10 * ms, 290 * ms, okay}, user{20 * ms, 180 * ms, okay})
	visit(t, "room for one", oneWorker(func(b *model.Node) { b.Queue.Limit = model.Known(1) }), model.Call{},
		user{0, 100 * ms, okay}, user{10 * ms, 190 * ms, okay}, user{20 * ms, 0, 503}, user{101 * ms, 199 * ms, okay})
	visit(t, "room for none", oneWorker(func(b *model.Node) { b.Queue.Limit = model.Known(0) }), model.Call{},
		user{0, 100 * ms, okay}, user{10 * ms, 0, 503}, user{101 * ms, 100 * ms, okay}, user{101 * ms, 0, 503})
}

func TestShed(t *testing.T) {
	visit(t, "two in flight", oneWorker(func(b *model.Node) { b.Shed.InFlight = 2 }), model.Call{},
		user{0, 100 * ms, okay}, user{10 * ms, 190 * ms, okay}, user{20 * ms, 0, 503}, user{110 * ms, 190 * ms, okay})
	visit(t, "20 a second", []model.Node{{Name: "B", Workers: model.Unlimited, Shed: model.Shed{RateRPS: 20, Burst: 2}}}, model.Call{},
		user{0, 0, okay}, user{0, 0, okay}, user{49 * ms, 0, 503}, user{50 * ms, 0, okay}, user{99 * ms, 0, 503},
		user{sec, 0, okay}, user{sec, 0, okay}, user{sec, 0, 503})
}

// The instants are those of users a, b and c, who arrive at once and wait for
// 150 ms: a is served, b is under way when he leaves, c waits. Where b makes room
// for c, c begins before he leaves at the same instant.
func TestAbandonedWork(t *testing.T) {
	abc := []user{{0, 100 * ms, okay}, {0, 150 * ms, policies.ErrTimeout}, {0, 150 * ms, policies.ErrTimeout}}
	call := model.Call{Stack: model.Stack{timeout(150 * ms)}, PropagateDeadline: true}
	for _, test := range []struct {
		name                     string
		change                   func(b *model.Node)
		rejected, abandoned      uint64
		begun                    uint64
		abandonedWork, sojournMS time.Duration
	}{
		{"done to the end", func(b *model.Node) {}, 0, 2, 3, 200 * ms, 600},
		{"expired work is dropped", func(b *model.Node) { b.Queue.DropExpired = true }, 1, 1, 2, 100 * ms, 500},
		{"cancelled", func(b *model.Node) { b.Cancel = true }, 0, 2, 3, 50 * ms, 400},
		{"cancelled while it stands still", func(b *model.Node) {
			b.Cancel = true
			b.Faults = []model.Fault{{Kind: model.FaultPause, Start: 120 * ms, End: sec}}
		}, 0, 2, 2, 20 * ms, 400},
	} {
		l := visit(t, test.name, oneWorker(test.change), call, abc...).Node("B")
		if l.Rejected != test.rejected || l.Abandoned != test.abandoned || l.Begun != test.begun ||
			l.AbandonedWork != test.abandonedWork || l.Useful != 100*ms || l.Sojourn != test.sojournMS*ms || l.Busy != 100*ms+test.abandonedWork {
			t.Errorf("%s: %+v, want %d rejected, %d abandoned, %d begun, %v abandoned work, %v ms sojourn",
				test.name, *l, test.rejected, test.abandoned, test.begun, test.abandonedWork, int64(test.sojournMS))
		}
	}
	l := visit(t, "told nothing", oneWorker(func(b *model.Node) { b.Queue.DropExpired = true }), model.Call{Stack: call.Stack}, abc...).Node("B")
	if l.Rejected != 0 || l.Begun != 3 {
		t.Errorf("without propagation: %+v, want 3 begun", *l)
	}
}

// The user leaves A at 50 ms; B, that A has called, learns of it if A cancels.
func TestCancelPassesOn(t *testing.T) {
	for _, test := range []struct {
		a, b bool
		work time.Duration // at B, of which nothing is useful
	}{{true, true, 50 * ms}, {true, false, 100 * ms}, {false, true, 100 * ms}, {false, false, 100 * ms}} {
		nodes := []model.Node{relay("A", model.Call{To: "B"}), backend("B", 100*ms)}
		nodes[0].Cancel, nodes[1].Cancel = test.a, test.b
		l := visit(t, "cancel", nodes, model.Call{Stack: model.Stack{timeout(50 * ms)}}, user{0, 50 * ms, policies.ErrTimeout})
		a, b := l.Node("A"), l.Node("B")
		if a.Abandoned != 1 || b.AbandonedWork != test.work || b.Useful != 0 || b.Busy != test.work {
			t.Errorf("A cancels %v, B %v: %+v and %+v, want %v of abandoned work at B", test.a, test.b, *a, *b, test.work)
		}
		if left := l.Call("A", "B").Left; (left == 1) != test.a {
			t.Errorf("A cancels %v, B %v: %d calls left", test.a, test.b, left)
		}
	}
}

// A has one worker for its own 10 ms and holds it, or not, for B's 100 ms.
func TestAsync(t *testing.T) {
	for async, second := range map[bool]time.Duration{false: 220 * ms, true: 120 * ms} {
		a := model.Node{Name: "A", Workers: 1, Async: async, Service: constant(10 * ms), Steps: one(model.Call{To: "B"})}
		l := visit(t, "async", []model.Node{a, backend("B", 100*ms)}, model.Call{}, user{0, 110 * ms, okay}, user{0, second, okay}).Node("A")
		if held := map[bool]time.Duration{false: 220 * ms, true: 20 * ms}[async]; l.Held != held || l.Busy != 20*ms {
			t.Errorf("async %v: held %v, busy %v, want %v and 20 ms", async, l.Held, l.Busy, held)
		}
	}
}

func TestServicePerInFlight(t *testing.T) {
	b := backend("B", 100*ms)
	b.ServicePerInFlight = 10 * ms
	visit(t, "served side by side", []model.Node{b}, model.Call{}, user{0, 100 * ms, okay}, user{0, 110 * ms, okay}, user{0, 120 * ms, okay}, user{105 * ms, 120 * ms, okay})
	b.Workers = 1 // the first is alone when it begins, the second has the third behind it
	visit(t, "served in turn", []model.Node{b}, model.Call{}, user{0, 100 * ms, okay}, user{0, 210 * ms, okay}, user{0, 310 * ms, okay})
}

// The first attempt takes 160 ms, which is too long by 10, and is done all
// the same; the second is good.
func TestDuplicates(t *testing.T) {
	again := model.Call{Stack: model.Stack{retries(2, nil), timeout(150 * ms)}}
	for _, test := range []struct {
		name               string
		dedup, cancel      bool
		first              time.Duration
		writes, duplicates uint64
		useful, duplicate  time.Duration
	}{
		{"twice", false, false, 160 * ms, 2, 1, 0, 50 * ms},
		{"known from before", true, false, 160 * ms, 1, 0, 0, 50 * ms},
		{"cancelled", false, true, 160 * ms, 1, 0, 50 * ms, 0},
		{"later than the second", false, false, 300 * ms, 2, 1, 50 * ms, 0},
		{"later, and known", true, false, 300 * ms, 1, 0, 50 * ms, 0},
	} {
		b := backend("B", 50*ms)
		b.Script = []model.Scripted{{Service: test.first}}
		b.Writes, b.Dedup, b.Cancel = true, test.dedup, test.cancel
		l := visit(t, test.name, []model.Node{b}, again, user{0, 200 * ms, okay}, user{sec, 50 * ms, okay}).Node("B")
		// The second user adds a write and 50 ms that are useful.
		if l.Writes != test.writes+1 || l.DuplicateWrites != test.duplicates || l.Useful != test.useful+50*ms || l.Duplicate != test.duplicate {
			t.Errorf("%s: %+v, want %d writes, %d duplicates, %v useful and %v duplicate", test.name, *l,
				test.writes+1, test.duplicates, test.useful+50*ms, test.duplicate)
		}
	}
}

// A call that fails with its effect done, and one that fails without.
func TestEffectOfFailure(t *testing.T) {
	for effect, want := range map[bool][2]uint64{false: {1, 0}, true: {2, 1}} {
		b := backend("B", 10*ms, model.Fault{Kind: model.FaultError, First: 1, Effect: effect})
		b.Writes = true
		l := visit(t, "effect", []model.Node{b}, model.Call{Stack: model.Stack{retries(2, nil)}}, user{0, 20 * ms, okay}).Node("B")
		if got := [2]uint64{l.Writes, l.DuplicateWrites}; got != want {
			t.Errorf("effect %v: %v writes and duplicates, want %v", effect, got, want)
		}
	}
}

// 1,000 calls a second of two servers, one of which takes ten times as long.
// In turn each gets half. The one with the fewest calls in flight gives the
// slow one what keeps both equally full: a share near 1/11.
func TestBalance(t *testing.T) {
	for balance, want := range map[string][2]float64{
		model.RoundRobin: {0.5, 0.5}, model.Random: {0.47, 0.53}, model.LeastRequests: {0.06, 0.13}, model.PowerOfTwo: {0.06, 0.27},
	} {
		b := backend("B", 10*ms, model.Fault{Kind: model.FaultSlow, Factor: 10, Replica: model.Known(1)}, model.Fault{Kind: model.FaultError, Replica: model.Known(1)})
		b.Replicas = 2
		l := mustRun(t, model.Config{
			Nodes: []model.Node{b},
			Clients: []model.Client{{
				Name: "client", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 1000}, Requests: 10_000,
				Steps: one(model.Call{To: "B", Balance: balance}),
			}},
			Horizon: 20 * sec,
		}, 0).Ledger().Node("B")
		wantRatio(t, balance+": share of the slow one", l.Failed, l.Attempts, want[0], want[1]) // all that it answers are errors
	}
}

// Counters of clients: when they start, how many requests they make, and how
// long they think.
func TestClients(t *testing.T) {
	for _, test := range []struct {
		name     string
		client   model.Client
		requests uint64
		inFlight uint64
	}{
		{"open", model.Client{Arrivals: evenly(10)}, 100, 1},
		{"from 1 s to 2 s", model.Client{Arrivals: evenly(10), Start: sec, End: 2 * sec}, 10, 0},
		{"no more than 7", model.Client{Arrivals: evenly(10), Requests: 7}, 7, 0},
		{"closed, no thinking", model.Client{Loop: model.ClosedLoop{Clients: 3}}, 300, 3},
		{"closed, thinking", model.Client{Loop: model.ClosedLoop{Clients: 3, Think: constant(400 * ms)}}, 60, 0},
		{"closed, from 1 s to 2 s", model.Client{Loop: model.ClosedLoop{Clients: 3, Think: constant(400 * ms)}, Start: sec, End: 2 * sec}, 6, 0},
		{"closed, no more than 7", model.Client{Loop: model.ClosedLoop{Clients: 3}, Requests: 7}, 7, 0},
		{"closed, spread", model.Client{Loop: model.ClosedLoop{Clients: 5, Think: constant(time.Hour)}, Spread: 3 * sec}, 5, 0},
	} {
		test.client.Name, test.client.Steps = "client", one(model.Call{To: "B"})
		l := mustRun(t, model.Config{
			Nodes: []model.Node{backend("B", 100*ms)}, Clients: []model.Client{test.client}, Horizon: 10 * sec,
		}, 0).Ledger().Client("client")
		if l.Requests != test.requests || l.InFlight != test.inFlight || l.Failed != 0 {
			t.Errorf("%s: %+v, want %d requests, %d in flight", test.name, *l, test.requests, test.inFlight)
		}
	}
	failing := model.Client{
		Name: "client", Loop: model.ClosedLoop{Clients: 1, Think: constant(100 * ms)}, FailurePause: 300 * ms, Steps: one(model.Call{To: "B"}),
	}
	l := mustRun(t, model.Config{
		Nodes: []model.Node{backend("B", 100*ms, down)}, Clients: []model.Client{failing}, Horizon: 10 * sec,
	}, 0).Ledger().Client("client")
	if l.Failed != 20 || l.Requests != 20 {
		t.Errorf("%+v, want 20 requests, one in 500 ms", *l)
	}
}
