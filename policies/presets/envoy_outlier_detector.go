package presets

import (
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// An OutlierDetector watches the hosts of a cluster as Envoy does, and says
// which are in. Each host has a view of its own: see Host. It is safe for
// concurrent use.
type OutlierDetector struct {
	teller[outlierChange]
	watch    policies.Stopwatch
	uniform  policies.UniformSource
	classify func(policies.Outcome) policies.Class

	c                       EnvoyOutlierConfig
	interval, base, longest int64 // ns

	hosts     []OutlierHost
	out       int    // hosts that are ejected
	overflows uint64 // outliers that were not ejected since too many were out
	next      int64  // end of the present interval
	last      int64  // latest instant seen
	heard     bool   // an answer came in the present interval
}

type outlierChange struct {
	host int
	policies.Change
}

// NewOutlierDetector returns a detector of hosts that are all in, or the error of
// Validate. It tells onChange, if that is not nil, of every change of a host, in
// order and one at a time, without the lock; h.OnChange is not used.
func NewOutlierDetector(c EnvoyOutlierConfig, hosts int, h policies.Host, onChange func(host int, c policies.Change)) (*OutlierDetector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if hosts < 1 || hosts > maxOutlierHosts {
		return nil, fmt.Errorf("presets: envoy outlier detection: hosts %d, want 1 to %d", hosts, maxOutlierHosts)
	}
	d := &OutlierDetector{
		watch: policies.NewStopwatch(h.Clock, 0), uniform: orUniform(h), classify: h.Classify,
		c: c, interval: int64(c.Interval), base: int64(c.BaseEjectionTime), longest: int64(c.longest()),
		hosts: make([]OutlierHost, hosts),
	}
	if onChange != nil {
		d.onChange = func(c outlierChange) { onChange(c.host, c.Change) }
	}
	d.last = d.watch.Read()
	d.next = d.last + d.interval
	for i := range d.hosts {
		d.hosts[i] = OutlierHost{d: d, number: i, since: d.last, rate: -1}
	}
	return d, nil
}

// Host returns the view of a host, by its number from 0.
func (d *OutlierDetector) Host(i int) *OutlierHost { return &d.hosts[i] }

// Ejected returns how many hosts are out now.
func (d *OutlierDetector) Ejected() int {
	d.lock()
	defer d.unlock()
	return d.out
}

// Overflows returns how many outliers were found that were not ejected because
// too many hosts were out.
func (d *OutlierDetector) Overflows() uint64 {
	d.lock()
	defer d.unlock()
	return d.overflows
}

// lock takes the lock, reads the clock and does what is due.
func (d *OutlierDetector) lock() (now int64) {
	read := d.watch.Read()
	d.mu.Lock()
	now = min(max(read, d.last), latest)
	if d.next <= now {
		d.catchUp(now)
	}
	d.last = now
	return now
}

// catchUp ends the intervals until now. When nothing was heard in one, hosts may
// come back at its end but none goes; those at which none comes back are left
// out.
func (d *OutlierDetector) catchUp(now int64) {
	for d.next <= now {
		if !d.heard {
			quiet := (now-d.next)/d.interval + 1
			for i := range d.hosts {
				if h := &d.hosts[i]; h.ejected {
					quiet = min(quiet, (h.back()-d.next)/d.interval)
				}
			}
			d.rest(quiet)
			d.next += quiet * d.interval
		}
		if d.next <= now {
			d.end(d.next)
			d.next += d.interval
			d.heard = false
		}
	}
}

// back is the end of an interval at which an ejected host comes back.
func (h *OutlierHost) back() int64 {
	d := h.d
	if h.until <= d.next {
		return d.next
	}
	return d.next + (h.until-d.next+d.interval-1)/d.interval*d.interval
}

// rest ends n intervals in which nothing happens.
func (d *OutlierDetector) rest(n int64) {
	if n == 0 {
		return
	}
	for i := range d.hosts {
		h := &d.hosts[i]
		h.volume, h.rate = 0, -1
		if !h.ejected {
			h.multiplier = max(h.multiplier-n, 0)
		}
	}
}

// end ends an interval.
func (d *OutlierDetector) end(at int64) {
	for i := range d.hosts {
		h := &d.hosts[i]
		switch {
		case !h.ejected && d.c.Before128:
			h.multiplier = max(h.multiplier-1, 0)
		case h.ejected && h.until <= at:
			h.ejected = false
			h.run, h.gates = 0, 0
			d.out--
			h.changed(policies.Open, policies.Closed, at)
		}
		h.volume, h.rate = h.total, -1
		if h.total > 0 {
			h.rate = float64(h.good) * 100 / float64(h.total)
		}
		h.good, h.total = 0, 0
	}
	d.compareRates(at)
	d.limitFailures(at)
	for i := range d.hosts {
		if h := &d.hosts[i]; !h.ejected && !d.c.Before128 && at-h.since >= d.interval {
			h.multiplier = max(h.multiplier-1, 0)
		}
	}
}

// counted reports whether the answers of a host in the last interval were
// enough to be looked at.
func (h *OutlierHost) counted(enough int) bool {
	return !h.ejected && h.volume > 0 && h.volume >= enough
}

// compareRates ejects the hosts whose success rate is far below the others'.
func (d *OutlierDetector) compareRates(at int64) {
	enough := d.c.SuccessRateRequestVolume
	var n, sum, squares float64
	for i := range d.hosts {
		if h := &d.hosts[i]; h.counted(enough) {
			n++
			sum += h.rate
		}
	}
	if n == 0 || n < float64(d.c.SuccessRateMinimumHosts) {
		return
	}
	mean := sum / n
	for i := range d.hosts {
		if h := &d.hosts[i]; h.counted(enough) {
			squares += (h.rate - mean) * (h.rate - mean)
		}
	}
	lowest := mean - float64(d.c.SuccessRateStdevFactor)/1000*math.Sqrt(squares/n)
	for i := range d.hosts {
		if h := &d.hosts[i]; h.counted(enough) && h.rate < lowest {
			d.eject(h, at, d.c.EnforcingSuccessRate)
		}
	}
}

// limitFailures ejects the hosts too many of whose answers were failures. Those
// that their success rate has just ejected are among the hosts that there must
// be at least.
func (d *OutlierDetector) limitFailures(at int64) {
	n := 0
	for i := range d.hosts {
		h := &d.hosts[i]
		if h.counted(d.c.FailurePercentageRequestVolume) || h.ejected && h.since == at && h.volume > 0 && h.volume >= d.c.FailurePercentageRequestVolume {
			n++
		}
	}
	if n < d.c.FailurePercentageMinimumHosts {
		return
	}
	for i := range d.hosts {
		h := &d.hosts[i]
		if h.counted(d.c.FailurePercentageRequestVolume) && 100-h.rate >= float64(d.c.FailurePercentageThreshold) {
			d.eject(h, at, d.c.EnforcingFailurePercentage)
		}
	}
}

// eject takes a host out that was found to be an outlier, if that may be.
func (d *OutlierDetector) eject(h *OutlierHost, at int64, enforcing int) {
	room := 100*(d.out+1) <= d.c.MaxEjectionPercent*len(d.hosts)
	if d.c.Before128 {
		room = 100*d.out < d.c.MaxEjectionPercent*len(d.hosts)
	}
	if !room && !(d.c.AlwaysEjectOneHost && d.out == 0) {
		d.overflows++
		return
	}
	if enforcing < 100 && (enforcing == 0 || d.uniform.Next()*100 >= float64(enforcing)) {
		return
	}
	d.out++
	h.ejected = true
	if h.multiplier*d.base < d.longest+d.base {
		h.multiplier++
	}
	h.until = at + min(h.multiplier*d.base, d.longest)
	if jitter := d.c.MaxJitter.Milliseconds(); jitter > 0 {
		h.until += int64(d.uniform.Next()*float64(jitter+1)) * int64(time.Millisecond)
	}
	h.changed(policies.Closed, policies.Open, at)
}

// changed notes a change of state.
func (h *OutlierHost) changed(from, to policies.State, at int64) {
	c := policies.Change{From: from, To: to}
	h.stats.Count(c, time.Duration(at-h.since))
	h.since = at
	if h.d.onChange != nil {
		c.At = h.d.watch.Time(at)
		h.d.untold = append(h.d.untold, outlierChange{h.number, c})
	}
}
