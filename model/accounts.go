package model

import (
	"math"
	"math/bits"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// How the ledger of a node is kept.

// settle counts a job that has ended in its category.
func (s *System) settle(j *job) {
	if j.counted {
		return
	}
	j.counted = true
	l := &j.node.ledger
	switch {
	case j.caller == nil:
		l.Abandoned++
	case j.failed:
		l.Failed++
	default:
		l.Succeeded++
	}
	s.account(j)
}

// account counts the service done for a job that has ended.
func (s *System) account(j *job) {
	l := &j.node.ledger
	switch {
	case j.request.orphans > 0 && j.forsaken():
		l.AbandonedWork += j.worked
	case j.failed:
		l.RejectedWork += j.worked
	case j.request.served[j.hop.index] > j.hop.meant[j.request.client]:
		l.Duplicate += j.worked
	default:
		l.Useful += j.worked
	}
}

// forsaken reports whether nobody waits for a job any more: its caller has
// gone, or the caller's own.
func (j *job) forsaken() bool {
	for ; j.node.client == nil; j = j.caller.job {
		if j.caller == nil {
			return true
		}
	}
	return false
}

// tick brings the time that the workers of a server were busy, and held, up to
// date. It is inlined, since most often several things happen at an instant.
func (sv *server) tick(now sim.Time) {
	if now != sv.servingAt {
		sv.pass(now)
	}
}

func (sv *server) pass(now sim.Time) {
	l, d := &sv.node.ledger, time.Duration(now-sv.servingAt)
	if !sv.now.paused {
		l.Busy = addMany(l.Busy, sv.serving, d)
	}
	l.Held = addMany(l.Held, sv.held, d)
	sv.servingAt = now
}

// addMany is a + n·d, at most the longest Duration; none is negative.
func addMany(a time.Duration, n int, d time.Duration) time.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	lo, carry := bits.Add64(lo, uint64(a), 0)
	if hi|carry|lo>>63 != 0 {
		return math.MaxInt64
	}
	return time.Duration(lo)
}

// present counts the calls at a node.
func (s *System) present(n *node, change int) {
	now := s.e.Now()
	n.ledger.PresentTime = addMany(n.ledger.PresentTime, int(n.present), time.Duration(now-n.presentAt))
	n.presentAt = now
	n.present += uint64(change)
	if n.present > n.ledger.MaxPresent {
		n.ledger.MaxPresent = n.present
	}
}

// effect counts what a job that was done well has done.
func (s *System) effect(j *job) {
	served := &j.request.served[j.hop.index]
	again := *served >= j.hop.meant[j.request.client]
	if *served < math.MaxUint32 {
		*served++
	}
	c := j.node.config
	if c.Writes && !(c.Dedup && again) {
		j.node.ledger.Writes++
		if again {
			j.node.ledger.DuplicateWrites++
		}
	}
}
