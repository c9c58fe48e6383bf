package experiments

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// A stretch is what happened at the first client and the first node over a
// stretch of time. Failed counts the requests started in it.
type stretch struct {
	start, end          float64 // s
	requests, succeeded uint64
	failed              uint64
	attempts            uint64
}

// add joins an interval that follows.
func (s *stretch) add(v *model.Interval) {
	s.end = v.End.Seconds()
	s.requests += v.Clients[0].Requests
	s.succeeded += v.Clients[0].Succeeded
	s.failed += v.Clients[0].StartedFailed
	s.attempts += v.Nodes[0].Attempts
}

// overStretch joins the intervals that lie inside [from, to].
func overStretch(series []model.Interval, from, to float64) stretch {
	s := stretch{start: from, end: from}
	const slack = 1e-9
	for i := range series {
		if v := &series[i]; v.Start.Seconds() >= from-slack && v.End.Seconds() <= to+slack {
			s.add(v)
		}
	}
	return s
}

// bySecond joins intervals to stretches of a second; the last may be shorter.
func bySecond(series []model.Interval) []stretch {
	var out []stretch
	for i := range series {
		v := &series[i]
		if n := len(out); n == 0 || v.Start.Seconds() >= out[n-1].start+1-1e-9 {
			out = append(out, stretch{start: v.Start.Seconds()})
		}
		out[len(out)-1].add(v)
	}
	return out
}

const (
	wellRatio      = 0.9 // share of the requests that a system which is well answers
	collapsedRatio = 0.5 // share that a collapsed one does not reach
	collapseRun    = 10  // seconds in a row that make a collapse
)

// well reports whether goodput was near the offered load.
func (s stretch) well() bool { return float64(s.succeeded) >= wellRatio*float64(s.requests) }

// failing reports whether more than 1 - ratio of the requests started failed.
func (s stretch) failing(ratio float64) bool {
	return float64(s.failed) > (1-ratio)*float64(s.requests)
}

// lastBadSecond is the end of the last second of whose requests too many
// failed; 0 if there is none.
func lastBadSecond(series []model.Interval) float64 {
	last := 0.0
	for _, s := range bySecond(series) {
		if s.failing(wellRatio) {
			last = s.end
		}
	}
	return last
}

// firstCollapse is the start of the first collapseRun seconds in a row of
// whose requests too many failed; +Inf if there are none.
func firstCollapse(series []model.Interval) float64 {
	run, start := 0, 0.0
	for _, s := range bySecond(series) {
		switch {
		case !s.failing(collapsedRatio):
			run = 0
			continue
		case run == 0:
			start = s.start
		}
		if run++; run == collapseRun {
			return start
		}
	}
	return math.Inf(1)
}

// indicate is 1 for true.
func indicate(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
