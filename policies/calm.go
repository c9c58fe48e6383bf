package policies

import "math"

// A calmWindow can promise that outcomes do not matter for a while.
type calmWindow interface {
	window
	// calm says until when no number of outcomes can reach the limits, as long
	// as at most so many of them are bad. Until is 0 if one could.
	calm() (until int64, bad int)
}

// A tallyWindow needs to know only how many outcomes there were then, not when
// each was.
type tallyWindow interface {
	calmWindow
	// recordTally adds outcomes at the time of the latest outcome.
	recordTally(Counts)
}

const (
	neverEnds = math.MaxInt64

	// The words epoch.good and epoch.joined mean something while this bit is
	// set in them. Without it the others are the litter of those who came too
	// late.
	calmBit = 1 << 63
	// In epoch.good this one says that it is known that goroutines meet.
	crowdBit = 1 << 62
	// settleEvery bounds the work of settling, a power of two.
	settleEvery = 1 << 16
	// After so many good outcomes in a row it is worth while to let others
	// bypass the lock, alone and in a crowd. With more bad ones between them
	// it would cost more to settle than it saves.
	calmAfter  = 2
	crowdAfter = 32
)

// bypass counts a good outcome without the lock, in one atomic step, and
// reports whether it could.
//
// The outcome counts as recorded at that step. Everyone who needs the window
// settles first, under the lock, which takes the calm bit away and hands the
// outcomes counted so far to the window; so no outcome that matters is ever
// judged without those before it, and none is counted after it mattered. An
// epoch that is over stays without the bit.
//
// Before is the word as it was when Record began: if another goroutine has
// counted since, the two met.
func (b *Breaker) bypass(e *epoch, before uint64) bool {
	n := e.good.Add(1)
	if n&calmBit == 0 {
		return false
	}
	if n != before+1 && n&crowdBit == 0 {
		b.lock()
		b.crowded()
		b.unlock()
	} else if n%settleEvery == 0 {
		b.lock()
		b.unlock()
	}
	return true
}

// settle ends the calm; with the lock.
func (b *Breaker) settle() {
	b.calm = false
	e := b.epoch.Load()
	if e.crowd.Load() != nil {
		b.gather(e, true)
	} else if n := e.good.Swap(0) &^ (calmBit | crowdBit); n > 0 {
		b.tally.recordTally(Counts{Calls: int(n)})
		b.stats.Recorded += n
		b.goodRun += uint32(n)
	}
}

// mayCalm reports whether it makes sense to ask calmDown; with the lock. A time
// window has no use for a calm without a crowd, but in one it and buckets have
// room for bad outcomes.
func (b *Breaker) mayCalm() bool {
	return !b.calm && (b.goodRun >= calmAfter && b.tally != nil || b.crowdLeft > 0 && b.clocked)
}

// calmDown begins the calm of a closed epoch, if the window has nothing against
// it and it is worth while; with the lock, at its end.
func (b *Breaker) calmDown() {
	e := b.epoch.Load()
	if e.decides {
		return
	}
	until, bad := b.calmWindow.calm()
	inCrowd := b.crowdLeft > 0
	apart := inCrowd && (b.goodRun >= crowdAfter || bad >= crowdAfter)
	if until == 0 || !apart && (b.goodRun < calmAfter || b.tally == nil) {
		return
	}
	b.calm = true
	if e.calmUntil.Load() != until {
		e.calmUntil.Store(until)
	}
	if apart {
		e.crowd.Store(b.crowd)
		e.badLeft.Store(int64(bad))
		e.joined.Store(calmBit)
		return
	}
	if e.crowd.Load() != nil {
		e.crowd.Store(nil)
	}
	word := uint64(calmBit)
	if inCrowd {
		word |= crowdBit
	}
	e.good.Store(word)
}
