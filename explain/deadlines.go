package explain

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Deadline is how many attempts of a retry layer fit into the time that there
// is for them, if the callee hangs.
type Deadline struct {
	Place, Link string
	Within      float64 // the nearest timeout outside, or the retry's own deadline; +Inf if there is none
	Each        float64 // seconds of an attempt, until the timeout inside
	Attempts    float64 // as set, +Inf for unlimited
	Started     float64 // that begin in time
	Full        float64 // those of them that have their whole time
	Last        float64 // seconds that the last one has
	Backoff     float64 // seconds of mean waits between them
	// TimeoutsRetried says whether an attempt that timed out is repeated: if
	// not there is only one.
	TimeoutsRetried bool
}

// deadlines counts the attempts that fit.
func (x *explainer) deadlines() {
	for _, l := range x.links {
		for k := range l.layers {
			if r := l.layers[k].Retry; r != nil && r.Attempts > 1 {
				x.deadline(l, k)
			}
		}
	}
}

func (x *explainer) deadline(l *link, k int) {
	r := l.layers[k].Retry
	each, code := x.pass(l, k+1, never, true)
	outer := l.deadline(k)
	within := math.Min(outer, limitOf(r))
	if math.IsInf(each, 1) && math.IsInf(within, 1) {
		return // nothing ends a hanging call
	}
	n := attemptsWithin(r, each, within, code, 0.5)
	last := each
	if math.IsInf(outer, 1) || n.lastAt+each <= outer {
		// The retry's own deadline forbids starts and ends nothing.
		if n.started > n.full {
			n.full = n.started
		}
	} else {
		last = outer - n.lastAt
	}
	attempts := float64(r.Attempts)
	if r.Attempts == policies.Unlimited {
		attempts = never
	}
	d := Deadline{l.layers[k].place, l.label(k), within, each, attempts, n.started, n.full, last, n.waited, repeats(r, code)}
	x.Deadlines = append(x.Deadlines, d)
	switch {
	case math.IsInf(each, 1) && math.IsInf(outer, 1):
		x.find(Warning, "no-attempt-timeout", d.Place, fmt.Sprintf("no timeout for an attempt: the first one that hangs does not end, for the deadline of %s only keeps others from beginning", seconds(within)), "")
	case math.IsInf(each, 1):
		x.find(Warning, "no-attempt-timeout", d.Place, fmt.Sprintf("no timeout for an attempt: the first one that hangs takes all of the %s", seconds(outer)), "")
	case !d.TimeoutsRetried:
		x.find(Note, "timeouts-not-retried", d.Place, fmt.Sprintf("an attempt that timed out after %s is not repeated", seconds(each)), "")
	case n.started < attempts && attempts < never:
		x.find(Warning, "attempts-cut", d.Place, fmt.Sprintf("only %s of %s begin within %s if the callee hangs, and the last one has %s",
			number(n.started), attemptsText(attempts), seconds(within), seconds(last)),
			fmt.Sprintf("%s × %s + %s back-off > %s", number(attempts), seconds(each), seconds(wanted(r, each, code)), seconds(within)))
	case last < each:
		x.find(Warning, "attempts-cut", d.Place, fmt.Sprintf("the last of %s has %s of its %s if the callee hangs", attemptsText(n.started), seconds(last), seconds(each)),
			fmt.Sprintf("%s × %s + %s back-off > %s", number(n.started), seconds(each), seconds(n.waited), seconds(within)))
	}
	if f, _ := x.pass(l, k+1, x.linkTime(l), true); f == each && d.TimeoutsRetried {
		x.find(Problem, "every-attempt-times-out", d.Place, fmt.Sprintf("the mean answer takes longer than the timeout of an attempt: a request ends after %s and %s",
			attemptsText(n.started), seconds(n.ends)), fmt.Sprintf("%s × %s", number(n.started), seconds(each)))
	}
}

// wanted is the sum of the mean waits between all attempts of a retry layer, as
// if there were time for them.
func wanted(r *model.RetryLayer, each float64, code policies.ErrorCode) float64 {
	return attemptsWithin(r, each, never, code, 0.5).waited
}
