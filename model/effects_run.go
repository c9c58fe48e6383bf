package model

import (
	"time"

	"github.com/stormglass/stormglass/sim"
)

// An EffectRun is Effects at work in one replication. All random numbers
// depend on the seed, the replication, and the way of a request alone (which
// intent, submission and attempt of each layer): under other keys and
// defences the same requests are lost.
type EffectRun struct {
	config   Effects
	timeouts [3]time.Duration // by level
	tries    [3]uint64
	again    *sim.Lane // redeliveries

	users, requests, answers, crashes, service, shards sim.Draws
	sampler                                            sampler

	intents  []effectIntent
	keys     []effectKey
	tasks    slab[effectTask]
	messages slab[effectMessage]
	runs     slab[effectExecution]
	ledger   EffectLedger
}

// noKey is the key of a request that has none yet.
const noKey = -1

// An effectIntent is what one user wants once.
type effectIntent struct {
	operation [2]int32    // keys of its devices
	number    int32       // key of its business number
	body      int32       // key of its content, kept with the first of a pair
	first     uint64      // way of its first effect
	message   int32       // key of its first message; noKey if there was none
	effects   uint32      // so far
	open      int32       // submissions, messages and writers under way or to come
	done      [3]sim.Time // first effect of each submission
	stored    [3]bool     // whether a message of it reached the queue
	sent      bool        // whether any did
	missing   bool        // no business number
	begun     bool
	taken     bool // a copy was taken for another intent's
}

// notYet is the instant of what has not happened.
const notYet sim.Time = sim.MaxTime

// The submissions of an intent.
const (
	byUser = iota
	byClick
	byDevice
	byWriter
)

// The levels of callers, and of the queue as the last of them.
const (
	atClient = iota
	atGateway
	atServer
	atQueue
)

// A way holds an intent, the submission, and the attempt of each level from 1,
// in 4 bits each; what lies below a level is 0.
func way(intent int, submission uint64) uint64 { return (uint64(intent)<<2 | submission) << 16 }

// wayStep shifts the attempt of a level to its place.
func wayStep(level int, attempt uint64) uint64 { return attempt << (4 * (3 - level)) }

func wayIntent(w uint64) int        { return int(w >> 18) }
func waySubmission(w uint64) uint64 { return w >> 16 & 3 }

// An effectTask is a call that a client, a gateway or a server sees through.
type effectTask struct {
	way     uint64 // down to its caller's attempt
	sent    sim.Time
	attempt uint64
	parent  uint64 // place of its caller's task
	key     int32
	level   uint8
}

func (t *effectTask) path() uint64 { return t.way | wayStep(int(t.level), t.attempt) }

// The events.
const (
	effectsNext       = iota // the next pair of intents begins; Arg: the pair
	effectsSubmit            // Arg: a way down to the submission
	effectsArrive            // the task's request is at the callee
	effectsAnswer            // the answer is at the task's layer
	effectsAgain             // the task's layer repeats
	effectsConsume           // the execution's delivery is at the consumer
	effectsWrite             // the execution's effect is due
	effectsAck               // the execution's acknowledgement is at the queue
	effectsRedeliver         // the message becomes visible again
	effectsOtherDedup        // a writer passes by the table of keys; Arg: the way
	effectsOtherState        // one passes by the state, too
)

// NewEffectRun returns the run before its first event, or the error of
// Validate.
func NewEffectRun(c Effects, seed, replication uint64) (*EffectRun, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	draws := func(source string) sim.Draws { return sim.NewDraws(seed, replication, "effects/"+source) }
	r := &EffectRun{
		config: c,
		tries:  [3]uint64{uint64(c.ClientAttempts), uint64(c.GatewayAttempts), uint64(c.ServerAttempts)},
		users:  draws("users"), requests: draws("request-loss"), answers: draws("answer-loss"),
		crashes: draws("crash"), service: draws("service"), shards: draws("shard"),
		intents: make([]effectIntent, c.Intents),
		keys:    make([]effectKey, 0, c.Intents+c.Intents/8),
	}
	r.timeouts[atClient], r.timeouts[atGateway], r.timeouts[atServer] = c.Timeouts()
	for i := range r.intents {
		in := &r.intents[i]
		in.operation = [2]int32{noKey, noKey}
		in.number, in.body, in.message = noKey, noKey, noKey
		in.done = [3]sim.Time{notYet, notYet, notYet}
	}
	return r, nil
}

