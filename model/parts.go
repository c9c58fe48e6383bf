package model

import (
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// What a System is made of. Everything that is alive in a run is a request, a
// job or a flight:
//
//	request   what a client asked for; it lives until the last job for it ends
//	job       a call at a node, from the moment it is sent until its answer has
//	          arrived; and a request at its client, which makes calls as a node does
//	flight    a call as its caller sees it, on its way through the stacks: all
//	          its attempts, one after the other, each of which is a job
//
// A flight knows the job of its present attempt and the job knows the flight,
// until one of them leaves the other: then the job is abandoned.

type request struct {
	place uint32
	refs  int32 // jobs alive
	// orphans are those of them whose caller has gone.
	orphans int32
	client  uint32 // index into System.clients
	loop    uint32 // client of a closed loop
	number  uint64 // of the client's requests, from 0
	key     uint64 // number that is unique in the system, for draws
	start   sim.Time
	// served counts for each hop the jobs that were done well for this
	// request, arrived for each node those that reached it.
	served, arrived []uint32
	counts          []uint32 // both
}

type jobState uint8

const (
	jobFree      jobState = iota
	jobSent               // on its way to the node
	jobQueued             // waits for a worker
	jobServing            // is served
	jobCalling            // the node makes its own calls for it
	jobReturning          // the answer is on its way back
)

type job struct {
	place   uint32
	state   jobState
	holds   bool // a worker
	entered bool // its server has accepted it
	orphan  bool // its caller has gone
	counted bool // its category is in the ledger
	effect  bool // fails, but has its effect

	failed   bool
	starting bool               // calls of the present step are being started
	code     policies.ErrorCode // how it fails, if failed
	step     uint16

	node    *node
	server  *server
	request *request
	caller  *flight // nil once the caller has gone, and for requests
	hop     *hop    // by which it came
	flights *flight // its own calls

	need     uint32 // calls of the present step that must still succeed
	pending  uint32 // calls of the present step under way
	instance uint32 // of the caller whose policies its calls pass

	path     uint64
	arrived  sim.Time
	worked   time.Duration
	deadline sim.Time      // until when the caller waits, as far as the node was told
	due      sim.Time      // end of service, if nothing comes between
	left     time.Duration // of its service, when it stands still
	timer    sim.Timer

	next, prev *job // in the queue
}

// reset clears what the last use of a job has left. Who takes it from the pool
// sets the rest: state, node, server, request, caller, hop, path and instance.
// The list fields are nil already.
func (j *job) reset() {
	j.holds, j.entered, j.orphan, j.counted, j.effect, j.failed, j.starting = false, false, false, false, false, false, false
	j.step, j.worked, j.deadline = 0, 0, sim.MaxTime
}

type flight struct {
	hop      *hop
	job      *job   // who calls
	child    *job   // the present attempt, until it is answered or left
	slots    []slot // one for each layer
	instance uint32
	replica  int32 // that the present attempt went to, from 1; 0 if there is only one
	depth    int32 // layers entered
	tries    uint32

	next, prev *flight
	deadline   sim.Time // inherited
	path       uint64
	timer      sim.Timer
	place      uint32
	decisions  uint32   // of retry layers with jitter
	number     uint32   // of the present try; tries counts those that were sent
	trying     bool     // an attempt is under way, as far as the caller knows
	met        int32    // innermost layer that the present try has come to
	sent       sim.Time // when the present try began
}

// A slot is what a layer keeps of a flight. What the way up of a good answer
// needs comes first.
type slot struct {
	layer    *layer
	start    sim.Time
	timer    sim.Timer
	permit   policies.Permit
	attempts int32
	waiting  bool
	failed   policies.ErrorCode // of the attempt before a wait
	tried    sim.Time           // start of the present attempt, of a retry layer
	waited   time.Duration
	carry    policies.Carry
	breaker  policies.State // in which a breaker met the try; only for observers
}

type node struct {
	config  *Node
	index   int
	law     sampler
	service sim.Draws
	failure sim.Draws
	steps   []step
	servers []server
	first   *server // of them
	ledger  NodeLedger
	waits   *quantiles
	script  script

	queueLimit  int
	lifo        bool
	dropExpired bool
	cancel      bool
	async       bool

	present, serving uint64
	queued           uint64
	presentAt        sim.Time // up to when PresentTime is counted

	client *client // of a pseudo-node that makes a client's calls

	traceAt   int // next segment
	traceLaw  *sampler
	traceCond Condition
}

type step struct {
	hops []*hop
	only *hop // if there is one call
	need uint32
	all  uint32 // calls
}

type server struct {
	node    *node
	index   int // of its replica
	global  uint64
	workers int // that may be held now
	held    int
	present int

	serving   int
	servingAt sim.Time // up to when Busy is counted

	head, tail *job
	queued     int

	shed   bucket // if sheds
	sheds  bool
	limits []limitFault
	now    state
	gated  bool // the server may refuse a call for other reasons than its queue
}

type hop struct {
	index     int
	call      *Call
	from      *node
	to        *node
	layers    []layer
	side      int // index of the first layer of the sidecar, -1 if there is none
	local     uint64
	times     int
	meant     []uint32 // by client: calls of one request without retries
	propagate bool
	request   sampler
	response  sampler
	draws     sim.Draws // link latencies
	choice    sim.Draws // replicas
	jitter    sim.Draws
	safety    sim.Draws // which calls must not be made twice
	turn      int
	out       []int32 // attempts under way to each replica
	flights   pool[flight]
	ledger    CallLedger
}

type layerKind uint8

const (
	timeoutLayer layerKind = iota
	retryLayer
	breakerLayer
	limitLayer
)

// A layer holds the policy of a stack for each instance of the caller.
type layer struct {
	kind     layerKind
	alarmed  bool
	jitters  bool
	private  uint32 // all ones if each instance has its own, otherwise 0
	timeout  time.Duration
	lane     *sim.Lane
	retries  []*policies.Retry
	breakers []policies.CircuitBreaker
	alarms   []Alarm
	limits   []*limiter
}

// instance is the index of a caller's policy.
func (l *layer) instance(i uint32) uint32 { return i & l.private }

// A limiter counts the calls inside a cap.
type limiter struct{ used, most int }

type client struct {
	config  *Client
	node    *node
	source  Source
	think   sim.Draws
	law     sampler
	end     sim.Time
	most    uint64
	ledger  ClientLedger
	codes   [codeCount]uint64
	latency *quantiles
	rounds  []uint64    // requests made by each client of a closed loop
	started [][2]uint64 // succeeded and failed, by interval of their start
}
