package model

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A Delivery is a DeliveryConfig at work in one replication.
type Delivery struct {
	config            DeliveryConfig
	e                 *sim.Engine
	seed, replication uint64
	once              bool // at most once
	end               sim.Time

	source  Source
	intents []intent

	queue   []uint32 // visible messages, in the order in which they are handed out, from head on
	head    int
	stored  pool[stored]
	serial  uint64 // of deliveries
	numbers uint32 // of messages
	seen    []bool // message numbers that had an effect
	copies  []copied
	hidden  *sim.Lane
	backoff *policies.Backoff

	consumers []consumer
	idle      []uint32
	first     int // of idle

	letters []DeadLetter
	waits   *quantiles    // of acknowledgements
	wait    time.Duration // their sum

	ack, processing                                     Law
	loss, ackTime, work, fail, unknown, jitter, lostAck sim.Draws
	permanent, payload, repair                          sim.Draws
	leaving                                             *sim.Rand

	ledger DeliveryLedger
	ctx    context.Context
	events uint32
	stuck  uint32
	last   sim.Time
	err    error
}

// An intent is what the producer wants done once. Its number is its key.
type intent struct {
	begun     sim.Time
	live      uint32 // publishing, transits, messages and dead letters that may have an effect yet
	publishes uint32
	tries     uint32
	effects   uint32
	first     sim.Time // the first effect

	permanent, compensated, lost bool
}

// A copied is what became of one copy of a message, through its replays.
type copied struct {
	effect bool           // it had one
	cause  duplicateCause // of its latest effect
}

// The kinds of event.
const (
	opIntent  uint32 = iota // the producer's next intent
	opPublish               // an acknowledgement did not come
	opStored                // a message reaches the queue
	opAcked                 // the acknowledgement reaches the producer
	opDone                  // an attempt ends
	opExpire                // a visibility timeout
	opDelayed               // a delay is over
	opCommit                // a consumer acknowledges
	opLeave
	opRejoin
	opOwner
)

// NewDelivery returns a delivery at time 0, or the error of Validate. Its
// random numbers come from named streams: the same intents meet the same luck
// under other policies.
func NewDelivery(c DeliveryConfig, seed, replication uint64) (*Delivery, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := &Delivery{config: c, e: sim.New(), seed: seed, replication: replication, once: c.Guarantee == AtMostOnce,
		end: sim.Time(c.Horizon), waits: newQuantiles(), ack: c.Producer.Ack, processing: c.Consumers.Processing}
	if c.Producer.End > 0 {
		d.end = min(d.end, sim.Time(c.Producer.End))
	}
	for name, to := range map[string]*sim.Draws{
		"publish-loss": &d.loss, "ack": &d.ackTime, "processing": &d.work, "failure": &d.fail, "unknown": &d.unknown,
		"backoff": &d.jitter, "ack-loss": &d.lostAck, "permanent": &d.permanent, "payload": &d.payload, "repair": &d.repair,
	} {
		*to = sim.NewDraws(seed, replication, "delivery/"+name)
	}
	var err error
	if d.source, err = c.Producer.Arrivals.Source(sim.Stream(seed, replication, "arrivals/delivery")); err != nil {
		return nil, err
	}
	if d.backoff, err = policies.NewBackoff(c.Queue.Backoff); err != nil {
		return nil, err
	}
	d.hidden = d.e.Lane(c.Queue.Visibility)
	d.stored.fresh = func(place uint32, m *stored) { m.place = place }
	d.consumers = make([]consumer, c.Consumers.Count)
	phase := sim.NewDraws(seed, replication, "delivery/commit")
	for i := range d.consumers {
		d.consumers[i].present = true
		d.consumers[i].phase = time.Duration(phase.Float64(uint64(i), 0) * float64(c.Consumers.CommitEvery))
		d.rest(uint32(i))
	}
	if c.Consumers.LeaveRPS > 0 {
		d.leaving = sim.Stream(seed, replication, "delivery/leaving")
		d.nextLeave()
	}
	if c.Owner.Every > 0 && !d.once {
		d.e.After(c.Owner.Every, d, sim.Event{Kind: opOwner})
	}
	d.nextIntent()
	return d, nil
}

