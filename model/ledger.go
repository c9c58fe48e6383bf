package model

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A Ledger counts what became of every request and every attempt of a run.
// Nothing in it is sampled, and at the end of a run it must balance: see Check.
// Sums of time stay at the longest Duration rather than wrap, and a run with a
// sum above half of that, 146 years, ends with an error.
type Ledger struct {
	Clients []ClientLedger // in the order of Config.Clients
	Nodes   []NodeLedger   // in the order of Config.Nodes
	Calls   []CallLedger   // callers in the order nodes, clients; for each in the order of its steps
}

// A ClientLedger counts original requests.
type ClientLedger struct {
	Name      string
	Requests  uint64 // started
	Succeeded uint64
	Failed    uint64
	InFlight  uint64

	// ByCode counts the failed ones by the code the client saw last.
	ByCode map[policies.ErrorCode]uint64

	// Latency is the sum over the ended requests that started from Warmup on,
	// Measured their number.
	Latency  time.Duration
	Measured uint64
}

// A NodeLedger counts the attempts that reached a node, all replicas together.
//
//	Attempts = Succeeded + Failed + Rejected + Abandoned + InFlight
type NodeLedger struct {
	Name      string
	Attempts  uint64 // that reached the node
	Succeeded uint64 // answered well to a caller who was there
	Failed    uint64 // served and answered with an error to a caller who was there
	Rejected  uint64 // turned away: shed, queue full, expired, crashed
	Abandoned uint64 // ended, but the caller had gone
	InFlight  uint64 // at the node now, for a caller or not

	// Work is the time that workers served calls, apart by what it was good
	// for.
	Useful        time.Duration // a good answer that reached a caller who still was on the way to one
	AbandonedWork time.Duration // the caller, or somebody before it, had gone
	Duplicate     time.Duration // a good answer, beyond the number of calls that the request was meant to make here
	RejectedWork  time.Duration // the answer was an error

	Unended time.Duration // work so far on calls that have not ended

	Busy time.Duration // served by all workers up to now; the sum of the work
	Held time.Duration // workers held up to now: service, and waiting for the node's own calls

	Writes          uint64 // effects
	DuplicateWrites uint64 // those of them beyond the number of calls that a request was meant to make here

	Begun       uint64        // services that began
	Waited      uint64        // those of them that waited for a worker
	Wait        time.Duration // sum of their waits
	Sojourn     time.Duration // sum over the ended attempts that were accepted, from arrival to the end at the node
	PresentTime time.Duration // integral over time of the calls that wait or are served: Little's L times the time
	MaxPresent  uint64        // most calls that waited or were served at a time
	MaxServing  uint64        // most calls in service at a time
}

// A CallLedger counts what the stacks of one link did, all instances of the
// caller together.
type CallLedger struct {
	From, To string

	Calls     uint64 // that entered the stacks
	Succeeded uint64
	Failed    uint64
	Left      uint64 // given up by the caller before they ended
	InFlight  uint64

	Attempts uint64 // sent to the node
	// Tries are the attempts, and those that the caller's own breakers and
	// caps refused in their place; Repeats those of them after the first of a
	// call, RepeatsSucceeded those of them that were answered well.
	Tries, Repeats, RepeatsSucceeded uint64
	TimedOut                         uint64 // timeouts of any layer that ended something

	Retries          uint64 // granted
	RetriesSucceeded uint64 // retries that ended well
	// Denied counts the failed tries that would have been repeated but for
	// the budget, also those that were granted and then refused when they were
	// to be sent; Spent those that had no attempt left, NotRetryable those
	// with an error that is not retried, Late those too near the deadline.
	Denied, Spent, NotRetryable, Late uint64
	// Of a guard, NotClosed counts those refused since a breaker was not
	// closed, NotIdempotent those of calls that must not be made twice, and
	// UnsafeRetries the retries that were granted to such calls all the same.
	NotClosed, NotIdempotent, UnsafeRetries uint64
	MostAttempts                            uint64 // of one call

	Refused     uint64 // by a breaker, open or with all its probes out
	RefusedOpen uint64 // those of them that met an open breaker
	Limited     uint64 // by a cap

	// Of the breakers of this link; one that is shared counts at each of its
	// links.
	Openings uint64
	OpenTime time.Duration
}

// Node returns the ledger of the named node. It panics if there is none.
func (l *Ledger) Node(name string) *NodeLedger {
	for i := range l.Nodes {
		if l.Nodes[i].Name == name {
			return &l.Nodes[i]
		}
	}
	panic("model: no node " + name)
}

// Client returns the ledger of the named client. It panics if there is none.
func (l *Ledger) Client(name string) *ClientLedger {
	for i := range l.Clients {
		if l.Clients[i].Name == name {
			return &l.Clients[i]
		}
	}
	panic("model: no client " + name)
}

// Call returns the ledger of the first link between the two. It panics if
// there is none.
func (l *Ledger) Call(from, to string) *CallLedger {
	for i := range l.Calls {
		if l.Calls[i].From == from && l.Calls[i].To == to {
			return &l.Calls[i]
		}
	}
	panic("model: no call from " + from + " to " + to)
}
