package model

import (
	"math"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// A state is what is wrong with a server now: its faults and its trace folded
// into one.
type state struct {
	errors  []errorFault // those that answer after service
	fast    []errorFault // those that answer at once
	factor  float64      // of service times
	stalled bool
	paused  bool
	crashed bool
	silent  bool
}

type errorFault struct {
	ratio  float64
	first  uint32
	code   policies.ErrorCode
	effect bool
	client int64  // whose requests are concerned; -1 for all
	draw   uint64 // tells the draws of several faults apart
}

// hits reports whether the fault makes a call fail.
func (f *errorFault) hits(j *job) bool {
	if f.first > 0 && j.request.arrived[j.node.index] > f.first {
		return false
	}
	if f.client >= 0 && j.request.client != uint32(f.client) {
		return false
	}
	return f.ratio >= 1 || j.node.failure.Float64(j.request.key, j.path+f.draw) < f.ratio
}

// fail makes the job fail if one of the faults hits it.
func (j *job) fail(faults []errorFault) bool {
	for i := range faults {
		if f := &faults[i]; f.hits(j) {
			j.failed, j.code, j.effect = true, f.code, f.effect
			return true
		}
	}
	return false
}

// active reports whether a fault concerns a server at t.
func (f *Fault) active(sv *server, t, horizon sim.Time) bool {
	if f.Replica.Known && f.Replica.Value != sv.index {
		return false
	}
	return t >= sim.Time(f.Start) && t < f.end(horizon)
}

func (f *Fault) end(horizon sim.Time) sim.Time {
	if f.End == 0 {
		return max(horizon, sim.Time(f.Start))
	}
	return sim.Time(f.End)
}

func (s *System) errors(f *Fault, index int) errorFault {
	e := errorFault{ratio: f.Ratio, first: uint32(min(f.First, math.MaxUint32)), code: f.Code, effect: f.Effect, client: -1, draw: uint64(index) << 48}
	if e.ratio == 0 {
		e.ratio = 1
	}
	if e.code == 0 {
		e.code = unavailable
	}
	for i := range s.config.Clients {
		if f.Client != "" && s.config.Clients[i].Name == f.Client {
			e.client = int64(i)
		}
	}
	return e
}

// assess works out the state of a server at the present instant, and what
// changes with it.
func (s *System) assess(sv *server) {
	now, n := s.e.Now(), sv.node
	before := sv.now
	st := state{errors: before.errors[:0], fast: before.fast[:0]}
	slow := 1.0
	speed := 1.0 // of a worker; below 1 where a share of the capacity does not come out even
	capacity := n.traceCond.Capacity()
	if n.traceCond.ErrorRatio > 0 {
		st.errors = append(st.errors, errorFault{ratio: n.traceCond.ErrorRatio, code: unavailable, client: -1, draw: 1 << 63})
	}
	for i := range sv.limits {
		l := &sv.limits[i]
		on := l.fault.active(sv, now, s.horizon)
		if on && !l.on {
			l.bucket = newBucket(l.fault.RateRPS, l.fault.Burst)
		}
		l.on = on
	}
	for i := range n.config.Faults {
		f := &n.config.Faults[i]
		if !f.active(sv, now, s.horizon) {
			continue
		}
		switch f.Kind {
		case FaultError:
			if f.Fast {
				st.fast = append(st.fast, s.errors(f, i))
			} else {
				st.errors = append(st.errors, s.errors(f, i))
			}
		case FaultSlow:
			slow *= f.Factor
		case FaultCapacity:
			capacity *= f.Factor
		case FaultStall:
			st.stalled = true
		case FaultPause:
			st.paused = true
		case FaultCrash:
			st.crashed = true
			st.silent = st.silent || f.Silent
		}
	}
	sv.workers = n.config.Workers
	if capacity < 1 {
		if n.config.Workers == Unlimited {
			if capacity == 0 {
				sv.workers = 0
			}
		} else {
			share := capacity * float64(n.config.Workers)
			sv.workers = 0
			if capacity > 0 {
				sv.workers = max(1, int(math.Ceil(share-1e-9)))
				speed = share / float64(sv.workers)
			}
		}
	}
	st.factor = slow / speed
	sv.tick(now)
	if st.crashed && !before.crashed {
		s.crash(sv, st.silent) // as long as it is known what the calls were doing
	}
	sv.now = st
	sv.gate()
	if st.paused != before.paused {
		s.freeze(sv, st.paused)
	}
	s.pump(sv)
}

// changes schedules the instants at which the state of a server changes.
func (s *System) changes(sv *server) {
	for i := range sv.node.config.Faults {
		f := &sv.node.config.Faults[i]
		if f.Replica.Known && f.Replica.Value != sv.index {
			continue
		}
		for _, t := range [2]sim.Time{sim.Time(f.Start), f.end(s.horizon)} {
			if t > 0 && t < s.horizon {
				s.e.At(t, s, sim.Event{Kind: opFault, Arg: sv.global})
			}
		}
	}
}

// follow takes the node's trace to the present instant and schedules the next
// change.
func (s *System) follow(n *node) {
	segments := n.config.Trace
	now := s.e.Now()
	for n.traceAt < len(segments) && sim.Time(segments[n.traceAt].End) <= now {
		n.traceAt++
	}
	n.traceCond, n.traceLaw = Condition{}, nil
	next := sim.MaxTime
	if n.traceAt < len(segments) {
		if g := &segments[n.traceAt]; sim.Time(g.Start) <= now {
			next = sim.Time(g.End)
			n.traceCond = g.Condition
			if law, ok := g.LatencyLaw(); ok {
				l := newSampler(law, s.e)
				n.traceLaw = &l
			}
		} else {
			next = sim.Time(g.Start)
		}
	}
	if next < s.horizon {
		s.e.At(next, s, sim.Event{Kind: opTrace, Arg: uint64(n.index)})
	}
	for i := range n.servers {
		s.assess(&n.servers[i])
	}
}

// freeze stops every service of a server where it is, or lets it go on.
func (s *System) freeze(sv *server, stop bool) {
	now := s.e.Now()
	s.jobs.all(func(j *job) {
		if j.server != sv || j.state != jobServing {
			return
		}
		if stop {
			s.e.Cancel(j.timer)
			j.left = j.due.Sub(now)
			j.worked -= j.left
		} else {
			s.resume(j)
		}
	})
	if stop {
		return
	}
	// Only then those whose own calls have ended meanwhile: they make room
	// for others, whose service begins.
	s.jobs.all(func(j *job) {
		if j.server == sv && j.state == jobCalling && j.decided() {
			s.proceed(j)
		}
	})
}

// crash loses every call of a server.
func (s *System) crash(sv *server, silent bool) {
	s.jobs.all(func(j *job) {
		if j.server != sv || j.state == jobSent || j.state == jobReturning || j.state == jobFree {
			return
		}
		s.stop(j)
		if silent {
			s.lose(j)
		} else {
			s.turnAway(j, policies.ErrReset)
		}
	})
}
