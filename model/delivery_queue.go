package model

import (
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A stored message is one that the queue took: a copy, if the producer
// published it again.
type stored struct {
	place  uint32
	state  storedState
	number uint32 // the queue's own, new for every message
	copied uint32 // the copy it is, of those that the producer published
	intent uint32 // the business key
	holder uint32 // the consumer it is delivered to

	payload    uint64
	delivery   uint64 // serial number of the last one
	deliveries uint32
	attempts   uint32
	delays     uint32

	firstFailure sim.Time // -1 if none
	wait         time.Duration
	timer        sim.Timer
	ackLost      bool
	cause        duplicateCause
}

type storedState uint8

const (
	storedFree storedState = iota
	storedVisible
	storedHidden
	storedDelayed
)

// store takes a message from the producer.
func (d *Delivery) store(n uint32) {
	d.ledger.InTransit--
	d.ledger.Stored++
	d.copies = append(d.copies, copied{})
	d.enqueue(d.message(n, d.payload.Uint64(uint64(n), 0), uint32(len(d.copies)-1), noCause))
}

func (d *Delivery) message(n uint32, payload uint64, copied uint32, cause duplicateCause) *stored {
	m := d.stored.get()
	*m = stored{place: m.place, number: d.numbers, copied: copied, intent: n, payload: payload, firstFailure: -1, cause: cause}
	d.numbers++
	d.seen = append(d.seen, false)
	return m
}

// enqueue makes a message visible.
func (d *Delivery) enqueue(m *stored) {
	m.state = storedVisible
	d.queue = append(d.queue, m.place)
	d.dispatch()
}

// dispatch hands visible messages to idle consumers.
func (d *Delivery) dispatch() {
	for d.head < len(d.queue) {
		c, ok := d.nextIdle()
		if !ok {
			return
		}
		m := d.stored.at(d.queue[d.head])
		if d.head++; d.head == len(d.queue) || d.head > 4096 && d.head > len(d.queue)/2 {
			d.queue = append(d.queue[:0], d.queue[d.head:]...)
			d.head = 0
		}
		d.deliver(m, c)
	}
}

func (d *Delivery) deliver(m *stored, c uint32) {
	d.ledger.Deliveries++
	d.serial++
	m.delivery, m.state, m.holder = d.serial, storedHidden, c
	m.deliveries++
	if d.once {
		d.ledger.Acked++
	} else if d.config.Queue.Visibility > 0 {
		m.timer = d.hidden.After(d, sim.Event{Kind: opExpire, Arg: uint64(m.place)})
	}
	d.take(c, m)
}

// current returns the message of a delivery, nil if it is no longer the
// consumer's.
func (d *Delivery) current(h handle) *stored {
	if m := d.stored.at(h.place); m.state == storedHidden && m.delivery == h.delivery {
		return m
	}
	return nil
}

// A handle names one delivery of a message.
type handle struct {
	delivery uint64
	place    uint32
}

// acknowledge removes a message, unless the acknowledgement is lost, which it
// reports, or too late.
func (d *Delivery) acknowledge(h handle) (lost bool) {
	m := d.current(h)
	if m == nil {
		d.ledger.LateAcks++
		return false
	}
	if !d.once && d.lostAck.Float64(uint64(m.intent), h.delivery) < d.config.Consumers.AckLoss {
		d.ledger.LostAcks++
		m.ackLost = true
		return true
	}
	if !d.once {
		d.ledger.Acked++
	}
	d.drop(m)
	d.release(m.intent)
	return false
}

// drop gives the place of a message back.
func (d *Delivery) drop(m *stored) {
	d.e.Cancel(m.timer)
	m.state = storedFree
	d.stored.put(m.place)
}

// expire returns a message whose visibility timeout has passed.
func (d *Delivery) expire(m *stored) {
	d.ledger.Expired++
	m.cause = byVisibility
	if m.ackLost {
		m.cause, m.ackLost = byAck, false
	}
	d.back(m)
}

// back puts a message into the queue again that was delivered before, or gives
// it up.
func (d *Delivery) back(m *stored) {
	d.e.Cancel(m.timer)
	if most := d.config.Queue.MaxDeliveries; most > 0 && m.deliveries >= uint32(most) {
		d.bury(m, DeadDeliveries)
		return
	}
	d.enqueue(m)
}

// postpone puts a message into the delay queue.
func (d *Delivery) postpone(m *stored) {
	d.e.Cancel(m.timer)
	d.ledger.Postponed++
	m.state = storedDelayed
	m.delays++
	m.wait = d.backoff.Delay(int(m.delays), m.wait, d.jitter.Float64(uint64(m.intent), uint64(m.delays)))
	m.timer = d.e.After(m.wait, d, sim.Event{Kind: opDelayed, Arg: uint64(m.place)})
}
