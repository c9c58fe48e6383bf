package model_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/theory"
)

// Single stations, described as any other system, against queueing theory.
// What a set of replications shows is compared with the closed form by a
// 99.9 % confidence interval at fixed seeds. A mean service takes one second.

const (
	queueReplications = 20
	firstReplication  = 100
)

// sample draws one number from each replication.
type sample [queueReplications]float64

// check reports a sample whose interval does not hold the given mean, which is
// allowed to be off by a share beside it.
func (s *sample) check(t *testing.T, what string, want, share float64) {
	t.Helper()
	mean, sd := stat.MeanStdDev(s[:], nil)
	const n = queueReplications
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.9995) * sd / math.Sqrt(n)
	if !(math.Abs(mean-want) <= half+share*want) {
		t.Errorf("%s: %.5f ± %.5f, want %.5f", what, mean, half, want)
	}
	if half > 0.3*want && !testing.Short() {
		t.Errorf("%s: %.5f ± %.5f shows too little about %.5f", what, mean, half, want)
	}
}

// station is a node with Poisson arrivals. About customers of them come after
// a warm-up of a tenth.
func station(t *testing.T, rate float64, node model.Node, customers int) model.Config {
	if raceDetector {
		t.Skip("only computes, in one goroutine")
	}
	if testing.Short() {
		customers /= 3
	}
	length := time.Duration(float64(customers) / rate * 1e9)
	node.Name, node.Waits = "station", true
	return model.Config{
		Nodes: []model.Node{node},
		Clients: []model.Client{{
			Name: "customers", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: rate},
			Steps: one(model.Call{To: "station"}),
		}},
		Warmup: length / 10, Horizon: length + length/10,
	}
}

// counted is a node's ledger from the warm-up to the horizon.
type counted struct {
	model.NodeLedger
	system *model.System
	time   float64 // seconds
}

// watch runs a replication and subtracts what was counted in the warm-up.
func watch(t *testing.T, cfg model.Config, replication uint64, node string) counted {
	t.Helper()
	s := mustSystem(t, cfg, replication)
	before := *mustReach(t, s, cfg.Warmup).Node(node)
	l := *mustReach(t, s, theEnd).Node(node)
	l.Attempts -= before.Attempts
	l.Rejected -= before.Rejected
	l.Begun -= before.Begun
	l.Waited -= before.Waited
	l.Wait -= before.Wait
	l.Busy -= before.Busy
	l.Sojourn -= before.Sojourn
	l.PresentTime -= before.PresentTime
	return counted{l, s, (cfg.Horizon - cfg.Warmup).Seconds()}
}

func (c *counted) meanWait() float64 { return c.Wait.Seconds() / float64(c.Begun) }

var exponential = model.Law{Kind: model.Exponential, Mean: sec}

// The published table of M/M/c: share that waits, mean wait and 99 % wait, in
// seconds, and Erlang's loss at the same load without a queue.
var mmc = []struct {
	servers                  int
	load                     float64 // of each server
	waits, mean, p99, erlang float64
}{
	{1, 0.9, 0.9, 9, 44.998, 0.47368},
	{2, 0.9, 0.85263, 4.26316, 22.229, 0.36652},
	{5, 0.7, 0.37784, 0.25189, 2.421, 0.15411},
	{10, 0.8, 0.40918, 0.20459, 1.856, 0.12166},
	{10, 0.9, 0.66873, 0.66873, 4.203, 0.16796},
	{50, 0.9, 0.36386, 0.07277, 0.719, 0.05410},
}

func TestQueueMMC(t *testing.T) {
	for _, row := range mmc {
		q := theory.MMC{ArrivalRPS: row.load * float64(row.servers), ServiceRPS: 1, Servers: row.servers}
		mean, err := q.MeanWait()
		if err != nil || math.Abs(mean-row.mean) > 1e-5 {
			t.Fatalf("M/M/%d at %v: theory says %v (%v), published is %v", row.servers, row.load, mean, err, row.mean)
		}
		cfg := station(t, q.ArrivalRPS, model.Node{Workers: row.servers, Service: exponential}, 80_000)
		var waits, wait, p99, busy, present sample
		for i := range queueReplications {
			c := watch(t, cfg, firstReplication+uint64(i), "station")
			waits[i] = float64(c.Waited) / float64(c.Begun)
			wait[i] = c.meanWait()
			p99[i] = c.system.WaitQuantile("station", 0.99).Seconds()
			busy[i] = c.Busy.Seconds() / c.time / float64(row.servers)
			present[i] = c.PresentTime.Seconds() / c.time
		}
		name := fmt.Sprintf("M/M/%d at %v: ", row.servers, row.load)
		waits.check(t, name+"share that waits", row.waits, 0)
		wait.check(t, name+"mean wait", row.mean, 0)
		p99.check(t, name+"99 % wait", row.p99, 0.01) // the sketch is good to 1 %
		busy.check(t, name+"utilization", row.load, 0)
		present.check(t, name+"customers present (Little 1961)", q.ArrivalRPS*(row.mean+1), 0)
	}
}

