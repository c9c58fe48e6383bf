package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// good stands for the code of what ends well.
const good policies.ErrorCode = math.MaxUint16

// An end is when a call may end, in seconds since it began, with the reason for
// the longest time.
type end struct {
	least, most float64
	why         string
}

// ends are the ways in which a call may end, by code.
type ends map[policies.ErrorCode]end

// add adds a way to end.
func (e ends) add(code policies.ErrorCode, v end) {
	w, ok := e[code]
	if !ok {
		e[code] = v
		return
	}
	w.least = math.Min(w.least, v.least)
	if v.most > w.most {
		w.most, w.why = v.most, v.why
	}
	e[code] = w
}

// sorted are the codes in order.
func (e ends) sorted() []policies.ErrorCode { return slices.Sorted(maps.Keys(e)) }

// longest is the longest time of all ends for which is holds.
func (e ends) longest(is func(policies.ErrorCode) bool) longest {
	w := longest{-1, ""}
	for _, code := range e.sorted() {
		if v := e[code]; v.most > w.t && (is == nil || is(code)) {
			w = longest{v.most, v.why}
		}
	}
	w.t = math.Max(w.t, 0)
	return w
}

// cut ends everything after t seconds, with a timeout: one whose beginning is
// known if fixed, which takes the whole time.
func (e ends) cut(t float64, fixed bool, why string) {
	if math.IsInf(t, 1) {
		return
	}
	over := false
	for _, code := range e.sorted() {
		v := e[code]
		if v.most < t {
			continue
		}
		over = true
		if v.most = t; v.least >= t-halfTick && fixed {
			delete(e, code)
			continue
		}
		v.why = why
		e[code] = v
	}
	if over {
		least := 0.0
		if fixed {
			least = t
		}
		e.add(policies.ErrTimeout, end{least, t, why})
	}
}

// inside is how what has been through the layers of a link from the i-th on
// inwards may end, which ends so at the node.
func (l *link) inside(i int, e ends) ends {
	for k := len(l.layers) - 1; k >= i; k-- {
		y := &l.layers[k]
		switch {
		case y.Timeout > 0:
			t := y.Timeout.Seconds()
			e.cut(t, true, fmt.Sprintf("timeout %s of %s", seconds(t), l.label(k)))
		case y.Retry != nil:
			e = e.retried(y.Retry, l.deadline(k), l.label(k))
		case y.Breaker != nil:
			e.add(policies.ErrBreakerOpen, end{})
		case y.Limit != nil:
			e.add(policies.ErrLimit, end{})
		}
		if y.sidecar && (k == 0 || !l.layers[k-1].sidecar) {
			e = e.answered()
		}
	}
	return e
}

// answered are the ends of a program's own call as its caller sees them.
func (e ends) answered() ends {
	seen := make(ends, len(e))
	for _, code := range e.sorted() {
		seen.add(answerCode(code), e[code])
	}
	return seen
}

// answerCode is the status with which a program answers when its own call
// failed.
func answerCode(code policies.ErrorCode) policies.ErrorCode {
	switch {
	case code >= 100:
		return code
	case code == policies.ErrTimeout:
		return late
	case code == policies.ErrOther:
		return 500
	}
	return unavailable
}

// repeatsEnd is repeats for any end, a good one included.
func repeatsEnd(r *model.RetryLayer, code policies.ErrorCode) bool {
	if code == good {
		return r.Attempts > 1 && r.RetryOn != nil && r.RetryOn(policies.Outcome{})
	}
	return repeats(r, code)
}

// retried are the ends of a retry layer around what ends so: attempts that end
// in what it repeats, and then one that ends in any way. Within is when
// everything is over anyway.
func (e ends) retried(r *model.RetryLayer, within float64, label string) ends {
	var each end // of an attempt that is repeated
	each.least = never
	for code, v := range e {
		if repeatsEnd(r, code) {
			each.least, each.most = math.Min(each.least, v.least), math.Max(each.most, v.most)
		}
	}
	if math.IsInf(each.least, 1) {
		return e // nothing is repeated
	}
	n := lastStart(r, each, within)
	all := make(ends, len(e))
	for code, v := range e {
		why := v.why
		if n.count > 1 && n.at > 0 && !math.IsInf(v.most, 1) {
			why = n.reason(r, each.most, v.most, label)
		}
		least := v.least
		if repeatsEnd(r, code) && r.Budget == nil && r.Guard == nil {
			least = n.soonest(r, v.least)
		}
		all[code] = end{least, n.at + v.most, why}
	}
	return all
}

// halfTick is less than any two times differ by that are not the same.
const halfTick = 0.5e-9

// A tail is the latest begin of a last attempt.
type tail struct {
	at, count, waited float64
	cut               bool    // by the retry's own deadline
	first, wait       float64 // the earliest begin, and the longest wait
}

// soonest is the earliest end of a retry layer whose attempts are all repeated,
// the last of which takes so many seconds at least: it has made all attempts, or
// the next one would begin at its deadline or later.
func (s tail) soonest(r *model.RetryLayer, last float64) float64 {
	return math.Min(s.first+last, math.Max(last, limitOf(r)-s.wait))
}

// lastStart is the latest begin of an attempt if those before end in a time of
// each. An attempt begins before the retry's deadline or not at all; it may end
// later.
func lastStart(r *model.RetryLayer, each end, within float64) tail {
	deadline := limitOf(r)
	shortest, longest := newWaits(r, 0), newWaits(r, math.Nextafter(1, 0))
	s := tail{count: 1}
	first, last, waited := 0.0, 0.0, 0.0 // begin of the attempt, and the waits until then
	for s.count < float64(r.Attempts) && s.count < mostCounted {
		a, b := shortest.after(int(s.count)), longest.after(int(s.count))
		first += each.least + math.Min(a, b)
		last += each.most + math.Max(a, b)
		waited += math.Max(a, b)
		s.wait = math.Max(s.wait, math.Max(a, b))
		if first >= deadline-halfTick {
			return s // there is no time for any more
		}
		s.count++
		s.first, s.cut = first, last > deadline
		last = math.Min(last, deadline)
		s.at, s.waited = math.Max(s.at, last), waited
		if s.at >= within {
			return s
		}
	}
	if more := float64(r.Attempts) - s.count; more > 0 {
		// The rest goes on as it went so far.
		s.at += more * s.at / (s.count - 1)
		s.waited += more * s.waited / (s.count - 1)
		s.count += more
		if s.at > deadline {
			s.at, s.cut = deadline, true
		}
	}
	return s
}

// reason says how the longest time of a retry layer comes about: attempts of so
// many seconds each, and the last one.
func (s tail) reason(r *model.RetryLayer, each, last float64, label string) string {
	if s.cut {
		return fmt.Sprintf("deadline %s and a last attempt of %s at %s", seconds(r.Deadline.Seconds()), seconds(last), label)
	}
	why := fmt.Sprintf("%s of %s", attemptsText(s.count), seconds(each))
	if last != each {
		why = fmt.Sprintf("%s of %s and one of %s", attemptsText(s.count-1), seconds(each), seconds(last))
	}
	why += " at " + label
	if s.waited > 0 {
		why += fmt.Sprintf(" and %s of back-off", seconds(s.waited))
	}
	return why
}
