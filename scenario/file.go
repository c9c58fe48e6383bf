package scenario

import (
	"github.com/stormglass/stormglass/scenario/document"
)

// A File is a scenario as it is written. What is left out has the default that
// its description names.
type File struct {
	document.Place

	Name Label  `key:"name" doc:"What the scenario is about, in a line."`
	Doc  string `key:"doc" doc:"What it is about, for readers of the file."`

	Horizon      Duration `key:"horizon,required" doc:"Length of a run."`
	Warmup       Duration `key:"warmup" doc:"Requests that start before are left out of latencies. Default 0s."`
	Replications int      `key:"replications" doc:"Number of runs with other random numbers. Default 1."`
	Seed         *uint64  `key:"seed" doc:"Seed of all random numbers. Default 1."`

	Policies document.Map[Layer]  `key:"policies" doc:"Layers by name, which stacks may refer to."`
	Nodes    document.Map[Node]   `key:"nodes,required" doc:"The services, by name."`
	Clients  document.Map[Client] `key:"clients,required" doc:"Who makes original requests, by name."`

	Claims   []Claim                           `key:"claims" doc:"What must hold."`
	Variants document.Map[Variant]             `key:"variants" doc:"Changed copies of this scenario, by name. The scenario itself is run too, as base, if it has claims of its own."`
	Sweep    document.Map[[]document.Anything] `key:"sweep" doc:"Values to try, by the path of what they replace, such as clients.web.arrivals: [50/s, 100/s]. All combinations are run."`
}

// A Variant is a copy of the scenario in which some values are replaced.
type Variant struct {
	document.Place
	Doc    string                          `key:"doc" doc:"What is different, for readers of the file."`
	Set    document.Map[document.Anything] `key:"set" doc:"New values, by path, such as policies.guard.breaker.minimum: 40. A path may name something new."`
	Claims []Claim                         `key:"claims" doc:"What must hold in this variant, in place of the claims of the scenario."`
}

// A Node is a service.
type Node struct {
	document.Place

	Replicas    int      `key:"replicas" above:"0" doc:"Number of equal servers behind the name. Default 1."`
	Workers     *Count   `key:"workers" doc:"Calls that a server serves at a time. Default unlimited."`
	Async       bool     `key:"async" doc:"A worker is free while the node waits for its own calls. Default false: it is held, as in a thread for each request."`
	Service     Law      `key:"service" doc:"Time that a worker needs for a call, besides the node's own calls. Default 0s."`
	PerInFlight Duration `key:"service_per_in_flight" doc:"Added to the service for each other call at the server. Default 0s."`
	Queue       *Queue   `key:"queue" doc:"Calls that wait for a worker. Default unlimited, first in first out."`
	Shed        *Shed    `key:"shed" doc:"What is rejected at the door. Default nothing."`
	Cancel      bool     `key:"cancel" doc:"Work stops when its caller has gone. Default false: it is done to its end."`
	Writes      bool     `key:"writes" doc:"A call that is served well has an effect that counts."`
	Dedup       bool     `key:"dedup" doc:"A request that was served before has no further effect."`

	Calls  []Step     `key:"calls" doc:"Calls that the node makes before it answers, one after the other."`
	Faults []Fault    `key:"faults" doc:"What is wrong with the node, and when."`
	Script []Scripted `key:"script" doc:"The outcomes of the first calls, in their order."`
	Repeat bool       `key:"repeat_script" doc:"The script begins again at its end. Default false: service and faults hold then."`
	Trace  *Trace     `key:"trace" doc:"Condition over time, from a file of failure segments; outside of them the node is as without a trace."`
}

// A Queue is the number of calls that may wait, or more about it.
type Queue struct {
	document.Place
	Limit       *Room  `key:"limit" doc:"Most calls that wait; one more is rejected. Default unlimited."`
	Order       string `key:"order" doc:"fifo or lifo. Default fifo." enum:"fifo,lifo"`
	DropExpired bool   `key:"drop_expired" doc:"A call whose deadline has passed is rejected when a worker gets to it."`
}

// ParseShort reads a queue written as its limit.
func (q *Queue) ParseShort(text string) error {
	q.Limit = new(Room)
	return q.Limit.ParseText(text)
}

// A Shed rejects calls at the door of a server.
type Shed struct {
	document.Place
	InFlight int  `key:"in_flight" above:"0" doc:"Most calls that wait or are served. Default no bound."`
	Rate     Rate `key:"rate" above:"0" doc:"Most calls a second that are let in, from a bucket. Default no bound."`
	Burst    int  `key:"burst" above:"0" doc:"Size of that bucket. Default 1."`
	Code     Code `key:"code" doc:"Answer to a call that is rejected. Default 503."`
}

// A Step is one call, or several at a time.
type Step struct {
	Call
	Parallel []Call `key:"parallel" doc:"Calls made side by side, in place of a single one."`
	Need     int    `key:"need" above:"0" doc:"How many of them must succeed. Default all."`
}

// ParseShort reads a step written as the node to call.
func (s *Step) ParseShort(text string) error {
	s.To = text
	return nil
}

