package policies

import "math"

// A calmWindow can promise that good outcomes do not matter for a while. Their
// order among each other does not matter either, so it takes many at once.
type calmWindow interface {
	window
	// calmUntil is the end of a time in which no number of good outcomes can
	// reach the limits. It is 0 if one of them could.
	calmUntil() int64
	// recordGood adds n good outcomes at the time of the latest outcome.
	recordGood(n uint64)
}

const (
	neverEnds = math.MaxInt64

	// epoch.good counts in its low bits while this one is set. Without it the
	// low bits are the litter of those who came too late.
	calmBit = 1 << 63
	// settleEvery bounds the work of settling, a power of two.
	settleEvery = 1 << 16
	// calmAfter good outcomes in a row successes may bypass the lock. With
	// many bad ones between them that would cost more than it saves.
	calmAfter = 2
)

// bypass counts a good outcome without the lock, in one atomic step, and
// reports whether it could.
//
// The outcome counts as recorded at that step. Everyone who needs the window
// settles first, under the lock, which takes the calm bit away and hands the
// outcomes counted so far to the window; so no outcome that matters is ever
// judged without those before it, and none is counted after it mattered. An
// epoch that is over stays without the bit.
func (b *Breaker) bypass(e *epoch) bool {
	n := e.good.Add(1)
	if n&calmBit == 0 {
		return false
	}
	if n%settleEvery == 0 {
		b.lock()
		b.unlock()
	}
	return true
}

// settle ends the calm; with the lock.
func (b *Breaker) settle() {
	b.calm = false
	if n := b.epoch.Load().good.Swap(0) &^ calmBit; n > 0 {
		b.calmWindow.recordGood(n)
		b.stats.Recorded += n
	}
}

// calmDown begins the calm of a closed epoch, if the window has nothing against
// it; with the lock, at its end.
func (b *Breaker) calmDown() {
	e := b.epoch.Load()
	until := b.calmWindow.calmUntil()
	if until == 0 {
		return
	}
	if e.calmUntil.Load() != until {
		e.calmUntil.Store(until)
	}
	b.calm = true
	e.good.Store(calmBit)
}
