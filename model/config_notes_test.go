package model

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestConfigNotes(t *testing.T) {
	const db, web = `node "edge", step 1, call 1 to "db"`, `client "web", step 1, call 1 to "edge"`
	node := func(change func(n *Node)) func(*Config) { return func(c *Config) { change(&c.Nodes[1]) } }
	stack := func(layers ...Layer) func(*Config) { return func(c *Config) { toDB(c).Stack = layers } }
	timeout := func(d time.Duration) Layer { return Layer{Timeout: d} }
	closed := func(c *Config) {
		c.Clients[0].Arrivals, c.Clients[0].Loop = Arrivals{}, ClosedLoop{Clients: 3}
	}
	var rules []string
	for _, tc := range []struct {
		name   string
		change func(c *Config)
		want   []string
	}{
		{"nothing odd", func(c *Config) {}, nil},
		{"not valid", func(c *Config) { c.Nodes[1].Dedup, c.Horizon = true, 0 }, nil},

		{"a timeout longer than the deadline above it", stack(timeout(2 * time.Second)), []string{
			db + `, stack layer 1: timeout 2s is not shorter than the 1s around it (` + web + `, stack layer 1)`}},
		{"as long", stack(timeout(time.Second)), []string{
			db + `, stack layer 1: timeout 1s is not shorter than the 1s around it (` + web + `, stack layer 1)`}},
		{"in one stack", stack(timeout(300*ms), timeout(400*ms), timeout(200*ms)), []string{
			db + `, stack layer 2: timeout 400ms is not shorter than the 300ms around it (` + db + `, stack layer 1)`}},
		{"in the sidecar", func(c *Config) { toDB(c).Sidecar = Stack{timeout(100 * ms)} }, []string{
			db + `, sidecar layer 1: timeout 100ms is not shorter than the 100ms around it (` + db + `, stack layer 2)`}},
		{"two hops above, past a node without timeouts", func(c *Config) {
			toDB(c).Stack = nil
			c.Nodes[1].Steps = []Step{{Calls: []Call{{To: "disk", Stack: Stack{timeout(time.Hour)}}}}}
			c.Nodes = append(c.Nodes, Node{Name: "disk", Workers: 1})
		}, []string{`node "db", step 1, call 1 to "disk", stack layer 1: timeout 1h0m0s is not shorter than the 1s around it (` + web + `, stack layer 1)`}},
		{"the shorter of two paths", func(c *Config) {
			toDB(c).Stack[1].Timeout = 700 * ms
			other := c.Clients[0]
			other.Name, other.Steps = "batch", []Step{{Calls: []Call{{To: "edge", Stack: Stack{timeout(600 * ms)}}}}}
			c.Clients = append(c.Clients, other)
		}, []string{db + `, stack layer 2: timeout 700ms is not shorter than the 600ms around it (client "batch", step 1, call 1 to "edge", stack layer 1)`}},

		{"a timeout below the shortest service", func(c *Config) {
			c.Nodes[1].Service = Law{Kind: Uniform, Low: 90 * ms, High: 95 * ms}
			toDB(c).Request, toDB(c).Response = Law{Mean: 5 * ms}, Law{Mean: 5 * ms}
		}, []string{db + `, stack layer 2: timeout 100ms, but no call is answered well in less than 100ms`}},
		{"with the calls below", func(c *Config) {
			c.Nodes[0].Service = Law{Mean: 300 * ms}
			c.Nodes[1].Service = Law{Mean: 50 * ms}
			toDB(c).Times, c.Nodes[0].Steps[0].Need = 5, 3
			c.Nodes[0].Steps = append(c.Nodes[0].Steps, Step{Calls: []Call{{To: "disk"}, {To: "db"}}}, Step{Calls: []Call{{To: "disk"}, {To: "db"}}, Need: 1})
			c.Nodes = append(c.Nodes, Node{Name: "disk", Workers: 1, Service: Law{Mean: 600 * ms}})
		}, []string{web + `, stack layer 1: timeout 1s, but no call is answered well in less than 1s`}},
		{"faster at times", func(c *Config) {
			c.Nodes[1].Service = Law{Mean: 150 * ms}
			addFault(c, Fault{Kind: FaultSlow, Factor: 0.5, End: 1})
		}, nil},
		{"a trace that knows better", func(c *Config) {
			s := Segment{Node: "db", End: 1}
			s.LatencyMean = Known(ms)
			c.Nodes[1].Service, c.Nodes[1].Trace = Law{Mean: 150 * ms}, []Segment{s}
		}, nil},
		{"a script that is quicker", node(func(n *Node) { n.Service, n.Script = Law{Mean: 150 * ms}, []Scripted{{Service: ms}} }), nil},
		{"a script that is not", node(func(n *Node) {
			n.Service, n.Script = Law{Mean: 150 * ms}, []Scripted{{Service: 120 * ms}, {Service: ms, Code: 503}}
		}), []string{db + `, stack layer 2: timeout 100ms, but no call is answered well in less than 120ms`}},
		{"a law that is not used", node(func(n *Node) { n.Script, n.ScriptRepeat = []Scripted{{Service: ms}}, true }), []string{
			`node "db": has a service law, but the script repeats and never leaves a call to it`}},

		{"what retries say", stack(Layer{Retry: &RetryLayer{RetryConfig: policies.RetryConfig{Attempts: Unlimited, Deadline: time.Second}}}), []string{
			db + `, stack layer 1: retry: unlimited attempts without back-off: a callee that fails at once is called without a pause until the deadline`}},
		{"what breakers say", func(c *Config) {
			b := someBreaker()
			b.Rule.MinCalls, b.Rule.SlowAfter = 30, time.Second
			toDB(c).Stack = Stack{{Breaker: b}}
		}, []string{
			db + `, stack layer 1: breaker: minimum 30 above the count window of 20: capped to 20`,
			db + `, stack layer 1: breaker: slow after 1s without a slow rate: slow calls are counted but never trip`,
		}},
		{"a budget beside one attempt", stack(Layer{Retry: someRetry(1)}), []string{
			db + `, stack layer 1: retry: a budget beside 1 attempt: there is no retry to grant`}},
		{"retries in two layers", func(c *Config) { toEdge(c).Stack = Stack{timeout(time.Second), {Retry: someRetry(4)}} }, []string{
			db + `, stack layer 1: retry: 3 attempts inside the 4 attempts of ` + web + `, stack layer 2: up to 12 attempts for each request`}},
		{"and a third", func(c *Config) {
			toEdge(c).Stack = Stack{{Retry: someRetry(4)}}
			toDB(c).Sidecar = Stack{{Retry: &RetryLayer{RetryConfig: policies.RetryConfig{Attempts: Unlimited, Deadline: 1,
				Backoff: policies.BackoffConfig{Kind: policies.FullJitter, Base: 1}}}}}
		}, []string{
			db + `, stack layer 1: retry: 3 attempts inside the 4 attempts of ` + web + `, stack layer 1: up to 12 attempts for each request`,
			db + `, sidecar layer 1: retry: unlimited attempts inside the 4 attempts of ` + web + `, stack layer 1 and the 3 attempts of ` + db + `, stack layer 1: up to unlimited attempts for each request`,
		}},
		{"waits that are too long", func(c *Config) {
			r := toDB(c).Stack[0].Retry
			r.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 2 * time.Second, Jitter: 0.5}
			r.Deadline = time.Second
		}, []string{
			db + `, stack layer 1: retry: the first wait is at least 1s, and by then the timeout 1s around it (` + web + `, stack layer 1) is over`,
			db + `, stack layer 1: retry: the first wait is at least 1s, and by then the deadline 1s is over`,
		}},
		{"attempts that are too long", func(c *Config) { toDB(c).Stack[0].Retry.Deadline = 100 * ms }, []string{
			db + `, stack layer 1: retry: an attempt that runs into the timeout 100ms inside is never repeated before the deadline 100ms`}},

		{"deadlines that nobody tells", node(func(n *Node) { n.Queue.DropExpired = true }), []string{
			`node "db": drops expired calls, but no caller tells it a deadline`}},
		{"deadlines that a caller tells", func(c *Config) { c.Nodes[1].Queue.DropExpired, toDB(c).PropagateDeadline = true, true }, nil},
		{"deadlines that are passed on", func(c *Config) {
			c.Nodes[1].Queue.DropExpired, toDB(c).PropagateDeadline, toEdge(c).PropagateDeadline = true, true, true
			toDB(c).Stack = nil
		}, nil},
		{"no deadline to tell", func(c *Config) { toDB(c).PropagateDeadline, toDB(c).Stack = true, nil }, []string{
			db + `: tells the node a deadline, but there is none to tell`}},

		{"no writes to recognise", node(func(n *Node) { n.Dedup = true }), []string{
			`node "db": recognises requests without writes: there is no effect to be had twice`}},
		{"one of one", func(c *Config) { c.Nodes[0].Steps[0].Need = 1 }, []string{`node "edge": step 1: needs 1 of 1 call, which is all`}},
		{"no choice", func(c *Config) { toDB(c).Balance = Random }, []string{db + `: balance random over 1 replica: there is nothing to choose`}},
		{"shed above what fits", node(func(n *Node) { n.Queue.Limit, n.Shed.InFlight = Known(2), 10 }), []string{
			`node "db": sheds above 10 in flight, but no more than 10 fit its workers and its queue`}},
		{"shed below", node(func(n *Node) { n.Queue.Limit, n.Shed.InFlight = Known(2), 9 }), nil},
		{"never reached", func(c *Config) {
			c.Nodes = append(c.Nodes, Node{Name: "x", Workers: 1, Steps: []Step{{Calls: []Call{{To: "db"}}}}})
		}, []string{`node "x": no client's requests reach it`}},

		{"faults", func(c *Config) {
			addFault(c, Fault{Kind: FaultStall, Start: time.Minute, End: time.Hour})
			addFault(c, Fault{Kind: FaultError, Effect: true})
			addFault(c, Fault{Kind: FaultCapacity, Factor: 0.5})
			addFault(c, Fault{Kind: FaultCapacity})
			addFault(c, Fault{Kind: FaultCrash, Silent: true})
			c.Nodes[1].Workers = Unlimited
		}, []string{
			`node "db": fault 1 (stall): starts at 1m0s, not before the horizon 1m0s`,
			`node "db": fault 2 (error): has the effect of a good call, but the node writes nothing`,
			`node "db": fault 3 (capacity): leaves a share 0.5 of an unlimited number of workers, which is all of them`,
		}},
		{"silence", func(c *Config) {
			addFault(c, Fault{Kind: FaultCrash, Silent: true})
			c.Clients = append(c.Clients, Client{Name: "patient", Loop: ClosedLoop{Clients: 1}, Steps: []Step{{Calls: []Call{{To: "db"}}}}})
		}, []string{`node "db": fault 1 (crash): leaves calls without answer, and a caller without timeout waits for ever`}},

		{"idle instances", func(c *Config) { closed(c); c.Clients[0].Instances = 5 }, []string{`client "web": 5 instances for 3 clients: some have none`}},
		{"late clients", func(c *Config) { c.Clients[0].Start, c.Clients[0].End = time.Hour, 2*time.Hour }, []string{
			`client "web": starts at 1h0m0s, not before the horizon 1m0s`}},
		{"clients that ask on at once", func(c *Config) { closed(c); toEdge(c).Stack = Stack{{Breaker: someBreaker()}} }, []string{
			`client "web": a refused request is followed by the next at the same instant, for want of think time or a pause after a failure`}},
		{"clients that wait before they retry", func(c *Config) {
			closed(c)
			r := someRetry(3)
			r.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: ms}
			toEdge(c).Stack = Stack{{Retry: r}, {Limit: &LimitLayer{InFlight: 1}}}
			toDB(c).Stack = nil
		}, nil},
		{"clients that pause", func(c *Config) {
			closed(c)
			toEdge(c).Stack, c.Clients[0].FailurePause = Stack{{Breaker: someBreaker()}}, 1
		}, nil},
	} {
		c := shop()
		tc.change(c)
		if got := c.Notes(); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, strings.Join(got, "\n     "), strings.Join(tc.want, "\n     "))
		}
		for _, r := range c.Remarks() {
			rules = append(rules, r.Rule)
		}
	}
	slices.Sort(rules)
	if got := slices.Compact(rules); !slices.Equal(got, RemarkRules()) {
		t.Errorf("rules %q, want those listed, %q", got, RemarkRules())
	}
}

