package model

import (
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// The way of a flight through the layers of its hop: down to the node, and up
// again with a code, noError if all went well.

const (
	codeCount = 600
	noError   = policies.ErrorCode(codeCount)
)

// errorOf holds each code as an error, since to make one allocates.
var errorOf [codeCount + 1]error

func init() {
	for c := range policies.ErrorCode(codeCount) {
		errorOf[c] = c
	}
}

// descend mixes a number into a path; see sim.Draws.
func descend(path, x uint64) uint64 { return (path + x + 1) * 0x9E3779B97F4A7C15 }

// launch makes one call of a job.
func (s *System) launch(j *job, h *hop, copy int) {
	f := h.flights.get()
	f.job, f.child, f.tries, f.number, f.decisions, f.depth = j, nil, 0, 0, 0, 0
	f.instance = j.instance
	f.path = descend(j.path, h.local+uint64(copy)<<32)
	f.deadline = j.deadline
	f.prev, f.next = nil, j.flights
	if j.flights != nil {
		j.flights.prev = f
	}
	j.flights = f
	h.ledger.Calls++
	if f.deadline != sim.MaxTime {
		if f.deadline <= s.e.Now() {
			h.ledger.TimedOut++
			s.landed(f, policies.ErrTimeout)
			return
		}
		f.timer = s.e.At(f.deadline, s, sim.Event{Kind: opDeadline | uint32(h.index)<<opBits, Arg: uint64(f.place)})
	}
	s.down(f, 0)
}

// down takes a flight through the layers from i on, and on to the node if no
// layer refuses it.
func (s *System) down(f *flight, i int) {
	h, slots := f.hop, f.slots
	now := s.e.Now()
	for ; i < len(slots); i++ {
		sl := &slots[i]
		l := sl.layer
		sl.start = now
		switch l.kind {
		case timeoutLayer:
			sl.timer = l.lane.After(s, sim.Event{
				Kind: opTimeout | uint32(h.index)<<opBits, Arg: uint64(f.place) | uint64(i)<<32})
		case retryLayer:
			sl.attempts, sl.waited, sl.tried = 1, 0, now
			sl.carry = policies.Carry{}
			l.retries[l.instance(f.instance)].Start()
		case breakerLayer:
			at := l.instance(f.instance)
			p, ok := l.breakers[at].Allow()
			if !ok {
				s.refused(f, i, policies.ErrBreakerOpen)
				s.up(f, i, policies.ErrBreakerOpen, true)
				return
			}
			if l.alarmed {
				l.alarms[at].Set(s.e)
			}
			sl.permit = p
			if s.observe != nil {
				sl.observing(l.breakers[at])
			}
		case limitLayer:
			lim := l.limits[l.instance(f.instance)]
			if lim.used >= lim.most {
				s.refused(f, i, policies.ErrLimit)
				s.up(f, i, policies.ErrLimit, true)
				return
			}
			lim.used++
		}
	}
	f.depth = int32(len(slots))
	s.send(f)
}

// succeed takes a good answer up. It is up for the common outcome, which has
// little to decide.
func (s *System) succeed(f *flight) {
	slots := f.slots
	for i := len(slots) - 1; i >= 0; i-- {
		sl := &slots[i]
		l := sl.layer
		switch l.kind {
		case timeoutLayer:
			s.e.Cancel(sl.timer)
		case retryLayer:
			if !l.retries[l.instance(f.instance)].Succeed(sl.attempts > 1) {
				s.up(f, i+1, noError, false)
				return
			}
			if sl.attempts > 1 {
				f.hop.ledger.RetriesSucceeded++
			}
		case breakerLayer:
			l.breakers[l.instance(f.instance)].Record(sl.permit, policies.Outcome{Latency: s.since(sl.start)})
		case limitLayer:
			l.limits[l.instance(f.instance)].used--
		}
	}
	f.hop.ledger.Succeeded++
	j := f.job
	s.disarm(f)
	f.ground()
	j.need--
	j.pending--
	if j.decided() {
		s.proceed(j)
	}
}

// up takes an outcome out of the layers below i. Refused says that nothing
// was sent.
func (s *System) up(f *flight, i int, code policies.ErrorCode, refused bool) {
	h, slots := f.hop, f.slots
	for {
		if code != noError && i == h.side {
			code = answerCode(code)
		}
		if i--; uint(i) >= uint(len(slots)) {
			break
		}
		sl := &slots[i]
		l := sl.layer
		switch l.kind {
		case timeoutLayer:
			s.e.Cancel(sl.timer)
		case retryLayer:
			if code == noError && l.retries[l.instance(f.instance)].Succeed(sl.attempts > 1) {
				if sl.attempts > 1 {
					h.ledger.RetriesSucceeded++
				}
				continue
			}
			d := s.decide(f, i, code)
			if !d.Retry {
				continue
			}
			f.depth = int32(i + 1)
			if d.Delay == 0 && !refused {
				if !l.retries[l.instance(f.instance)].Send() {
					s.unsent(f, sl)
					continue
				}
				sl.tried = s.e.Now()
				s.down(f, i+1)
				return
			}
			sl.waiting, sl.failed = true, code
			ev := sim.Event{Kind: opRetry | uint32(h.index)<<opBits, Arg: uint64(f.place) | uint64(i)<<32}
			if d.Delay == 0 {
				sl.timer = s.instant.After(s, ev) // so that a loop of refusals is seen
			} else {
				sl.timer = s.e.After(d.Delay, s, ev)
			}
			return
		case breakerLayer:
			at := l.instance(f.instance)
			l.breakers[at].Record(sl.permit, policies.Outcome{Latency: s.since(sl.start), Err: errorOf[code]})
		case limitLayer:
			l.limits[l.instance(f.instance)].used--
		}
	}
	s.landed(f, code)
}

// decide asks a retry layer what follows an outcome, and counts the answer.
func (s *System) decide(f *flight, layer int, code policies.ErrorCode) policies.Decision {
	h := f.hop
	sl := &f.slots[layer]
	l := sl.layer
	a := policies.Attempt{
		Number:  int(sl.attempts),
		Elapsed: s.since(sl.start),
		Waited:  sl.waited,
		Outcome: policies.Outcome{Latency: s.since(sl.tried), Err: errorOf[code]},
		Carry:   sl.carry,
	}
	if l.jitters {
		f.decisions++
		a.U = h.jitter.Float64(f.job.request.key, descend(f.path, uint64(layer)<<32|uint64(f.decisions)))
	}
	if h.call.UnsafeRatio > 0 {
		a.NotIdempotent = h.unsafe(f.job.request)
	}
	d := l.retries[l.instance(f.instance)].Decide(a)
	switch {
	case d.Retry:
		if a.NotIdempotent {
			h.ledger.UnsafeRetries++
		}
		sl.attempts++
		sl.waited, sl.carry = d.Delay, d.Carry
		h.ledger.Retries++
	case d.Reason == policies.NotNeeded:
		if sl.attempts > 1 {
			h.ledger.RetriesSucceeded++
		}
	case d.Reason == policies.BudgetSpent:
		h.ledger.Denied++
	case d.Reason == policies.AttemptsSpent:
		h.ledger.Spent++
	case d.Reason == policies.NotRetryable:
		h.ledger.NotRetryable++
	case d.Reason == policies.DeadlineReached:
		h.ledger.Late++
	case d.Reason == policies.BreakerNotClosed:
		h.ledger.NotClosed++
	case d.Reason == policies.NotIdempotent:
		h.ledger.NotIdempotent++
	}
	return d
}

// retry goes on after the wait of the retry layer i.
func (s *System) retry(f *flight, i int) {
	sl := &f.slots[i]
	l := sl.layer
	sl.waiting = false
	if !l.retries[l.instance(f.instance)].Send() {
		s.unsent(f, sl)
		s.up(f, i, sl.failed, true)
		return
	}
	sl.tried = s.e.Now()
	s.down(f, i+1)
}

// expire ends whatever is inside the timeout of layer i.
func (s *System) expire(f *flight, i int) {
	f.hop.ledger.TimedOut++
	s.unwind(f, i+1, true)
	s.up(f, i, policies.ErrTimeout, false)
}

// overdue ends a flight at the deadline that its caller was told.
func (s *System) overdue(f *flight) {
	f.hop.ledger.TimedOut++
	s.unwind(f, 0, true)
	s.landed(f, policies.ErrTimeout)
}

// unwind leaves all layers from the innermost to i, and the attempt under
// way. What a breaker inside saw was a timeout, or nothing if the caller left.
func (s *System) unwind(f *flight, i int, timeout bool) {
	if f.trying {
		code := policies.ErrTimeout
		if !timeout {
			code = policies.ErrLeft
		}
		s.over(f, code, f.child != nil)
	}
	if j := f.child; j != nil {
		f.child = nil
		s.abandon(j)
	}
	for k := int(f.depth) - 1; k >= i; k-- {
		sl := &f.slots[k]
		l := sl.layer
		switch l.kind {
		case timeoutLayer:
			s.e.Cancel(sl.timer)
		case retryLayer:
			r := l.retries[l.instance(f.instance)]
			if sl.waiting {
				sl.waiting = false
				s.e.Cancel(sl.timer)
				r.WaitDone()
			}
			r.GiveUp(sl.attempts > 1)
		case breakerLayer:
			b := l.breakers[l.instance(f.instance)]
			if timeout {
				b.Record(sl.permit, policies.Outcome{Latency: s.since(sl.start), Err: errorOf[policies.ErrTimeout]})
			} else {
				b.Cancel(sl.permit)
			}
		case limitLayer:
			l.limits[l.instance(f.instance)].used--
		}
	}
	f.depth = int32(i)
}

// send makes an attempt: a job on its way to a replica of the node.
func (s *System) send(f *flight) {
	h := f.hop
	n := h.to
	j := s.jobs.get()
	r := f.job.request
	r.refs++
	j.reset()
	j.path = descend(f.path, uint64(f.tries))
	f.tries++
	h.ledger.Attempts++
	s.trying(f)
	f.trying, f.met = true, int32(len(f.slots)-1)
	sv := n.first
	j.instance = 0
	if len(n.servers) > 1 {
		at := h.choose(r.key, j.path)
		h.out[at]++
		f.replica = int32(at) + 1
		sv, j.instance = &n.servers[at], uint32(at)
	}
	j.node, j.server, j.request, j.caller, j.hop = n, sv, r, f, h
	if h.propagate {
		j.deadline = f.patience()
	}
	f.child = j
	if h.request.kind != lawZero {
		if d := h.request.draw(&h.draws, r.key, j.path); d > 0 {
			j.state = jobSent
			j.timer = s.e.After(d, s, sim.Event{Kind: opArrived, Arg: uint64(j.place)})
			return
		}
	}
	s.arrive(j)
}

// patience is the instant until which the caller waits at most.
func (f *flight) patience() sim.Time {
	t := f.deadline
	for i := range f.slots {
		if l := f.slots[i].layer; l.kind == timeoutLayer {
			t = min(t, f.slots[i].start.Add(l.timeout))
		}
	}
	return t
}

// landed ends a flight and tells the job that made the call.
func (s *System) landed(f *flight, code policies.ErrorCode) {
	j, h := f.job, f.hop
	s.disarm(f)
	f.ground()
	if code == noError { // so RetryOn has it
		h.ledger.Succeeded++
		j.need--
	} else {
		h.ledger.Failed++
		j.code = answerCode(code)
		if j.node.client != nil {
			j.code = code // a user sees what it is
		}
	}
	j.pending--
	if j.decided() {
		s.proceed(j)
	}
}

// disarm cancels the timer of the deadline that a flight has inherited.
func (s *System) disarm(f *flight) {
	if f.deadline != sim.MaxTime {
		s.e.Cancel(f.timer)
	}
}

// ground takes a flight out of its job's list and frees it.
func (f *flight) ground() {
	j, prev, next := f.job, f.prev, f.next
	if prev != nil {
		prev.next = next
	} else {
		j.flights = next
	}
	if next != nil {
		next.prev = prev
	}
	f.job = nil
	f.hop.flights.put(f.place)
}