// Start schedules the first intents. The engine must be at time 0.
func (r *EffectRun) Start(e *sim.Engine) {
	r.again = e.Lane(r.config.Visibility)
	r.sampler = newSampler(r.config.Service, e)
	e.At(0, r, sim.Event{Kind: effectsNext})
}

// Handle does what is due.
func (r *EffectRun) Handle(e *sim.Engine, ev sim.Event) {
	switch ev.Kind {
	case effectsNext:
		r.next(e, int(ev.Arg))
	case effectsSubmit:
		r.submit(e, ev.Arg)
	case effectsArrive:
		r.arrive(e, ev.Arg)
	case effectsAnswer:
		r.answered(e, ev.Arg)
	case effectsAgain:
		r.repeat(e, ev.Arg)
	case effectsConsume:
		r.consume(e, ev.Arg)
	case effectsWrite:
		r.write(e, ev.Arg)
	case effectsAck:
		r.acknowledged(e, ev.Arg)
	case effectsRedeliver:
		r.deliver(e, ev.Arg)
	default:
		r.bypass(e, ev.Arg, ev.Kind == effectsOtherState)
	}
}

// The draws of a user for an intent.
const (
	drawClick = iota
	drawDevice
	drawSame
	drawMissing
	drawBypass
)

// next begins a pair of intents; the second may order the same as the first.
func (r *EffectRun) next(e *sim.Engine, pair int) {
	c := &r.config
	first, second := 2*pair, 2*pair+1
	r.begin(e, first, 0)
	if second == len(r.intents) {
		return
	}
	wait := c.Every
	if r.users.Float64(uint64(second), drawSame) < 2*c.SameRatio {
		wait = c.SameAfter
		r.intents[second].body = r.bodyKey(first)
	}
	r.begin(e, second, wait)
	if second+1 < len(r.intents) {
		e.After(2*c.Every, r, sim.Event{Kind: effectsNext, Arg: uint64(pair + 1)})
	}
}

// begin schedules an intent's submissions, and the writer that passes by.
func (r *EffectRun) begin(e *sim.Engine, intent int, wait time.Duration) {
	c, in, n := &r.config, &r.intents[intent], uint64(intent)
	in.missing = r.users.Float64(n, drawMissing) < c.NumberMissing
	later := func(kind uint32, submission uint64, after time.Duration) {
		in.open++
		e.After(wait+after, r, sim.Event{Kind: kind, Arg: way(intent, submission)})
	}
	later(effectsSubmit, byUser, 0)
	if r.users.Float64(n, drawClick) < c.ClickRatio {
		later(effectsSubmit, byClick, c.ClickAfter)
	}
	if r.users.Float64(n, drawDevice) < c.DeviceRatio {
		later(effectsSubmit, byDevice, c.DeviceAfter)
	}
	switch u := r.users.Float64(n, drawBypass); {
	case u < c.BypassDedup:
		later(effectsOtherDedup, byWriter, c.BypassAfter)
	case u < c.BypassDedup+c.BypassState:
		later(effectsOtherState, byWriter, c.BypassAfter)
	}
}

