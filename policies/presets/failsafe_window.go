package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// failsafeSlices is the number of slices in a breaker's period.
const failsafeSlices = 10

// A failsafeWindow counts recent results.
type failsafeWindow interface {
	add(now int64, failed bool)
	counts() policies.Counts
	clear()
}

// metricsOf rounds as the library does: rates to 2 decimals.
func metricsOf(c policies.Counts) FailsafeMetrics {
	m := FailsafeMetrics{Executions: c.Calls, Failures: c.Failures, Successes: c.Calls - c.Failures}
	if c.Calls > 0 {
		m.FailureRate = hundredths(float64(m.Failures) / float64(c.Calls))
		m.SuccessRate = hundredths(float64(m.Successes) / float64(c.Calls))
	}
	return m
}

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }

// A failsafePeriod is a window of time whose slices leave only when a result
// is counted.
type failsafePeriod struct{ timeSlices }

func newFailsafePeriod(n int, slice time.Duration) *failsafePeriod {
	return &failsafePeriod{newTimeSlices(n, slice)}
}

func (w *failsafePeriod) add(now int64, failed bool) {
	w.rollTo(now)
	w.timeSlices.add(one(failed, false))
}

func (w *failsafePeriod) counts() policies.Counts { return w.held }

// lastResults is a window of the last results.
type lastResults struct {
	failed []bool
	next   int
	held   policies.Counts
}

func newLastResults(n int) *lastResults { return &lastResults{failed: make([]bool, n)} }

func (w *lastResults) add(_ int64, failed bool) {
	if w.held.Calls == len(w.failed) {
		minus(&w.held, one(w.failed[w.next], false))
	}
	plus(&w.held, one(failed, false))
	w.failed[w.next] = failed
	if w.next++; w.next == len(w.failed) {
		w.next = 0
	}
}

func (w *lastResults) counts() policies.Counts { return w.held }

func (w *lastResults) clear() { w.next, w.held = 0, policies.Counts{} }

// failsafeJitter varies a delay by up to jitter to both sides, or else by a
// share of it: down as far as it goes at u = 0.
func failsafeJitter(delay, jitter time.Duration, factor, u float64) time.Duration {
	switch side := 2*u - 1; {
	case jitter > 0:
		return delay + time.Duration(side*float64(jitter))
	case factor > 0:
		return time.Duration(float64(delay) * (1 + float64(side*factor)))
	}
	return delay
}
