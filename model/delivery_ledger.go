package model

import (
	"errors"
	"fmt"
	"time"
)

// What brought about a delivery that had an effect once more. Where the copy
// itself had none before, there is one copy too many: that is the producer's.
type duplicateCause uint8

const (
	noCause         duplicateCause = iota
	byPublish                      // the producer published again: an acknowledgement was lost or late
	byVisibility                   // the visibility timeout passed before the acknowledgement
	byAck                          // the consumer's acknowledgement was lost
	byRebalance                    // the consumer left before it acknowledged
	byUnknown                      // the attempt before failed, yet had its effect
	duplicateCauses = int(byUnknown) + 1
)

// A DeliveryLedger counts what became of every message of a Delivery.
type DeliveryLedger struct {
	// Intents of the producer, each of which is to have one effect. Every one
	// is in exactly one of the states that follow.
	Intents     uint64
	Effected    uint64 // had at least one effect
	Compensated uint64 // no effect, settled by the owner in another way
	Dead        uint64 // no effect, only dead letters are left
	Queued      uint64 // no effect yet, on the way
	Lost        uint64 // no effect, and nothing is left that could have one

	// Effects, those of them beyond the first of each intent, by what brought
	// them about, and those that a consumer recognised and left out.
	Effects    uint64
	Duplicates Duplicates
	Suppressed uint64
	ExactlyOne uint64 // intents with exactly one effect

	Publishes    uint64
	RequestsLost uint64 // never reached the queue
	AcksMissed   uint64 // acknowledgements to the producer that were lost or late
	InTransit    uint64
	Stored       uint64 // messages that the queue took from the producer

	// Messages in the queue: Stored + Replayed = Acked + DeadLettered +
	// Visible + Delayed + InFlight.
	Replayed     uint64 // dead letters that became messages again
	Acked        uint64
	DeadLettered uint64
	Visible      uint64
	Delayed      uint64 // in the delay queue
	InFlight     uint64 // delivered and neither acknowledged nor returned

	// Deliveries = Acked + Postponed + DeadByConsumer + Expired + Returned + InFlight.
	Deliveries     uint64
	Postponed      uint64 // into the delay queue
	DeadByConsumer uint64
	Expired        uint64 // visibility timeout
	Returned       uint64 // the consumer left
	LateAcks       uint64 // answers to a delivery that had expired, refused
	LostAcks       uint64 // acknowledgements of consumers that were lost

	// Attempts = Succeeded + Failed + Dropped + UnderWay.
	Attempts         uint64
	Succeeded        uint64
	Failed           uint64
	FailedWithEffect uint64 // of Failed
	Dropped          uint64 // the consumer left in the middle
	UnderWay         uint64
	OutageAttempts   uint64 // of Attempts, begun in the outage

	DeadSpent, DeadPermanent, DeadDeliveries uint64 // of DeadLettered
	LettersCompensated, Letters              uint64 // compensated, there now
	Leaves                                   uint64 // of consumers

	// LastIntent is the instant of the last intent, LastEffect that of the
	// last first effect of one, OldestLetter that of the oldest dead letter
	// there is; -1 if none.
	LastIntent, LastEffect, OldestLetter time.Duration

	corrupt uint64 // effects of a payload that is not the intent's
	lost    uint64 // losses, counted as they happened
	repeat  uint64 // effects beyond the first, counted by looking
	astray  string // an intent that is in none of the states
}

// Duplicates counts effects beyond the first of each intent.
type Duplicates struct {
	Publish    uint64 // the producer published again
	Visibility uint64 // the visibility timeout passed before the acknowledgement
	Ack        uint64 // the consumer's acknowledgement was lost
	Rebalance  uint64 // the consumer left before it acknowledged
	Unknown    uint64 // the attempt before failed, yet had its effect
}

// All is their sum.
func (d Duplicates) All() uint64 { return d.Publish + d.Visibility + d.Ack + d.Rebalance + d.Unknown }

// Check reports the first balance that does not come out even. What is in the
// queue, and the state of every intent, was found by looking at what there is,
// not as the rest. An error means that the simulator is wrong.
func (l *DeliveryLedger) Check() error {
	if l.astray != "" {
		return errors.New("model: internal error: delivery: " + l.astray)
	}
	for _, b := range []struct {
		what       string
		whole, sum uint64
	}{
		{"intents = effected + compensated + dead + queued + lost", l.Intents, l.Effected + l.Compensated + l.Dead + l.Queued + l.Lost},
		{"losses seen = losses found", l.lost, l.Lost},
		{"publishes = lost + in transit + stored", l.Publishes, l.RequestsLost + l.InTransit + l.Stored},
		{"stored + replayed = acked + dead letters + visible + delayed + in flight",
			l.Stored + l.Replayed, l.Acked + l.DeadLettered + l.Visible + l.Delayed + l.InFlight},
		{"deliveries = acked + postponed + dead + expired + returned + in flight",
			l.Deliveries, l.Acked + l.Postponed + l.DeadByConsumer + l.Expired + l.Returned + l.InFlight},
		{"attempts = succeeded + failed + dropped + under way", l.Attempts, l.Succeeded + l.Failed + l.Dropped + l.UnderWay},
		{"succeeded + failed with effect = effects + suppressed", l.Succeeded + l.FailedWithEffect, l.Effects + l.Suppressed},
		{"effects = effected + duplicates", l.Effects, l.Effected + l.Duplicates.All()},
		{"duplicates by cause = duplicates found", l.Duplicates.All(), l.repeat},
		{"dead letters = replayed + compensated + there", l.DeadLettered, l.Replayed + l.LettersCompensated + l.Letters},
		{"dead letters = spent + permanent + delivered too often", l.DeadLettered, l.DeadSpent + l.DeadPermanent + l.DeadDeliveries},
		{"effects of a wrong payload = 0", l.corrupt, 0},
	} {
		if b.whole != b.sum {
			return fmt.Errorf("model: internal error: delivery: %s does not hold: %d and %d", b.what, b.whole, b.sum)
		}
	}
	return nil
}