// M/D/1 and M/G/1, whose wait depends on the variance of the service only
// (Pollaczek 1930, Khinchine 1932).
func TestQueueMG1(t *testing.T) {
	const cv = 2
	for _, row := range []struct {
		name       string
		load, want float64
		service    model.Law
		squaredCV  float64
		customers  int
	}{
		{"M/D/1", 0.7, 1.1667, constant(sec), 0, 20_000},
		{"M/D/1", 0.9, 4.5, constant(sec), 0, 60_000},
		{"M/G/1", 0.7, 5.8333, model.Law{Kind: model.Lognormal, Mean: sec, CV: cv}, cv * cv, 60_000},
		{"M/G/1", 0.9, 22.5, model.Law{Kind: model.Lognormal, Mean: sec, CV: cv}, cv * cv, 150_000},
	} {
		want, err := theory.MG1Wait(row.load, 1, row.squaredCV)
		if err != nil || math.Abs(want-row.want) > 1e-4 {
			t.Fatalf("%s at %v: theory says %v (%v), published is %v", row.name, row.load, want, err, row.want)
		}
		cfg := station(t, row.load, model.Node{Workers: 1, Service: row.service}, row.customers)
		var wait sample
		for i := range queueReplications {
			c := watch(t, cfg, firstReplication+uint64(i), "station")
			wait[i] = c.meanWait()
		}
		wait.check(t, fmt.Sprintf("%s at %v: wait", row.name, row.load), want, 0)
	}
}

// A full station turns customers away: M/M/1 with room for 10.
func TestQueueBlocking(t *testing.T) {
	for _, row := range []struct{ load, want float64 }{{0.9, 0.05081}, {1.2, 0.19259}, {2, 0.50024}} {
		want, err := theory.MM1KBlocking(row.load, 10)
		if err != nil || math.Abs(want-row.want) > 1e-5 {
			t.Fatalf("M/M/1/10 at %v: theory says %v (%v), published is %v", row.load, want, err, row.want)
		}
		node := model.Node{Workers: 1, Service: exponential, Queue: model.Queue{Limit: model.Known(9)}}
		cfg := station(t, row.load, node, 20_000)
		var blocked sample
		for i := range queueReplications {
			c := watch(t, cfg, firstReplication+uint64(i), "station")
			blocked[i] = float64(c.Rejected) / float64(c.Attempts)
			if most := c.system.Ledger().Node("station").MaxPresent; most > 10 {
				t.Errorf("M/M/1/10 at %v: %d customers present, want at most 10", row.load, most)
			}
		}
		blocked.check(t, fmt.Sprintf("M/M/1/10 at %v: blocked", row.load), want, 0)
	}
}

// Without a queue the loss depends on the mean of the service only (Erlang
// 1917; Sevastyanov 1957 for any law).
func TestQueueErlangB(t *testing.T) {
	for i, row := range mmc {
		load := row.load * float64(row.servers)
		want, err := theory.ErlangB(row.servers, load)
		if err != nil || math.Abs(want-row.erlang) > 1e-5 {
			t.Fatalf("%d servers at %v: theory says %v (%v), published is %v", row.servers, row.load, want, err, row.erlang)
		}
		law := []model.Law{exponential, constant(sec), {Kind: model.Uniform, High: 2 * sec}}[i%3]
		node := model.Node{Workers: row.servers, Service: law, Queue: model.Queue{Limit: model.Known(0)}}
		cfg := station(t, load, node, 15_000)
		var lost sample
		for i := range queueReplications {
			c := watch(t, cfg, firstReplication+uint64(i), "station")
			lost[i] = float64(c.Rejected) / float64(c.Attempts)
			if c.Waited != 0 {
				t.Errorf("%d servers: %d customers waited, want none", row.servers, c.Waited)
			}
		}
		lost.check(t, fmt.Sprintf("%d servers at %v: lost", row.servers, row.load), want, 0)
	}
}