// A Call is the link from a caller to a node.
type Call struct {
	document.Place
	To                string  `key:"to" doc:"The node that is called."`
	Times             int     `key:"times" above:"0" doc:"Number of equal calls side by side. Default 1."`
	Stack             []Layer `key:"stack" doc:"The caller's policies, the outermost first."`
	Sidecar           []Layer `key:"sidecar" doc:"The policies of a proxy beside the caller, the outermost first."`
	Balance           string  `key:"balance" doc:"Which replica gets an attempt. Default round-robin." enum:"round-robin,random,least-requests,power-of-two"`
	Request           Law     `key:"request" doc:"Latency of the link on the way there. Default 0s."`
	Response          Law     `key:"response" doc:"Latency on the way back. Default 0s."`
	Unsafe            Ratio   `key:"unsafe" doc:"Share of the requests whose calls must not be made twice. Default 0."`
	PropagateDeadline bool    `key:"propagate_deadline" doc:"The node is told until when its caller waits. Default false."`
}

// ParseShort reads a call written as the node to call.
func (c *Call) ParseShort(text string) error {
	c.To = text
	return nil
}

// A Client makes original requests: in an open loop by arrivals, or in a closed
// one by loop.
type Client struct {
	document.Place
	Instances int       `key:"instances" above:"0" doc:"Number of programs with policies of their own that share the load. Default 1."`
	Arrivals  *Arrivals `key:"arrivals" doc:"Open loop: when requests come, such as 50/s for an even spacing."`
	Loop      *Loop     `key:"loop" doc:"Closed loop: each client waits for its answer."`
	Start     Duration  `key:"start" doc:"No request before. Default 0s."`
	End       Duration  `key:"end" above:"0" doc:"No request from then on. Default the horizon."`
	Requests  int       `key:"requests" above:"0" doc:"Most requests in all. Default no bound."`
	Calls     []Step    `key:"calls,required" doc:"What a request calls, one after the other."`
}

// A Loop is a closed loop.
type Loop struct {
	document.Place
	Clients      int      `key:"clients,required" doc:"Number of clients, each with one request at a time."`
	Think        Law      `key:"think" doc:"Time from an answer to the next request. Default 0s."`
	Spread       Duration `key:"spread" doc:"First requests come at random instants of this time. Default 0s: all at the start."`
	FailurePause Duration `key:"failure_pause" doc:"Wait after a request that failed, besides the think time. Default 0s."`
}

// ParseShort reads a loop written as the number of clients.
func (l *Loop) ParseShort(text string) error {
	var c Count
	if err := c.ParseText(text); err != nil || c.Unlimited {
		return errWant(text, "a number of clients")
	}
	l.Clients = c.N
	return nil
}

// A Fault is what is wrong with a node for a time: exactly one of the first
// seven keys is given.
type Fault struct {
	document.Place
	Error    *Ratio  `key:"error" doc:"Share of the calls that fail."`
	Slow     *Factor `key:"slow" doc:"Factor by which services take longer."`
	Capacity *Ratio  `key:"capacity" doc:"Share of the capacity that is left."`
	Limit    *Rate   `key:"limit" doc:"Calls above this rate are rejected at once."`
	Stall    bool    `key:"stall" doc:"No service begins; those under way go on."`
	Pause    bool    `key:"pause" doc:"Everything at the node stands still and then goes on."`
	Crash    bool    `key:"crash" doc:"All calls are lost and none is accepted."`

	From    Duration `key:"from" doc:"Begin. Default 0s."`
	To      Duration `key:"to" above:"0" doc:"End. Default the horizon."`
	For     Duration `key:"for" above:"0" doc:"Length, in place of an end."`
	Replica *int     `key:"replica" doc:"Number of the only replica concerned, from 0. Default all."`
	First   int      `key:"first" above:"0" doc:"error: only the first so many calls of each original request. Default all."`
	Client  string   `key:"client" doc:"error: only calls made for requests of this client. Default all."`
	Code    Code     `key:"code" doc:"error, limit: the answer to a call that fails. Default 503."`
	Fast    bool     `key:"fast" doc:"error: answers at once, without service."`
	Effect  bool     `key:"effect" doc:"error: the failing call has had its effect before."`
	Burst   int      `key:"burst" above:"0" doc:"limit: size of the bucket. Default 1."`
	Silent  bool     `key:"silent" doc:"crash: calls go without answer. Default false: connections break."`
}

// A Scripted is the outcome of a call, or of some in a row.
type Scripted struct {
	document.Place
	Times   int       `key:"times" above:"0" doc:"How many calls in a row. Default 1."`
	Service *Duration `key:"service" doc:"Their service time. Default that of the node, which must be constant."`
	Code    Code      `key:"code" doc:"The answer of calls that fail. Default none: they are served well."`
}

// ParseShort reads an outcome written as ok or as its code.
func (s *Scripted) ParseShort(text string) error {
	if text == "ok" {
		return nil
	}
	return s.Code.ParseText(text)
}

// A Trace is the condition of a node over time.
type Trace struct {
	document.Place
	File     string    `key:"file" doc:"CSV or Parquet file of failure segments, seen from the scenario."`
	Node     string    `key:"node" doc:"The node of the file that is meant. Default the name of this one; imported traces call theirs service."`
	Segments []Segment `key:"segments" doc:"The segments themselves, in place of a file."`
}

// ParseShort reads a trace written as a file.
func (t *Trace) ParseShort(text string) error {
	t.File = text
	return nil
}

// A Segment is the condition of a node for a time.
type Segment struct {
	document.Place
	From     Duration  `key:"from" doc:"Begin. Default 0s."`
	To       Duration  `key:"to,required" doc:"End."`
	Error    Ratio     `key:"error" doc:"Share of the calls that fail. Default 0."`
	Capacity *Ratio    `key:"capacity" doc:"Share of the capacity that is left. Default all."`
	Latency  *Duration `key:"latency" doc:"Mean latency, in place of the service. Default unknown."`
}
