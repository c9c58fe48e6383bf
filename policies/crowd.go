package policies

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A crowd is what the goroutines use that meet at one breaker: in the calm each
// of them notes its outcomes in a stripe of its own, so that they do not wait
// for each other. Whoever gathers hands them to the window, in the order of
// time if that matters to it.
//
// A breaker has none, and pays for none, before two goroutines have met.
type crowd struct {
	stripes [stripeCount]stripe
	timed   bool          // the window needs the time of each outcome
	guess   atomic.Uint64 // number of the guess who uses which stripe
}

// A stripe holds outcomes noted since it was emptied last. Its lock is taken
// with that of the breaker or alone, never before it.
type stripe struct {
	mu    sync.Mutex
	epoch *epoch // that has joined: whose calm this stripe takes part in
	met   int    // how often goroutines met here
	held  Counts
	notes []note // the outcomes, if the crowd is timed
	spare []note // what was gathered last
	_     [cacheLine]byte
}

type note struct {
	at    int64
	entry entry
}

const (
	stripeCount = 16 // with more goroutines, some share a stripe
	noteTimed   = 512
	noteMany    = 4096
	guessAfter  = 32
	mostGuesses = 16 // with many goroutines no guess is right
	// crowdLasts this many gatherings after goroutines met last.
	crowdLasts = 16
)

// mine guesses a stripe that no other goroutine uses, from the address of the
// caller's stack. It may differ from call to call.
func (c *crowd) mine() int {
	var here byte
	page := uint64(uintptr(unsafe.Pointer(&here))) >> 11 // stacks have 2 KiB at least
	// Two rounds, since for some pages one would turn all guesses into one.
	h := (page ^ c.guess.Load()*0x9e3779b97f4a7c15) * 0xd1342543de82ef95
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	return int(h >> (64 - 4))
}

// lock locks a stripe. Two goroutines that go on meeting there guess anew.
func (c *crowd) lock(s *stripe) {
	if s.mu.TryLock() {
		return
	}
	s.mu.Lock()
	c.met(s)
}

// met counts that goroutines have met at a stripe; with its lock.
func (c *crowd) met(s *stripe) {
	if s.met++; s.met == guessAfter {
		s.met = 0
		if c.guess.Load() < mostGuesses {
			c.guess.Add(1)
		}
	}
}

// crowded notes that goroutines have met; with the lock.
func (b *Breaker) crowded() {
	if b.calmWindow == nil {
		return
	}
	if b.crowd == nil {
		b.crowd = &crowd{timed: b.tally == nil}
	}
	b.crowdLeft = crowdLasts
}

// bypassCrowd notes an outcome in a stripe and reports whether it could. To
// join, a stripe sets its bit in the word that settling takes away, so that
// settling knows where to look; as settling also takes the lock of each of
// those stripes, the calm lasts while it is held.
func (b *Breaker) bypassCrowd(c *crowd, e *epoch, now int64, outcome entry) bool {
	i := c.mine()
	s := &c.stripes[i]
	c.lock(s)
	if s.epoch != e {
		if e.joined.Or(1<<i)&calmBit == 0 {
			s.mu.Unlock()
			return false
		}
		s.epoch = e
	}
	// The calm may be another than the one that now was compared with.
	room := c.room()
	if now >= e.calmUntil.Load() || s.held.Calls >= room || outcome != 0 && e.badLeft.Add(-1) < 0 {
		s.mu.Unlock()
		return false
	}
	s.add(now, outcome, c.timed)
	n := s.held.Calls
	s.mu.Unlock()
	// A stripe that is half full should be emptied, a full one must be.
	if n == room {
		b.mu.Lock()
	} else if n != room/2 || !b.mu.TryLock() {
		return true
	}
	if b.calm && e == b.epoch.Load() {
		b.gather(e, false)
	}
	b.unlock()
	return true
}

func (c *crowd) room() int {
	if c.timed {
		return noteTimed
	}
	return noteMany
}

func (s *stripe) add(now int64, outcome entry, timed bool) {
	s.held.Calls++
	s.held.Failures += outcome.failed()
	s.held.Slow += outcome.slow()
	if !timed {
		return
	}
	if s.notes == nil {
		s.notes = make([]note, 0, noteTimed)
	}
	s.notes = append(s.notes, note{now, outcome})
}

// gather moves the outcomes of all stripes that have joined into the window,
// and ends the calm or lets it go on; with the lock.
//
// At one instant it holds the locks of all of them, so that an outcome noted
// after one that is gathered comes after it in time, too.
func (b *Breaker) gather(e *epoch, end bool) {
	c := e.crowd.Load()
	var lines [stripeCount][]note
	var held Counts
	active := 0
	for rest := c.lockJoined(e, end); rest != 0; rest &= rest - 1 {
		s := &c.stripes[bits.TrailingZeros64(rest)]
		if s.held.Calls > 0 {
			lines[active] = s.notes
			active++
			held.add(s.held)
			s.held = Counts{}
			s.notes, s.spare = s.spare[:0], s.notes
		}
		if end {
			s.epoch = nil
		}
		s.mu.Unlock()
	}
	b.stats.Recorded += uint64(held.Calls)
	if b.goodRun += uint32(held.Calls); held.Failures|held.Slow != 0 {
		b.goodRun = 0
	}
	switch {
	case c.timed:
		b.merge(lines[:active])
	case held.Calls > 0:
		b.tally.recordTally(held)
	}
	if active < 2 && b.crowdLeft > 0 {
		b.crowdLeft--
	}
}

// lockJoined locks the stripes that have joined and returns their bits.
func (c *crowd) lockJoined(e *epoch, end bool) (joined uint64) {
	for {
		now := uint64(0)
		if end {
			now = e.joined.Swap(0) // nobody joins any more
		} else {
			now = e.joined.Load()
		}
		more := now &^ calmBit &^ joined
		for rest := more; rest != 0; rest &= rest - 1 {
			c.stripes[bits.TrailingZeros64(rest)].mu.Lock()
		}
		joined |= more
		if end || more == 0 {
			return joined
		}
	}
}

// merge records the outcomes of several lines in the order of time. Where two
// goroutines share a stripe one of them may have been late to note an earlier
// time, which the window takes as the latest then.
func (b *Breaker) merge(lines [][]note) {
	for len(lines) > 0 {
		first := 0
		for i, l := range lines {
			if l[0].at < lines[first][0].at {
				first = i
			}
		}
		b.window.record(lines[first][0].at, lines[first][0].entry)
		if lines[first] = lines[first][1:]; len(lines[first]) == 0 {
			lines[first] = lines[len(lines)-1]
			lines = lines[:len(lines)-1]
		}
	}
}
