package model

import "fmt"

// A Cause is what made an effect the second one of its intent: the highest
// place at which its way parts from that of the first.
type Cause uint8

// The causes.
const (
	CauseClick      Cause = iota // the user clicked twice
	CauseDevice                  // the user submitted again on another device
	CauseClient                  // the client repeated its request
	CauseGateway                 // the gateway did
	CauseServer                  // the server sent the message twice
	CauseRedelivery              // the queue delivered it again
	CauseBypass                  // another writer did the same

	Causes = int(CauseBypass) + 1
)

// An EffectLedger counts what became of the intents and of all that was done
// for them. Every intent is in one of five states, and every execution ends in
// one way; see Check.
type EffectLedger struct {
	Intents    uint64 // begun
	Once       uint64 // had one effect
	Duplicated uint64 // had more than one
	Merged     uint64 // had none, since a copy was taken for another intent's
	Lost       uint64 // had none, and nothing is under way any more
	Pending    uint64 // had none yet

	Submissions uint64    // by users: intents, second clicks, other devices
	Answered    uint64    // of them: the client was told that all is well
	FoundDone   uint64    // of them: the client found so when it asked
	GaveUp      uint64    // of them: the client did not hear of it
	Attempts    [3]uint64 // sent by client, gateway, server
	Messages    uint64    // held by the queue
	Queries     uint64    // made before a repetition
	Repeats     uint64    // submissions sent again by the client although a message of theirs had reached the queue

	Deliveries     uint64         // sent by the queue
	DeliveriesLost uint64         // of them, on the way
	Bypasses       uint64         // executions of other writers
	StoppedDedup   uint64         // executions stopped by the table of keys
	StoppedState   uint64         // by the state of the object
	StoppedUnique  uint64         // by the constraint
	CrashedBefore  uint64         // by a crash between record and effect
	Effects        uint64         // done
	Crashes        uint64         // of the consumer
	UnderWay       uint64         // executions begun that have not ended
	DuplicatesBy   [Causes]uint64 // effects after the first of an intent
}

// Duplicates is the number of effects after the first of their intents.
func (l *EffectLedger) Duplicates() uint64 {
	var n uint64
	for _, v := range l.DuplicatesBy {
		n += v
	}
	return n
}

// Check reports the first sum that does not balance.
func (l *EffectLedger) Check() error {
	for _, s := range []struct {
		name        string
		left, right uint64
	}{
		{"intents = once + duplicated + merged + lost + pending", l.Intents, l.Once + l.Duplicated + l.Merged + l.Lost + l.Pending},
		{"effects = once + duplicated + duplicates", l.Effects, l.Once + l.Duplicated + l.Duplicates()},
		{"deliveries + bypasses = lost + stopped + crashed + effects + under way", l.Deliveries + l.Bypasses,
			l.DeliveriesLost + l.StoppedDedup + l.StoppedState + l.StoppedUnique + l.CrashedBefore + l.Effects + l.UnderWay},
	} {
		if s.left != s.right {
			return fmt.Errorf("model: effects: ledger does not balance: %s: %d = %d", s.name, s.left, s.right)
		}
	}
	return nil
}

// Ledger adds up the run so far.
func (r *EffectRun) Ledger() (EffectLedger, error) {
	l := r.ledger
	l.UnderWay = uint64(r.runs.held())
	for i := range r.intents {
		in := &r.intents[i]
		if !in.begun {
			continue
		}
		l.Intents++
		switch {
		case in.effects > 1:
			l.Duplicated++
		case in.effects == 1:
			l.Once++
		case in.open > 0:
			l.Pending++
		case in.taken:
			l.Merged++
		default:
			l.Lost++
		}
	}
	return l, l.Check()
}
