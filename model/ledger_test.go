package model_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

// A run of any system ends without a panic, its ledger balances, and what
// depends on nothing but the configuration and the seed is the same again.
func TestLedgerOfRandomSystems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		seed := rapid.Uint64().Draw(t, "seed")
		s := runRandom(t, r.Config, seed)
		l := s.Ledger()
		for i := range l.Clients {
			checkClient(t, &r.Clients[i], &l.Clients[i])
		}
		for i := range l.Nodes {
			checkNode(t, &r, l, i)
		}
		for i := range l.Calls {
			checkCall(t, &l.Calls[i])
		}
		checkSeries(t, s)

		if again := runRandom(t, r.Config, seed).Ledger(); !reflect.DeepEqual(l, again) {
			t.Fatalf("the same seed gave\n%+v\nand then\n%+v", l, again)
		}
	})
}

func runRandom(t *rapid.T, c model.Config, seed uint64) *model.System {
	s, err := model.New(c, seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.Now() != sim.Time(c.Horizon) {
		t.Fatalf("ended at %v, want %v", s.Now(), c.Horizon)
	}
	return s
}

// balance reports a sum that does not come out even.
func balance(t *rapid.T, what string, total uint64, parts ...uint64) {
	sum := uint64(0)
	for _, p := range parts {
		sum += p
	}
	if sum != total {
		t.Fatalf("%s: %d, but its parts %v are %d", what, total, parts, sum)
	}
}

func atMost[T ~int64 | uint64 | float64](t *rapid.T, what string, got, most T) {
	if got > most {
		t.Fatalf("%s: %v, want at most %v", what, got, most)
	}
}

func checkClient(t *rapid.T, c *model.Client, l *model.ClientLedger) {
	balance(t, l.Name+": requests", l.Requests, l.Succeeded, l.Failed, l.InFlight)
	var codes []uint64
	for code := range l.ByCode {
		codes = append(codes, l.ByCode[code])
	}
	balance(t, l.Name+": failed by code", l.Failed, codes...)
	atMost(t, l.Name+": requests", l.Requests, uint64(c.Requests))
	atMost(t, l.Name+": measured", l.Measured, l.Succeeded+l.Failed)
	atMost(t, l.Name+": latency", l.Latency, time.Duration(l.Measured)*randomHorizon)
	if c.Loop.Clients > 0 {
		atMost(t, l.Name+": in flight in a closed loop", l.InFlight, uint64(c.Loop.Clients))
	}
}

func checkNode(t *rapid.T, r *randomSystem, ledger *model.Ledger, i int) {
	c, l := &r.Nodes[i], &ledger.Nodes[i]
	balance(t, l.Name+": attempts", l.Attempts, l.Succeeded, l.Failed, l.Rejected, l.Abandoned, l.InFlight)

	sent := uint64(0)
	for i := range ledger.Calls {
		if ledger.Calls[i].To == l.Name {
			sent += ledger.Calls[i].Attempts
		}
	}
	atMost(t, l.Name+": attempts that arrived of those sent", l.Attempts, sent)
	if r.instant[l.Name] {
		balance(t, l.Name+": attempts on links that take no time", sent, l.Attempts)
	}
	requests := 0.0
	for i := range ledger.Clients {
		requests += float64(ledger.Clients[i].Requests)
	}
	atMost(t, l.Name+": attempts, by what the layers may make of the requests", float64(sent), requests*r.most[l.Name])

	replicas := uint64(max(c.Replicas, 1))
	atMost(t, l.Name+": waited", l.Waited, l.Begun)
	atMost(t, l.Name+": begun", l.Begun, l.Attempts)
	atMost(t, l.Name+": in flight", l.InFlight, l.MaxPresent)
	if c.Workers != model.Unlimited {
		workers := replicas * uint64(c.Workers)
		atMost(t, l.Name+": busy", l.Busy, time.Duration(workers)*randomHorizon)
		atMost(t, l.Name+": held", l.Held, time.Duration(workers)*randomHorizon)
		atMost(t, l.Name+": serving", l.MaxServing, workers)
		if c.Queue.Limit.Known && !c.Async {
			atMost(t, l.Name+": present", l.MaxPresent, workers+replicas*uint64(c.Queue.Limit.Value))
		}
	}
	if c.Shed.InFlight > 0 {
		atMost(t, l.Name+": present", l.MaxPresent, replicas*uint64(c.Shed.InFlight))
	}

	ended := l.Useful + l.AbandonedWork + l.Duplicate + l.RejectedWork
	for what, d := range map[string]time.Duration{
		"useful": l.Useful, "abandoned": l.AbandonedWork, "duplicate": l.Duplicate, "rejected": l.RejectedWork,
		"wait": l.Wait, "rest of busy": l.Busy - ended, "rest of held": l.Held - l.Busy,
	} {
		if d < 0 {
			t.Fatalf("%s: %s is %v, want at least 0", l.Name, what, d)
		}
	}
	if l.InFlight == 0 && ended != l.Busy {
		t.Fatalf("%s: busy %v, but all that ended is %v", l.Name, l.Busy, ended)
	}
	atMost(t, l.Name+": sojourns", l.Sojourn, l.PresentTime)
	atMost(t, l.Name+": time present", l.PresentTime, time.Duration(l.MaxPresent)*randomHorizon)
	if l.InFlight == 0 && l.Sojourn != l.PresentTime {
		t.Fatalf("%s: sojourns %v, time present %v, none in flight", l.Name, l.Sojourn, l.PresentTime)
	}

	atMost(t, l.Name+": writes", l.Writes, l.Attempts)
	atMost(t, l.Name+": duplicate writes", l.DuplicateWrites, l.Writes)
	if !c.Writes && l.Writes != 0 || c.Dedup && l.DuplicateWrites != 0 {
		t.Fatalf("%s: %d writes, %d duplicates, though Writes is %v and Dedup %v", l.Name, l.Writes, l.DuplicateWrites, c.Writes, c.Dedup)
	}
}

func checkCall(t *rapid.T, l *model.CallLedger) {
	name := l.From + " to " + l.To
	balance(t, name+": calls", l.Calls, l.Succeeded, l.Failed, l.Left, l.InFlight)
	atMost(t, name+": retries that went well", l.RetriesSucceeded, l.Retries)
	atMost(t, name+": attempts beside the calls and retries", l.Attempts, l.Calls+l.Retries)
	atMost(t, name+": open", l.OpenTime, time.Duration(l.Openings)*randomHorizon)
}

// The intervals cover the run, and add up to the ledger.
func checkSeries(t *rapid.T, s *model.System) {
	series := s.Series()
	if len(series) == 0 {
		return
	}
	l, end := s.Ledger(), sim.Time(0)
	var sum model.Interval
	sum.Nodes = make([]model.NodeInterval, len(l.Nodes))
	sum.Clients = make([]model.ClientInterval, len(l.Clients))
	sum.Calls = make([]model.CallInterval, len(l.Calls))
	for _, i := range series {
		if i.Start != end || i.End <= i.Start {
			t.Fatalf("interval from %v to %v after one that ends at %v", i.Start, i.End, end)
		}
		end = i.End
		for k, n := range i.Nodes {
			v := &sum.Nodes[k]
			v.Attempts += n.Attempts
			v.Succeeded += n.Succeeded
			v.Failed += n.Failed
			v.Rejected += n.Rejected
			v.Abandoned += n.Abandoned
			v.Queued, v.Serving = n.Queued, n.Serving
		}
		for k, c := range i.Clients {
			v := &sum.Clients[k]
			v.Requests += c.Requests
			v.Succeeded += c.Succeeded
			v.Failed += c.Failed
			v.StartedSucceeded += c.StartedSucceeded
			v.StartedFailed += c.StartedFailed
		}
		for k, c := range i.Calls {
			v := &sum.Calls[k]
			v.Attempts += c.Attempts
			v.Retries += c.Retries
			v.Denied += c.Denied
			v.Refused += c.Refused
			v.OpenTime += c.OpenTime
		}
	}
	if end != s.Now() {
		t.Fatalf("the last interval ends at %v, want %v", end, s.Now())
	}
	for k, n := range l.Nodes {
		v := sum.Nodes[k]
		want := model.NodeInterval{
			Attempts: n.Attempts, Succeeded: n.Succeeded, Failed: n.Failed, Rejected: n.Rejected, Abandoned: n.Abandoned,
			Queued: v.Queued, Serving: v.Serving,
		}
		if v != want {
			t.Fatalf("%s: intervals add up to %+v, want %+v", n.Name, v, want)
		}
	}
	for k, c := range l.Clients {
		if v, want := sum.Clients[k], (model.ClientInterval{Requests: c.Requests, Succeeded: c.Succeeded, Failed: c.Failed, StartedSucceeded: c.Succeeded, StartedFailed: c.Failed}); v != want {
			t.Fatalf("%s: intervals add up to %+v, want %+v", c.Name, v, want)
		}
	}
	for k, c := range l.Calls {
		if v, want := sum.Calls[k], (model.CallInterval{Attempts: c.Attempts, Retries: c.Retries, Denied: c.Denied, Refused: c.Refused, OpenTime: c.OpenTime}); v != want {
			t.Fatalf("%s to %s: intervals add up to %+v, want %+v", c.From, c.To, v, want)
		}
	}
}

// To look at the ledger in between changes nothing, and it balances at every
// look.
func TestLedgerInBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		whole := runRandom(t, r.Config, 1).Ledger()
		s, err := model.New(r.Config, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for s.Now() < sim.Time(r.Horizon) {
			at := s.Now().Add(time.Duration(rapid.IntRange(1, 700).Draw(t, "step in ms")) * ms)
			if err := s.RunUntil(context.Background(), at); err != nil {
				t.Fatal(err)
			}
			if l := s.Ledger(); !reflect.DeepEqual(l, s.Ledger()) {
				t.Fatalf("two looks at %v differ", s.Now())
			}
		}
		if steps := s.Ledger(); !reflect.DeepEqual(whole, steps) {
			t.Fatalf("at once\n%+v\nin steps\n%+v", whole, steps)
		}
	})
}