// The output of M/M/c is Poisson (Burke 1956), so the second of two stations
// in a row behaves as if it were alone, if the first lets its worker go.
func TestQueueTandem(t *testing.T) {
	const load = 0.7
	first := model.Node{Workers: 1, Async: true, Service: exponential, Steps: one(model.Call{To: "second"})}
	cfg := station(t, load, first, 30_000)
	cfg.Nodes = append(cfg.Nodes, model.Node{Name: "second", Workers: 2, Service: model.Law{Kind: model.Exponential, Mean: 2 * sec}})
	one, err := theory.MMC{ArrivalRPS: load, ServiceRPS: 1, Servers: 1}.MeanWait()
	if err != nil {
		t.Fatal(err)
	}
	two, err := theory.MMC{ArrivalRPS: load, ServiceRPS: 0.5, Servers: 2}.MeanWait()
	if err != nil {
		t.Fatal(err)
	}
	var waitOne, waitTwo, latency sample
	for i := range queueReplications {
		c := watch(t, cfg, firstReplication+uint64(i), "station")
		waitOne[i] = c.meanWait()
		second := watch(t, cfg, firstReplication+uint64(i), "second")
		waitTwo[i] = second.meanWait()
		client := c.system.Ledger().Client("customers")
		latency[i] = client.Latency.Seconds() / float64(client.Measured)
	}
	waitOne.check(t, "wait at the first", one, 0)
	waitTwo.check(t, "wait at the second", two, 0)
	latency.check(t, "latency of both", one+1+two+2, 0)
}

// Little's law holds for every run, whatever it is that goes through: calls
// present, added up over time, are the sojourns of those that ended and the
// ages of the rest. Here none is left.
func TestQueueLittle(t *testing.T) {
	for _, node := range []model.Node{
		{Workers: 1, Service: exponential},
		{Workers: 1, Service: exponential, Queue: model.Queue{Order: model.LIFO}},
		{Workers: 3, Service: constant(sec), Queue: model.Queue{Limit: model.Known(2)}},
		{Workers: 1, Replicas: 3, Service: exponential, ServicePerInFlight: 100 * ms},
		{Workers: 2, Service: exponential, Faults: []model.Fault{{Kind: model.FaultPause, Start: 100 * sec, End: 200 * sec}}},
	} {
		cfg := station(t, 0.8, node, 2000)
		cfg.Clients[0].End = cfg.Horizon - cfg.Horizon/10
		cfg.Horizon *= 2
		l := mustRun(t, cfg, 0).Ledger().Node("station")
		if l.InFlight != 0 || l.PresentTime != l.Sojourn || l.Attempts == 0 {
			t.Errorf("%d calls: present %v, sojourns %v, %d left, want the same and none left", l.Attempts, l.PresentTime, l.Sojourn, l.InFlight)
		}
		if sum := l.Wait + l.Busy; sum != l.Sojourn && len(node.Faults) == 0 {
			t.Errorf("%d calls: waits and services %v, sojourns %v, want the same", l.Attempts, sum, l.Sojourn)
		}
	}
}

// A closed loop of n clients that think z seconds has n = throughput × (z +
// response time) (Denning and Buzen 1978). One worker and exponential times
// are the machine repair model, whose idle share is Erlang's loss formula with
// thinking and serving exchanged.
func TestQueueClosedLoop(t *testing.T) {
	const clients, think = 8, 5.0
	cfg := station(t, 1, model.Node{Workers: 1, Service: exponential}, 20_000)
	cfg.Clients[0].Arrivals = model.Arrivals{}
	cfg.Clients[0].Loop = model.ClosedLoop{Clients: clients, Think: model.Law{Kind: model.Exponential, Mean: 5 * sec}}
	idle, err := theory.ErlangB(clients, think)
	if err != nil {
		t.Fatal(err)
	}
	var busy, loop sample
	for i := range queueReplications {
		c := watch(t, cfg, firstReplication+uint64(i), "station")
		busy[i] = c.Busy.Seconds() / c.time
		client := c.system.Ledger().Client("customers")
		rate := float64(client.Measured) / c.time
		loop[i] = rate * (think + client.Latency.Seconds()/float64(client.Measured))
	}
	busy.check(t, "busy", 1-idle, 0)
	loop.check(t, "clients", clients, 0)
}
