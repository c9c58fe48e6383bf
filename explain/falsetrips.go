package explain

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// ofFalseTrips warns of a breaker that opens though nothing is out of the
// ordinary: in the mean as many of the calls fail, or are slow, as it takes.
// What is ordinary is the law of the service, and errors from the beginning to
// the end of a run of which some are left out.
func (x *explainer) ofFalseTrips(b *Breaker, s *sight) {
	t := &s.trip
	holds := math.Min(t.holds(s.well), 1e6)
	if holds < b.Minimum || t.consecutive > 1 {
		return
	}
	bad := 0.0
	errors := x.ordinary(s.l, s.layer+1)
	for code, p := range errors {
		if t.class(code) == policies.Failure {
			bad += p
		}
	}
	tell := func(are string, p, least float64) {
		x.find(Problem, "false-trips", b.Place, "it opens though nothing is out of the ordinary: enough calls "+are, fmt.Sprintf("%s ≥ %s", share(p), share(least)))
	}
	if bad > 0 && t.tooMany(holds, bad*holds) {
		tell("fail", bad, math.Max(t.failures, t.number/holds))
	}
	if slow := x.slower(s.l, func(d float64) bool { return d > t.slowAfter }); t.slow > 0 && slow > 0 && slow >= t.slow-tiny && !(b.Hanging <= t.slowAfter) {
		tell("take longer than "+seconds(t.slowAfter), slow, t.slow)
	}
}

// ordinary is which share of calls ends in which error in the layers of a link
// from the i-th on inwards if all is as usual.
func (x *explainer) ordinary(l *link, i int) map[policies.ErrorCode]float64 {
	p := make(map[policies.ErrorCode]float64)
	for _, f := range x.c.Nodes[l.to].Faults {
		always := f.Start == 0 && (f.End == 0 || f.End >= x.c.Horizon) && !f.Replica.Known && f.First == 0 && f.Client == ""
		if f.Kind == model.FaultError && always && f.Ratio > 0 && f.Ratio < 1 {
			code := f.Code
			if code == 0 {
				code = unavailable
			}
			p[code] += (1 - sum(p)) * f.Ratio
		}
	}
	for k := len(l.layers) - 1; k >= i; k-- {
		y := &l.layers[k]
		switch {
		case y.Timeout > 0:
			if late := x.slower(l, func(d float64) bool { return d >= y.Timeout.Seconds() }); late > 0 {
				for code := range p {
					p[code] *= 1 - late
				}
				p[policies.ErrTimeout] += late
			}
		case y.Retry != nil:
			p = repeated(y.Retry, p)
		}
		if y.sidecar && (k == 0 || !l.layers[k-1].sidecar) {
			seen := make(map[policies.ErrorCode]float64, len(p))
			for code, share := range p {
				seen[answerCode(code)] += share
			}
			p = seen
		}
	}
	return p
}

// repeated is in which errors calls end of which a retry layer repeats the
// attempts.
func repeated(r *model.RetryLayer, p map[policies.ErrorCode]float64) map[policies.ErrorCode]float64 {
	again := 0.0
	for code, share := range p {
		if repeats(r, code) {
			again += share
		}
	}
	last := math.Pow(again, float64(r.Attempts-1)) // all but the last are repeated
	calls := make(map[policies.ErrorCode]float64, len(p))
	for code, share := range p {
		if repeats(r, code) {
			calls[code] = share * last
		} else if again < 1 {
			calls[code] = share * (1 - last*again) / (1 - again)
		}
	}
	return calls
}

func sum(p map[policies.ErrorCode]float64) (all float64) {
	for _, share := range p {
		all += share
	}
	return all
}

// slower is the share of attempts of a link of which the time in seconds is so,
// as that of all longer ones: that of the callee's own service is random, all
// else takes its mean time.
func (x *explainer) slower(l *link, is func(float64) bool) float64 {
	n := &x.c.Nodes[l.to]
	if len(n.Script) > 0 || len(n.Trace) > 0 {
		return 0 // one after the other
	}
	rest := x.linkTime(l) - x.service(l.to)
	at := func(u float64) bool { return is(rest + n.Service.Quantile(u).Seconds()) }
	low, high := 0.0, math.Nextafter(1, 0)
	switch {
	case at(low):
		return 1
	case !at(high):
		return 0
	}
	for range 60 {
		if mid := low + (high-low)/2; at(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return 1 - high
}
