package model

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// shop is a valid system in which nothing is odd: web → edge → db.
func shop() *Config {
	return &Config{
		Nodes: []Node{
			{Name: "edge", Workers: 4, Service: Law{Kind: Exponential, Mean: ms}, Steps: []Step{{Calls: []Call{{
				To:    "db",
				Stack: Stack{{Retry: someRetry(3)}, {Timeout: 100 * ms}},
			}}}}},
			{Name: "db", Workers: 8, Service: Law{Kind: Exponential, Mean: 5 * ms}},
		},
		Clients: []Client{{
			Name: "web", Arrivals: Arrivals{Kind: Poisson, RateRPS: 50},
			Steps: []Step{{Calls: []Call{{To: "edge", Stack: Stack{{Timeout: time.Second}}}}}},
		}},
		Horizon: time.Minute,
	}
}

func someRetry(attempts int) *RetryLayer {
	return &RetryLayer{
		RetryConfig: policies.RetryConfig{Attempts: attempts},
		Budget:      &policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 10},
	}
}

func someBreaker() *BreakerLayer {
	return &BreakerLayer{BreakerConfig: policies.BreakerConfig{
		Rule:    policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: 20}, MinCalls: 10, FailureRate: 0.5},
		OpenFor: time.Second, Probes: 1,
	}}
}

// toEdge and toDB are the calls of the shop.
func toEdge(c *Config) *Call { return &c.Clients[0].Steps[0].Calls[0] }
func toDB(c *Config) *Call   { return &c.Nodes[0].Steps[0].Calls[0] }

func addFault(c *Config, f Fault) { c.Nodes[1].Faults = append(c.Nodes[1].Faults, f) }

type configCase struct {
	name   string
	change func(c *Config)
	want   []string // after "model: "
}

