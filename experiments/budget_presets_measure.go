package experiments

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// A flow is what happened in each tenth of a second of a run.
type flow []flowing

// flowing counts requests and the retries sent and refused. Good and failed
// are the requests by the time they started.
type flowing struct{ requests, retries, denied, good, failed float64 }

// readFlow reads the series of a system of one client and one call. The first
// attempt of a request is sent when it starts, so what is above is retries.
func readFlow(series []model.Interval) flow {
	f := make(flow, len(series))
	for i := range series {
		call, client := &series[i].Calls[0], &series[i].Clients[0]
		f[i] = flowing{
			requests: float64(client.Requests), retries: float64(call.Attempts) - float64(client.Requests),
			denied: float64(call.Denied), good: float64(client.StartedSucceeded), failed: float64(client.StartedFailed),
		}
	}
	return f
}

func (a flowing) plus(b flowing) flowing {
	return flowing{a.requests + b.requests, a.retries + b.retries, a.denied + b.denied, a.good + b.good, a.failed + b.failed}
}

// within adds up [from, to), as far as it lies in the run.
func (f flow) within(from, to int) (sum flowing) {
	for i := max(0, from); i < min(to, len(f)); i++ {
		sum = sum.plus(f[i])
	}
	return sum
}

// over adds up windows.
func (f flow) over(windows []window) (sum flowing) {
	for _, w := range windows {
		sum = sum.plus(f.within(w.from, w.to))
	}
	return sum
}

const tenthsPerSecond = 10

// firstSecond is the mean number of retries in the first second of a window.
func (f flow) firstSecond(windows []window) float64 {
	sum := 0.0
	for _, w := range windows {
		sum += f.within(w.from, w.from+tenthsPerSecond).retries
	}
	return sum / float64(len(windows))
}

// lateRetries is the number of retries per request in the second half.
func (f flow) lateRetries(w window) float64 {
	half := f.within((w.from+w.to)/2, w.to)
	return quotient(half.retries, half.requests)
}

// shutOff is the time, in seconds, until no second of the window that is left
// has more than so many retries per request; +Inf if that is in the last
// quarter.
func (f flow) shutOff(w window, ratio float64) float64 {
	from := w.from // of the seconds that are left
	for i := w.from; i+tenthsPerSecond <= w.to; i++ {
		if s := f.within(i, i+tenthsPerSecond); s.retries > ratio*s.requests {
			from = i + 1
		}
	}
	if w.to-from < (w.to-w.from)/4 {
		return math.Inf(1)
	}
	return float64(from-w.from) / tenthsPerSecond
}

// backAfter is how many retries in a row must be sent.
const backAfter = 10

// comeBack is the time, in seconds, to the last refusal before enough retries
// in a row are sent; +Inf if they never are, NaN if nobody wants that many.
func (f flow) comeBack(end int) float64 {
	if s := f.within(end, len(f)); s.retries+s.denied < backAfter {
		return math.NaN()
	}
	last, row := end, 0.0
	for i := end; i < len(f); i++ {
		if f[i].denied > 0 {
			last, row = i+1, 0
			continue
		}
		if row += f[i].retries; row >= backAfter {
			return float64(last-end) / tenthsPerSecond
		}
	}
	return math.Inf(1)
}
