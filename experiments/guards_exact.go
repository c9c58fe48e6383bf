package experiments

import (
	"math"
)

// guardNumbers counts the requests of a run.
type guardNumbers struct {
	before, failing, all float64 // requests before the outage, in it, and in the whole run
	grace, every         float64
	retries              float64 // that a request may make at most
	ratio                float64
}

func guardFigures(c Cell) guardNumbers {
	rate := c.Float("rate_rps")
	until := func(s float64) float64 { return math.Ceil(min(s, c.Float("horizon_s"))*rate - 1e-6) }
	start := c.Float("outage_at_s")
	return guardNumbers{
		before: until(start), failing: until(start+c.Float("outage_s")) - until(start), all: until(math.Inf(1)),
		grace: c.Float("grace"), every: c.Float("reset_at"), retries: c.Float("attempts") - 1, ratio: c.Float("ratio"),
	}
}

// stretches are the requests of the outage, numbered from 0, that the counter
// does not bound: [from, to) of the first, and from each reset on.
func (f guardNumbers) stretches() [][2]float64 {
	first := min(f.grace, f.failing)
	w := [][2]float64{{0, first}}
	if f.grace+1 >= f.every {
		return w
	}
	// Request number k·every of the run, from 1, resets the counter.
	for k := math.Ceil((f.before + first + 1) / f.every); len(w) <= maxGuardResets; k++ {
		from := k*f.every - 1 - f.before
		to := from + f.grace + 1
		if to > f.failing {
			break
		}
		w = append(w, [2]float64{from, to})
	}
	return w
}

// counter is the retries that a counter budget grants to the first k requests
// of the outage, if all their attempts fail at once. A request at which the
// counter is c has its retries granted as long as c is at most the grace or no
// more than ratio × c were granted before. So there are floor(ratio × c) + 1 at
// most, but those of the grace in any case.
func (f guardNumbers) counter(k float64) float64 {
	total := 0.0
	c, granted := math.Mod(f.before, f.every), 0.0 // since the last reset
	for k > 0 {
		n := min(k, f.every-1-c)
		granted = f.cycle(c, c+n, granted)
		c, k = c+n, k-n
		if k > 0 { // the request that resets the counter
			total += granted
			c, granted, k = 0, f.retries, k-1
		}
	}
	return total + granted
}

// cycle is the retries granted by the time the counter has gone from c to d,
// of which some were granted before.
func (f guardNumbers) cycle(c, d, granted float64) float64 {
	free := min(d, f.grace)
	if c < free {
		granted += f.retries * (free - c)
		c = free
	}
	if c >= d {
		return granted
	}
	return max(granted, min(granted+f.retries*(d-c), floorOf(f.ratio*d)+1))
}

// bucket is the same for a bucket of tokens that is empty when the run begins.
func (f guardNumbers) bucket(k, most float64) float64 {
	if k == 0 {
		return 0
	}
	// The first request of the outage finds what the others have earned.
	level := min(f.ratio*(f.before+1), most)
	return min(f.retries*k, floorOf(level+f.ratio*(k-1)))
}

// window is the same for a sliding window that holds so many requests, if the
// outage begins with the run or when the window is full. It is false for
// others.
func (f guardNumbers) window(k, holds float64) (float64, bool) {
	each := floorOf(f.ratio * holds)
	switch {
	case k == 0:
		return 0, true
	case f.before >= holds: // all that a window grants, at the start of each
		past := math.Floor((k - 1) / holds)
		return each*past + min(f.retries*(k-holds*past), each), true
	case f.before == 0 && (k <= holds || each == f.ratio*holds) && f.retries >= 1:
		return floorOf(f.ratio * k), true
	}
	return 0, false
}

// floorOf is the floor of a product of decimals.
func floorOf(x float64) float64 { return math.Floor(x + 1e-9) }

// grants is the retries granted to the first k requests of the outage.
func (f guardNumbers) grants(c Cell, k float64) (float64, bool) {
	switch c.Text("budget") {
	case guardCounter:
		return f.counter(k), true
	case guardBucket:
		return f.bucket(k, c.Float("cap")), true
	case guardWindow:
		holds := c.Float("window_s") * c.Float("rate_rps")
		if math.Abs(holds-math.Round(holds)) > 1e-6 {
			return 0, false
		}
		return f.window(k, math.Round(holds))
	}
	return f.retries * k, true
}

// exactGuards knows budgets alone, with immediate retries of a node that is
// down: then no request waits for another.
func exactGuards(c Cell, metric string, _ int) (float64, bool) {
	if c.Text("guard") != guardBudgetOnly {
		switch {
		case metric == "unsafe_retries_count", metric == "spent_unsent_count" && c.Text("guard") == guardBudgetLast:
			return 0, true
		}
		return 0, false
	}
	switch metric {
	case "breaker_refused_count", "unsafe_refused_count", "spent_unsent_count", "breaker_openings_count", "breaker_open_s":
		return 0, true
	}
	f := guardFigures(c)
	if c.Float("error_ratio") != 1 {
		return 0, false
	}
	if metric == "success_ratio" {
		return 1 - f.failing/f.all, c.Float("wait_s") == 0
	}
	if c.Float("wait_s") > 0 {
		return 0, false
	}
	total, ok := f.grants(c, f.failing)
	switch metric {
	case "amplification_ratio":
		return 1 + total/f.all, ok
	case "retries_count":
		return total, ok
	case "start_retries_count":
		return f.between(c, f.stretches()[:1])
	case "reset_retries_count":
		if c.Text("budget") != guardCounter {
			return 0, false
		}
		return f.between(c, f.stretches()[1:])
	}
	return 0, false
}

// between is the mean number of retries granted in some stretches; false if
// there is none.
func (f guardNumbers) between(c Cell, stretches [][2]float64) (float64, bool) {
	sum := 0.0
	for _, w := range stretches {
		from, ok := f.grants(c, w[0])
		to, ok2 := f.grants(c, w[1])
		if !ok || !ok2 {
			return 0, false
		}
		sum += to - from
	}
	return sum / float64(len(stretches)), len(stretches) > 0
}
