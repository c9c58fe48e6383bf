package model

import (
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A consumer handles one message at a time. It keeps what it needs of it, for
// the queue may hand the message to another one meanwhile.
type consumer struct {
	present, busy bool
	listed        bool          // in the list of idle ones
	committing    bool          // a commit is planned
	phase         time.Duration // commits are due when time and phase are a multiple of their distance

	handle  handle
	intent  uint32
	number  uint32
	copied  uint32
	payload uint64
	cause   duplicateCause
	tries   int
	fails   bool
	unknown bool // fails, but with its effect
	forever bool // fails with a permanent error
	timer   sim.Timer

	done []handle // processed and not acknowledged yet
	sent []handle // acknowledged in vain
}

// rest makes a consumer idle.
func (d *Delivery) rest(n uint32) {
	c := &d.consumers[n]
	c.busy = false
	if !c.listed {
		c.listed = true
		d.idle = append(d.idle, n)
	}
}

// nextIdle returns the consumer that has been idle for longest.
func (d *Delivery) nextIdle() (uint32, bool) {
	for d.first < len(d.idle) {
		n := d.idle[d.first]
		if d.first++; d.first == len(d.idle) || d.first > 4096 && d.first > len(d.idle)/2 {
			d.idle = append(d.idle[:0], d.idle[d.first:]...)
			d.first = 0
		}
		c := &d.consumers[n]
		c.listed = false
		if c.present && !c.busy {
			return n, true
		}
	}
	return 0, false
}

// take begins to handle a message.
func (d *Delivery) take(n uint32, m *stored) {
	c := &d.consumers[n]
	c.busy, c.tries = true, 0
	c.handle = handle{m.delivery, m.place}
	c.intent, c.number, c.copied, c.payload, c.cause = m.intent, m.number, m.copied, m.payload, m.cause
	d.try(n)
}

// try begins an attempt.
func (d *Delivery) try(n uint32) {
	c := &d.consumers[n]
	it, dep := &d.intents[c.intent], &d.config.Dependency
	id, try := uint64(c.intent), uint64(it.tries)
	it.tries++
	c.tries++
	d.ledger.Attempts++
	length := d.processing.Quantile(d.work.Float64(id, try))
	c.forever = it.permanent
	c.fails = c.forever || d.fail.Float64(id, try) < dep.TransientRatio
	if d.outage() {
		d.ledger.OutageAttempts++
		c.fails, c.forever = true, false
		if dep.OutageFast {
			length = 0
		}
	}
	c.unknown = c.fails && !it.permanent && d.unknown.Float64(id, try) < dep.UnknownRatio
	c.timer = d.e.After(length, d, sim.Event{Kind: opDone, Arg: uint64(n)})
}

func (d *Delivery) outage() bool {
	now := time.Duration(d.e.Now())
	return now >= d.config.Dependency.OutageStart && now < d.config.Dependency.OutageEnd
}

// done ends an attempt.
func (d *Delivery) done(n uint32) {
	c := &d.consumers[n]
	if !c.fails {
		d.ledger.Succeeded++
		d.effect(c)
		d.processed(n)
	} else if d.failed(c) {
		d.try(n)
		return
	}
	d.rest(n)
	d.dispatch()
}

// failed decides what becomes of a message whose attempt has failed, and
// reports whether it is tried again in process.
func (d *Delivery) failed(c *consumer) (again bool) {
	d.ledger.Failed++
	m, k := d.current(c.handle), &d.config.Consumers
	if c.unknown {
		d.ledger.FailedWithEffect++
		d.effect(c)
		c.cause = byUnknown
	}
	if m != nil {
		if m.attempts++; m.firstFailure < 0 {
			m.firstFailure = d.e.Now()
		}
		if c.unknown {
			m.cause = byUnknown
		}
	}
	final := c.forever && !k.RetryPermanent
	switch {
	case d.once:
		d.drop(m)
		d.release(m.intent)
	case !final && c.tries < k.Attempts:
		return true
	case m == nil:
		d.ledger.LateAcks++
	case final:
		d.ledger.DeadByConsumer++
		d.bury(m, DeadPermanent)
	case m.delays < uint32(d.config.Queue.Delays):
		d.postpone(m)
	default:
		d.ledger.DeadByConsumer++
		d.bury(m, DeadSpent)
	}
	return false
}

// effect does what the message asks for, unless the consumer knows that it has
// been done.
func (d *Delivery) effect(c *consumer) {
	it := &d.intents[c.intent]
	if dedup := d.config.Consumers.Dedup; dedup == DedupKey && it.effects > 0 || dedup == DedupMessageID && d.seen[c.number] {
		d.ledger.Suppressed++
		return
	}
	copied := &d.copies[c.copied]
	repeated := copied.effect // by the same copy, and not by another
	d.seen[c.number], copied.effect = true, true
	d.ledger.Effects++
	if c.payload != d.payload.Uint64(uint64(c.intent), 0) {
		d.ledger.corrupt++
	}
	cause := c.cause
	switch {
	case !repeated:
		cause = byPublish
	case cause == noCause:
		cause = copied.cause // the delivery that came of this one was faster
	}
	copied.cause = c.cause
	if it.effects++; it.effects == 1 {
		it.first = d.e.Now()
		d.ledger.LastEffect = time.Duration(it.first)
		return
	}
	switch by := &d.ledger.Duplicates; cause {
	case byPublish:
		by.Publish++
	case byVisibility:
		by.Visibility++
	case byAck:
		by.Ack++
	case byRebalance:
		by.Rebalance++
	case byUnknown:
		by.Unknown++
	}
}

// processed acknowledges a message, now or at the next commit.
func (d *Delivery) processed(n uint32) {
	c := &d.consumers[n]
	if m := d.current(c.handle); m != nil {
		m.attempts++
	}
	every := d.config.Consumers.CommitEvery
	if every == 0 || d.once {
		if d.acknowledge(c.handle) {
			d.inVain(c, c.handle)
		}
		return
	}
	c.done = append(c.done, c.handle)
	if !c.committing {
		c.committing = true
		d.e.After(every-(time.Duration(d.e.Now())+c.phase)%every, d, sim.Event{Kind: opCommit, Arg: uint64(n)})
	}
}

func (d *Delivery) commit(n uint32) {
	c := &d.consumers[n]
	c.committing = false
	for _, h := range c.done {
		if d.acknowledge(h) {
			d.inVain(c, h)
		}
	}
	c.done = c.done[:0]
}

// inVain notes a delivery whose acknowledgement was lost: the queue still
// counts it as the consumer's.
func (d *Delivery) inVain(c *consumer, h handle) {
	if len(c.sent) >= 32 {
		kept := c.sent[:0]
		for _, old := range c.sent {
			if d.current(old) != nil {
				kept = append(kept, old)
			}
		}
		c.sent = kept
	}
	c.sent = append(c.sent, h)
}

// nextLeave plans the next leave.
func (d *Delivery) nextLeave() {
	gap := nanoseconds(d.leaving.ExpFloat64() / d.config.Consumers.LeaveRPS * 1e9)
	d.e.After(gap, d, sim.Event{Kind: opLeave})
}

// leave takes one consumer at random out of the group, if it is there.
func (d *Delivery) leave() {
	n := uint32(d.leaving.IntN(len(d.consumers)))
	c := &d.consumers[n]
	if !c.present {
		return
	}
	c.present = false
	d.ledger.Leaves++
	d.e.After(d.config.Consumers.RejoinAfter, d, sim.Event{Kind: opRejoin, Arg: uint64(n)})
	if c.busy {
		c.busy = false
		d.e.Cancel(c.timer)
		d.ledger.Dropped++
		if m := d.current(c.handle); m != nil && d.once {
			d.drop(m)
			d.release(m.intent)
		} else if m != nil {
			d.ledger.Returned++
			d.back(m)
		}
	}
	done, sent := c.done, c.sent
	c.done, c.sent = nil, nil
	d.giveBack(done, byRebalance)
	d.giveBack(sent, byAck)
}

// giveBack returns what a consumer that left had processed.
func (d *Delivery) giveBack(handles []handle, cause duplicateCause) {
	for _, h := range handles {
		if m := d.current(h); m != nil {
			d.ledger.Returned++
			m.cause, m.ackLost = cause, false
			d.back(m)
		}
	}
}