func checkCases(t *testing.T, cases []configCase) {
	t.Helper()
	for _, tc := range cases {
		c := shop()
		tc.change(c)
		var got []string
		if err := c.Validate(); err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		var want []string
		for _, w := range tc.want {
			want = append(want, "model: "+w)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		if _, err := New(*c, 1, 0); (err == nil) != (len(want) == 0) {
			t.Errorf("%s: New returns %v", tc.name, err)
		}
	}
}

func TestConfigTimes(t *testing.T) {
	checkCases(t, []configCase{
		{"valid", func(c *Config) {}, nil},
		{"all times", func(c *Config) { c.Warmup, c.Interval = time.Minute-1, 1*ms }, nil},
		{"no horizon", func(c *Config) { c.Horizon = 0 }, []string{"config: horizon 0s, want above 0s and at most 1000000h0m0s"}},
		{"a horizon beyond the clock", func(c *Config) { c.Horizon = math.MaxInt64 }, []string{
			"config: horizon 2562047h47m16.854775807s, want above 0s and at most 1000000h0m0s"}},
		{"warm-up", func(c *Config) { c.Warmup = time.Minute }, []string{"config: warm-up 1m0s, want from 0s to below the horizon 1m0s"}},
		{"negative", func(c *Config) { c.Warmup, c.Interval = -1, -1 }, []string{
			"config: warm-up -1ns, want from 0s to below the horizon 1m0s",
			"config: interval -1ns, want above 0s, or 0s for no series",
		}},
		{"narrow", func(c *Config) { c.Interval = 1000 }, []string{"config: 60000000 intervals in the horizon, want at most 10000000"}},
		{"too many records", func(c *Config) {
			c.Interval = 7000
			c.Nodes = append(c.Nodes, Node{Name: "x", Workers: 1}, Node{Name: "y", Workers: 1})
		}, []string{"config: 60000003 records of nodes, clients and calls in all intervals, want at most 5000000"}},
		{"nothing at all", func(c *Config) { *c = Config{} }, []string{
			"config: horizon 0s, want above 0s and at most 1000000h0m0s", "config: 0 clients, want at least 1"}},
	})
}

func TestConfigNames(t *testing.T) {
	checkCases(t, []configCase{
		{"nameless", func(c *Config) { c.Nodes[1].Name, c.Clients[0].Name = "", "" }, []string{
			`node 2: name "", want a name`,
			`client 1: name "", want a name`,
			`node "edge": step 1, call 1 to "db": unknown node, known: edge`,
		}},
		{"twice", func(c *Config) { c.Nodes = append(c.Nodes, c.Nodes[1]) }, []string{`node "db": name "db", want one that no other node has`}},
		{"client like node", func(c *Config) { c.Clients[0].Name = "db" }, []string{`client "db": name "db", want one that no node and no other client has`}},
		{"clients alike", func(c *Config) { c.Clients = append(c.Clients, c.Clients[0]) }, []string{`client "web": name "web", want one that no node and no other client has`}},
		{"spaces", func(c *Config) { c.Clients[0].Name = "web " }, []string{`client "web ": name "web ", want no spaces at either end`}},
		{"a hop without a node", func(c *Config) { toEdge(c).To = "" }, []string{
			`client "web": step 1, call 1 to "": unknown node, known: edge, db`}},
		{"a mistyped node", func(c *Config) { toEdge(c).To = "egde" }, []string{
			`client "web": step 1, call 1 to "egde": unknown node, did you mean "edge"? known: edge, db`}},
		{"no nodes", func(c *Config) { c.Nodes = nil }, []string{`client "web": step 1, call 1 to "edge": unknown node, there is none`}},
		{"a client is no node", func(c *Config) { toDB(c).To = "web" }, []string{
			`node "edge": step 1, call 1 to "web": unknown node, known: edge, db`}},
	})
}

func TestConfigTopology(t *testing.T) {
	link := func(to string, times int) []Step { return []Step{{Calls: []Call{{To: to, Times: times}}}} }
	checkCases(t, []configCase{
		{"calls itself", func(c *Config) { c.Nodes[1].Steps = link("db", 1) }, []string{"topology: cycle db → db, want none"}},
		{"cycle", func(c *Config) { c.Nodes[1].Steps = link("edge", 1) }, []string{"topology: cycle edge → db → edge, want none"}},
		{"a cycle that no client reaches", func(c *Config) {
			c.Nodes = append(c.Nodes, Node{Name: "x", Workers: 1, Steps: link("y", 1)}, Node{Name: "y", Workers: 1, Steps: append(link("x", 1), link("db", 1)...)})
		}, []string{"topology: cycle x → y → x, want none"}},
		{"two cycles", func(c *Config) {
			c.Nodes[1].Steps = append(append(link("edge", 1), link("edge", 1)...), link("db", 1)...)
		}, []string{"topology: cycle edge → db → edge, want none", "topology: cycle db → db, want none"}},
		{"two ways to one node", func(c *Config) { c.Clients[0].Steps = append(c.Clients[0].Steps, link("db", 1)...) }, nil},
		{"as many calls as are counted", func(c *Config) { c.Clients[0].Steps = link("db", 1_000_000) }, nil},
		{"too many calls", func(c *Config) {
			toDB(c).Times, toEdge(c).Times = 1000, 1_000_000
		}, []string{`client "web": 1001000000 calls for each request, want at most 1000000000`}},
		{"no overflow", func(c *Config) {
			for i := range 60 {
				name := string(rune('A' + i))
				c.Nodes = append(c.Nodes, Node{Name: name, Workers: 1, Steps: append(link(c.Nodes[len(c.Nodes)-1].Name, 1_000_000), link("db", 1)...)})
				toEdge(c).To = name
			}
		}, []string{`client "web": +Inf calls for each request, want at most 1000000000`}},
	})
}

func TestConfigNode(t *testing.T) {
	db := func(change func(n *Node)) func(*Config) { return func(c *Config) { change(&c.Nodes[1]) } }
	segment := func(from, to time.Duration) Segment { return Segment{Node: "db", Start: from, End: to} }
	checkCases(t, []configCase{
		{"all is well", db(func(n *Node) {
			*n = Node{Name: "db", Replicas: 3, Workers: Unlimited, Async: true, Service: Law{Kind: Gamma, Mean: ms, CV: 2}, ServicePerInFlight: 1,
				Queue: Queue{Limit: Known(0), Order: LIFO, DropExpired: true}, Shed: Shed{InFlight: 1, RateRPS: 1e-9, Burst: 1},
				Cancel: true, Writes: true, Dedup: true, Trace: []Segment{segment(0, 5), segment(5, 9), segment(20, 21)}, Waits: true}
		}), nil},
		{"zero workers", db(func(n *Node) { n.Workers = 0 }), []string{`node "db": workers 0, want at least 1 or Unlimited`}},
		{"numbers", db(func(n *Node) {
			n.Replicas, n.Workers, n.ServicePerInFlight, n.Queue.Limit, n.Queue.Order = -1, -5, -ms, Known(-1), "filo"
			n.Shed = Shed{InFlight: -1, RateRPS: math.NaN(), Burst: -1}
		}), []string{
			`node "db": replicas -1, want at least 1, or 0 for 1`,
			`node "db": workers -5, want at least 1 or Unlimited`,
			`node "db": service per call in flight -1ms, want at least 0s`,
			`node "db": queue limit -1, want at least 0`,
			`node "db": queue order "filo", did you mean "fifo"? known: fifo, lifo`,
			`node "db": shed in flight -1, want at least 1, or 0 for no bound`,
			`node "db": shed rate NaN, want from 1e-09 to 1e+09 per second, or 0 for none`,
		}},
		{"service", db(func(n *Node) { n.Service.CV = math.Inf(1) }), []string{
			`node "db": service "exponential": CV +Inf, only a lognormal or a gamma law has one`}},
		{"burst", db(func(n *Node) { n.Shed.Burst = 5 }), []string{`node "db": shed burst 5, only a rate has one`}},
		{"a bucket that never fills", db(func(n *Node) { n.Shed.RateRPS, n.Shed.Burst = 1e-3, 10_000_000 }), []string{
			`node "db": shed burst 10000000, want one that fills within 2e+09 s at 0.001 per second`}},
		{"infinite rate", db(func(n *Node) { n.Shed.RateRPS = math.Inf(1) }), []string{
			`node "db": shed rate +Inf, want from 1e-09 to 1e+09 per second, or 0 for none`}},
		{"trace", db(func(n *Node) {
			bad := segment(30, 40)
			bad.ErrorRatio = math.NaN()
			n.Trace = []Segment{segment(10, 20), segment(5, 6), segment(5, 12), bad, segment(11, 50)}
		}), []string{
			`node "db": trace segment 2: start 5ns, want them in order: the one before starts at 10ns`,
			`node "db": trace segment 3: start 5ns, want at least the end 6ns of the one before`,
			`node "db": trace segment 4: error_ratio NaN, want a number from 0 to 1`,
			`node "db": trace segment 5: start 11ns, want them in order: the one before starts at 30ns`,
		}},
		{"too many replicas", db(func(n *Node) { n.Replicas = 1_000_000 }), []string{
			"config: 1000001 replicas of all nodes, want at most 1000000"}},
		{"script", db(func(n *Node) { n.Script = []Scripted{{}, {Times: -1, Service: -1, Code: 99}} }), []string{
			`node "db": script 2: times -1, want at least 1, or 0 for 1`,
			`node "db": script 2: service -1ns, want at least 0s`,
			`node "db": script 2: code 99, want from 100 to 599 or a code without answer, or 0 for a good one`,
		}},
	})
}

func TestConfigFaults(t *testing.T) {
	faults := func(list ...Fault) func(*Config) {
		return func(c *Config) {
			for _, f := range list {
				addFault(c, f)
			}
		}
	}
	checkCases(t, []configCase{
		{"one of each", faults(
			Fault{Kind: FaultError}, Fault{Kind: FaultError, Ratio: 1, First: 2, Code: policies.ErrLimit, Fast: true, Effect: true, Start: 1, End: 2, Replica: Known(0)},
			Fault{Kind: FaultSlow, Factor: 1e6}, Fault{Kind: FaultCapacity}, Fault{Kind: FaultLimit, RateRPS: 10, Burst: 3}, Fault{Kind: FaultStall},
			Fault{Kind: FaultPause}, Fault{Kind: FaultCrash, Silent: true}), nil},
		{"kind", faults(Fault{Kind: "slo"}, Fault{}), []string{
			`node "db": fault 1: kind "slo", did you mean "slow"? known: error, slow, capacity, limit, stall, pause, crash`,
			`node "db": fault 2: kind "", known: error, slow, capacity, limit, stall, pause, crash`,
		}},
		{"span", faults(Fault{Kind: FaultStall, Start: -1}, Fault{Kind: FaultStall, End: -1}, Fault{Kind: FaultStall, Start: 5, End: 5},
			Fault{Kind: FaultStall, Start: time.Minute}, Fault{Kind: FaultStall, Start: time.Minute, End: time.Hour}), []string{
			`node "db": fault 1 (stall): start -1ns, want at least 0s`,
			`node "db": fault 2 (stall): end -1ns, want above 0s, or 0s for the horizon`,
			`node "db": fault 3 (stall): end 5ns, want above the start 5ns, or 0s for the horizon`,
			`node "db": fault 4 (stall): start 1m0s, want below the horizon 1m0s`,
		}},
		{"replica", faults(Fault{Kind: FaultStall, Replica: Known(1)}, Fault{Kind: FaultStall, Replica: Known(-1)}), []string{
			`node "db": fault 1 (stall): replica 1, want from 0 to 0`,
			`node "db": fault 2 (stall): replica -1, want from 0 to 0`,
		}},
		{"error", faults(Fault{Kind: FaultError, Ratio: 1.5, First: -1, Code: 600}, Fault{Kind: FaultError, Ratio: math.NaN(), Code: 7}), []string{
			`node "db": fault 1 (error): ratio 1.5, want above 0 and at most 1, or 0 for 1`,
			`node "db": fault 1 (error): first -1, want at least 1, or 0 for all`,
			`node "db": fault 1 (error): code 600, want from 100 to 599 or a code without answer, or 0 for 503`,
			`node "db": fault 2 (error): ratio NaN, want above 0 and at most 1, or 0 for 1`,
			`node "db": fault 2 (error): code 7, want from 100 to 599 or a code without answer, or 0 for 503`,
		}},
		{"factor", faults(Fault{Kind: FaultSlow}, Fault{Kind: FaultSlow, Factor: math.Inf(1)}, Fault{Kind: FaultCapacity, Factor: 1.01}, Fault{Kind: FaultCapacity, Factor: math.NaN()}), []string{
			`node "db": fault 1 (slow): factor 0, want above 0 and finite`,
			`node "db": fault 2 (slow): factor +Inf, want above 0 and finite`,
			`node "db": fault 3 (capacity): factor 1.01, want from 0 to 1`,
			`node "db": fault 4 (capacity): factor NaN, want from 0 to 1`,
		}},
		{"limit", faults(Fault{Kind: FaultLimit}, Fault{Kind: FaultLimit, RateRPS: 1, Burst: -1}), []string{
			`node "db": fault 1 (limit): rate 0, want from 1e-09 to 1e+09 per second`,
			`node "db": fault 2 (limit): burst -1, want at least 1, or 0 for 1`,
		}},
		{"fields of others", faults(Fault{Kind: FaultPause, Ratio: 0.5, First: 1, Code: 500, Fast: true, Effect: true, Factor: 2, RateRPS: 1, Burst: 1, Silent: true}), []string{
			`node "db": fault 1 (pause): ratio 0.5, only error has one`,
			`node "db": fault 1 (pause): first 1, only error has one`,
			`node "db": fault 1 (pause): code 500, only error or limit has one`,
			`node "db": fault 1 (pause): fast true, only error has one`,
			`node "db": fault 1 (pause): effect true, only error has one`,
			`node "db": fault 1 (pause): factor 2, only slow or capacity has one`,
			`node "db": fault 1 (pause): rate 1, only limit has one`,
			`node "db": fault 1 (pause): burst 1, only limit has one`,
			`node "db": fault 1 (pause): silent true, only crash has one`,
		}},
	})
}