// Handle does what is due.
func (d *Delivery) Handle(_ *sim.Engine, ev sim.Event) {
	if d.events++; d.events%watchEvery == 0 {
		d.watch()
	}
	n := uint32(ev.Arg)
	switch ev.Kind {
	case opIntent:
		d.intents = append(d.intents, intent{begun: d.e.Now(), live: 1,
			permanent: d.permanent.Float64(uint64(len(d.intents)), 0) < d.config.Dependency.PermanentRatio})
		d.publish(uint32(len(d.intents) - 1))
		d.nextIntent()
	case opPublish:
		d.publish(n)
	case opStored:
		d.store(n)
	case opAcked:
		d.waited(d.e.Now().Sub(d.intents[n].begun))
		d.release(n)
	case opDone:
		d.done(n)
	case opExpire:
		d.expire(d.stored.at(n))
	case opDelayed:
		d.enqueue(d.stored.at(n))
	case opCommit:
		d.commit(n)
	case opLeave:
		d.leave()
		d.nextLeave()
	case opRejoin:
		d.consumers[n].present = true
		d.rest(n)
		d.dispatch()
	case opOwner:
		d.look()
		d.e.After(d.config.Owner.Every, d, sim.Event{Kind: opOwner})
	}
}

// watch looks now and then whether the run should go on.
func (d *Delivery) watch() {
	if d.ctx.Err() != nil {
		d.e.Stop()
	}
	if now := d.e.Now(); now != d.last {
		d.last, d.stuck = now, 0
	} else if d.stuck++; d.stuck == watchStuck {
		d.err = fmt.Errorf("model: delivery: time stands still at %v after %d events: retries that take no time never end", now, watchEvery*watchStuck)
		d.e.Stop()
	}
}

// Run runs the delivery to its horizon and checks the ledger. It returns early
// with the context's error when that ends.
func (d *Delivery) Run(ctx context.Context) error { return d.RunUntil(ctx, sim.Time(d.config.Horizon)) }

// RunUntil runs what is due before t, for those who look at the ledger in
// between. A t before the present instant does nothing, one after the horizon
// means the horizon.
func (d *Delivery) RunUntil(ctx context.Context, t sim.Time) error {
	d.ctx = ctx
	if t = min(t, sim.Time(d.config.Horizon)); d.err == nil && d.e.Now() < t {
		d.e.RunUntil(t)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.err != nil {
		return d.err
	}
	l := d.Ledger()
	err := l.Check()
	if err == nil && !d.once && l.Lost > 0 {
		err = fmt.Errorf("model: internal error: delivery: %d intents lost with at-least-once, want none", l.Lost)
	}
	if err != nil {
		d.err = fmt.Errorf("%w (seed %d, replication %d, at %v)", err, d.seed, d.replication, d.e.Now())
	}
	return d.err
}

// PublishQuantile returns the time from an intent to its acknowledgement that
// a share q of the acknowledged ones does not exceed, as LatencyQuantile has it; 0 if there are none.
func (d *Delivery) PublishQuantile(q float64) time.Duration { return d.waits.at(q) }

// PublishMean is the mean of that time.
func (d *Delivery) PublishMean() time.Duration {
	if d.waits.count() == 0 {
		return 0
	}
	return d.wait / time.Duration(d.waits.count())
}

func (d *Delivery) waited(t time.Duration) {
	d.waits.record(t)
	d.wait += t
}

// DeadLetters returns the records of the dead letters there are, in the order
// in which they came.
func (d *Delivery) DeadLetters() []DeadLetter { return append([]DeadLetter(nil), d.letters...) }

// Events is the number of events so far.
func (d *Delivery) Events() uint64 { return d.e.Events() }

func (d *Delivery) nextIntent() {
	if at, ok := d.source.Next(); ok && sim.Time(at) < d.end && len(d.intents) < math.MaxUint32 {
		d.e.At(sim.Time(at), d, sim.Event{Kind: opIntent})
	}
}

// publish sends the message of an intent, and plans what the producer learns.
func (d *Delivery) publish(n uint32) {
	it, p := &d.intents[n], &d.config.Producer
	id, try := uint64(n), uint64(it.publishes)
	it.publishes++
	d.ledger.Publishes++
	ack := d.ack.Quantile(d.ackTime.Float64(id, try))
	arrives := d.loss.Float64(id, 2*try) >= p.RequestLoss
	if arrives {
		it.live++
		d.ledger.InTransit++
		d.e.After(ack/2, d, sim.Event{Kind: opStored, Arg: id})
	} else {
		d.ledger.RequestsLost++
	}
	switch {
	case d.once:
		d.waited(0)
		d.release(n)
	case arrives && d.loss.Float64(id, 2*try+1) >= p.AckLoss && ack < p.AckTimeout:
		d.e.After(ack, d, sim.Event{Kind: opAcked, Arg: id})
	default:
		if arrives {
			d.ledger.AcksMissed++
		}
		d.e.After(p.AckTimeout, d, sim.Event{Kind: opPublish, Arg: id})
	}
}

// release takes away one thing that might have an effect for an intent.
func (d *Delivery) release(n uint32) {
	it := &d.intents[n]
	if it.live--; it.live == 0 && it.effects == 0 && !it.compensated {
		it.lost = true
		d.ledger.lost++
	}
}