// The rule of a remark tells it from others at the same place.
func TestRemarks(t *testing.T) {
	c := shop()
	toDB(c).Stack[0].Retry.Deadline = 100 * ms
	addFault(c, Fault{Kind: FaultStall, Start: time.Minute, End: time.Hour})
	got := c.Remarks()
	want := []Remark{
		{`node "edge", step 1, call 1 to "db", stack layer 1`, policies.Remark{Rule: "attempt-too-long",
			Text: "retry: an attempt that runs into the timeout 100ms inside is never repeated before the deadline 100ms"}},
		{`node "db"`, policies.Remark{Rule: "never-happens", Text: "fault 1 (stall): starts at 1m0s, not before the horizon 1m0s"}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The work is by node and call, not by path: 2^28 paths are no matter.
func TestConfigNotesManyPaths(t *testing.T) {
	c := shop()
	for i := range 28 {
		to := c.Nodes[len(c.Nodes)-1].Name
		c.Nodes = append(c.Nodes, Node{Name: string(rune('A' + i)), Workers: 1, Steps: []Step{{Calls: []Call{{To: to}, {To: to}}}}})
	}
	toEdge(c).To = c.Nodes[len(c.Nodes)-1].Name
	want := []string{`node "edge": no client's requests reach it`}
	if got := c.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q (%v), want %q", got, c.Validate(), want)
	}
}
