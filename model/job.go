package model

import (
	"cmp"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// The life of a job at a node.

const (
	unavailable    = policies.ErrorCode(503)
	gatewayTimeout = policies.ErrorCode(504)
)

// answerCode is the status with which a program answers its caller when its
// own call has failed.
func answerCode(c policies.ErrorCode) policies.ErrorCode {
	switch {
	case c >= 100:
		return c
	case c == policies.ErrTimeout:
		return gatewayTimeout
	case c == policies.ErrOther:
		return 500
	}
	return unavailable
}

// arrive brings a job to its server.
func (s *System) arrive(j *job) {
	n, sv := j.node, j.server
	j.state = jobQueued
	j.arrived = s.e.Now()
	j.request.arrived[n.index]++
	n.ledger.Attempts++
	switch {
	case sv.gated && !s.admit(j):
	case sv.held < sv.workers && sv.head == nil && !sv.now.stalled && !sv.now.paused:
		if n.dropExpired && j.deadline <= j.arrived {
			s.turnAway(j, gatewayTimeout)
			return
		}
		s.enter(j)
		s.begin(j)
	case sv.queued >= n.queueLimit:
		s.turnAway(j, unavailable)
	default:
		s.enter(j)
		sv.push(j)
		n.queued++
	}
}

// gate notes whether admit has anything to look at.
func (sv *server) gate() {
	n, now := sv.node, &sv.now
	sv.gated = n.cancel || now.crashed || len(now.fast) > 0 || n.config.Shed.InFlight > 0 || sv.sheds || len(sv.limits) > 0
}

// admit ends a job that its server refuses or that nobody waits for, and
// reports false, or lets it on to the queue.
func (s *System) admit(j *job) bool {
	n, sv := j.node, j.server
	now := &sv.now
	switch {
	case j.caller == nil && n.cancel:
		s.leave(j)
	case now.crashed && now.silent:
		s.lose(j)
	case now.crashed:
		s.turnAway(j, policies.ErrConnect)
	case len(now.fast) > 0 && j.fail(now.fast):
		if j.effect {
			s.effect(j)
		}
		s.depart(j)
		s.reply(j, false)
	case n.config.Shed.InFlight > 0 && sv.present >= n.config.Shed.InFlight:
		s.turnAway(j, cmp.Or(n.config.Shed.Code, unavailable))
	default:
		code, ok := sv.admits(j.arrived)
		if !ok {
			s.turnAway(j, code)
		}
		return ok
	}
	return false
}

// pump lets waiting jobs have the workers that are free.
func (s *System) pump(sv *server) {
	for sv.head != nil && sv.held < sv.workers && !sv.now.stalled && !sv.now.paused {
		j := sv.head
		if sv.node.lifo {
			j = sv.tail
		}
		s.dequeue(j)
		if sv.node.dropExpired && j.deadline <= s.e.Now() {
			s.turnAway(j, gatewayTimeout)
			continue
		}
		s.begin(j)
	}
}

// begin gives a job a worker and starts its service.
func (s *System) begin(j *job) {
	n, sv := j.node, j.server
	now := s.e.Now()
	sv.tick(now)
	sv.held++
	j.holds = true
	n.ledger.Begun++
	wait := time.Duration(now - j.arrived)
	if wait > 0 {
		n.ledger.Waited++
		n.ledger.Wait = addTime(n.ledger.Wait, wait)
	}
	if n.waits != nil {
		n.waits.record(wait)
	}
	sv.serving++
	n.serving++
	if n.serving > n.ledger.MaxServing {
		n.ledger.MaxServing = n.serving
	}
	j.state = jobServing
	var d time.Duration
	if n.script.at < len(n.script.answers) {
		d, _ = n.script.next(j)
	} else {
		if len(sv.now.errors) > 0 {
			j.fail(sv.now.errors)
		}
		law := &n.law
		if n.traceLaw != nil {
			law = n.traceLaw
		}
		d = law.draw(&n.service, j.request.key, j.path)
	}
	if per := n.config.ServicePerInFlight; per > 0 {
		d = nanoseconds(float64(d) + float64(per)*float64(sv.present-1))
	}
	if f := sv.now.factor; f != 1 {
		d = nanoseconds(float64(d) * f)
	}
	d = min(d, math.MaxInt64/4) // so that sums of time stay in the clock's range
	j.due = now.Add(d)
	j.worked += d
	ev := sim.Event{Kind: opServed, Arg: uint64(j.place)}
	switch law := &n.law; {
	case d == 0:
		j.timer = s.instant.After(s, ev)
	case law.lane != nil && d == law.law.Mean:
		j.timer = law.lane.After(s, ev)
	default:
		j.timer = s.e.At(j.due, s, ev)
	}
}

// resume goes on with a service that stood still.
func (s *System) resume(j *job) {
	j.due = s.e.Now().Add(j.left)
	j.worked += j.left
	j.timer = s.e.At(j.due, s, sim.Event{Kind: opServed, Arg: uint64(j.place)})
}

// served ends the service of a job.
func (s *System) served(j *job) {
	n := j.node
	s.unserve(j)
	switch {
	case j.failed || len(n.steps) == 0:
		s.finish(j)
	default:
		j.state = jobCalling
		if n.async {
			s.release(j)
			s.pump(j.server)
		}
		s.nextStep(j)
	}
}

// since is the time from t, at most now, until now.
func (s *System) since(t sim.Time) time.Duration { return time.Duration(s.e.Now() - t) }

// unserve counts a job out of service.
func (s *System) unserve(j *job) {
	j.server.tick(s.e.Now())
	j.server.serving--
	j.node.serving--
}

// release frees the worker of a job.
func (s *System) release(j *job) {
	if j.holds {
		j.holds = false
		j.server.tick(s.e.Now())
		j.server.held--
	}
}

// finish ends a job: at a node the answer goes back, at a client the request
// is over.
func (s *System) finish(j *job) {
	if j.node.client != nil {
		s.requestDone(j)
		return
	}
	if !j.failed || j.effect {
		s.effect(j)
	}
	s.depart(j)
	if j.server.head != nil {
		s.pump(j.server)
	}
	if j.hop.response.kind == lawZero {
		s.deliver(j)
	} else {
		s.reply(j, true)
	}
}

// enter counts a job in that its server has accepted.
func (s *System) enter(j *job) {
	j.entered = true
	j.server.present++
	s.present(j.node, 1)
}

// depart takes a job off its server.
func (s *System) depart(j *job) {
	if !j.entered {
		return
	}
	j.entered = false
	s.release(j)
	j.server.present--
	s.present(j.node, -1)
	l := &j.node.ledger
	l.Sojourn = addTime(l.Sojourn, s.since(j.arrived))
}

// reply sends the answer of a job on its way. It must not arrive directly
// while the caller is still busy sending the job.
func (s *System) reply(j *job, directly bool) {
	j.state = jobReturning
	if j.caller == nil {
		s.deliver(j)
		return
	}
	d := j.hop.response.draw(&j.hop.draws, j.request.key, ^j.path)
	ev := sim.Event{Kind: opReturned, Arg: uint64(j.place)}
	switch {
	case d > 0:
		j.timer = s.e.After(d, s, ev)
	case directly:
		s.deliver(j)
	default:
		j.timer = s.instant.After(s, ev)
	}
}

// deliver hands the answer to the caller, if there still is one.
func (s *System) deliver(j *job) {
	f, code := j.caller, noError
	if j.failed {
		code = j.code
	}
	s.settle(j)
	s.free(j)
	if f != nil {
		f.child = nil
		s.over(f, code, false)
		if code == noError {
			s.succeed(f)
		} else {
			s.up(f, len(f.slots), code, false)
		}
	}
}

// turnAway ends a job without further ado and tells the caller.
func (s *System) turnAway(j *job, code policies.ErrorCode) {
	j.failed, j.code, j.counted = true, code, true
	j.node.ledger.Rejected++
	s.depart(j)
	s.account(j)
	s.reply(j, false)
}

// lose ends a job of which the caller hears nothing.
func (s *System) lose(j *job) {
	j.node.ledger.Rejected++
	j.counted, j.failed = true, true
	s.depart(j)
	s.account(j)
	s.forget(j)
	s.free(j)
}

// forget parts a job from its caller, who waits on.
func (s *System) forget(j *job) {
	if f := j.caller; f != nil {
		f.child = nil
		j.caller = nil
	}
}

// abandon is told that the caller of a job has gone.
func (s *System) abandon(j *job) {
	j.caller = nil
	j.orphan = true
	j.request.orphans++
	switch {
	case j.state == jobReturning:
		s.e.Cancel(j.timer)
		s.settle(j)
		s.free(j)
	case j.node.cancel && j.state != jobSent:
		s.stop(j)
		s.leave(j)
		s.pump(j.server)
	}
}

// stop takes a job out of whatever it is in.
func (s *System) stop(j *job) {
	switch j.state {
	case jobQueued:
		s.dequeue(j)
	case jobServing:
		if !j.server.now.paused {
			s.e.Cancel(j.timer)
			j.worked -= j.due.Sub(s.e.Now())
		}
		s.unserve(j)
	case jobCalling:
		s.leaveAll(j)
	}
}

// leave ends a job whose caller has gone.
func (s *System) leave(j *job) {
	s.depart(j)
	s.settle(j)
	s.free(j)
}

func (s *System) free(j *job) {
	r := j.request
	if j.orphan {
		r.orphans--
	}
	j.state = jobFree
	s.jobs.put(j.place)
	s.dropRequest(r)
}

func (s *System) dequeue(j *job) {
	j.server.remove(j)
	j.node.queued--
}
