package model

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Unlimited as a number of workers or of waiting calls means no bound.
const Unlimited = policies.Unlimited

// A Config describes a system as plain data: nodes that serve calls, clients
// that make requests, and on every call between them a stack of policies.
// [New] makes a system of it.
type Config struct {
	Nodes   []Node
	Clients []Client

	// Horizon is the length of a run, which covers [0, Horizon).
	Horizon time.Duration
	// Warmup leaves requests that start before it out of the latencies. The
	// ledger counts them all the same.
	Warmup time.Duration
	// Interval is the width of the intervals of the series, which are
	// recorded if it is above 0. The last one may be shorter.
	Interval time.Duration
}

// A Node is a service. A call of it waits for a worker, is served, and then
// makes the node's own calls, step by step; when all went well it is answered
// well.
type Node struct {
	Name string

	// Replicas is the number of equal servers behind the name; 0 means 1. All
	// that follows is for each of them.
	Replicas int
	// Workers is how many calls a server serves at a time: at least 1, or
	// Unlimited.
	Workers int
	// Async frees the worker while the node waits for the calls it makes.
	// Otherwise it is held until the answer, as in a thread for each request.
	Async bool

	// Service is the time that a worker needs for a call, besides the node's
	// own calls.
	Service Law
	// ServicePerInFlight is added to it for each other call that waits or is
	// served at that server when the service begins.
	ServicePerInFlight time.Duration

	Queue Queue
	Shed  Shed

	// Cancel lets the node stop a call whose caller has gone, queued or in
	// service, with the calls it has made itself. Otherwise abandoned work is
	// done to its end.
	Cancel bool

	// Writes says that a call which is served well has an effect that counts.
	// Dedup lets the node recognise a request that it has served as often as it
	// was meant to: then it has no further effect.
	Writes bool
	Dedup  bool

	Steps  []Step
	Faults []Fault

	// Script fixes the service of the first calls, in the order in which
	// their services begin at any replica; Service and error faults hold for
	// those that follow. With ScriptRepeat the script begins again.
	Script       []Scripted
	ScriptRepeat bool

	// Trace is the node's condition over time, in order: ErrorRatio adds an
	// error fault, CapacityFactor a capacity fault, and a latency that is
	// known takes the place of Service. It holds for every replica.
	Trace []Segment

	// Waits records the distribution of the time that calls wait for a worker.
	Waits bool
}

// Scripted is the service of one call, or of some in a row.
type Scripted struct {
	Times   int // 0 means 1
	Service time.Duration
	Code    policies.ErrorCode // the answer to a call that fails; 0 means that it is served well
}

// The orders of a Queue.
const (
	FIFO = "fifo" // the call that waits longest is next
	LIFO = "lifo" // the call that came last is next
)

// A Queue holds the calls that wait for a worker of a server.
type Queue struct {
	// Limit is the most calls that wait; one more is rejected. Unknown means
	// no bound, 0 that none waits.
	Limit Optional[int]
	// Order is FIFO or LIFO; "" means FIFO.
	Order string
	// DropExpired rejects a call whose deadline has passed when a worker gets
	// to it. A node knows the deadlines of calls with PropagateDeadline.
	DropExpired bool
}

// Shed rejects calls at the door of a server. The zero Shed rejects none.
type Shed struct {
	// InFlight is the most calls that wait or are served; 0 means no bound.
	InFlight int
	// RateRPS is the most calls a second let in: a bucket of Burst calls,
	// full at first, which fills at this rate. 0 means no bound.
	RateRPS float64
	Burst   int // 0 means 1
	// Code is the answer to a call that is rejected; 0 means 503.
	Code policies.ErrorCode
}

// A Step is a set of calls that a node or a client makes at a time.
type Step struct {
	Calls []Call
	// Need is how many of them must succeed; 0 means all. When so many have,
	// the step is done and the rest is left; when so many no more can, it has
	// failed and the rest is left too.
	Need int
}

// The ways to choose among the replicas of a node.
const (
	RoundRobin    = "round-robin"    // in turn, over all callers of this call
	Random        = "random"         // each equally likely
	LeastRequests = "least-requests" // the one with the fewest calls in flight from this call's callers; the first of several
	PowerOfTwo    = "power-of-two"   // the better of two drawn at random
)

// A Call is the link from a caller to a node.
type Call struct {
	To string // the node's name

	// Times is how many equal calls are made side by side; 0 means 1.
	Times int

	// Stack holds the caller's policies, the outermost first. Sidecar is a
	// second stack, of a proxy beside the caller: it sees the attempts that
	// leave the first, and answers them as a server does, so what times out in
	// it is a status 504 to the caller. A caller that leaves ends the
	// sidecar's work too.
	Stack   Stack
	Sidecar Stack

	// Balance says which replica an attempt goes to; "" means RoundRobin.
	Balance string

	// Request and Response are the latencies of the link, there and back.
	Request, Response Law

	// UnsafeRatio is the share of the requests, each at random, whose calls here
	// must not be made twice: they are no reads, and the node does not recognise
	// a repetition. A retry with a Guard may look at that; others do not care.
	UnsafeRatio float64

	// PropagateDeadline tells the node until when the caller waits: the
	// nearest end of a timeout of the stacks, or the deadline the caller was
	// told itself. The node's own calls end then at the latest.
	PropagateDeadline bool
}

