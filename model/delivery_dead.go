package model

import (
	"fmt"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// bury makes a dead letter of a message.
func (d *Delivery) bury(m *stored, reason string) {
	d.letters = append(d.letters, DeadLetter{
		Key: uint64(m.intent), Payload: m.payload, Reason: reason,
		FirstFailure: time.Duration(m.firstFailure), At: time.Duration(d.e.Now()),
		Attempts: m.attempts, Deliveries: m.deliveries, copied: m.copied, cause: m.cause,
	})
	d.ledger.DeadLettered++
	switch reason {
	case DeadSpent:
		d.ledger.DeadSpent++
	case DeadPermanent:
		d.ledger.DeadPermanent++
	case DeadDeliveries:
		d.ledger.DeadDeliveries++
	}
	d.drop(m)
}

// look is the owner's: it repairs and replays the dead letters, or
// compensates them. Nothing but the record is used.
func (d *Delivery) look() {
	if d.outage() {
		return
	}
	letters := d.letters
	d.letters = nil
	for _, l := range letters {
		n := uint32(l.Key)
		it := &d.intents[n]
		if it.permanent {
			if d.repair.Float64(l.Key, 0) >= d.config.Owner.RepairRatio {
				d.ledger.LettersCompensated++
				it.compensated = true
				d.release(n)
				continue
			}
			it.permanent = false
		}
		d.ledger.Replayed++
		d.enqueue(d.message(n, l.Payload, l.copied, l.cause))
	}
}

// Ledger returns the counts up to now.
func (d *Delivery) Ledger() *DeliveryLedger {
	l := d.ledger
	l.Intents, l.Letters, l.OldestLetter, l.LastIntent = uint64(len(d.intents)), uint64(len(d.letters)), -1, -1
	dead, moving := make([]uint32, len(d.intents)), make([]uint32, len(d.intents))
	for i := range d.letters {
		dead[d.letters[i].Key]++
		if l.OldestLetter < 0 {
			l.OldestLetter = d.letters[i].At
		}
	}
	d.stored.all(func(m *stored) {
		switch m.state {
		case storedFree:
			return
		case storedVisible:
			l.Visible++
		case storedDelayed:
			l.Delayed++
		case storedHidden:
			if !d.once {
				l.InFlight++
			}
		}
		moving[m.intent]++
	})
	for i := range d.consumers {
		if d.consumers[i].busy {
			l.UnderWay++
		}
	}
	if n := len(d.intents); n > 0 {
		l.LastIntent = time.Duration(d.intents[n-1].begun)
	}
	if l.Effects == 0 {
		l.LastEffect = -1
	}
	for i := range d.intents {
		it := &d.intents[i]
		switch {
		case it.live < dead[i]+moving[i]:
			l.astray = fmt.Sprintf("intent %d counts %d live things, but has %d dead letters and %d messages", i, it.live, dead[i], moving[i])
		case it.effects > 0:
			l.Effected++
			l.repeat += uint64(it.effects - 1)
			if it.effects == 1 {
				l.ExactlyOne++
			}
		case it.compensated:
			l.Compensated++
		case it.live == 0:
			l.Lost++
		case it.live == dead[i]:
			l.Dead++
		default:
			l.Queued++
		}
	}
	return &l
}

// An IntentEffect says what one intent has come to.
type IntentEffect struct {
	Begun   time.Duration // instant of the intent
	First   time.Duration // of its first effect; -1 if it had none
	Effects int
}

// Effects returns what every intent has come to, in the order in which they
// came.
func (d *Delivery) Effects() []IntentEffect {
	all := make([]IntentEffect, len(d.intents))
	for i := range d.intents {
		it := &d.intents[i]
		all[i] = IntentEffect{time.Duration(it.begun), -1, int(it.effects)}
		if it.effects > 0 {
			all[i].First = time.Duration(it.first)
		}
	}
	return all
}

var _ sim.Handler = (*Delivery)(nil)
