package model

// How a job goes through its steps: the calls of one step are made at once,
// those of the next when it is decided how it ends.

// decided reports whether it is known how the present step of a job ends.
func (j *job) decided() bool { return !j.starting && (j.need == 0 || j.pending < j.need) }

// nextStep starts the calls of a job's next step, of which there is one.
func (s *System) nextStep(j *job) {
	n := j.node
	st := &n.steps[j.step]
	j.step++
	j.need, j.pending = st.need, st.all
	j.starting = true
	if st.only != nil {
		s.launch(j, st.only, 0)
	} else {
		for _, h := range st.hops {
			for c := range h.times {
				s.launch(j, h, c)
			}
		}
	}
	j.starting = false
	if j.decided() {
		s.proceed(j)
	}
}

// proceed goes on with a job whose step is decided.
func (s *System) proceed(j *job) {
	if j.server != nil && j.server.now.paused {
		return // it goes on when the pause is over
	}
	if j.flights != nil {
		s.leaveAll(j)
	}
	if j.need > 0 {
		j.failed = true
	} else if int(j.step) < len(j.node.steps) {
		s.nextStep(j)
		return
	}
	s.finish(j)
}

// leaveAll gives up every call that a job is still making.
func (s *System) leaveAll(j *job) {
	for j.flights != nil {
		f := j.flights
		s.unwind(f, 0, false)
		f.hop.ledger.Left++
		s.disarm(f)
		f.ground()
	}
}