// submit hands a submission to the client.
func (r *EffectRun) submit(e *sim.Engine, w uint64) {
	in := &r.intents[wayIntent(w)]
	in.begun = true
	r.ledger.Submissions++
	key := int32(noKey)
	switch r.config.KeyAt {
	case KeyAtOperation:
		device := 0
		if waySubmission(w) == byDevice && !r.config.Synced {
			device = 1
		}
		key = r.keyIn(&in.operation[device])
	case KeyAtSDK:
		key = r.newKey()
	}
	r.send(e, r.tasks.put(effectTask{way: w, key: key, level: atClient}))
}

// send makes the next attempt of a task.
func (r *EffectRun) send(e *sim.Engine, place uint64) {
	t := &r.tasks.values[place]
	t.attempt++
	t.sent = e.Now()
	r.ledger.Attempts[t.level]++
	if r.config.RequestLoss > 0 && r.requests.Float64(t.path(), 0) < r.config.RequestLoss {
		r.fail(e, place)
		return
	}
	e.After(r.config.Leg, r, sim.Event{Kind: effectsArrive, Arg: place})
}

// arrive is a request at the layer below its task's.
func (r *EffectRun) arrive(e *sim.Engine, place uint64) {
	t := r.tasks.values[place]
	if t.level == atServer {
		r.store(e, t.path(), t.key)
		r.answer(e, place)
		return
	}
	key := t.key
	switch {
	case t.level == atClient && r.config.KeyAt == KeyAtGateway:
		key = r.bodyKey(wayIntent(t.way))
	case t.level == atGateway && r.config.KeyAt == KeyAtServer:
		key = r.newKey()
	}
	r.send(e, r.tasks.put(effectTask{way: t.path(), parent: place, key: key, level: t.level + 1}))
}

// answer sends the answer to the present attempt of a task.
func (r *EffectRun) answer(e *sim.Engine, place uint64) {
	if r.config.AnswerLoss > 0 && r.answers.Float64(r.tasks.values[place].path(), 0) < r.config.AnswerLoss {
		r.fail(e, place)
		return
	}
	e.After(r.config.Leg, r, sim.Event{Kind: effectsAnswer, Arg: place})
}

// answered ends a task well.
func (r *EffectRun) answered(e *sim.Engine, place uint64) {
	t := r.tasks.take(place)
	if t.level == atClient {
		r.ledger.Answered++
		r.intents[wayIntent(t.way)].open--
		return
	}
	r.answer(e, t.parent)
}

// fail says that the present attempt of a task will not be answered: the layer
// repeats it after the timeout, or gives up, and its caller will wait in vain.
func (r *EffectRun) fail(e *sim.Engine, place uint64) {
	for {
		t := &r.tasks.values[place]
		if t.attempt < r.tries[t.level] {
			e.At(t.sent.Add(r.timeouts[t.level]).Add(r.config.Backoff), r, sim.Event{Kind: effectsAgain, Arg: place})
			return
		}
		ended := r.tasks.take(place)
		if ended.level == atClient {
			r.ledger.GaveUp++
			r.intents[wayIntent(ended.way)].open--
			return
		}
		place = ended.parent
	}
}

// repeat makes another attempt, unless the client finds that there is no need.
func (r *EffectRun) repeat(e *sim.Engine, place uint64) {
	t := &r.tasks.values[place]
	if t.level == atClient {
		in, submission := &r.intents[wayIntent(t.way)], waySubmission(t.way)
		if r.config.query() != QueryNone {
			r.ledger.Queries++
			if r.found(in, submission, e.Now()) {
				r.ledger.FoundDone++
				in.open--
				r.tasks.take(place)
				return
			}
		}
		if in.stored[submission] {
			r.ledger.Repeats++
		}
	}
	r.send(e, place)
}

// found reports whether the client that asks about a submission finds it.
func (r *EffectRun) found(in *effectIntent, submission uint64, now sim.Time) bool {
	switch r.config.Query {
	case QueryReplica:
		return in.done[submission].Add(r.config.Lag) <= now
	case QueryAccepted:
		return in.stored[submission]
	}
	return in.done[submission] <= now
}
