package presets

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/policies"
)

// GobreakerCounts are the figures of gobreaker's window.
type GobreakerCounts struct {
	Requests             int
	TotalSuccesses       int
	TotalFailures        int
	TotalExclusions      int
	ConsecutiveSuccesses int
	ConsecutiveFailures  int
}

// end counts the end of a call.
func (c *GobreakerCounts) end(class policies.Class) {
	switch class {
	case policies.Success:
		c.TotalSuccesses++
		c.ConsecutiveSuccesses++
		c.ConsecutiveFailures = 0
	case policies.Failure:
		c.TotalFailures++
		c.ConsecutiveFailures++
		c.ConsecutiveSuccesses = 0
	default:
		c.TotalExclusions++
	}
}

// drop takes a bucket out. Consecutive ends are cut only if all that the rest
// of the window holds of their kind is among them.
func (c *GobreakerCounts) drop(b GobreakerCounts) {
	c.Requests -= b.Requests
	c.TotalSuccesses -= b.TotalSuccesses
	c.TotalFailures -= b.TotalFailures
	c.TotalExclusions -= b.TotalExclusions
	if c.ConsecutiveSuccesses == c.TotalSuccesses+b.ConsecutiveSuccesses {
		c.ConsecutiveSuccesses -= b.ConsecutiveSuccesses
	}
	if c.ConsecutiveFailures == c.TotalFailures+b.ConsecutiveFailures {
		c.ConsecutiveFailures -= b.ConsecutiveFailures
	}
}

// A gobreakerWindow counts since the present generation began, or in the last
// buckets of it. Buckets have serial numbers that go on over generations, so
// that the number of a bucket tells its generation, too.
type gobreakerWindow struct {
	period  int64 // ns of a bucket; 0 is without end
	buckets []GobreakerCounts
	start   int64  // of the generation
	first   uint64 // serial number of its first bucket
	age     uint64 // buckets since that
	due     int64  // end of the bucket being written, if the window rolls
	sum     GobreakerCounts
}

// renew starts a generation.
func (w *gobreakerWindow) renew(now int64) {
	w.first += w.age + 1
	w.start = now
	w.clear(0)
}

func (w *gobreakerWindow) clear(age uint64) {
	w.age, w.due = age, w.start+int64(age+1)*w.period
	w.sum = GobreakerCounts{}
	clear(w.buckets)
}

// roll brings a closed breaker's window up to date.
func (w *gobreakerWindow) roll(now int64) {
	switch {
	case w.period == 0:
	case len(w.buckets) == 1:
		if now-w.start > w.period {
			w.renew(now)
		}
	case now >= w.due:
		w.grow(uint64((now - w.start) / w.period))
	}
}

func (w *gobreakerWindow) grow(age uint64) {
	n := uint64(len(w.buckets))
	if age >= w.age+n {
		w.clear(age)
		return
	}
	for w.age < age {
		w.age++
		b := &w.buckets[w.age%n]
		w.sum.drop(*b)
		*b = GobreakerCounts{}
	}
	w.due = w.start + int64(age+1)*w.period
}

// request counts a call that starts, and returns the number of its bucket.
func (w *gobreakerWindow) request() uint64 {
	w.sum.Requests++
	w.buckets[w.age%uint64(len(w.buckets))].Requests++
	return w.first + w.age
}

// knows reports whether a bucket belongs to the present generation.
func (w *gobreakerWindow) knows(number uint64) bool { return number >= w.first }

// end counts a call of the present generation that ends, if its bucket is
// still there.
func (w *gobreakerWindow) end(r result) {
	age, n := r.number-w.first, uint64(len(w.buckets))
	if w.age-age < n {
		w.sum.end(r.class)
		w.buckets[age%n].end(r.class)
	}
}

// A gobreakerTrip is a ReadyToTrip: comparisons that must all hold.
type gobreakerTrip []gobreakerTerm

type gobreakerTerm struct {
	figure func(*GobreakerCounts) int
	share  bool // of the requests
	above  bool // strictly
	limit  float64
}

func (t gobreakerTrip) met(c GobreakerCounts) bool {
	for i := range t {
		if !t[i].met(&c) {
			return false
		}
	}
	return true
}

func (t *gobreakerTerm) met(c *GobreakerCounts) bool {
	x := float64(t.figure(c))
	if t.share {
		x /= float64(c.Requests) // of none, 0/0, which is above nothing
	}
	return x > t.limit || !t.above && x == t.limit
}

var gobreakerFigures = map[string]func(*GobreakerCounts) int{
	"requests":              func(c *GobreakerCounts) int { return c.Requests },
	"total_successes":       func(c *GobreakerCounts) int { return c.TotalSuccesses },
	"total_failures":        func(c *GobreakerCounts) int { return c.TotalFailures },
	"total_exclusions":      func(c *GobreakerCounts) int { return c.TotalExclusions },
	"consecutive_successes": func(c *GobreakerCounts) int { return c.ConsecutiveSuccesses },
	"consecutive_failures":  func(c *GobreakerCounts) int { return c.ConsecutiveFailures },
}

var errGobreakerTerm = errors.New(`comparisons like "consecutive_failures > 5" joined by "&&"`)

// parseGobreakerTrip reads a ReadyToTrip. The error says what would be right.
func parseGobreakerTrip(text string) (gobreakerTrip, error) {
	var trip gobreakerTrip
	for part := range strings.SplitSeq(text, "&&") {
		left, right, ok := strings.Cut(part, ">")
		if !ok {
			return nil, errGobreakerTerm
		}
		right, equal := strings.CutPrefix(right, "=")
		name, whole, share := strings.Cut(left, "/")
		figure, ok := gobreakerFigures[strings.TrimSpace(name)]
		if !ok || share && strings.TrimSpace(whole) != "requests" {
			return nil, fmt.Errorf("a figure like total_failures or total_failures/requests in place of %q", strings.TrimSpace(left))
		}
		limit, err := parseGobreakerLimit(strings.TrimSpace(right), share)
		if err != nil {
			return nil, err
		}
		trip = append(trip, gobreakerTerm{figure: figure, share: share, above: !equal, limit: limit})
	}
	return trip, nil
}

// parseGobreakerLimit reads a share, 0 to 1, or a number of calls.
func parseGobreakerLimit(text string, share bool) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case share && (err != nil || !(x >= 0 && x <= 1)):
		return 0, fmt.Errorf("a share from 0 to 1 in place of %q", text)
	case !share && (err != nil || !(x >= 0 && x <= maxCount) || x != math.Trunc(x)):
		return 0, fmt.Errorf("a whole number from 0 to %d in place of %q", maxCount, text)
	}
	return x, nil
}