// A Stack is the policies that a call passes, from the outermost to the
// innermost: what stands outside a retry sees a request once, what stands
// inside sees every attempt.
type Stack []Layer

// A Layer is one policy of a stack: exactly one of the fields is set.
type Layer struct {
	// Timeout is how long the layers inside and the answer may take together.
	// Inside a retry it is the timeout of an attempt, outside the deadline of
	// the call. At that instant the call has timed out.
	Timeout time.Duration
	Retry   *RetryLayer
	Breaker *BreakerLayer
	Limit   *LimitLayer
}

// Policies are private to each instance of the caller, a replica of a node or
// one of the Instances of a client. Those whose Share is the same name,
// anywhere in the system, are one object, and must be configured alike.

// A RetryLayer repeats what stands inside it.
type RetryLayer struct {
	policies.RetryConfig
	// Budget bounds the retries; nil means that nothing does.
	Budget *policies.BudgetConfig
	// Share names a budget that is shared.
	Share string
	// Guard is asked before a retry is granted, with the breaker that stands
	// nearest inside the retry in the same stack. Nil means that nothing but
	// the budget is asked.
	Guard *policies.GuardConfig
}

// A BreakerLayer refuses calls while it is open, with ErrBreakerOpen.
type BreakerLayer struct {
	policies.BreakerConfig
	// Preset takes the place of BreakerConfig, which may have nothing but
	// Classify and OnChange then: the breaker or throttle of a library. Nil
	// means that there is none.
	Preset policies.BreakerMaker
	Share  string
}

// A LimitLayer caps the calls in progress inside it and refuses the rest, with
// ErrLimit.
type LimitLayer struct {
	InFlight int // at least 1
	Share    string
}

// A Client makes original requests, in an open or in a closed loop.
type Client struct {
	Name string

	// Instances is the number of programs, each with its own policies, that
	// share the load in turn; 0 means 1. In a closed loop, client i belongs
	// to instance i mod Instances.
	Instances int

	// Arrivals is the open loop, Loop the closed one; exactly one of them, or
	// Rates, is set. The
	// first requests of a closed loop come at uniformly random instants of
	// the first Spread, all at 0 if that is 0.
	Arrivals Arrivals
	Loop     ClosedLoop
	Spread   time.Duration
	// Rates takes the place of Arrivals: the open loop at the rates of a
	// trace's segments, which each must state one, counted from Start. With
	// RatesRandom it is a Poisson process, otherwise evenly spaced.
	Rates       []Segment
	RatesRandom bool
	// FailurePause is how long a client of a closed loop waits after a
	// request that failed, besides its think time. Without either, a client
	// whose requests fail at once makes the next at the same instant.
	FailurePause time.Duration

	// Start and End bound the instants of requests: [Start, End). Arrivals
	// count their time from Start. End 0 means the horizon.
	Start, End time.Duration
	// Requests is the most requests in all; 0 means no bound.
	Requests int

	Steps []Step
}

// The kinds of Fault.
const (
	FaultError    = "error"    // a share Ratio of the calls fails
	FaultSlow     = "slow"     // a service takes Factor times as long
	FaultCapacity = "capacity" // a share Factor of the capacity is left
	FaultLimit    = "limit"    // calls above RateRPS are rejected at once
	FaultStall    = "stall"    // no service begins; those under way go on
	FaultPause    = "pause"    // every service stands still and then goes on; what ends of the node's own calls waits too
	FaultCrash    = "crash"    // all calls are lost and none is accepted
)

// A Fault is what is wrong with a node in [Start, End). Faults may overlap.
type Fault struct {
	Kind       string
	Start, End time.Duration // End 0 means the horizon
	// Replica is the number of the only replica concerned, from 0; unknown
	// means all of them.
	Replica Optional[int]

	// Ratio is the share of calls that an error fault makes fail, of those
	// whose service begins during it, each at random: above 0 to 1; 0 means 1.
	Ratio float64
	// First, if above 0, restricts it to the first so many calls that a
	// server's node gets for each original request.
	First int
	// Client restricts it to the calls made for requests of a client; "" means
	// all.
	Client string
	// Code is the answer to a call that fails, or is rejected by limit; 0 means
	// 503.
	Code policies.ErrorCode
	// Fast answers at once, without service.
	Fast bool
	// Effect is what the failing call has done before: the effect of a good one.
	Effect bool

	// Factor is that of slow, above 0, and of capacity, 0 to 1. Less capacity
	// means fewer workers, at least one unless it is 0, and slower ones as
	// far as the share does not come out even; of Unlimited workers only a
	// factor of 0 takes any away.
	Factor float64

	// RateRPS and Burst are those of limit, as in Shed.
	RateRPS float64
	Burst   int

	// Silent lets the calls that a crash loses or refuses go without answer;
	// otherwise those lost are told ErrReset and those refused ErrConnect.
	Silent bool
}
