package model

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// What a Delivery guarantees.
const (
	AtLeastOnce = "at-least-once" // acknowledged after the work: repeated where in doubt
	AtMostOnce  = "at-most-once"  // acknowledged before the work: lost where in doubt
)

// How a consumer knows what it has done already.
const (
	NoDedup        = "none"         // it does not
	DedupMessageID = "message-id"   // by the number that the queue gave the message
	DedupKey       = "business-key" // by the key that the producer made, once for each intent
)

// A DeliveryConfig describes, as plain data, messages on their way from a
// producer through a queue to the effects that consumers have with them:
//
//	publish → queue → attempts in process → delay queue → dead letter → owner: replay or compensation
//
// NewDelivery makes one that runs.
type DeliveryConfig struct {
	// Guarantee is AtLeastOnce or AtMostOnce; "" means AtLeastOnce. With
	// AtMostOnce a message is published once, acknowledged as it is
	// delivered and tried once: no retries, delays, dead letters, commits
	// and expiries.
	Guarantee string

	Producer   Producer
	Queue      MessageQueue
	Consumers  Consumers
	Dependency Dependency
	Owner      Owner

	// Horizon is the length of a run, which covers [0, Horizon).
	Horizon time.Duration
}

// A Producer has intents, each of which is to have one effect, and publishes
// a message for each. With AtLeastOnce it publishes it again whenever no
// acknowledgement came within AckTimeout, until one does.
type Producer struct {
	Arrivals Arrivals
	// End bounds the instants of intents: [0, End). 0 means the horizon.
	End time.Duration

	// Ack is the time from publishing to the acknowledgement; the message is
	// in the queue after half of it.
	Ack        Law
	AckTimeout time.Duration // above 0

	// RequestLoss is the share of publishes that never reach the queue,
	// AckLoss the share of acknowledgements, of the rest, that never reach
	// the producer: from 0 to below 1.
	RequestLoss, AckLoss float64
}

// A MessageQueue hands messages to consumers, those that wait longest first.
type MessageQueue struct {
	// Visibility is how long a delivered message stays hidden: if it has not
	// been acknowledged by then, it is delivered again. 0 means for ever.
	Visibility time.Duration
	// MaxDeliveries, if above 0, is how often a message is delivered: instead
	// of once more it becomes a dead letter.
	MaxDeliveries int

	// Delays is the number of delayed retries: a message whose attempts in
	// process failed is put into the delay queue with its count and the next
	// time, by Backoff, and after so many of them becomes a dead letter.
	Delays  int
	Backoff policies.BackoffConfig
}

// Consumers form a group. Each handles one message at a time.
type Consumers struct {
	Count int // at least 1
	// Processing is the time of an attempt; its effect is at the end.
	Processing Law
	// Attempts is how often a delivered message is tried in process, without
	// a wait, the first included; 0 means 1.
	Attempts int
	// RetryPermanent treats permanent errors as any other. Otherwise they
	// are recognised, and the message becomes a dead letter at once.
	RetryPermanent bool

	// CommitEvery is the time between the instants at which a consumer
	// acknowledges what it has processed, each with a phase of its own; 0
	// means at once.
	CommitEvery time.Duration
	// AckLoss is the share of acknowledgements that never reach the queue,
	// from 0 to below 1.
	AckLoss float64

	Dedup string // "" means NoDedup

	// LeaveRPS is the rate at which consumers, of the whole group, leave it
	// (Poisson). One that leaves drops what it works on, and what it has
	// not acknowledged is delivered again, to others, at once. Another takes
	// its place after RejoinAfter.
	LeaveRPS    float64
	RejoinAfter time.Duration
}

// A Dependency is what the consumers call to have an effect.
type Dependency struct {
	// TransientRatio is the share of attempts that fail by chance, UnknownRatio
	// the share of those failures, and of those in the outage, that had their
	// effect all the same: from 0 to 1.
	TransientRatio, UnknownRatio float64
	// PermanentRatio is the share of intents that fail whenever they are
	// tried, until somebody repairs them.
	PermanentRatio float64

	// Attempts that begin in [OutageStart, OutageEnd) fail, at once with
	// OutageFast, otherwise at their end.
	OutageStart, OutageEnd time.Duration
	OutageFast             bool
}

// An Owner looks at the dead letters every so often. While the outage is on
// nothing is done. Otherwise each letter is replayed from its own record: it
// returns to the queue as a new message with the old key and payload.
type Owner struct {
	Every time.Duration // 0 means that nobody looks
	// RepairRatio is the share of permanent failures whose cause the owner can
	// remove before the replay, from 0 to 1. The others are compensated: the
	// intent is settled in another way, without an effect.
	RepairRatio float64
}

// A DeadLetter is the record of a message that was given up: enough to replay
// it and to judge it.
type DeadLetter struct {
	Key     uint64 // the business key
	Payload uint64 // what was to be done
	Reason  string // DeadSpent, DeadPermanent or DeadDeliveries

	FirstFailure time.Duration // instant of the first attempt that failed; -1 if none did
	At           time.Duration // when it became a dead letter
	Attempts     uint32        // made with this message
	Deliveries   uint32        // of it

	copied uint32
	cause  duplicateCause
}

// Why a message became a dead letter.
const (
	DeadSpent      = "retries spent"
	DeadPermanent  = "permanent error"
	DeadDeliveries = "delivered too often"
)
