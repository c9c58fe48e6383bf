package model

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A Try is one attempt of a call as its caller sees it when it has ended, or
// what a layer of the caller's own stacks refused in its place.
type Try struct {
	At      sim.Time      // when it ended
	Latency time.Duration // since it was sent; 0 if it was refused

	Request uint64 // number of the original request, unique in a run
	Client  string // who made it
	Caller  string // who made this call
	Service string // the node that was called
	Number  uint32 // of the tries of this call, from 1

	OK   bool
	Code policies.ErrorCode // how it failed
	// Pending says that it had not ended when the run did.
	Pending bool
	// Abandoned says that the caller stopped waiting, or left, while the node
	// still had the attempt.
	Abandoned bool

	// Breaker is the state in which the innermost breaker let it pass, or in
	// which one refused it; Guarded is false if there is none.
	Breaker policies.State
	Guarded bool

	Link uint32 // by which the call was made: index into Ledger.Calls
}

// Observe calls f at the end of every try from now on; the Try is good until f
// returns. It slows a run down by what f costs. Call it before the run.
func (s *System) Observe(f func(*Try)) { s.observe = f }

// Pending calls f for every try that has not ended, in a fixed order.
func (s *System) Pending(f func(*Try)) {
	for _, h := range s.hops {
		h.flights.all(func(fl *flight) {
			if fl.job != nil && fl.trying {
				s.describe(fl, noError)
				s.try.OK, s.try.Pending = false, true
				f(&s.try)
			}
		})
	}
}

// trying counts a try of a flight that begins. All tries together are the
// attempts and the refusals, so only the repetitions are counted here.
func (s *System) trying(f *flight) {
	f.number++
	if f.number > 1 {
		l := &f.hop.ledger
		l.Repeats++
		l.MostAttempts = max(l.MostAttempts, uint64(f.number))
	}
	f.sent = s.e.Now()
}

// observing notes the state of the breaker that a try has just met.
func (sl *slot) observing(b policies.CircuitBreaker) { sl.breaker = b.State() }

// over ends the try of a flight that was sent.
func (s *System) over(f *flight, code policies.ErrorCode, left bool) {
	f.trying = false
	if f.replica > 0 {
		f.hop.out[f.replica-1]--
		f.replica = 0
	}
	if code == noError && f.number > 1 {
		f.hop.ledger.RepeatsSucceeded++
	}
	if s.observe != nil {
		s.describe(f, code)
		s.try.Abandoned = left
		s.observe(&s.try)
	}
}

// unsent takes back that a retry was granted, since the budget refused it after
// the wait. The request ends with the failure before.
func (s *System) unsent(f *flight, sl *slot) {
	sl.attempts--
	f.hop.ledger.Denied++
}

// refused counts a try that the layer i of a flight has refused.
func (s *System) refused(f *flight, i int, code policies.ErrorCode) {
	s.trying(f)
	f.met = int32(i)
	if l := f.slots[i].layer; l.kind == breakerLayer {
		f.hop.ledger.Refused++
		b := l.breakers[l.instance(f.instance)]
		if b.State() == policies.Open {
			f.hop.ledger.RefusedOpen++
		}
		if s.observe != nil {
			f.slots[i].observing(b)
		}
	} else {
		f.hop.ledger.Limited++
	}
	if s.observe != nil {
		s.describe(f, code)
		s.observe(&s.try)
	}
}

// describe fills in s.try.
func (s *System) describe(f *flight, code policies.ErrorCode) {
	now := s.e.Now()
	s.try = Try{At: now, Latency: now.Sub(f.sent), Request: f.job.request.key,
		Client: s.clients[f.job.request.client].config.Name,
		Caller: f.hop.ledger.From, Service: f.hop.ledger.To, Link: uint32(f.hop.index), Number: f.number, OK: code == noError, Code: code}
	if s.try.OK {
		s.try.Code = 0
	}
	for i := f.met; i >= 0; i-- {
		if sl := &f.slots[i]; sl.layer.kind == breakerLayer {
			s.try.Guarded, s.try.Breaker = true, sl.breaker
			break
		}
	}
}

// Measures are the four figures by which retries are watched, over all calls
// of a run: how many tries were repetitions, how many of these succeeded, the
// most tries of one call, and how often breakers opened.
type Measures struct {
	Tries            uint64 // attempts, and tries refused by the caller's own breakers and caps
	Repeats          uint64 // those of them after the first of a call
	RepeatsSucceeded uint64
	MostAttempts     uint64
	RefusedOpen      uint64 // tries that met an open breaker
	Openings         uint64
	OpenTime         time.Duration // of all breakers together
}

// Measures adds up the links of a ledger. A breaker that several links share
// counts at each of them.
func (l *Ledger) Measures() Measures {
	var m Measures
	for i := range l.Calls {
		c := &l.Calls[i]
		m.Tries += c.Tries
		m.Repeats += c.Repeats
		m.RepeatsSucceeded += c.RepeatsSucceeded
		m.MostAttempts = max(m.MostAttempts, c.MostAttempts)
		m.RefusedOpen += c.RefusedOpen
		m.Openings += c.Openings
		m.OpenTime = addTime(m.OpenTime, c.OpenTime)
	}
	return m
}

// RetryRatio is the share of repetitions among the tries, NaN without tries.
func (m Measures) RetryRatio() float64 { return shareOf(m.Repeats, m.Tries) }

// RetrySuccessRatio is the share of the repetitions that succeeded, NaN if
// there were none.
func (m Measures) RetrySuccessRatio() float64 { return shareOf(m.RepeatsSucceeded, m.Repeats) }

func shareOf(a, b uint64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}