// Policies do not touch the arrivals of an open loop.
func TestArrivalsDoNotDependOnPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		with := runRandom(t, r.Config, 1).Ledger()
		strip := func(steps []model.Step) {
			for i := range steps {
				for j := range steps[i].Calls {
					steps[i].Calls[j].Stack, steps[i].Calls[j].Sidecar = nil, nil
				}
			}
		}
		for i := range r.Nodes {
			strip(r.Nodes[i].Steps)
		}
		for i := range r.Clients {
			strip(r.Clients[i].Steps)
		}
		without := runRandom(t, r.Config, 1).Ledger()
		for i := range with.Clients {
			if a, b := with.Clients[i].Requests, without.Clients[i].Requests; a != b && r.Clients[i].Loop.Clients == 0 {
				t.Fatalf("%s: %d requests, %d without policies", with.Clients[i].Name, a, b)
			}
		}
	})
}

// Ten requests, one a second, through three hops. Each call of C takes 10 ms
// and the first two for each request fail; B tries C twice and A tries B
// twice. So B fails once and then succeeds: a request is 1 attempt at A, 2 at
// B and 3 at C, and takes 30 ms. From 4.5 s to 8.5 s C is down and refuses
// every attempt at once: 4 requests with 1 attempt at A, 2 at B and 4 at C.
func ExampleSystem() {
	twice := func(to string) []model.Step {
		return one(model.Call{To: to, Stack: model.Stack{retries(2, nil)}})
	}
	s, err := model.New(model.Config{
		Nodes: []model.Node{
			{Name: "A", Workers: 1, Steps: twice("B")},
			{Name: "B", Workers: 1, Steps: twice("C")},
			{Name: "C", Workers: 1, Service: constant(10 * ms), Writes: true, Faults: []model.Fault{
				{Kind: model.FaultError, First: 2},
				{Kind: model.FaultCrash, Start: 4500 * ms, End: 8500 * ms},
			}},
		},
		Clients: []model.Client{{Name: "client", Arrivals: evenly(1), Steps: one(model.Call{To: "A"})}},
		Horizon: 10 * sec,
	}, 1, 0)
	if err == nil {
		err = s.Run(context.Background())
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	l := s.Ledger()
	c := l.Client("client")
	fmt.Printf("%d requests: %d succeeded, %d failed, in %v\n", c.Requests, c.Succeeded, c.Failed, c.Latency)
	for _, n := range l.Nodes {
		fmt.Printf("%s: %d attempts: %d succeeded, %d failed, %d rejected; useful %v, rejected %v, held %v, %d writes\n",
			n.Name, n.Attempts, n.Succeeded, n.Failed, n.Rejected, n.Useful, n.RejectedWork, n.Held, n.Writes)
	}
	for _, c := range l.Calls {
		fmt.Printf("%s to %s: %d calls: %d succeeded, %d failed; %d attempts, %d retries, %d of them good, %d had none left\n",
			c.From, c.To, c.Calls, c.Succeeded, c.Failed, c.Attempts, c.Retries, c.RetriesSucceeded, c.Spent)
	}
	// Output:
	// 10 requests: 6 succeeded, 4 failed, in 180ms
	// A: 10 attempts: 6 succeeded, 4 failed, 0 rejected; useful 0s, rejected 0s, held 180ms, 0 writes
	// B: 20 attempts: 6 succeeded, 14 failed, 0 rejected; useful 0s, rejected 0s, held 180ms, 0 writes
	// C: 34 attempts: 6 succeeded, 12 failed, 16 rejected; useful 60ms, rejected 120ms, held 180ms, 6 writes
	// A to B: 10 calls: 6 succeeded, 4 failed; 20 attempts, 10 retries, 6 of them good, 4 had none left
	// B to C: 20 calls: 6 succeeded, 14 failed; 34 attempts, 14 retries, 0 of them good, 14 had none left
	// client to A: 10 calls: 6 succeeded, 4 failed; 10 attempts, 0 retries, 0 of them good, 0 had none left
}
